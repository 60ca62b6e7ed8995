// Live calls, success per model, routes and upstreams.
const MAX_ROWS = 200;
const rows = new Map(); // id -> its element
let newest = "";
let paused = false;

// -- requests

function show(record) {
  const calls = record.calls || [];
  const failed = Boolean(record.code) || record.status >= 400;
  const changed = calls.some((call) => call.outcome !== "passed") || (record.retried || 0) > 0;
  const name = record.model && record.model !== record.target ? record.model + " → " + record.target : record.target || record.model || "?";
  const via = [record.upstream, record.wire + (record.upstream_wire ? " → " + record.upstream_wire : ""), record.tool_mode].filter(Boolean).join(" · ");
  const row = el("details", { "data-calls": calls.length ? "yes" : null, "data-changed": changed ? "yes" : null, "data-failed": failed ? "yes" : null },
    el("summary", {},
      el("span", { class: "time" }, clock(record.began)),
      el("span", { class: "what" }, el("span", { class: "mono" }, name), " ", el("small", {}, via)),
      el("span", { class: "duration" }, duration(record.seconds || 0)),
      el("span", { class: "chips" },
        failed ? chip("failed", record.status + " " + (record.code || "")) : null,
        calls.map((call) => chip(call.outcome, callLabel(call))),
        record.retried ? chip("fixed", "retried ×" + record.retried) : null,
        !failed && !calls.length ? el("small", {}, "text only") : null)));
  row.addEventListener("toggle", () => row.open && row.childElementCount === 1 && open(row, record));
  return row;
}

function callLabel(call) {
  const rescued = call.dialect === "native" ? "" : " from " + call.dialect;
  return { passed: "✓ ", fixed: "✎ ", refused: "✕ " }[call.outcome] + (call.tool || "call") + rescued + (call.code ? " " + call.code : "");
}

async function open(row, record) {
  const more = el("div", { class: "more" });
  row.append(more);
  let whole = record;
  try {
    whole = await request("toolglot/decisions/" + encodeURIComponent(record.id));
  } catch {
    // no longer in memory: show what the list has
  }
  const reply = (whole.content && whole.content.reply) || [];
  const sentCalls = reply.filter((part) => part.type === "call");
  let sent = 0;
  (whole.calls || []).forEach((call, at) => {
    const out = call.outcome === "refused" ? null : sentCalls[sent++];
    more.append(el("h3", {}, "Call " + (at + 1) + " ", chip(call.outcome, call.outcome)), el("dl", { class: "flow" },
      call.tool || out ? pair("tool", el("span", { class: "mono" }, call.tool || out.name)) : null,
      pair("dialect", call.dialect),
      call.code ? pair(call.outcome === "refused" ? "rejected" : "repaired", el("code", {}, call.code)) : null,
      call.written ? pair("the model wrote", el("pre", { class: "box" }, call.written)) : null,
      out ? pair("sent to the client", el("pre", { class: "box" }, out.name + " " + pretty(out.arguments_json || "{}"))) : null));
  });
  const decisions = whole.decisions || [];
  if (decisions.length) more.append(el("h3", {}, "Decisions"), el("ul", {}, decisions.map((one) => el("li", {}, el("code", {}, one.code), one.message ? " " + one.message : ""))));
  if ((whole.notes || []).length) more.append(el("h3", {}, "Notes"), el("ul", {}, whole.notes.map((note) => el("li", {}, note))));
  const text = reply.filter((part) => part.type === "text").map((part) => part.text).join("");
  if (text) more.append(el("h3", {}, "Text sent to the client"), el("pre", { class: "box" }, text));
  if (whole.content && whole.content.request) more.append(el("h3", {}, "Request"), el("pre", { class: "box" }, JSON.stringify(whole.content.request, null, 1)));
  const tokens = whole.input || whole.output ? (whole.input || 0) + " in, " + (whole.output || 0) + " out" : "";
  more.append(el("p", { class: "soft" }, [whole.id, whole.stream ? "streamed" : "whole", whole.first ? "first chunk after " + duration(whole.first) : "", tokens && tokens + " tokens"].filter(Boolean).join(" · ")));
}

const pair = (name, value) => [el("dt", {}, name), el("dd", {}, value)];

function filter() {
  const wanted = by("filter").value;
  for (const row of rows.values()) row.hidden = wanted !== "all" && !row.dataset[wanted];
}

function addRecords(records) {
  for (const record of records.reverse()) {
    newest = record.id;
    if (rows.has(record.id)) continue;
    const row = show(record);
    rows.set(record.id, row);
    by("list").prepend(row);
  }
  for (const [id, row] of rows) {
    if (rows.size <= MAX_ROWS) break;
    row.remove();
    rows.delete(id);
  }
  if (rows.size && by("nothing")) by("nothing").remove();
  filter();
}

// -- success per model

function chart(name, counted, history) {
  const sum = [1, 2, 3, 4, 5].map((place) => counted.reduce((all, row) => all + row[place], 0));
  const calls = sum[0] + sum[1] + sum[2];
  const width = 600 / history.steps;
  const drawn = svg("svg", { viewBox: "0 0 600 46", preserveAspectRatio: "none", role: "img", "aria-label": name + ": " + percent(sum[0] + sum[1], calls) + " of " + plural(calls, "call") + " accepted" });
  for (const [ago, ...counts] of counted) {
    const all = counts[0] + counts[1] + counts[2];
    let top = 46;
    const column = svg("g", {}, svg("title", {}, clock(Date.now() / 1000 - ago * history.step) + ": " + counts[0] + " unchanged, " + counts[1] + " repaired, " + counts[2] + " rejected"));
    ["passed", "fixed", "refused"].forEach((kind, place) => {
      const height = all ? (46 * counts[place]) / all : 0;
      top -= height;
      if (height) column.append(svg("rect", { class: kind, x: (600 - (ago + 1) * width + 1).toFixed(1), y: top.toFixed(2), width: (width - 2).toFixed(1), height: height.toFixed(2) }));
    });
    drawn.append(column);
  }
  const failed = sum[4] ? ", " + sum[4] + " failed" : "";
  return el("div", { class: "chart" },
    el("div", { class: "label" }, el("span", { class: "mono" }, name), el("strong", {}, percent(sum[0] + sum[1], calls))),
    drawn,
    el("div", { class: "ends" }, el("small", {}, history.span === "day" ? "a day ago" : "an hour ago"),
      el("small", {}, plural(calls, "call") + " in " + plural(sum[3], "request") + failed), el("small", {}, "now")));
}

function drawModels(history) {
  const models = Object.entries(history.models);
  const busy = (counted) => counted.reduce((all, row) => all + row[4], 0);
  models.sort((one, other) => busy(other[1]) - busy(one[1]));
  by("charts").replaceChildren(...models.map(([name, counted]) => chart(name, counted, history)));
  if (!models.length) by("charts").append(el("p", { class: "hint" }, "No requests yet."));
  const sum = [0, 0, 0, 0, 0];
  for (const [, counted] of models) for (const row of counted) for (const place of sum.keys()) sum[place] += row[place + 1];
  const calls = sum[0] + sum[1] + sum[2];
  const shown = [["Requests", sum[3]], ["Calls", calls], ["Success", percent(sum[0] + sum[1], calls)], ["Repaired", sum[1]], ["Rejected", sum[2]]];
  by("sums").replaceChildren(...shown.map(([name, value]) => el("div", {}, el("dt", {}, name), el("dd", {}, String(value)))));
}

// -- routes and upstreams

function showUpstream(one) {
  const state = one.reachable ? "reachable, " + duration(one.seconds) : "not reachable: " + one.problem;
  return el("li", {},
    el("div", {}, el("span", { class: one.reachable ? "dot" : "dot off", "aria-hidden": "true" }), el("strong", {}, one.name), " ",
      el("small", { class: one.reachable ? null : "off" }, state)),
    el("div", { class: "soft" }, one.provider + ", " + one.wire + ", ", el("span", { class: "mono" }, one.address)),
    one.note ? el("div", { class: "soft" }, one.note) : null,
    one.failed ? el("div", { class: "off soft" }, "last error: " + [one.failed.status, one.failed.code].filter(Boolean).join(" ") + ", " + clock(one.failed.at)) : null,
    one.count ? el("div", { class: "soft" }, plural(one.count, "model") + ": ", el("span", { class: "mono" }, one.models.slice(0, 8).join(", ") + (one.count > 8 ? ", …" : ""))) : null);
}

function showRoute(route) {
  const how = ["ask " + route.ask, route.policy, route.calls, "retries " + route.retries];
  return el("li", {}, el("div", { class: "mono" }, route.model + " → " + route.to), el("small", {}, how.join(" · ")));
}

async function refreshUpstreams() {
  try {
    const data = await request("toolglot/upstreams");
    by("upstreams").replaceChildren(...data.upstreams.map(showUpstream));
    by("route-list").replaceChildren(...data.routes.map(showRoute));
    if (!data.upstreams.length) by("upstreams").append(el("li", { class: "soft" }, "No upstreams."));
  } catch {
    // the status at the top shows that the gateway does not respond
  }
}

// -- refresh

async function refresh() {
  if (paused || document.hidden) return;
  try {
    const data = await request("toolglot/live?span=" + by("span").value + "&after=" + encodeURIComponent(newest));
    by("state").className = data.problem ? "state off" : "state on";
    by("state").textContent = data.problem || (data.running ? plural(data.running, "request") + " running" : "live");
    by("recording").hidden = data.records;
    addRecords(data.rows);
    drawModels(data.history);
  } catch (error) {
    by("state").className = "state off";
    by("state").textContent = "not responding";
  }
}

function repeat(work, interval) {
  work().finally(() => setTimeout(repeat, interval, work, interval));
}

by("list").append(el("p", { class: "empty", id: "nothing" }, "No requests yet. Point a client at ", el("code", {}, location.origin), "."));
by("filter").addEventListener("change", filter);
by("span").addEventListener("change", refresh);
by("pause").addEventListener("click", () => {
  paused = !paused;
  by("pause").setAttribute("aria-pressed", String(paused));
  by("state").className = "state";
  by("state").textContent = paused ? "paused" : "live";
});
document.addEventListener("visibilitychange", refresh);
repeat(refresh, 2000);
repeat(refreshUpstreams, 15000);
