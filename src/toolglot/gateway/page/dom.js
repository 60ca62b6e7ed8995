// Shared helpers. Data is only ever set as text, never as markup.
const by = (id) => document.getElementById(id);
const key = new URLSearchParams(location.search).get("key");

function el(tag, attributes, ...children) {
  const element = document.createElement(tag);
  fill(element, attributes, children);
  return element;
}

function svg(tag, attributes, ...children) {
  const element = document.createElementNS("http://www.w3.org/2000/svg", tag);
  fill(element, attributes, children);
  return element;
}

function fill(element, attributes, children) {
  for (const [name, value] of Object.entries(attributes || {})) {
    if (value !== undefined && value !== null) element.setAttribute(name, value);
  }
  element.append(...children.flat().filter((child) => child !== null && child !== undefined && child !== ""));
}

async function request(path, body) {
  const headers = key ? { authorization: "Bearer " + key } : {};
  const options = { headers };
  if (body !== undefined) {
    options.method = "POST";
    headers["content-type"] = "application/json";
    options.body = JSON.stringify(body);
  }
  const response = await fetch(path, options);
  const data = await response.json();
  if (!response.ok) throw new Error((data.error && data.error.message) || "status " + response.status);
  return data;
}

function setting(name, value) {
  try {
    if (value !== undefined) localStorage.setItem(name, value);
    return localStorage.getItem(name);
  } catch {
    return null; // storage is disabled
  }
}

const chip = (kind, text) => el("span", { class: "chip " + kind }, text);
const plural = (count, one) => count + " " + one + (count === 1 ? "" : "s");
const percent = (part, whole) => (whole ? (part === whole ? 100 : Math.min(99.9, (100 * part) / whole).toFixed(part / whole < 0.995 ? 0 : 1)) + " %" : "–");
const duration = (seconds) => (seconds < 1 ? Math.round(seconds * 1000) + " ms" : seconds.toFixed(1) + " s");
const clock = (seconds) => new Date(seconds * 1000).toLocaleTimeString([], { hour: "2-digit", minute: "2-digit", second: "2-digit", hourCycle: "h23" });

function pretty(text) {
  try {
    const value = JSON.parse(text);
    const short = JSON.stringify(value);
    return short.length > 72 ? JSON.stringify(value, null, 1) : short;
  } catch {
    return text;
  }
}

// dark or light: the system's setting until the user chooses
const theme = setting("toolglot-theme");
if (theme === "dark" || theme === "light") document.documentElement.dataset.theme = theme;
by("theme").addEventListener("click", () => {
  const now = document.documentElement.dataset.theme || (matchMedia("(prefers-color-scheme: dark)").matches ? "dark" : "light");
  document.documentElement.dataset.theme = setting("toolglot-theme", now === "dark" ? "light" : "dark") || (now === "dark" ? "light" : "dark");
});
