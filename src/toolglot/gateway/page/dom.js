// What all parts share. Text from elsewhere is only ever set as text.
const by = (id) => document.getElementById(id);
const key = new URLSearchParams(location.search).get("key");

function el(tag, attributes, ...children) {
  const made = document.createElement(tag);
  fill(made, attributes, children);
  return made;
}

function svg(tag, attributes, ...children) {
  const made = document.createElementNS("http://www.w3.org/2000/svg", tag);
  fill(made, attributes, children);
  return made;
}

function fill(made, attributes, children) {
  for (const [name, value] of Object.entries(attributes || {})) {
    if (value !== undefined && value !== null) made.setAttribute(name, value);
  }
  made.append(...children.flat().filter((child) => child !== null && child !== undefined && child !== ""));
}

async function ask(path, body) {
  const headers = key ? { authorization: "Bearer " + key } : {};
  const asked = { headers };
  if (body !== undefined) {
    asked.method = "POST";
    headers["content-type"] = "application/json";
    asked.body = JSON.stringify(body);
  }
  const answer = await fetch(path, asked);
  const held = await answer.json();
  if (!answer.ok) throw new Error((held.error && held.error.message) || "status " + answer.status);
  return held;
}

function remembered(name, value) {
  try {
    if (value !== undefined) localStorage.setItem(name, value);
    return localStorage.getItem(name);
  } catch {
    return null; // a browser that keeps nothing
  }
}

const chip = (kind, text) => el("span", { class: "chip " + kind }, text);
const plural = (count, one) => count + " " + one + (count === 1 ? "" : "s");
const percent = (part, whole) => (whole ? (part === whole ? 100 : Math.min(99.9, (100 * part) / whole).toFixed(part / whole < 0.995 ? 0 : 1)) + " %" : "–");
const took = (seconds) => (seconds < 1 ? Math.round(seconds * 1000) + " ms" : seconds.toFixed(1) + " s");
const clock = (seconds) => new Date(seconds * 1000).toLocaleTimeString([], { hour: "2-digit", minute: "2-digit", second: "2-digit", hourCycle: "h23" });

function pretty(text) {
  try {
    const held = JSON.parse(text);
    const short = JSON.stringify(held);
    return short.length > 72 ? JSON.stringify(held, null, 1) : short;
  } catch {
    return text;
  }
}

// dark or light: the system's choice until the reader makes one
const theme = remembered("toolglot-theme");
if (theme === "dark" || theme === "light") document.documentElement.dataset.theme = theme;
by("theme").addEventListener("click", () => {
  const now = document.documentElement.dataset.theme || (matchMedia("(prefers-color-scheme: dark)").matches ? "dark" : "light");
  document.documentElement.dataset.theme = remembered("toolglot-theme", now === "dark" ? "light" : "dark") || (now === "dark" ? "light" : "dark");
});
