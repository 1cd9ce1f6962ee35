// What a chart is drawn against: steps, time (the learning rate times the steps), or steps in units of the predicted plateau; and measured over predicted.

export const AXES = ["step", "time", "plateau"];
const TITLES = { step: "step", time: "time ηT", plateau: "step / plateau" };

// A paper may have another letter for its steps, and T for its tokens.
export const nameSteps = (letter) => (TITLES.time = `time η${letter}`);

export const axisTitle = (axis) => TITLES[axis];

// By what the steps of a run are multiplied; null where the run has no such axis.
export function factor(run, axis) {
  if (axis === "step") return 1;
  if (axis === "time") return run.about?.rate ?? null;
  return run.about?.plateau ? 1 / run.about.plateau : null;
}

// The value of a line at a step, straight between its points in log-log; null outside of it.
export function along(line, step) {
  const { steps, values } = line;
  if (!(step >= steps[0] && step <= steps.at(-1))) return null;
  const after = Math.max(1, steps.findIndex((other) => other >= step));
  const [a, b] = [steps[after - 1], steps[after]];
  const [low, high] = [values[after - 1], values[after]];
  if (!(low > 0 && high > 0)) return null;
  return Math.exp(Math.log(low) + (Math.log(high / low) * Math.log(step / a)) / Math.log(b / a));
}

// Measured over predicted, step by step.
export const ratios = (run, curve, line) => run.steps.map((step, i) => {
  const predicted = along(line, step);
  return predicted === null || run.curves[curve][i] === null ? null : run.curves[curve][i] / predicted;
});
