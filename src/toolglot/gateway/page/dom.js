// Elements, formats, storage, and requests to the gateway. Data is only ever set as text, never as markup.
export const by = (id) => document.getElementById(id);

export function el(tag, attributes, ...children) {
  return fill(document.createElement(tag), attributes, children);
}

export function svg(tag, attributes, ...children) {
  return fill(document.createElementNS("http://www.w3.org/2000/svg", tag), attributes, children);
}

function fill(element, attributes, children) {
  for (const [name, value] of Object.entries(attributes || {})) {
    if (name === "onclick") element.addEventListener("click", value);
    else if (value !== undefined && value !== null && value !== false) element.setAttribute(name, value);
  }
  element.append(...children.flat(2).filter((child) => child !== null && child !== undefined && child !== "" && child !== false));
  return element;
}

// -- storage; it may be disabled

function stored(storage, name, value) {
  try {
    if (value === null) storage().removeItem(name);
    else if (value !== undefined) storage().setItem(name, value);
    return storage().getItem(name);
  } catch {
    return null;
  }
}
export const setting = (name, value) => stored(() => localStorage, "toolglot-" + name, value);

// -- the gateway. The key is in this tab only, and never in the address

let key = stored(() => sessionStorage, "toolglot-key");
export const hasKey = () => Boolean(key);

export function useKey(value) {
  key = value;
  stored(() => sessionStorage, "toolglot-key", value || null);
}

export class RequestError extends Error {
  constructor(message, status) {
    super(message);
    this.status = status;
  }
}

/** The response; an error status raises with the gateway's message. */
export async function send(path, body, signal) {
  const headers = key ? { authorization: "Bearer " + key } : {};
  const options = { headers, signal };
  if (body !== undefined) {
    options.method = "POST";
    headers["content-type"] = "application/json";
    options.body = JSON.stringify(body);
  }
  const response = await fetch(path, options);
  if (response.ok) return response;
  const data = await response.json().catch(() => ({}));
  const problem = new RequestError((data.error && data.error.message) || "status " + response.status, response.status);
  if (response.status === 401) document.dispatchEvent(new Event("signed-out"));
  throw problem;
}

export const request = async (path, body) => (await send(path, body)).json();

// -- formats

export const chip = (kind, text, title) => el("span", { class: "chip " + kind, title }, text);
export const plural = (count, one) => integer(count) + " " + one + (count === 1 ? "" : "s");
export const integer = (count) => count.toLocaleString("en-US", { maximumFractionDigits: 0 });
export const percent = (part, whole) => (whole ? (part === whole ? 100 : Math.min(99.9, (100 * part) / whole).toFixed(part / whole < 0.995 ? 0 : 1)) + " %" : "–");
export const duration = (seconds) => (seconds < 1 ? Math.round(seconds * 1000) + " ms" : seconds < 100 ? seconds.toFixed(1) + " s" : Math.round(seconds / 60) + " min");
export const clock = (seconds, short) => new Date(seconds * 1000).toLocaleTimeString([], { hour: "2-digit", minute: "2-digit", second: short ? undefined : "2-digit", hourCycle: "h23" });

export function compact(count) {
  const steps = [[1e9, "G"], [1e6, "M"], [1e4, "k"]];
  const [size, unit] = steps.find(([one]) => count >= one) || [1, ""];
  if (!unit) return integer(count);
  const value = count / (unit === "k" ? 1000 : size);
  return value.toFixed(value < 100 ? 1 : 0) + " " + unit;
}

export function money(dollars) {
  if (!dollars) return "–";
  return "$" + (dollars >= 100 ? integer(dollars) : dollars >= 0.1 ? dollars.toFixed(2) : dollars.toPrecision(2));
}

export function pretty(text) {
  try {
    const value = JSON.parse(text);
    const short = JSON.stringify(value);
    return short.length > 72 ? JSON.stringify(value, null, 2) : short;
  } catch {
    return text;
  }
}

// -- actions

let hideToast = 0;
export function toast(text) {
  by("toast").textContent = text;
  by("toast").classList.add("on");
  clearTimeout(hideToast);
  hideToast = setTimeout(() => by("toast").classList.remove("on"), 2500);
}

export async function copy(text) {
  try {
    await navigator.clipboard.writeText(text);
  } catch { // not allowed outside https and loopback
    const area = el("textarea", { class: "hidden" });
    area.value = text;
    (document.querySelector("dialog[open]") || document.body).append(area);
    area.select();
    document.execCommand("copy");
    area.remove();
  }
  toast("Copied");
}

/** Buttons of which one is pressed. */
export function segments(container, choices, chosen, choose) {
  const buttons = choices.map(([value, name]) => el("button", { type: "button", "data-value": value, "aria-pressed": String(value === chosen) }, name));
  container.replaceChildren(...buttons);
  container.onclick = (event) => {
    const pressed = event.target.closest("button");
    if (!pressed) return;
    for (const button of buttons) button.setAttribute("aria-pressed", String(button === pressed));
    choose(pressed.dataset.value);
  };
}
