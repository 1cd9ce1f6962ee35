// The store's runs: filtered, opened, and several compared on one chart.

import { locate } from "./address.js";
import { el, number, table } from "./dom.js";
import { applyTheme, header } from "./layout.js";
import { whole } from "./numbers.js";
import { transport } from "./transport.js";
import { MARKS } from "./words.js";

const chosen = new Map(); // the page of each run
let theme = new URLSearchParams(location.search).get("theme");

function dress(name) {
  theme = name;
  applyTheme(name);
  const address = new URLSearchParams(location.search);
  if (name) address.set("theme", name);
  else address.delete("theme");
  history.replaceState(null, "", `?${address}`);
}

applyTheme(theme);
const catalogue = await transport.catalogue();
document.body.prepend(header(catalogue, "saved", theme, dress));
const study = new URLSearchParams(location.search).get("study");
const filter = el("input", { id: "where", type: "search", autocomplete: "off", value: new URLSearchParams(location.search).get("where") ?? "" });
const compare = el("button", { type: "button", id: "compare", class: "primary", disabled: true, onclick: () => (location.href = address([...chosen.values()][0], [...chosen.keys()])) }, "Compare");
const said = el("p", { role: "status", id: "found" });
const list = el("div", { id: "runs" });
document.body.append(el("main", { id: "content", class: "plain" }, el("h1", {}, "Saved runs"),
  el("p", { class: "soft" }, "Runs in the store of the output folder. Tick several to lay them over each other. A filter is a list of conditions: tokens>16, seed=0, outcome=FINISHED."),
  study ? el("p", {}, `Only runs of the study ${study}. `, el("a", { href: catalogue.saved }, "All runs")) : null,
  el("form", { class: "bar", onsubmit: (event) => (event.preventDefault(), show()) }, el("label", { for: "where" }, "Filter"), filter, el("button", { type: "submit" }, "Apply"), compare), said, list));

const address = (page, names) => locate(page, `${names.map((name) => `saved=${name}`).join("&")}${theme ? `&theme=${theme}` : ""}`);

// What a list can be sorted by: a title, and the value of a run.
const COLUMNS = [
  ["study", (run) => run.asked.map(({ study }) => study).join()],
  ["case", (run) => run.asked.map((asked) => asked.case).join()],
  ["seed", (run) => run.seed ?? -1],
  ["steps", (run) => run.steps ?? -1],
  ["outcome", (run) => run.outcome ?? ""],
  ["verdicts", (run) => run.verdicts?.FAILS ?? 0],
  ["setting", (run) => run.summary ?? ""],
];
const sorted = { by: null, down: false };
let shown = [];

function row(run) {
  const name = `${run.identity}/${run.steps}`;
  const tick = el("input", { type: "checkbox", "aria-label": `Compare ${run.identity}`, onchange: () => {
    if (tick.checked) chosen.set(name, run.address);
    else chosen.delete(name);
    compare.disabled = chosen.size < 2;
    compare.textContent = chosen.size > 1 ? `Compare ${chosen.size}` : "Compare";
  } });
  tick.checked = chosen.has(name);
  const count = (counts) => Object.entries(counts ?? {}).filter(([, number]) => number);
  const claims = count(run.verdicts).map(([status, number]) => el("span", { class: `chip ${status}` }, `${MARKS[status] ?? ""} ${number} ${status} `));
  const controls = count(run.controls).map(([status, number]) => el("span", { class: "soft" }, `control: ${number} ${status}${status === "FAILS" ? ", as expected" : ""} `));
  const control = run.asked.find((asked) => asked.control)?.control;
  return [el("td", {}, tick), el("th", { scope: "row" }, el("a", { href: address(run.address, [name]) }, el("code", {}, run.identity))),
    lines(run.asked.map(({ study }) => study)), el("td", {}, lines(run.asked.map((asked) => asked.case)), control ? el("p", { class: "sentence" }, `control: ${control}`) : null),
    number(run.seed ?? "–"), number(run.steps === null ? "–" : whole(run.steps)), run.outcome ?? "", el("td", {}, claims.length || controls.length ? [...claims, ...controls] : "–"), run.summary ?? ""];
}

// One line per study that made a run; a dash where none did.
const lines = (words) => el("span", {}, [...new Set(words)].flatMap((word, i) => (i ? [el("br"), word] : [word])).concat(words.length ? [] : ["–"]));

function heading([title]) {
  const now = sorted.by === title;
  return el("button", { type: "button", class: "sort", "aria-label": `Sort by ${title}`, onclick: () => {
    Object.assign(sorted, { by: title, down: now && !sorted.down });
    draw();
  } }, `${title}${now ? (sorted.down ? " ↓" : " ↑") : ""}`);
}

function draw() {
  const value = COLUMNS.find(([title]) => title === sorted.by)?.[1];
  const order = (a, b) => (value(a) < value(b) ? -1 : value(a) > value(b) ? 1 : 0) * (sorted.down ? -1 : 1);
  const rows = value ? [...shown].sort(order) : shown;
  list.replaceChildren(...(rows.length ? [table("Runs of the store", ["compare", "identity", ...COLUMNS.map(heading)], rows.map(row))] : []));
}

async function show() {
  const where = filter.value.trim();
  const query = new URLSearchParams(location.search);
  if (where) query.set("where", where);
  else query.delete("where");
  history.replaceState(null, "", `?${query}`);
  try {
    const { runs, count } = await transport.savedRuns(where, study);
    const words = count > runs.length ? `${whole(runs.length)} of ${whole(count)} runs; a filter finds the others` : `${whole(runs.length)} run${runs.length > 1 ? "s" : ""}`;
    said.textContent = runs.length ? words : "No runs. Finish one on another page and save it, or run a study.";
    shown = runs;
    draw();
  } catch (problem) {
    said.textContent = problem.message;
  }
}

await show();
