// The store's runs: filtered, opened, and several compared on one chart.

import { el, number, table } from "./dom.js";
import { applyTheme, header } from "./layout.js";
import { whole } from "./numbers.js";
import { ask } from "./stream.js";
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
document.body.prepend(header(await ask("/api/catalogue"), "saved", theme, dress));
const study = new URLSearchParams(location.search).get("study");
const filter = el("input", { id: "where", type: "search", autocomplete: "off", value: new URLSearchParams(location.search).get("where") ?? "" });
const compare = el("button", { type: "button", id: "compare", class: "primary", disabled: true, onclick: () => (location.href = address([...chosen.values()][0], [...chosen.keys()])) }, "Compare");
const said = el("p", { role: "status", id: "found" });
const list = el("div", { id: "runs" });
document.body.append(el("main", { id: "content", class: "plain" }, el("h1", {}, "Saved runs"),
  el("p", { class: "soft" }, "Runs in the store of the output folder. Tick several to lay them over each other."),
  study ? el("p", {}, `Only runs of the study ${study}. `, el("a", { href: "/saved" }, "All runs")) : null,
  el("form", { class: "bar", onsubmit: (event) => (event.preventDefault(), show()) }, el("label", { for: "where" }, "Filter"), filter, el("button", { type: "submit" }, "Apply"), compare), said, list));

const address = (page, names) => `${page}?${names.map((name) => `saved=${name}`).join("&")}${theme ? `&theme=${theme}` : ""}`;

function row(run) {
  const name = `${run.identity}/${run.steps}`;
  const tick = el("input", { type: "checkbox", "aria-label": `Compare ${run.identity}`, onchange: () => {
    if (tick.checked) chosen.set(name, run.address);
    else chosen.delete(name);
    compare.disabled = chosen.size < 2;
    compare.textContent = chosen.size > 1 ? `Compare ${chosen.size}` : "Compare";
  } });
  tick.checked = chosen.has(name);
  const counts = Object.entries(run.verdicts ?? {}).filter(([, count]) => count).map(([status, count]) => `${MARKS[status] ?? ""} ${count} ${status}`).join(", ");
  return [el("td", {}, tick), el("th", { scope: "row" }, el("a", { href: address(run.address, [name]) }, el("code", {}, run.identity))), number(run.steps === null ? "–" : whole(run.steps)), run.summary ?? "", run.outcome ?? "", counts || "–"];
}

async function show() {
  const where = filter.value.trim();
  const query = new URLSearchParams(location.search);
  if (where) query.set("where", where);
  else query.delete("where");
  history.replaceState(null, "", `?${query}`);
  try {
    const asked = new URLSearchParams({ ...(where && { where }), ...(study && { study }) });
    const { runs, count } = await ask(`/api/saved?${asked}`);
    const shown = count > runs.length ? `${whole(runs.length)} of ${whole(count)} runs; a filter finds the others` : `${whole(runs.length)} run${runs.length > 1 ? "s" : ""}`;
    said.textContent = runs.length ? shown : "No runs. Finish one on another page and save it, or run a study.";
    list.replaceChildren(...(runs.length ? [table("Runs of the store", ["compare", "identity", "steps", "setting", "outcome", "verdicts"], runs.map(row))] : []));
  } catch (problem) {
    said.textContent = problem.message;
  }
}

await show();
