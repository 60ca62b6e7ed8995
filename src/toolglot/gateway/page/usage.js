// Requests, tokens and cost by day, key and model, and what is left of the budgets.
import { by, el, integer, money, request, segments, setting } from "./dom.js";

// each grouping: the columns by which rows are added up
const GROUPS = { model: ["model"], owner: ["owner"], day: ["day"], all: ["day", "owner", "model"] };
const TITLES = { model: "Model", owner: "Key", day: "Day (UTC)", all: "All" };
const NUMBERS = { requests: ["Requests", integer], input_tokens: ["Tokens in", integer], output_tokens: ["Tokens out", integer], cost: ["Cost", money] };

let rows = [];
let group = setting("usage") in GROUPS ? setting("usage") : "model";

export async function refresh() {
  const report = await request("toolglot/usage?days=" + by("days").value);
  rows = report.usage;
  draw();
  by("budgets").hidden = !report.budgets.length;
  by("budget-list").replaceChildren(...report.budgets.map(budget));
}

function draw() {
  const columns = GROUPS[group];
  const sums = new Map();
  const total = {};
  for (const row of rows) {
    const name = columns.map((one) => row[one]).join("\n");
    if (!sums.has(name)) sums.set(name, Object.fromEntries(columns.map((one) => [one, row[one]])));
    for (const each of [sums.get(name), total]) for (const kind in NUMBERS) each[kind] = (each[kind] || 0) + (row[kind] || 0);
  }
  const newestFirst = (one, other) => (columns[0] === "day" ? other.day.localeCompare(one.day) : 0);
  const found = [...sums.values()].sort((one, other) => newestFirst(one, other) || other.cost - one.cost || other.input_tokens - one.input_tokens);
  by("no-usage").hidden = found.length > 0;
  by("usage").hidden = !found.length;
  by("usage").replaceChildren(
    el("thead", {}, el("tr", {}, columns.map((one) => el("th", { scope: "col" }, TITLES[one])), Object.values(NUMBERS).map(([title]) => el("th", { scope: "col", class: "number" }, title)))),
    el("tbody", {}, found.map((row) => line(columns.map((one) => row[one]), row))),
    el("tfoot", {}, line(["Total", ...columns.slice(1).map(() => " ")], total)));
}

function line(names, row) {
  const [first, ...rest] = names;
  return el("tr", {}, el("th", { scope: "row", class: "mono" }, first), rest.map((name) => el("td", { class: "mono" }, name)),
    Object.entries(NUMBERS).map(([kind, [title, format]]) => el("td", { class: "number", "data-label": title }, format(row[kind] || 0))));
}

function budget(row) {
  return el("li", {}, el("strong", { class: "mono" }, row.owner), " ", el("small", {}, "per " + row.period + ", starts again " + row.ends.slice(0, 10)),
    [["dollars", money], ["tokens", integer]].filter(([kind]) => kind in row).map(([kind, format]) => {
      const [spent, limit] = [row["spent_" + kind], row[kind]];
      const words = (spent ? format(spent) : "0") + " of " + format(limit) + (kind === "tokens" ? " tokens" : "");
      return el("div", { class: spent >= limit ? "budget bad" : "budget" }, el("progress", { max: limit, value: Math.min(spent, limit), "aria-label": row.owner + ": " + words }), el("span", { class: "number" }, words + (spent >= limit ? ", spent" : "")));
    }));
}

by("days").addEventListener("change", () => refresh().catch(() => {}));
segments(by("grouping"), Object.entries(TITLES), group, (value) => {
  group = setting("usage", value) || value;
  draw();
});
