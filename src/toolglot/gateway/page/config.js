// Upstreams and their state, routes, settings, the version.
import { by, chip, clock, duration, el, plural, request } from "./dom.js";

export async function refresh() {
  const [state, config] = await Promise.all([request("toolglot/upstreams"), request("toolglot/config")]);
  by("upstreams").replaceChildren(...state.upstreams.map(upstream));
  if (!state.upstreams.length) by("upstreams").append(el("li", { class: "hint" }, "No upstreams."));
  by("route-list").replaceChildren(...state.routes.map(route));
  if (!state.routes.length) by("route-list").append(el("li", { class: "hint" }, "No routes."));
  by("version").replaceChildren("toolglot " + config.version + ", " + (config.keys ? plural(config.keys, "key") : "no keys: only this machine may connect"),
    config.docs ? " · " : "", config.docs ? el("a", { href: config.docs, rel: "noreferrer", target: "_blank" }, "Documentation") : "");
  by("settings").hidden = !config.server;
  if (config.server) {
    const changed = new Set(config.changed);
    by("setting-list").replaceChildren(...Object.entries(config.server).map(([name, value]) =>
      el("div", { class: changed.has(name) ? "changed" : null }, el("dt", { class: "mono" }, name), el("dd", { class: "mono" }, JSON.stringify(value)))));
  }
}

function upstream(one) {
  const state = one.reachable ? "reachable, " + duration(one.seconds) : "not reachable: " + one.problem;
  return el("li", {},
    el("div", {}, el("span", { class: one.reachable ? "dot" : "dot off", "aria-hidden": "true" }), el("strong", {}, one.name), " ",
      el("small", { class: one.reachable ? null : "bad" }, state)),
    el("div", { class: "hint" }, one.provider + ", " + one.wire + ", ", el("span", { class: "mono" }, one.address)),
    one.note ? el("div", { class: "hint" }, one.note) : null,
    one.failed ? el("div", { class: "bad" }, el("small", { class: "bad" }, "last error: " + [one.failed.status, one.failed.code].filter(Boolean).join(" ") + ", " + clock(one.failed.at))) : null,
    one.count ? el("details", {}, el("summary", {}, plural(one.count, "model")), el("div", { class: "hint mono" }, one.models.join(", ") + (one.count > one.models.length ? ", …" : ""))) : null);
}

function route(row) {
  const how = Object.entries(row).filter(([name, value]) => name !== "model" && name !== "to" && value !== null && value !== "" && !(Array.isArray(value) && !value.length));
  return el("li", {}, el("div", { class: "mono" }, row.model + " → " + [row.to].flat().join(", ")),
    el("div", { class: "chips" }, how.map(([name, value]) => chip("", name + " " + (typeof value === "object" ? JSON.stringify(value) : value)))));
}
