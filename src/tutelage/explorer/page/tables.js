// What is read from a run, in words: verdicts as they form, hypotheses, phases, and the last values of every curve.

import { el, number, table, worded } from "./dom.js";
import { interval, short, whole } from "./numbers.js";
import { drawable, standing, title } from "./words.js";

function chip(verdict) {
  const [kind, words] = standing(verdict);
  return el("span", { class: `chip ${kind}` }, words);
}

export function verdicts(run) {
  if (!run || run.verdicts === null) return el("p", { class: "soft" }, "Verdicts form while a run goes on.");
  if (!run.verdicts.length) return el("p", {}, run.why || "No claim of the papers is about this setting, so that it has no verdict.");
  // What holds says how it was read when asked; what does not says it at once.
  const told = ({ status, sentence }) => (["HOLDS", "MEASURED"].includes(status)
    ? el("details", {}, el("summary", {}, "how it was read"), el("p", { class: "sentence" }, worded(sentence)))
    : el("p", { class: "sentence" }, worded(sentence)));
  const rows = run.verdicts.map((verdict) => [
    el("td", {}, chip(verdict)),
    el("th", { scope: "row" }, worded(verdict.statement), verdict.control ? el("p", { class: "sentence" }, worded(`breaks ${verdict.control}`)) : null, told(verdict)),
    number(short(verdict.predicted)),
    number(short(verdict.measured)),
    number(interval(verdict.interval)),
    number(short(verdict.tolerance, 2)),
  ]);
  return table(run.state === "ended" ? "Verdicts of this run" : "Verdicts so far", ["verdict", "claim", "predicted", "measured", "interval", "±"], rows);
}

export function hypotheses(list, why) {
  if (!list?.length) return el("p", { class: "soft" }, why || "No theorem of the papers is about this setting.");
  const sign = (met) => (met === true ? "✓" : met === false ? "✗" : "≈");
  return el("ul", { class: "hypotheses" }, list.map(({ text, met, word, detail }) =>
    el("li", { class: met === false ? "FAILS" : "" }, el("span", { class: "mark", "aria-hidden": "true" }, sign(met)),
      el("span", {}, worded(text), el("span", { class: "soft" }, worded(` ${word}${detail ? `: ${detail}` : ""}`))))));
}

// why: of a page that cannot predict them, though there are some.
export function phases(list, why) {
  if (!list?.length) return why ? el("p", { class: "soft" }, why) : null;
  const rows = list.map(({ label, predicted, seen }) => [el("th", { scope: "row" }, worded(label)), number(whole(predicted)), number(whole(seen))]);
  return table("Phases, in steps", ["phase", "predicted", "seen"], rows);
}

// The text alternative of the chart: what each curve has come to.
export function lastValues(runs) {
  const names = drawable([...new Set(runs.flatMap(({ run }) => Object.keys(run.curves)))]);
  if (!names.length) return el("p", { class: "soft" }, "No points yet.");
  const rows = names.map((name) => [el("th", { scope: "row" }, title(name)), ...runs.map(({ run }) => number(short(run.curves[name]?.at(-1), 6)))]);
  return table("Last values", ["curve", ...runs.map(({ run, label }) => `${label}, step ${whole(run.last)}`)], rows);
}
