// Commands that point a client at this gateway, and a test request.
import { by, chip, copy, duration, el, hasKey, pretty, segments, send, setting } from "./dom.js";
import { openDrawer } from "./drawer.js";

const gateway = location.origin + location.pathname.replace(/\/$/, "");
const here = gateway === "http://127.0.0.1:8484" ? "" : " --gateway " + gateway; // that one is the default
const json = (value) => JSON.stringify(value, null, 2);

// {url}, {key} and {model} are filled in. `launch`: the name for `toolglot launch` and, unless it keeps no settings, `toolglot connect`
const CLIENTS = {
  claude: { title: "Claude Code", launch: "claude", hand: "ANTHROPIC_BASE_URL={url} ANTHROPIC_AUTH_TOKEN={key} claude --model {model}" },
  codex: { title: "Codex", launch: "codex", hand: "TOOLGLOT_KEY={key} codex -m {model} -c model_provider=toolglot -c 'model_providers.toolglot={name=\"toolglot\",base_url=\"{url}/v1\",wire_api=\"responses\",env_key=\"TOOLGLOT_KEY\"}'" },
  gemini: { title: "Gemini CLI", launch: "gemini", hand: "GOOGLE_GEMINI_BASE_URL={url} GEMINI_API_KEY={key} gemini -m {model}" },
  opencode: { title: "opencode", launch: "opencode", file: "opencode.json", hand: json({ model: "toolglot/{model}", provider: { toolglot: { npm: "@ai-sdk/openai-compatible", options: { baseURL: "{url}/v1", apiKey: "{key}" }, models: { "{model}": {} } } } }) },
  qwen: { title: "Qwen Code", launch: "qwen", hand: "OPENAI_BASE_URL={url}/v1 OPENAI_API_KEY={key} OPENAI_MODEL={model} qwen --auth-type openai" },
  goose: { title: "goose", launch: "goose", hand: "export GOOSE_PROVIDER=openai GOOSE_MODEL={model}\nexport OPENAI_HOST={url} OPENAI_BASE_PATH=v1/chat/completions OPENAI_API_KEY={key}\ngoose" },
  aider: { title: "aider", launch: "aider", hand: "OPENAI_API_BASE={url}/v1 OPENAI_API_KEY={key} aider --model openai/{model}" },
  pi: { title: "pi", launch: "pi", file: "~/.pi/agent/models.json", hand: json({ providers: { toolglot: { baseUrl: "{url}/v1", api: "openai-completions", apiKey: "{key}", models: [{ id: "{model}", input: ["text", "image"] }] } } }), then: "pi --provider toolglot --model {model}" },
  copilot: { title: "Copilot CLI", launch: "copilot", keeps: false, hand: "COPILOT_PROVIDER_BASE_URL={url}/v1 COPILOT_PROVIDER_API_KEY={key} COPILOT_MODEL={model} copilot" },
  cline: { title: "Cline", launch: "cline", file: "~/.cline/data/settings/providers.json", hand: json({ version: 1, lastUsedProvider: "openai-compatible", providers: { "openai-compatible": { updatedAt: "2026-11-01T00:00:00.000Z", tokenSource: "manual", settings: { provider: "openai-compatible", apiKey: "{key}", model: "{model}", baseUrl: "{url}/v1" } } } }) },
  python: { title: "Python", hand: 'import openai\n\nclient = openai.OpenAI(base_url="{url}/v1", api_key="{key}")\nprint(client.chat.completions.create(model="{model}", messages=[{"role": "user", "content": "Hello"}]).choices[0].message.content)' },
  javascript: { title: "JavaScript", hand: 'import OpenAI from "openai";\n\nconst client = new OpenAI({ baseURL: "{url}/v1", apiKey: "{key}" });\nconst reply = await client.chat.completions.create({ model: "{model}", messages: [{ role: "user", content: "Hello" }] });\nconsole.log(reply.choices[0].message.content);' },
  curl: { title: "curl", hand: "curl {url}/v1/chat/completions -H 'content-type: application/json' -H \"authorization: Bearer {key}\" \\\n  -d '{\"model\": \"{model}\", \"messages\": [{\"role\": \"user\", \"content\": \"Hello\"}]}'" },
};
const IN_CODE = new Set(["python", "javascript", "opencode", "pi", "cline"]); // a shell does not fill in their key

let chosen = setting("client") in CLIENTS ? setting("client") : "claude";

function show() {
  const client = CLIENTS[chosen];
  const model = by("setup-model").value || "MODEL";
  const key = !hasKey() ? "any" : IN_CODE.has(chosen) ? "YOUR_KEY" : "$TOOLGLOT_KEY";
  const fill = (text) => text.replaceAll("{url}", gateway).replaceAll("{key}", key).replaceAll("{model}", model);
  by("commands").replaceChildren(...[
    client.launch ? command("Start it once", "toolglot launch " + client.launch + " -m " + model + here, "It uses this gateway, and changes none of your files.") : null,
    client.launch && client.keeps !== false ? command("Write its settings", "toolglot connect " + client.launch + " -m " + model + here + " --write", "Keeps a backup. --undo instead of --write goes back.") : null,
    command(client.launch ? "By hand" : client.title, fill(client.hand), client.file ? "In " + client.file + "." : ""),
    client.then ? command("Then", fill(client.then), "") : null,
    hasKey() ? el("p", { class: "hint" }, "Replace ", el("code", {}, key), " by your key: this page does not show it.") : null,
  ].filter(Boolean));
}

function command(title, text, note) {
  return el("div", { class: "command" },
    el("div", { class: "head" }, el("h2", {}, title), el("button", { type: "button", "aria-label": "Copy: " + title, onclick: () => copy(text) }, "Copy")),
    note ? el("p", { class: "hint" }, note) : null,
    el("pre", { class: "box", tabindex: "0", "aria-label": title, role: "region" }, text.split(/(\s+)/).map((word) => (word.trim() ? el("span", { class: "whole" }, word) : word))));
}

export const enter = show;

// -- the test request

const TEST_TOOL = { type: "function", function: { name: "get_weather", description: "The weather in a city", parameters: { type: "object", properties: { city: { type: "string" } }, required: ["city"] } } };

async function test() {
  const began = performance.now();
  by("test").disabled = true;
  by("tested").replaceChildren(el("p", { class: "hint" }, "Waiting for the model …"));
  try {
    const response = await send("v1/chat/completions", { model: by("setup-model").value, messages: [{ role: "user", content: "What is the weather in Paris? Use the tool." }], tools: [TEST_TOOL] });
    const { choices, usage } = await response.json();
    const message = choices[0].message;
    const calls = message.tool_calls || [];
    const codes = (response.headers.get("x-toolglot-decisions") || "").split(", ").filter(Boolean);
    const id = response.headers.get("x-request-id");
    by("tested").replaceChildren(...[
      el("p", {}, chip(calls.length ? "rescued" : "", calls.length ? "a valid call" : "no call"), " in " + duration((performance.now() - began) / 1000), usage ? ", " + usage.total_tokens + " tokens" : "",
        " from ", el("span", { class: "mono" }, response.headers.get("x-toolglot-upstream") || "")),
      ...calls.map((call) => el("pre", { class: "box", tabindex: "0" }, call.function.name + " " + pretty(call.function.arguments))),
      message.content ? el("pre", { class: "box", tabindex: "0" }, message.content) : null,
      codes.length ? el("p", {}, codes.map((code) => [el("code", {}, code), " "])) : null,
      calls.length || codes.length ? null : el("p", { class: "hint" }, "The model answered in words. Some do that for a simple question; ", el("code", {}, "toolglot probe"), " finds out more."),
      id ? el("button", { type: "button", class: "link", onclick: () => openDrawer(id, () => undefined) }, "details") : null,
    ].filter(Boolean));
  } catch (error) {
    by("tested").replaceChildren(el("p", { class: "error", role: "alert" }, error.message));
  }
  by("test").disabled = false;
}

segments(by("agents"), Object.entries(CLIENTS).map(([value, one]) => [value, one.title]), chosen, (value) => {
  chosen = setting("client", value) || value;
  show();
});
by("setup-model").addEventListener("input", show);
by("test").addEventListener("click", test);
