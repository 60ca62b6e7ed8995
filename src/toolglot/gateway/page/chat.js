// A chat with tools, through the gateway's own Chat Completions API, streamed.
import { by, chip, el, pretty, send } from "./dom.js";
import { openDrawer } from "./drawer.js";

const MAX_ROUNDS = 8; // of calls for one message
const TOOLS = [
  { type: "function", function: { name: "get_time", description: "The time now in a time zone", parameters: { type: "object", properties: { zone: { type: "string", description: "IANA name, such as Europe/Oslo" } }, required: ["zone"] } } },
  { type: "function", function: { name: "roll_dice", description: "Roll dice", parameters: { type: "object", properties: { count: { type: "integer", minimum: 1, maximum: 100 }, sides: { type: "integer", minimum: 2, maximum: 1000 } }, required: ["count"] } } },
];
const RUN = {
  get_time: ({ zone }) => new Date().toLocaleString("en-GB", { timeZone: zone, dateStyle: "medium", timeStyle: "short" }),
  roll_dice: ({ count, sides }) => Array.from({ length: Math.min(count, 100) }, () => 1 + Math.floor(Math.random() * (sides || 6))).join(", "),
};

let messages = [];
let stop = null; // the AbortController of the running request

async function ask(text) {
  turn("user", text);
  messages.push({ role: "user", content: text });
  stop = new AbortController();
  const controller = stop;
  busy(true);
  try {
    const tools = by("chat-tools").value.trim() ? JSON.parse(by("chat-tools").value) : [];
    if (!Array.isArray(tools)) throw new Error("the tools must be a list");
    for (let round = 0; round < MAX_ROUNDS; round++) {
      const calls = await reply(tools, controller.signal);
      if (!calls.length) return;
      for (const call of calls) {
        const content = await result(call, controller.signal);
        messages.push({ role: "tool", tool_call_id: call.id, content });
      }
    }
    turn("note", "Stopped after " + MAX_ROUNDS + " rounds of calls.");
  } catch (error) {
    turn(error.name === "AbortError" ? "note" : "problem", error.name === "AbortError" ? "Stopped." : error.message);
  } finally {
    if (stop === controller) busy(false);
  }
}

/** One response: its text is shown as it arrives. Returns its calls. */
async function reply(tools, signal) {
  const body = { model: by("chat-model").value, messages, stream: true };
  if (tools.length) body.tools = tools;
  const response = await send("v1/chat/completions", body, signal);
  const shown = turn("assistant", "");
  const text = shown.querySelector(".words");
  const message = { role: "assistant", content: "" };
  const calls = [];
  for await (const chunk of chunks(response)) {
    if (chunk.error) throw new Error(chunk.error.message || "the response broke off");
    const delta = ((chunk.choices || [])[0] || {}).delta || {};
    if (delta.content) text.textContent = message.content += delta.content;
    for (const part of delta.tool_calls || []) {
      const call = (calls[part.index] = calls[part.index] || { id: "", type: "function", function: { name: "", arguments: "" } });
      if (part.id) call.id = part.id;
      if (part.function && part.function.name) call.function.name = part.function.name;
      if (part.function && part.function.arguments) call.function.arguments += part.function.arguments;
    }
    bottom();
  }
  const made = calls.filter(Boolean);
  if (made.length) message.tool_calls = made;
  messages.push(message);
  const id = response.headers.get("x-request-id");
  if (id) shown.append(el("button", { type: "button", class: "link", onclick: () => openDrawer(id, () => undefined) }, "details"));
  if (!message.content && made.length) text.remove();
  return made;
}

async function* chunks(response) {
  const reader = response.body.pipeThrough(new TextDecoderStream()).getReader();
  let rest = "";
  for (;;) {
    const { value, done } = await reader.read();
    if (done) return;
    const lines = (rest + value).split("\n");
    rest = lines.pop();
    for (const line of lines) if (line.startsWith("data: {")) yield JSON.parse(line.slice(6));
  }
}

/** A call's result: from this page, or from the user. */
async function result(call, signal) {
  const name = call.function.name;
  const card = el("div", { class: "card" }, el("strong", { class: "mono" }, name), " ", chip("rescued", "call"), el("pre", {}, pretty(call.function.arguments || "{}")));
  by("turns").append(card);
  bottom();
  let content;
  if (name in RUN) {
    try {
      content = String(RUN[name](JSON.parse(call.function.arguments || "{}")));
    } catch (error) {
      content = "Error: " + error.message;
    }
  } else {
    content = await asked(card, name, signal);
  }
  card.append(el("div", { class: "outcome" }, el("small", {}, "result "), content));
  bottom();
  return content;
}

function asked(card, name, signal) {
  return new Promise((resolve, reject) => {
    const input = el("input", { "aria-label": "Result of " + name, placeholder: "Result of " + name, autocomplete: "off" });
    const form = el("form", { class: "inline" }, input, el("button", { type: "submit" }, "Use"));
    form.addEventListener("submit", (event) => {
      event.preventDefault();
      form.remove();
      resolve(input.value);
    });
    signal.addEventListener("abort", () => {
      form.remove();
      reject(new DOMException("stopped", "AbortError"));
    });
    card.append(form);
    input.focus();
    bottom();
  });
}

// -- the view

function turn(kind, text) {
  const shown = el("div", { class: "turn " + kind }, el("div", { class: "words" }, text));
  by("turns").append(shown);
  bottom();
  return shown;
}

const bottom = () => (by("turns").scrollTop = by("turns").scrollHeight);

function busy(on) {
  if (!on) stop = null;
  by("chat-send").textContent = on ? "Stop" : "Send";
  by("turns").setAttribute("aria-busy", String(on));
}

by("chat-tools").value = JSON.stringify(TOOLS, null, 2);
by("chat-form").addEventListener("submit", (event) => {
  event.preventDefault();
  const text = by("chat-text").value.trim();
  if (stop) stop.abort();
  else if (text) {
    by("chat-text").value = "";
    if (!messages.length) by("turns").replaceChildren();
    ask(text);
  }
});
by("chat-text").addEventListener("keydown", (event) => {
  if (event.key !== "Enter" || event.shiftKey || event.isComposing) return;
  event.preventDefault();
  by("chat-form").requestSubmit();
});
by("chat-clear").addEventListener("click", () => {
  if (stop) stop.abort();
  messages = [];
  by("turns").replaceChildren();
  by("chat-text").focus();
});
