// The views and their addresses (`#requests?q=...`), signing in, and what is refreshed when.
import * as chat from "./chat.js";
import * as config from "./config.js";
import { by, el, hasKey, plural, request, setting, useKey } from "./dom.js";
import * as overview from "./overview.js";
import * as playground from "./playground.js";
import * as requests from "./requests.js";
import * as setup from "./setup.js";
import * as usage from "./usage.js";

// what a view does when it is opened, and what it refreshes, each so many milliseconds
const VIEWS = {
  overview: { refresh: overview.refresh, every: 5000 },
  requests: { enter: requests.enter },
  usage: { refresh: usage.refresh, every: 15000 },
  chat,
  playground,
  setup,
  config: { refresh: config.refresh, every: 15000 },
};
const LIVE = 2000; // milliseconds

let view = "";
let signedIn; // unknown until the gateway has answered
let timer = 0;

function route() {
  const [name, query] = location.hash.slice(1).split("?");
  const wanted = name in VIEWS ? name : "overview";
  const isNew = wanted !== view;
  view = wanted;
  for (const each of Object.keys(VIEWS)) by("view-" + each).hidden = !signedIn || each !== view;
  for (const link of by("tabs").children) {
    if (link.hash !== "#" + view) link.removeAttribute("aria-current");
    else {
      link.setAttribute("aria-current", "page");
      link.parentNode.scrollTo({ left: link.offsetLeft - (link.parentNode.clientWidth - link.offsetWidth) / 2 });
    }
  }
  document.title = view === "overview" ? "toolglot" : by("view-" + view).querySelector("h1").textContent + " · toolglot";
  if (!signedIn) return;
  if (VIEWS[view].enter) VIEWS[view].enter(new URLSearchParams(query || ""));
  if (isNew) refreshView();
}

async function refreshView() {
  clearTimeout(timer);
  const { refresh, every } = VIEWS[view];
  if (!refresh || !signedIn) return;
  const current = view;
  if (!document.hidden) await refresh().catch(() => {}); // the state at the top shows that it does not respond
  if (current !== view) return;
  clearTimeout(timer);
  timer = setTimeout(refreshView, every);
}

// -- what is always live

function state(kind, text) {
  by("state").className = "state " + kind;
  if (by("state").textContent !== text) by("state").textContent = text;
}

let answer = null; // what is under way: two at once would fetch the same rows
const live = () => (answer ||= ask().finally(() => (answer = null)));

async function ask() {
  if (document.hidden || signedIn === false) return;
  try {
    const data = await requests.refresh();
    if (!signedIn) start();
    if (!data) state("", "paused");
    else if (data.problem) state("off", data.problem);
    else state("on", data.running ? plural(data.running, "request") + " running" : "live");
  } catch (error) {
    if (error.status === 401) return;
    if (!signedIn) start();
    state("off", error.status ? error.message : "not responding");
  }
}

const repeat = (work, interval) => work().finally(() => setTimeout(repeat, interval, work, interval));

async function models() {
  try {
    const { data } = await request("v1/models");
    by("model-names").replaceChildren(...data.map((one) => el("option", { value: one.id })));
    const first = setting("model") || (data[0] && data[0].id) || "";
    for (const id of ["chat-model", "setup-model"]) if (!by(id).value) by(id).value = first;
    setup.enter();
  } catch {
    // the field takes any name
  }
}

for (const id of ["chat-model", "setup-model"]) by(id).addEventListener("change", () => {
  setting("model", by(id).value);
  by(id === "chat-model" ? "setup-model" : "chat-model").value = by(id).value;
});

// -- signing in

function showLogin(problem) {
  signedIn = false;
  by("login").hidden = false;
  by("signout").hidden = true;
  by("login-error").textContent = problem;
  state("off", "signed out");
  route();
  by("login-key").focus();
}

function start() {
  signedIn = true;
  by("login").hidden = true;
  by("signout").hidden = !hasKey();
  view = "";
  route();
  models();
}

document.addEventListener("signed-out", () => {
  const hadKey = hasKey();
  if (signedIn !== false) showLogin(hadKey ? "This key is not valid here." : "");
  useKey("");
});
by("login").addEventListener("submit", async (event) => {
  event.preventDefault();
  const key = by("login-key").value.trim();
  useKey(key);
  try {
    await request("toolglot/config");
  } catch (error) {
    useKey("");
    by("login-error").textContent = error.status === 401 ? "This key is not valid here." : error.message;
    return;
  }
  by("login-key").value = "";
  start();
  live();
});
by("signout").addEventListener("click", () => {
  useKey("");
  requests.forget();
  showLogin("");
});

// an address with a key, as other clients use it: take the key out of it
const address = new URL(location.href);
if (address.searchParams.has("key")) {
  useKey(address.searchParams.get("key"));
  address.searchParams.delete("key");
  history.replaceState(null, "", address);
}

// -- dark or light: the system's setting until the user chooses

const theme = setting("theme");
if (theme === "dark" || theme === "light") document.documentElement.dataset.theme = theme;
by("theme").addEventListener("click", () => {
  const now = document.documentElement.dataset.theme || (matchMedia("(prefers-color-scheme: dark)").matches ? "dark" : "light");
  const other = now === "dark" ? "light" : "dark";
  setting("theme", other);
  document.documentElement.dataset.theme = other;
});

addEventListener("hashchange", () => signedIn && route());
document.addEventListener("visibilitychange", () => {
  if (document.hidden) return;
  live();
  refreshView();
});
repeat(live, LIVE);
