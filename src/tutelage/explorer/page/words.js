// Names of curves, their units on the axis, and whether they are read on a logarithmic axis.

const CURVES = {
  excess_risk: ["Excess risk", "excess risk L − Lₒₚₜ", true],
  loss: ["Loss", "loss", true],
  training_risk: ["Training risk", "training risk", true],
  value_error: ["Value error", "‖Wᵥ − V*‖", true],
  attention_error: ["Attention error", "‖S − S*‖", true],
  cosine: ["Value alignment", "cosine of Wᵥ and V*", false],
  value_scale: ["Value scale", "⟨Wᵥ, V*⟩/‖V*‖²", false],
  support_mass: ["Mass on the support", "attention on what the teacher reads", false],
  entropy: ["Entropy of attention", "entropy", false],
  score_gap: ["Score gap", "scores on less off the support", false],
};

const spoken = (name) => name.replaceAll("_", " ").replace(".", ", ").replace(/^./, (letter) => letter.toUpperCase());

export const title = (curve) => CURVES[curve]?.[0] ?? spoken(curve);
export const unit = (curve) => CURVES[curve]?.[1] ?? curve.replaceAll("_", " ").replace(".", ", ");

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
