// Totals, the chart over time, and the table of models.
import { sparkline, stacked } from "./chart.js";
import { by, compact, duration, el, integer, money, percent, request, segments, setting } from "./dom.js";

// each measure of the chart: its series, and their values in one step of one model
const MEASURES = {
  calls: {
    name: "Calls",
    series: [["unchanged", "plain"], ["recovered from text", "rescued"], ["repaired", "fixed"], ["rejected", "refused"]],
    values: (of) => [of("passed") - of("rescued") + of("rescued_fixed"), of("rescued"), of("fixed") - of("rescued_fixed"), of("refused")],
    format: integer,
  },
  requests: { name: "Requests", series: [["successful", "plain"], ["failed", "refused"]], values: (of) => [of("requests") - of("failed"), of("failed")], format: integer },
  tokens: { name: "Tokens", series: [["input", "plain"], ["output", "rescued"]], values: (of) => [of("input"), of("output")], format: compact },
  cost: { name: "Cost", series: [["cost", "rescued"]], values: (of) => [of("cost")], format: (value) => (value ? money(value) : "$0") },
};

const COLUMNS = [
  ["Model", (row) => row.name, (row) => row.name],
  ["Requests", (row) => row.requests, (row) => integer(row.requests)],
  ["Failed", (row) => row.failed, (row) => (row.failed ? integer(row.failed) : "–")],
  ["Calls", (row) => row.calls, (row) => integer(row.calls)],
  ["Recovered", (row) => row.rescued, (row) => integer(row.rescued)],
  ["Success", (row) => (row.calls ? row.accepted / row.calls : -1), (row) => percent(row.accepted, row.calls)],
  ["p95", (row) => (row.seconds ? row.seconds[1] : -1), (row) => (row.seconds ? duration(row.seconds[1]) : "–")],
  ["Tokens", (row) => row.tokens, (row) => compact(row.tokens)],
  ["Cost", (row) => row.cost, (row) => money(row.cost)],
];

const MEANINGS = {
  Recovered: "calls that the model wrote as text",
  Success: "calls that reached the client, as they were or repaired",
  p95: "5 % of the requests took longer",
};

let history = null;
let running = 0;
let measure = setting("measure") in MEASURES ? setting("measure") : "calls";
let sorted = { column: 1, down: true };
const rowsByModel = new Map();

export async function refresh() {
  const data = await request("toolglot/live?after=*&span=" + by("span").value);
  history = data.history;
  running = data.running;
  draw();
}

export function showRunning(count) {
  running = count;
  const tile = by("tiles").querySelector("[data-tile='In flight'] dd");
  if (tile) tile.textContent = integer(count);
}

function sums(rows) {
  const all = {};
  history.columns.forEach((name, place) => (all[name] = rows.reduce((sum, row) => sum + row[place + 1], 0)));
  all.calls = all.passed + all.fixed + all.refused;
  all.accepted = all.passed + all.fixed;
  all.tokens = all.input + all.output;
  return all;
}

export function draw() {
  if (!history) return;
  drawTiles();
  drawChart();
  drawModels();
}

function drawTiles() {
  const all = sums(Object.values(history.models).flat());
  const [middle, slow] = history.all_seconds || [];
  const tiles = [
    ["Requests", integer(all.requests)],
    ["Failures", integer(all.failed), all.failed ? percent(all.failed, all.requests) + " of requests" : "", all.failed ? "bad" : ""],
    ["In flight", integer(running)],
    ["p50", middle ? duration(middle) : "–", middle ? "half took longer" : ""],
    ["p95", slow ? duration(slow) : "–", slow ? "5 % took longer" : ""],
    ["Tokens", compact(all.tokens), all.tokens ? compact(all.input) + " in, " + compact(all.output) + " out" : ""],
    ["Cost", money(all.cost), all.cost ? "of models with a price" : ""],
    ["Recovered from text", integer(all.rescued), all.rescued ? percent(all.rescued, all.calls) + " of " + integer(all.calls) + " calls" : "", "strong"],
    ["Repaired", integer(all.fixed), all.fixed ? percent(all.fixed, all.calls) + " of calls" : ""],
    ["Rejected", integer(all.refused), all.refused ? percent(all.refused, all.calls) + " of calls" : "", all.refused ? "bad" : ""],
  ];
  by("tiles").replaceChildren(...tiles.map(([name, value, note, kind]) =>
    el("div", { class: kind, "data-tile": name }, el("dt", {}, name), el("dd", {}, value), note ? el("dd", { class: "note" }, note) : null)));
}

// -- the chart

function drawChart() {
  const chosen = MEASURES[measure];
  const columns = Array.from({ length: history.steps }, () => chosen.series.map(() => 0));
  for (const rows of Object.values(history.models)) {
    for (const row of rows) {
      const values = chosen.values((name) => row[1 + history.columns.indexOf(name)]);
      values.forEach((value, number) => (columns[history.steps - 1 - row[0]][number] += value));
    }
  }
  const now = Date.now() / 1000;
  const series = chosen.series.map(([name, kind]) => ({ name, kind }));
  stacked(by("plot"), {
    label: chosen.name + " over the last " + history.span + ", by " + history.step / 60 + " minutes",
    series, columns, format: chosen.format, whole: chosen.format === integer,
    at: (place) => now - (history.steps - 1 - place) * history.step,
  });
  by("legend").replaceChildren(...(series.length > 1 ? series : []).map((one) => el("span", {}, el("i", { class: "key " + one.kind }), one.name)));
}

// -- models

function drawModels() {
  const models = Object.entries(history.models).map(([name, rows]) => ({ name, rows, seconds: history.seconds[name], ...sums(rows) }));
  const value = COLUMNS[sorted.column][1];
  const order = (one, other) => (value(one) < value(other) ? -1 : value(one) > value(other) ? 1 : one.name < other.name ? -1 : 1);
  models.sort((one, other) => (sorted.down ? order(other, one) : order(one, other)));
  by("no-models").hidden = models.length > 0;
  by("models").hidden = !models.length;
  if (!by("models").tHead) by("models").append(head(), el("tbody", {}));
  by("models").querySelectorAll("th").forEach((cell, place) => place < COLUMNS.length && cell.setAttribute("aria-sort", place !== sorted.column ? "none" : sorted.down ? "descending" : "ascending"));
  const rows = models.map((row) => {
    const sign = JSON.stringify(row.rows) + row.seconds;
    const known = rowsByModel.get(row.name);
    if (known && known.sign === sign) return known.row;
    const drawn = modelRow(row);
    rowsByModel.set(row.name, { sign, row: drawn });
    return drawn;
  });
  for (const name of rowsByModel.keys()) if (!(name in history.models)) rowsByModel.delete(name);
  by("models").tBodies[0].replaceChildren(...rows);
}

function head() {
  const cells = COLUMNS.map(([name], place) =>
    el("th", { scope: "col", class: place ? "number" : null }, el("button", { type: "button", title: MEANINGS[name], onclick: () => sort(place) }, name)));
  return el("thead", {}, el("tr", {}, cells, el("th", { scope: "col" }, "Requests over time")));
}

function sort(column) {
  sorted = { column, down: sorted.column === column ? !sorted.down : column > 0 };
  drawModels();
}

function modelRow(row) {
  const perStep = new Array(history.steps).fill(0);
  const place = 1 + history.columns.indexOf("requests");
  for (const one of row.rows) perStep[history.steps - 1 - one[0]] += one[place];
  return el("tr", {}, COLUMNS.map(([name, , shown], number) => {
    const bad = (name === "Success" && row.calls && row.accepted / row.calls < 0.9) || (name === "Failed" && row.failed > 0);
    return number
      ? el("td", { class: "number" + (bad ? " bad" : ""), "data-label": name }, shown(row))
      : el("th", { scope: "row" }, el("a", { href: "#requests?q=" + encodeURIComponent(row.name) }, row.name));
  }), el("td", { class: "sparks" }, sparkline(perStep)));
}

by("span").addEventListener("change", () => refresh().catch(() => {}));
segments(by("measure"), Object.entries(MEASURES).map(([value, one]) => [value, one.name]), measure, (value) => {
  measure = setting("measure", value) || value;
  if (history) drawChart();
});
let width = 0;
new ResizeObserver(() => {
  if (!history || by("plot").clientWidth === width) return;
  width = by("plot").clientWidth;
  if (width) drawChart();
}).observe(by("plot"));
