// The latest requests: search, filters, and a row for each. The newest are fetched and drawn first, the rest on demand.
import { by, chip, clock, compact, duration, el, integer, plural, request } from "./dom.js";
import { openDrawer } from "./drawer.js";
import { showRunning } from "./overview.js";

const PAGE = 40; // rows drawn at once
let kept = 200; // as many as the gateway keeps
let records = []; // newest first
let shown = []; // those that match the filters
let drawn = 0;
let newest = "";
let paused = false;
const found = new Map(); // id -> what a search looks at

export async function refresh() {
  if (paused) return null;
  const data = await live(newest ? "after=" + newest : "limit=" + PAGE);
  kept = data.max_records;
  by("recording").hidden = data.records;
  showRunning(data.running);
  add(data.rows);
  if (data.more) live("before=" + data.rows.at(-1).id).then(addOlder);
  return data;
}

const live = (range) => request("toolglot/live?span=none&" + range);

export function forget() {
  records = [];
  newest = "";
  found.clear();
  filter();
}

// -- filters

const hasFailed = (record) => Boolean(record.code) || record.status >= 400;
const isRescued = (call) => call.dialect !== "native" && call.outcome !== "refused";
const OUTCOMES = {
  calls: (record) => record.calls && record.calls.length > 0,
  rescued: (record) => (record.calls || []).some(isRescued),
  fixed: (record) => (record.calls || []).some((call) => call.outcome === "fixed") || record.retried > 0,
  refused: (record) => (record.calls || []).some((call) => call.outcome === "refused"),
};

function searched(record) {
  let text = found.get(record.id);
  if (text === undefined) {
    const calls = (record.calls || []).flatMap((call) => [call.tool, call.dialect, call.code]);
    const codes = (record.decisions || []).map((one) => one.code);
    text = [record.id, record.model, record.target, record.upstream, record.wire, record.upstream_wire, record.status, record.code, record.error, record.client, record.owner, ...calls, ...codes].join("\n").toLowerCase();
    found.set(record.id, text);
  }
  return text;
}

function matcher() {
  const words = by("search").value.toLowerCase().split(/\s+/).filter(Boolean);
  const status = by("status").value, outcome = OUTCOMES[by("outcome").value];
  const since = by("since").value ? Date.now() / 1000 - Number(by("since").value) : 0;
  return (record) =>
    record.began >= since && (!status || hasFailed(record) === (status === "failed")) && (!outcome || outcome(record)) &&
    words.every((word) => searched(record).includes(word));
}

export function filter() {
  shown = records.filter(matcher());
  drawn = Math.min(PAGE, shown.length);
  by("rows").replaceChildren(...shown.slice(0, drawn).map(row));
  summarize();
}

function add(rows) {
  if (!rows.length) return;
  newest = rows[0].id;
  const known = new Set(records.map((record) => record.id));
  const fresh = rows.filter((record) => !known.has(record.id));
  records = [...fresh, ...records];
  for (const record of records.splice(kept)) found.delete(record.id);
  const oldest = records.length === kept ? records[kept - 1].began : 0;
  const matching = fresh.filter(matcher());
  shown = [...matching, ...shown].filter((record) => record.began >= oldest);
  by("rows").prepend(...matching.slice(0, PAGE).map(row));
  while (by("rows").childElementCount > Math.max(drawn, PAGE)) by("rows").lastElementChild.remove();
  drawn = by("rows").childElementCount;
  summarize();
}

function addOlder({ rows }) {
  records = [...records, ...rows].slice(0, kept);
  shown = records.filter(matcher());
  summarize();
}

function summarize() {
  by("count").textContent = !records.length ? "" : shown.length === records.length ? plural(records.length, "request") + (records.length >= kept ? ", the latest" : "") : integer(shown.length) + " of " + plural(records.length, "request");
  by("nothing").hidden = shown.length > 0;
  if (records.length) by("nothing").textContent = "No request matches.";
  by("list").hidden = !shown.length;
  by("more").hidden = drawn >= shown.length;
}

function drawMore() {
  by("rows").append(...shown.slice(drawn, drawn + PAGE).map(row));
  drawn = Math.min(drawn + PAGE, shown.length);
  summarize();
}

// -- one row

export function callLabel(call) {
  const rescued = call.dialect === "native" ? "" : " from " + call.dialect;
  return { passed: "✓ ", fixed: "✎ ", refused: "✕ " }[call.outcome] + (call.tool || "call") + rescued + (call.code ? " " + call.code : "");
}

export const callKind = (call) => (isRescued(call) ? "rescued" : call.outcome);

function row(record) {
  const calls = record.calls || [];
  const via = [record.upstream, record.wire + (record.upstream_wire && record.upstream_wire !== record.wire ? " → " + record.upstream_wire : ""), record.client].filter(Boolean).join(" · ");
  const open = el("button", { type: "button", class: "open", "data-id": record.id }, clock(record.began));
  return el("tr", { class: hasFailed(record) ? "failed" : null },
    el("th", { scope: "row" }, open),
    el("td", { class: "what" }, el("span", { class: "mono" }, name(record)), el("small", {}, via)),
    el("td", { class: "chips" }, calls.slice(0, 4).map((call) => chip(callKind(call), callLabel(call))), calls.length > 4 ? el("small", {}, "+" + (calls.length - 4)) : null,
      record.retried ? chip("fixed", "retried ×" + record.retried) : null, !calls.length && !hasFailed(record) ? el("small", {}, "text only") : null),
    el("td", { class: "number", "data-label": "tokens" }, record.input || record.output ? compact(record.input || 0) + " → " + compact(record.output || 0) : "–"),
    el("td", { class: "number", "data-label": "duration" }, duration(record.seconds || 0)),
    el("td", { class: "status" }, hasFailed(record) ? chip("failed", record.status + " " + (record.code || ""), record.error) : el("small", {}, record.status)));
}

export const name = (record) => (record.model && record.target && record.model !== record.target ? record.model + " → " + record.target : record.target || record.model || "?");

function openRow(event) {
  const pressed = event.target.closest("tr") && event.target.closest("tr").querySelector(".open");
  if (pressed && !String(getSelection())) openDrawer(pressed.dataset.id, (id, by_) => (shown[shown.findIndex((one) => one.id === id) + by_] || {}).id);
}

/** The view is opened with `#requests?q=...&id=...`. */
export function enter(parameters) {
  if (parameters.has("q")) {
    by("search").value = parameters.get("q");
    filter();
  }
  if (parameters.has("id")) openDrawer(parameters.get("id"), () => undefined);
}

for (const id of ["search", "status", "outcome", "since"]) by(id).addEventListener("input", filter);
by("rows").addEventListener("click", openRow);
by("more").addEventListener("click", drawMore);
new IntersectionObserver((entries) => entries.some((one) => one.isIntersecting) && drawMore(), { rootMargin: "400px" }).observe(by("more"));
by("pause").addEventListener("click", () => {
  paused = !paused;
  by("pause").setAttribute("aria-pressed", String(paused));
});
