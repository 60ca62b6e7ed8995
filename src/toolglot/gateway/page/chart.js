// A stacked bar chart over time with axes and a tooltip, and sparklines. Arrow keys move through the steps.
import { clock, el, svg } from "./dom.js";

const HEIGHT = 220;
const MARGIN = { top: 8, right: 8, bottom: 22, left: 48 };

/** Round values for an axis up to at least `top`. */
export function ticks(top, whole) {
  if (!(top > 0)) return [0, 1];
  const rough = top / 4;
  const power = 10 ** Math.floor(Math.log10(rough));
  let step = [1, 2, 2.5, 5, 10].find((one) => one * power >= rough) * power;
  if (whole) step = Math.max(1, Math.ceil(step));
  const count = Math.ceil(top / step - 1e-9);
  return Array.from({ length: count + 1 }, (_, at) => Number((at * step).toPrecision(12)));
}

/** `series`: name and colour class; `columns`: for each step, oldest first, a value per series; `at`: its time. */
export function stacked(container, { label, series, columns, at, format, whole }) {
  const width = Math.max(280, container.clientWidth);
  const inside = { width: width - MARGIN.left - MARGIN.right, height: HEIGHT - MARGIN.top - MARGIN.bottom };
  const sums = columns.map((values) => values.reduce((all, one) => all + one, 0));
  const axis = ticks(Math.max(...sums), whole);
  const top = axis[axis.length - 1];
  const y = (value) => MARGIN.top + inside.height * (1 - value / top);
  const slot = inside.width / columns.length;
  const x = (place) => MARGIN.left + slot * place;
  const drawn = svg("svg", { width, height: HEIGHT, viewBox: `0 0 ${width} ${HEIGHT}`, "aria-hidden": "true" });
  for (const value of axis) {
    drawn.append(
      svg("line", { class: "grid", x1: MARGIN.left, x2: width - MARGIN.right, y1: y(value), y2: y(value) }),
      svg("text", { class: "tick end", x: MARGIN.left - 8, y: y(value) + 4 }, format(value)));
  }
  const every = Math.ceil(columns.length / Math.max(2, Math.floor(inside.width / 90)));
  for (let place = columns.length - 1; place >= 0; place -= every) {
    if (x(place) > MARGIN.left + 14) drawn.append(svg("text", { class: "tick middle", x: Math.min(x(place) + slot / 2, width - 22), y: HEIGHT - 5 }, clock(at(place), true)));
  }
  const bar = Math.max(1, slot - (slot > 5 ? 2 : 1));
  columns.forEach((values, place) => {
    let below = 0;
    values.forEach((value, number) => {
      if (!value) return;
      const high = Math.max(1, y(below) - y(below + value));
      drawn.append(svg("rect", { class: series[number].kind, x: (x(place) + (slot - bar) / 2).toFixed(2), width: bar.toFixed(2), y: (y(below) - high).toFixed(2), height: high.toFixed(2) }));
      below += value;
    });
  });
  const cursor = svg("rect", { class: "cursor", y: MARGIN.top, height: inside.height, width: slot, visibility: "hidden" });
  drawn.append(cursor);

  const tip = el("div", { class: "tip", hidden: "" });
  const keys = el("div", { class: "keys", tabindex: "0", role: "slider", "aria-label": label, "aria-valuemin": 0, "aria-valuemax": columns.length - 1, "aria-orientation": "horizontal" });
  let place = columns.length - 1;
  const words = () => [clock(at(place), true), ...series.map((one, number) => one.name + " " + format(columns[place][number]))];
  const describe = () => {
    keys.setAttribute("aria-valuenow", place);
    keys.setAttribute("aria-valuetext", words().join(", "));
  };
  const show = (to) => {
    place = Math.min(Math.max(to, 0), columns.length - 1);
    describe();
    cursor.setAttribute("x", x(place));
    cursor.setAttribute("visibility", "visible");
    tip.replaceChildren(el("strong", {}, clock(at(place), true)),
      ...series.map((one, number) => el("div", {}, el("i", { class: "key " + one.kind }), one.name, el("b", {}, format(columns[place][number])))).reverse());
    tip.hidden = false;
    const left = x(place) + slot / 2;
    tip.classList.toggle("flip", left > width / 2);
    tip.style.left = left + "px";
  };
  const hide = () => {
    tip.hidden = true;
    cursor.setAttribute("visibility", "hidden");
  };
  const placeOf = (event) => Math.floor((event.clientX - container.getBoundingClientRect().left - MARGIN.left) / slot);
  keys.addEventListener("pointermove", (event) => show(placeOf(event)));
  keys.addEventListener("pointerdown", (event) => show(placeOf(event)));
  keys.addEventListener("pointerleave", hide);
  keys.addEventListener("focus", () => keys.matches(":focus-visible") && show(place));
  keys.addEventListener("blur", hide);
  keys.addEventListener("keydown", (event) => {
    const to = { ArrowLeft: place - 1, ArrowRight: place + 1, Home: 0, End: columns.length - 1 }[event.key];
    if (to === undefined) return;
    event.preventDefault();
    show(to);
  });
  describe();
  const old = container.querySelector(".keys");
  const hadFocus = old && old === document.activeElement;
  container.replaceChildren(drawn, keys, tip);
  if (hadFocus) keys.focus();
}

export function sparkline(values) {
  const top = Math.max(1, ...values);
  const points = values.map((value, place) => ((place * 100) / (values.length - 1)).toFixed(1) + "," + (19 - (18 * value) / top).toFixed(1));
  return svg("svg", { class: "spark", viewBox: "0 0 100 20", preserveAspectRatio: "none", "aria-hidden": "true" },
    svg("polyline", { points: points.join(" "), "vector-effect": "non-scaling-stroke" }));
}
