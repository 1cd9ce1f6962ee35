// Names of curves, their units on the axis, and whether they are read on a logarithmic axis.

import { short, whole } from "./numbers.js";

const CURVES = {
  excess_risk: ["Excess risk", "excess risk L − Lₒₚₜ", true],
  loss: ["Loss", "loss", true],
  training_risk: ["Training risk", "training risk", true],
  value_error: ["Value error", "‖Wᵥ − V*‖", true],
  attention_error: ["Attention error", "‖S − S*‖", true],
  cosine: ["Value alignment", "cosine of Wᵥ and V*", false],
  value_scale: ["Value scale", "⟨Wᵥ, V*⟩/‖V*‖²", false],
  support_mass: ["Mass on the support", "mass on the support", false],
  entropy: ["Entropy of attention", "entropy", false],
  score_gap: ["Score gap", "scores on less off the support", false],
};

const ACTIVATIONS = { relu: "ReLU", gelu: "GELU", silu: "SiLU" };

// A registered name as the field writes it: leaky_relu(0.1) is leaky ReLU(0.1).
export const spell = (name) => name.replaceAll("_", " ").replace(/\b(relu|gelu|silu)\b/g, (word) => ACTIVATIONS[word]);

let labels = {}; // what the papers call their own curves

export const nameCurves = (found) => (labels = found);

const spoken = (name) => name.replaceAll("_", " ").replace(".", ", ").replace(/^./, (letter) => letter.toUpperCase());

export const title = (curve) => CURVES[curve]?.[0] ?? labels[curve]?.replace(/^\p{Ll}(?=\p{Ll})/u, (letter) => letter.toUpperCase()) ?? spoken(curve);
export const unit = (curve) => CURVES[curve]?.[1] ?? labels[curve] ?? curve.replaceAll("_", " ").replace(".", ", ");

// Curves nobody has named are on a logarithmic axis where no value is negative and they span more than a decade.
export function logarithmic(curve, runs) {
  if (CURVES[curve]) return CURVES[curve][2];
  const values = runs.flatMap((run) => (run.curves[curve] ?? []).filter((value) => value !== null && value !== 0));
  return values.length > 0 && Math.min(...values) > 0 && Math.max(...values) > 10 * Math.min(...values);
}

// The curves to choose from, the risk first.
export function drawable(names) {
  const rank = (name) => (["excess_risk", "loss"].includes(name) ? 0 : 1);
  return names.filter((name) => !/\.(min|max)$/.test(name) && !/_matrix$/.test(name)).sort((a, b) => rank(a) - rank(b));
}

export const MARKS = { HOLDS: "✓", FAILS: "✗", UNDECIDED: "?", MEASURED: "•", OUTSIDE: "○", VACUOUS: "∅" };

// How a verdict stands, in a class and words. A control must fail, and is dim where it does.
export function standing({ status, control }) {
  if (!control) return [status, `${MARKS[status] ?? ""} ${status}`];
  return status === "FAILS" ? ["soft", "⊘ control fails, as expected"] : ["FAILS", `${MARKS[status] ?? ""} control ${status}, which must fail`];
}

const RISKS = ["excess_risk", "loss"];
const STILL = 0.8; // of the risk a decade before its end: what a run that still learns falls below

// How a run that took all its steps has come on, in words: whether its risk still falls.
export function progress(run) {
  const values = RISKS.map((name) => run.curves[name]).find(Boolean)?.filter((value) => value !== null);
  if (!values || run.last < 100 || values.length !== run.steps.length || !(values[0] > 0)) return null;
  const mean = (from, to) => {
    const inside = values.filter((_, i) => run.steps[i] >= from && run.steps[i] <= to);
    return inside.length ? inside.reduce((sum, value) => sum + value, 0) / inside.length : null;
  };
  const [before, after] = [mean(run.last / 15, run.last / 8), mean(run.last / 2, run.last)];
  if (!before || !after || after < STILL * before) return null;
  if (after > 1.2 * values[0]) return ["risen", `the risk is above its start, at ${short(after, 3)}`];
  if (after > 0.95 * values[0]) return ["not begun", "the risk has hardly moved yet: still on the plateau, or stuck"];
  return ["stalled", `the risk has not fallen since step ${whole(run.last / 10)} and stays near ${short(after, 3)}`];
}
