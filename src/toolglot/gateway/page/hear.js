// The playground: the gateway hears the whole text at once and tells for each step what was known; here one walks through it.
const WEATHER = { name: "get_weather", description: "The weather of a city", schema: { type: "object", properties: { city: { type: "string" }, days: { type: "integer" } }, required: ["city"] } };
const MAIL = { name: "send_mail", description: "Send a mail", schema: { type: "object", properties: { to: { type: "string" }, subject: { type: "string" } }, required: ["to"] } };
const EXAMPLES = [
  ["two calls, one of an invented tool", "Let me look that up.\n<tool_call>\n{\"name\": \"get_weather\", \"arguments\": {\"city\": \"Paris\", \"days\": \"3\"}}\n</tool_call>\n<tool_call>\n{\"name\": \"launch_rocket\", \"arguments\": {}}\n</tool_call>\nDone."],
  ["a call after thinking", "<think>The user wants Rome. I have get_weather.</think>\n<function=get_weather>\n<parameter=city>\nRome\n</parameter>\n</function>"],
  ["a fence with broken JSON", "```json\n{'name': 'get_weather', 'arguments': {city: 'Oslo', days: 2,}}\n```"],
  ["a call expression", "get_weather(city=\"Lima\", days=2)"],
  ["only an example, no call", "To ask for the weather you would write, for example:\n```json\n{\"name\": \"get_weather\", \"arguments\": {\"city\": \"Paris\"}}\n```\nDo you want me to?"],
];

let characters = []; // whole code points: the gateway counts so
let heard = null;
let turn = 0;
let playing = 0;

async function hear() {
  const mine = ++turn;
  characters = Array.from(by("text").value);
  by("size").textContent = plural(characters.length, "character");
  try {
    const tools = by("tools").value.trim() ? JSON.parse(by("tools").value) : [];
    if (!Array.isArray(tools)) throw new Error("the tools must be a list");
    const asked = { text: characters.join(""), tools, dialect: by("dialect").value, policy: by("policy").value, calls: by("giving").value };
    const held = await ask("toolglot/hear", asked);
    if (mine !== turn) return; // the text has changed since
    heard = held;
    by("wrong").textContent = "";
    by("step").max = characters.length + 1;
    walkTo(characters.length + 1);
  } catch (error) {
    if (mine === turn) by("wrong").textContent = error.message;
  }
}

// -- after so many characters

function walkTo(count) {
  if (!heard) return;
  by("step").value = count;
  const here = Math.min(count, characters.length);
  let held = 0;
  const pieces = [];
  for (const span of heard.spans) {
    const came = Math.min(Math.max(here, span.start), span.end);
    const sure = !span.after || span.after <= count;
    if (!sure) held += came - span.start;
    const told = span.became === "text" && span.label ? "became-told" : "became-" + span.became;
    piece(pieces, sure ? told : "held", sure ? span.label || "" : "held: not decided yet", span.start, came);
    piece(pieces, "to-come", "", came, span.end);
  }
  by("characters").replaceChildren(...pieces.map((one) => el("span", { class: one.kind, title: one.label || null }, characters.slice(one.start, one.end).join(""))));
  by("where").textContent = count > characters.length ? "the end: all is decided" : "after " + here + " of " + characters.length + " characters" + (held ? ", " + held + " of them held back" : "");
  by("heard").replaceChildren(...known(count));
}

function piece(pieces, kind, label, start, end) {
  if (start >= end) return;
  const last = pieces[pieces.length - 1];
  if (last && last.kind === kind && last.label === label && kind !== "became-call" && kind !== "became-refused") last.end = end;
  else pieces.push({ kind, label, start, end });
}

function known(count) {
  const calls = new Map();
  let text = "", reasoning = "", over = false;
  for (const [at, what, ...rest] of heard.steps) {
    if (at > count) break;
    if (what === "text") text += rest[0];
    else if (what === "reasoning") reasoning += rest[0];
    else if (what === "call") calls.set(rest[0], { name: rest[1], source: rest[2], text: "", closed: false, sealed: true, codes: [] });
    else if (what === "arguments") calls.get(rest[0]).text += rest[1];
    else if (what === "close") Object.assign(calls.get(rest[0]), { closed: true, sealed: rest[1], codes: rest[2] });
    else over = true;
  }
  const shown = [...calls.values()].map((call) => el("div", { class: "card" + (call.closed ? (call.sealed ? "" : " refused") : " growing") },
    el("strong", { class: "mono" }, call.name), " ", el("small", {}, call.source + (call.closed ? "" : ", still being written")), " ",
    call.codes.map((code) => chip(call.sealed ? "fixed" : "refused", code)), el("pre", {}, call.closed ? pretty(call.text) : call.text)));
  const decided = over ? heard.decisions : [];
  const refused = (one) => one.code.startsWith("rejected_");
  return [
    ...shown,
    ...decided.filter(refused).map((one) => el("div", { class: "card refused" }, chip("refused", one.code), el("div", {}, one.message))),
    decided.some((one) => !refused(one)) ? el("ul", {}, decided.filter((one) => !refused(one)).map((one) => el("li", {}, el("code", {}, one.code), " " + one.message))) : null,
    reasoning ? el("div", {}, el("small", {}, "Reasoning"), el("pre", { class: "box" }, reasoning)) : null,
    text.trim() ? el("div", {}, el("small", {}, "Text"), el("pre", { class: "box" }, text)) : null,
    !shown.length && over && !decided.length ? el("p", { class: "hint" }, "No call: all of it is text.") : null,
  ].filter(Boolean);
}

// -- the controls

function play(on) {
  clearInterval(playing);
  playing = 0;
  by("play").textContent = on ? "Stop" : "Play";
  if (!on) return;
  if (Number(by("step").value) > characters.length) walkTo(0);
  const stride = Math.max(1, Math.round(characters.length / 400));
  playing = setInterval(() => {
    const next = Number(by("step").value) + stride;
    walkTo(Math.min(next, characters.length + 1));
    if (next > characters.length) play(false);
  }, 25);
}

function moved(by_how_much) {
  play(false);
  walkTo(Math.min(Math.max(Number(by("step").value) + by_how_much, 0), characters.length + 1));
}

let waiting = 0;
function soon() {
  play(false);
  clearTimeout(waiting);
  waiting = setTimeout(hear, 250);
}

by("asked").addEventListener("submit", (event) => event.preventDefault());
for (const id of ["text", "tools"]) by(id).addEventListener("input", soon);
for (const id of ["dialect", "policy", "giving"]) by(id).addEventListener("change", soon);
by("step").addEventListener("input", () => moved(0));
by("back").addEventListener("click", () => moved(-1));
by("forth").addEventListener("click", () => moved(1));
by("play").addEventListener("click", () => play(!playing));
by("example").append(...EXAMPLES.map(([name], at) => el("option", { value: at }, name)));
by("example").addEventListener("change", () => {
  by("text").value = EXAMPLES[Number(by("example").value)][1];
  hear();
});
by("tools").value = JSON.stringify([WEATHER, MAIL], null, 1);
by("text").value = EXAMPLES[0][1];
hear();
