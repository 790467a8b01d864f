// Draws the data of this page: charts by uPlot, and tables. Texts of the data enter by textContent only.
"use strict";
const data = JSON.parse(document.getElementById("data").textContent);
const main = document.getElementById("main");
const colours = ["#0072b2", "#d55e00", "#009e73", "#b8598d", "#b98200", "#3d9bd1", "#7d7400", "#6b7280"];
const ink = (name) => getComputedStyle(document.documentElement).getPropertyValue(name).trim();

// Each name has one colour in all charts.
const names = [];
function colour(name) {
  if (!names.includes(name)) names.push(name);
  return colours[names.indexOf(name) % colours.length];
}

function element(name, text, parent = main, className = "") {
  const made = document.createElement(name);
  if (text !== null) made.textContent = text;
  if (className) made.className = className;
  parent.append(made);
  return made;
}

// A duration in milliseconds with about three significant digits, as in the text tables.
function ms(value) {
  if (value === null || value === undefined || !Number.isFinite(value)) return "–";
  const size = Math.abs(value);
  return value.toFixed(size === 0 ? 0 : size < 0.01 ? 4 : size < 10 ? 3 : size < 100 ? 2 : 1);
}
const fromNs = (ns) => ms(ns / 1e6);
const fixed = (value, digits) => (Number.isFinite(value) ? value.toFixed(digits) : "–");
const sum = (values) => values.reduce((a, b) => a + b, 0);
const known = (values) => values.filter((value) => value !== null && value !== undefined);
const mean = (values) => (values.length ? sum(values) / values.length : NaN);
const label = (row) => (data.results.length > 1 ? `${row.variant}, ${data.results[row.results].name}` : row.variant);
const heading = (group) => (group.n === null ? group.series : `N = ${group.n}: ${group.series}`);

// A table; the first `texts` columns are texts. Each row is [cells, class].
function table(header, texts, rows) {
  const made = element("table", null, element("div", null, main, "scroll"));
  const line = (parent, name, cells, className) => {
    const row = element("tr", null, parent, className);
    cells.forEach((cell, n) => element(name, cell, row, n < texts ? "text" : ""));
  };
  line(element("thead", null, made), "th", header, "");
  const body = element("tbody", null, made);
  rows.forEach(([cells, className]) => line(body, "td", cells, className || ""));
}

// A chart of lines: { name, values, dash } over the same x.
function chart(parent, title, x, lines, xAxis, yAxis, width = 510) {
  const axis = (own) => ({ stroke: ink("--ink"), grid: { stroke: ink("--line") }, ticks: { stroke: ink("--line") }, ...own });
  const series = lines.map(({ name, dash }) => ({
    label: name, width: 2, dash, spanGaps: true, stroke: colour(name), points: { show: x.length < 12 && !xAxis.stepped },
    ...(xAxis.stepped && { paths: uPlot.paths.stepped({ align: 1 }) }),
    value: (_, value) => (value === null || value === undefined ? "–" : yAxis.show(value)),
  }));
  const options = {
    title, width: Math.min(width, main.clientWidth), height: 300,
    scales: { x: { time: false, distr: xAxis.log ? 3 : 1, range: xAxis.range }, y: { distr: yAxis.log ? 3 : 1, range: yAxis.range } },
    axes: [
      axis({
        label: xAxis.label, values: (_, all) => all.map((value) => (value === null ? "" : xAxis.show(value))),
        ...(xAxis.splits && { splits: () => xAxis.splits, filter: (_, all) => all }),
      }),
      axis({ label: yAxis.label, size: 64, values: (_, all) => all.map((value) => (value === null ? "" : yAxis.show(value))) }),
    ],
    series: [{ label: xAxis.name, value: (_, value) => (value === null ? "–" : xAxis.show(value)) }, ...series],
  };
  new uPlot(options, [x, ...lines.map((line) => line.values)], element("div", null, parent));
}

// The mean over N as multiples of the floor of each machine, or else in milliseconds.
function overLoad(parent, groups) {
  const x = groups.map((group) => group.n);
  const entries = (group) => [
    ...group.rows.map((row) => ({ name: label(row), mean: row.summary.mean_ns / 1e6, floor: row.floor_ns / 1e6 })),
    ...group.peers.filter((peer) => peer.floor_ms).map((peer) => ({ name: peer.name, mean: peer.mean_ms, floor: peer.floor_ms, dash: [6, 4] })),
  ];
  const all = groups.map(entries);
  const isMultiple = all.flat().every((entry) => entry.floor > 0);
  const variants = [...new Set(all.flat().map((entry) => entry.name))];
  const lines = variants.map((name) => {
    const found = all.map((of) => of.find((entry) => entry.name === name));
    const values = found.map((entry) => (entry ? (isMultiple ? entry.mean / entry.floor : entry.mean) : null));
    return { name, values, dash: known(found)[0].dash };
  });
  const y = isMultiple
    ? { label: "mean ÷ floor", log: true, show: (value) => `${+value.toPrecision(3)}x` }
    : { label: "mean, ms", log: true, show: ms };
  // A load close to the next one has no label.
  const splits = x.filter((n, index) => index + 1 === x.length || x[index + 1] / n > 1.4);
  const xAxis = { name: "N", label: "N, the crunch limit", log: true, splits, show: (n) => `${n}` };
  const title = isMultiple ? "Mean as multiple of the work on the path; lower is better" : "Mean; lower is better";
  chart(parent, title, x, lines, xAxis, y);
}

// The latency by percentile; the distance to 100 % is logarithmic, so that the tail is visible.
function distribution(parent, group) {
  const place = (percent) => -Math.log10(1 - percent / 100);
  const last = place(99.9) + 0.4;
  const x = [...data.percentiles.map(place), last];
  const lines = group.rows.map((row) => ({ name: label(row), values: [...row.percentiles_ns, row.summary.max_ns].map((ns) => ns / 1e6) }));
  const shown = new Map([0, 50, 90, 99, 99.9].map((percent) => [place(percent), `${percent} %`])).set(last, "max");
  const name = (value) => shown.get(value) || (value >= last ? "max" : `${+(100 - 100 * 10 ** -value).toPrecision(4)} %`);
  chart(parent, heading(group), x, lines, { name: "percentile", label: "percentile", splits: [...shown.keys()], show: name, range: [0, last] },
    { label: "ms; lower is better", log: isWide(lines), show: ms });
}

// Whether the smallest lines would be flat on a linear axis.
function isWide(lines) {
  const values = lines.flatMap((line) => line.values);
  return Math.min(...values) > 0 && Math.max(...values) / Math.min(...values) > 8;
}

function figures(groups) {
  const header = ["N", "variant", "samples", "min", "mean", "p50", "p99", "p99.9", "max", "std", "floor", "mean ÷ floor", "late"];
  const rows = groups.flatMap((group) => {
    const ours = group.rows.map((row) => {
      const of = row.summary;
      const durations = [of.min_ns, of.mean_ns, of.p50_ns, of.p99_ns, of.p999_ns, of.max_ns, of.std_ns].map(fromNs);
      const floor = row.floor_ns ? [fromNs(row.floor_ns), fixed(of.mean_ns / row.floor_ns, 2)] : ["–", "–"];
      return [[group.n ?? "", label(row), of.count, ...durations, ...floor, row.misses ?? ""]];
    });
    const peers = group.peers.map((peer) => {
      const durations = [peer.min_ms, peer.mean_ms, null, peer.p99_ms, null, peer.max_ms, peer.std_ms, peer.floor_ms].map(ms);
      return [[group.n, peer.name, "", ...durations, fixed(peer.floor_ms ? peer.mean_ms / peer.floor_ms : NaN, 2), ""], "peer"];
    });
    return [...ours, ...peers];
  });
  table(header, 2, rows);
}

function latencies() {
  for (const name of new Set(data.groups.map((group) => group.series))) {
    const groups = data.groups.filter((group) => group.series === name);
    element("h2", `${name[0].toUpperCase()}${name.slice(1)}, in ms`);
    const charts = element("div", null, main, "charts");
    if (groups[0].is_latency) {
      if (groups.length > 1 && groups.every((group) => group.n !== null)) overLoad(charts, groups);
      groups.forEach((group) => distribution(charts, group));
    }
    figures(groups);
    if (groups.some((group) => group.peers.length)) element("p", `Grey: ${data.sources.join("; ")}.`, main, "muted");
  }
}

function comparisons() {
  const interval = (ratio) => (ratio ? `${fixed(ratio.low, 2)} to ${fixed(ratio.high, 2)}: ${verdict(ratio)}` : "–");
  const verdict = (ratio) => (ratio.high < 1 ? "faster" : ratio.low > 1 ? "slower" : "cannot tell");
  const compared = data.groups.flatMap((group) => group.rows.filter((row) => row.against).map((row) => [group, row]));
  if (!compared.length) return;
  element("h2", "Faster or slower");
  element("p", "Ratio of the figures, as 95 % interval over turns and blocks of successive samples. A dash: fewer than two turns, or too few samples. Of many rows, one in twenty differs by chance.", main, "muted");
  table(["latency", "variant", "against", "mean", "p50", "p99"], 6,
    compared.map(([group, row]) => [[heading(group), label(row), label(row.against), ...row.against.ratios.map(interval)]]));
}

function wakeUps() {
  const rows = data.results.flatMap((of) => of.wake_ups.map(({ core, priority, summary }) => {
    const durations = [summary.min_ns, summary.mean_ns, summary.p50_ns, summary.p99_ns, summary.p999_ns, summary.max_ns].map(fromNs);
    return [[of.name, core, priority === null ? "normal" : `SCHED_FIFO ${priority}`, ...durations]];
  }));
  if (!rows.length) return;
  element("h2", "Wake-up of a bare thread, in ms");
  table(["results", "core", "policy", "min", "mean", "p50", "p99", "p99.9", "max"], 3, rows);
}

function costs() {
  const measured = data.results.flatMap((of, results) => of.cells.filter((cell) => cell.turns.length).map((cell) => [cell, results]));
  if (!measured.length) return;
  const rows = measured.map(([cell, results]) => {
    const all = (key) => known(cell.turns.map((turn) => turn[key]));
    const after = (key) => known(cell.turns.map((turn) => turn.after[key]));
    const throttled = after("throttled");
    return [[
      label({ variant: cell.name, results }), cell.n ?? "", cell.turns.length, fixed(mean(all("cpu_percent")), 1),
      fixed(Math.max(...all("rss_bytes")) / 2 ** 20, 1), fixed(mean(all("watts")), 1), fixed(mean(all("other_busy_cores")), 1),
      sum(all("dispatched")), sum(all("overwritten")), sum(all("missed_periods")), sum(all("drops")),
      fixed(Math.max(...after("temperature_c")), 1), throttled.length ? `0x${throttled.reduce((a, b) => a | b).toString(16)}` : "–",
    ]];
  });
  element("h2", "Costs and losses");
  table(["variant", "N", "turns", "CPU, % of a core", "resident, MiB", "power, W", "others, cores", "dispatched", "overwritten",
    "missed periods", "drops", "hottest, °C", "throttled"], 1, rows);
}

// The last turn stands for all: histograms are not for exact figures.
function callbacks() {
  const rows = data.results.flatMap((of, results) => of.cells.flatMap((cell) => (cell.turns.at(-1)?.callbacks ?? []).map(({ name, durations }) =>
    [[label({ variant: cell.name, results }), name, durations.count, ...[durations.min_ns, durations.total_ns / durations.count, durations.max_ns].map(fromNs)]])));
  if (!rows.length) return;
  element("h2", "Durations of callbacks in the last turn, in ms");
  table(["variant", "callback", "calls", "min", "mean", "max"], 2, rows);
}

function machines() {
  const rows = data.results.map(({ name, machine, turn_s, load_threads }) => [[name, `${machine.model}, ${machine.architecture}`, machine.os,
    machine.kernel + (machine.real_time ? ", real-time" : ""), machine.cores, machine.governor, machine.isolated, turn_s, load_threads]]);
  table(["results", "machine", "operating system", "kernel", "cores", "governor", "isolated", "turn, s", "busy on purpose"], 4, rows);
  data.results.forEach((of) => element("p", `${of.name}: ${of.command}`, main, "muted"));
}

function findings() {
  const rows = data.results.flatMap((of) => of.findings.map(({ found, fix }) => [[of.name, found, fix]]));
  if (!rows.length) return;
  element("h2", "Conditions that disturb a measurement");
  table(["results", "found", "remedy"], 3, rows);
}

// The value of a term of a score, in the unit that is shown.
const units = {
  nanoseconds: { unit: ", ms", of: (value) => value / 1e6, show: ms },
  millionths: { unit: ", %", of: (value) => value / 1e4, show: (value) => fixed(value, 1) },
  count: { unit: "", of: (value) => value, show: (value) => `${+value.toFixed(3)}` },
};

// A chart for each term that changes: the best candidate so far by evaluations.
function convergence(parent, { terms, convergence: strategies }) {
  terms.forEach((term, index) => {
    const { unit, of, show } = units[term.unit];
    const points = strategies.map(({ points }) => points.map(([at, score]) => [at, score[index] ?? null]));
    const values = new Set(points.flat().map(([, value]) => value));
    if (values.size < 2) return;
    const x = [...new Set(points.flat().map(([at]) => at))].sort((a, b) => a - b);
    const lines = strategies.map(({ strategy }, n) => {
      const end = points[n].length ? points[n].at(-1)[0] : 0;
      const best = (at) => points[n].filter(([from]) => from <= at).at(-1)?.[1] ?? null;
      return { name: strategy, values: x.map((at) => (at > end || best(at) === null ? null : of(best(at)))) };
    });
    chart(parent, term.name + unit, x, lines, { name: "candidates", label: "evaluated candidates", log: true, stepped: true, show: (at) => `${at}` },
      { label: "best so far", show });
  });
}

function optimization(search) {
  if (!search) return;
  element("h2", "Search of a mapping");
  element("p", "Scores are compared term by term, so a less important term may rise.", main, "muted");
  convergence(element("div", null, main, "charts"), search);
  const shown = (score) => search.terms.map((term, n) => {
    const value = score[n] ?? null;
    return value === null ? "–" : units[term.unit].show(units[term.unit].of(value));
  });
  table(["strategy", "candidates", "real time, s", "cores", ...search.terms.map((term) => term.name + units[term.unit].unit)], 1,
    search.strategies.map((row) => [[row.strategy + (row.chosen ? " (chosen)" : ""), row.evaluations, fixed(row.wall_s ?? NaN, 2), row.cores_used, ...shown(row.score)]]));
  if (!search.predictions.length) return;
  element("h3", "Predicted by the deterministic twin, and measured, in ms");
  const keys = ["mean_ns", "p99_ns", "max_ns"];
  const error = (row, key) => fixed((100 * (row.predicted[key] - row.measured[key])) / row.measured[key], 1);
  table(["chain", ...["mean", "p99", "max"].flatMap((name) => [`${name}: predicted`, "measured", "error, %"])], 1,
    search.predictions.map((row) => [[row.chain, ...keys.flatMap((key) => [fromNs(row.predicted[key]), fromNs(row.measured[key]), error(row, key)])]]));
}

document.title = data.title;
main.replaceChildren();
element("h1", data.title);
machines();
latencies();
optimization(data.optimization);
comparisons();
wakeUps();
costs();
callbacks();
findings();
