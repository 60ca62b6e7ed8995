// The playground: the gateway parses the whole text at once and returns the state after each character; the page steps through it.
import { by, chip, el, plural, pretty, request } from "./dom.js";

const WEATHER = { name: "get_weather", description: "The weather of a city", schema: { type: "object", properties: { city: { type: "string" }, days: { type: "integer" } }, required: ["city"] } };
const MAIL = { name: "send_mail", description: "Send a mail", schema: { type: "object", properties: { to: { type: "string" }, subject: { type: "string" } }, required: ["to"] } };
const EXAMPLES = [
  ["two calls, one of an invented tool", "Let me look that up.\n<tool_call>\n{\"name\": \"get_weather\", \"arguments\": {\"city\": \"Paris\", \"days\": \"3\"}}\n</tool_call>\n<tool_call>\n{\"name\": \"launch_rocket\", \"arguments\": {}}\n</tool_call>\nDone."],
  ["a call after thinking", "<think>The user wants Rome. I have get_weather.</think>\n<function=get_weather>\n<parameter=city>\nRome\n</parameter>\n</function>"],
  ["a fence with broken JSON", "```json\n{'name': 'get_weather', 'arguments': {city: 'Oslo', days: 2,}}\n```"],
  ["a call expression", "get_weather(city=\"Lima\", days=2)"],
  ["an example, not a call", "To ask for the weather you would write, for example:\n```json\n{\"name\": \"get_weather\", \"arguments\": {\"city\": \"Paris\"}}\n```\nDo you want me to?"],
];

let characters = []; // code points, as the gateway counts
let result = null;
let version = 0; // of the input
let playing = 0;

async function parse() {
  const current = ++version;
  characters = Array.from(by("text").value);
  by("size").textContent = plural(characters.length, "character");
  try {
    const tools = by("tools").value.trim() ? JSON.parse(by("tools").value) : [];
    if (!Array.isArray(tools)) throw new Error("the tools must be a list");
    const body = { text: characters.join(""), tools, dialect: by("dialect").value, policy: by("policy").value, calls: by("calls-mode").value };
    const parsed = await request("toolglot/parse", body);
    if (current !== version) return; // the input has changed since
    result = parsed;
    by("error").textContent = "";
    by("step").max = characters.length + 1;
    stepTo(characters.length + 1);
  } catch (error) {
    if (current === version) by("error").textContent = error.message;
  }
}

// -- the state after a number of characters

function stepTo(count) {
  if (!result) return;
  by("step").value = count;
  const here = Math.min(count, characters.length);
  let pending = 0;
  const pieces = [];
  for (const span of result.spans) {
    const received = Math.min(Math.max(here, span.start), span.end);
    const decided = !span.after || span.after <= count;
    if (!decided) pending += received - span.start;
    const kind = span.became === "text" && span.label ? "became-noted" : "became-" + span.became;
    piece(pieces, decided ? kind : "pending", decided ? span.label || "" : "pending: not decided yet", span.start, received);
    piece(pieces, "to-come", "", received, span.end);
  }
  by("characters").replaceChildren(...pieces.map((one) => el("span", { class: one.kind, title: one.label || null }, characters.slice(one.start, one.end).join(""))));
  by("position").textContent = count > characters.length ? "end of text: everything is decided" : "after " + here + " of " + characters.length + " characters" + (pending ? ", " + pending + " of them pending" : "");
  by("result").replaceChildren(...stateAfter(count));
}

function piece(pieces, kind, label, start, end) {
  if (start >= end) return;
  const last = pieces[pieces.length - 1];
  if (last && last.kind === kind && last.label === label && kind !== "became-call" && kind !== "became-refused") last.end = end;
  else pieces.push({ kind, label, start, end });
}

function stateAfter(count) {
  const calls = new Map();
  let text = "", reasoning = "", ended = false;
  for (const [at, what, ...rest] of result.steps) {
    if (at > count) break;
    if (what === "text") text += rest[0];
    else if (what === "reasoning") reasoning += rest[0];
    else if (what === "call") calls.set(rest[0], { name: rest[1], source: rest[2], text: "", closed: false, sealed: true, codes: [] });
    else if (what === "arguments") calls.get(rest[0]).text += rest[1];
    else if (what === "close") Object.assign(calls.get(rest[0]), { closed: true, sealed: rest[1], codes: rest[2] });
    else ended = true;
  }
  const shown = [...calls.values()].map((call) => el("div", { class: "card" + (call.closed ? (call.sealed ? "" : " refused") : " growing") },
    el("strong", { class: "mono" }, call.name), " ", el("small", {}, call.source + (call.closed ? "" : ", incomplete")), " ",
    call.codes.map((code) => chip(call.sealed ? "fixed" : "refused", code)), el("pre", {}, call.closed ? pretty(call.text) : call.text)));
  const decisions = ended ? result.decisions : [];
  const rejected = (one) => one.code.startsWith("rejected_");
  return [
    ...shown,
    ...decisions.filter(rejected).map((one) => el("div", { class: "card refused" }, chip("refused", one.code), el("div", {}, one.message))),
    decisions.some((one) => !rejected(one)) ? el("ul", {}, decisions.filter((one) => !rejected(one)).map((one) => el("li", {}, one.message + " ", el("code", {}, one.code)))) : null,
    reasoning ? el("div", {}, el("small", {}, "Reasoning"), el("pre", { class: "box" }, reasoning)) : null,
    text.trim() ? el("div", {}, el("small", {}, "Text"), el("pre", { class: "box" }, text)) : null,
    !shown.length && ended && !decisions.length ? el("p", { class: "hint" }, "No call: everything is text.") : null,
  ].filter(Boolean);
}

// -- the controls

function play(on) {
  clearInterval(playing);
  playing = 0;
  by("play").textContent = on ? "Stop" : "Play";
  if (!on) return;
  if (Number(by("step").value) > characters.length) stepTo(0);
  const stride = Math.max(1, Math.round(characters.length / 400));
  playing = setInterval(() => {
    const next = Number(by("step").value) + stride;
    stepTo(Math.min(next, characters.length + 1));
    if (next > characters.length) play(false);
  }, 25);
}

function moveBy(steps) {
  play(false);
  stepTo(Math.min(Math.max(Number(by("step").value) + steps, 0), characters.length + 1));
}

let delay = 0;
function parseSoon() {
  play(false);
  clearTimeout(delay);
  delay = setTimeout(parse, 250);
}

by("playground-form").addEventListener("submit", (event) => event.preventDefault());
for (const id of ["text", "tools"]) by(id).addEventListener("input", parseSoon);
for (const id of ["dialect", "policy", "calls-mode"]) by(id).addEventListener("change", parseSoon);
by("step").addEventListener("input", () => moveBy(0));
by("back").addEventListener("click", () => moveBy(-1));
by("forward").addEventListener("click", () => moveBy(1));
by("play").addEventListener("click", () => play(!playing));
by("example").append(...EXAMPLES.map(([name], at) => el("option", { value: at }, name)));
by("example").addEventListener("change", () => {
  by("text").value = EXAMPLES[Number(by("example").value)][1];
  parse();
});
by("tools").value = JSON.stringify([WEATHER, MAIL], null, 2);
by("text").value = EXAMPLES[0][1];

export function enter() {
  if (!result) parse();
}

export function openInPlayground(text, tools) {
  by("text").value = text;
  by("tools").value = JSON.stringify(tools, null, 2);
  location.hash = "#playground";
  parse();
}
