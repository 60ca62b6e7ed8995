// One request in a side drawer: what the model wrote and what the client got, and why.
import { diffLines } from "./diff.js";
import { by, chip, copy, duration, el, hasKey, integer, money, pretty, request } from "./dom.js";
import { openInPlayground } from "./playground.js";
import { callKind, name } from "./requests.js";

const PATHS = {
  "openai-chat": () => "/v1/chat/completions",
  "openai-responses": () => "/v1/responses",
  anthropic: () => "/v1/messages",
  ollama: () => "/api/chat",
  gemini: (record) => "/v1beta/models/" + record.model + (record.stream ? ":streamGenerateContent?alt=sse" : ":generateContent"),
};
const OUTCOMES = { passed: "accepted as it is", fixed: "repaired", refused: "rejected" };

/** `next(id, by)`: the id of the request before or after in the list. */
export async function openDrawer(id, next) {
  const dialog = by("drawer");
  let record = null, problem = "";
  try {
    record = await request("toolglot/decisions/" + encodeURIComponent(id));
  } catch (error) {
    problem = error.message;
  }
  const step = (way) => {
    const other = next(id, way);
    return el("button", { type: "button", class: "quiet", disabled: other ? null : "", "aria-label": way < 0 ? "Newer request" : "Older request", onclick: () => openDrawer(other, next) }, way < 0 ? "↑" : "↓");
  };
  dialog.replaceChildren(
    el("div", { class: "head" },
      el("h2", { id: "drawer-title", class: "mono" }, record ? name(record) : id),
      step(-1), step(1), el("button", { type: "button", class: "quiet", "aria-label": "Close", onclick: () => dialog.close() }, "✕")),
    el("div", { class: "body", tabindex: "0", role: "region", "aria-label": "Request" }, record ? parts(record) : el("p", { class: "error" }, problem)));
  if (!dialog.open) dialog.showModal();
}

function parts(record) {
  const failed = Boolean(record.code) || record.status >= 400;
  const content = record.content;
  const words = new Map((record.decisions || []).map((one) => [one.code, one.message]));
  const tokens = record.input || record.output ? integer(record.input || 0) + " in, " + integer(record.output || 0) + " out" : "";
  const facts = [
    ["Time", new Date(record.began * 1000).toLocaleString([], { hourCycle: "h23" })],
    ["Status", el("span", { class: failed ? "bad" : "" }, [record.status, record.code].filter(Boolean).join(" "))],
    ["Duration", duration(record.seconds || 0) + (record.first ? ", first chunk after " + duration(record.first) : "")],
    ["Upstream", [record.upstream, record.target].filter(Boolean).join("/")],
    ["APIs", record.wire + (record.upstream_wire ? " → " + record.upstream_wire : "") + (record.stream ? ", streamed" : "")],
    ["Tool mode", record.tool_mode],
    ["Tokens", tokens],
    ["Cost", record.cost ? money(record.cost) : ""],
    ["Client", record.client],
    ["Key", record.owner],
    ["Id", el("code", {}, record.id)],
  ];
  return [
    el("div", { class: "actions" },
      content && record.wire in PATHS ? el("button", { type: "button", onclick: () => copy(curl(record)) }, "Copy as curl") : null,
      content && content.written ? el("button", { type: "button", onclick: () => inPlayground(content) }, "Open in playground") : null,
      el("button", { type: "button", onclick: () => copy(record.id) }, "Copy id"),
      el("button", { type: "button", onclick: () => copy(JSON.stringify(record, null, 2)) }, "Copy JSON")),
    record.error ? el("div", { class: "problem", role: "note" }, el("strong", {}, "Error"), el("p", {}, record.error)) : null,
    el("dl", { class: "facts" }, facts.filter(([, value]) => value).map(([title, value]) => el("div", {}, el("dt", {}, title), el("dd", {}, value)))),
    (record.tried || []).length ? section("Tried before", el("ul", {}, record.tried.map((one) => el("li", {}, one)))) : null,
    (record.calls || []).length ? section("Calls", record.calls.map((call) => callCard(call, words))) : null,
    (record.decisions || []).length ? section("Decisions", el("ul", { class: "decisions" }, record.decisions.map((one) => el("li", {}, one.message, " ", el("code", {}, one.code))))) : null,
    content && content.written ? section("What the model wrote, and what the client got", difference(content)) : null,
    (record.notes || []).length ? section("Notes", el("ul", {}, record.notes.map((note) => el("li", {}, note)))) : null,
    content ? section("Request", el("details", {}, el("summary", {}, "as the client sent it"), el("pre", { class: "box", tabindex: "0" }, JSON.stringify(content.request, null, 2)))) : el("p", { class: "hint" }, "Message contents were not stored for this request."),
  ].filter(Boolean);
}

const section = (title, ...children) => el("section", {}, el("h3", {}, title), ...children);

function callCard(call, words) {
  return el("div", { class: "card " + (call.outcome === "refused" ? "refused" : "") },
    el("strong", { class: "mono" }, call.tool || "call"), " ",
    chip(callKind(call), OUTCOMES[call.outcome]), " ",
    call.dialect === "native" ? el("small", {}, "a native call") : el("small", {}, "recovered from text, " + call.dialect),
    call.code ? el("div", {}, words.get(call.code) || "", " ", el("code", {}, call.code)) : null,
    call.written ? el("pre", {}, pretty(call.written)) : null);
}

// -- what the model wrote

/** The parts of a reply as text. The client's calls are set apart: the model's own text may look like them. */
function asText(parts) {
  return parts.map((part) => {
    if (part.type === "text" || part.type === "reasoning") return (part.type === "reasoning" ? "(reasoning) " : "") + part.text;
    if (part.type === "call") return "→ " + part.name + " " + pretty(part.arguments_json || "{}");
    return "(" + part.type + ")";
  }).join("\n").trim();
}

function difference({ written, reply }) {
  const [before, after] = [asText(written), asText(reply)];
  if (before === after) return [el("p", { class: "hint" }, "The client got what the model wrote."), el("pre", { class: "box", tabindex: "0" }, after)];
  const marks = { "-": "del", "+": "ins", " ": "span" };
  const names = { "-": "model wrote", "+": "client got" };
  return [
    el("p", { class: "legend" }, el("span", {}, el("i", { class: "key became-refused" }), "only the model wrote it"), el("span", {}, el("i", { class: "key call" }), "only the client got it")),
    el("pre", { class: "box diff", tabindex: "0" }, diffLines(before, after).map(([sign, line]) => el(marks[sign], { title: names[sign] }, sign + " " + line + "\n"))),
  ];
}

function inPlayground(content) {
  by("drawer").close();
  openInPlayground(content.written.filter((part) => part.type === "text").map((part) => part.text).join("\n"), toolsOf(content.request));
}

/** A request's tools, as one list in any API's format. */
function toolsOf(body) {
  return (body.tools || []).flatMap((tool) => tool.functionDeclarations || tool.function_declarations || [tool]);
}

function curl(record) {
  const quote = (text) => "'" + text.replaceAll("'", "'\\''") + "'";
  return ["curl " + quote(location.origin + location.pathname.replace(/\/$/, "") + PATHS[record.wire](record)),
    "-H 'content-type: application/json'",
    hasKey() ? '-H "authorization: Bearer $TOOLGLOT_KEY"' : null,
    "-d " + quote(JSON.stringify(record.content.request))].filter(Boolean).join(" \\\n  ");
}

by("drawer").addEventListener("click", (event) => event.target === by("drawer") && by("drawer").close());
by("drawer").addEventListener("close", () => by("drawer").replaceChildren());
