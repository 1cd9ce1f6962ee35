// Gradient descent on the population risk, measured at log-spaced steps, as tutelage/training does it. It tells of itself by the events that the server sends.

import { eigen, Matrix, spectralNorm, square } from "./matrices.js";
import { addScalars, MEASURES } from "./measures.js";
import { buildOptimiser } from "./optimisers.js";
import { build } from "./problem.js";
import { Student } from "./student.js";

export const PER_DECADE = 24;
const FRAMES_PER_DECADE = 12;
const BLOWN_UP = 1e4; // a risk this many times its start has diverged
const ROUNDING = (64 * Number.EPSILON) ** 2; // of the first excess: below it only rounding moves
const SENTENCES = {
  FINISHED: "Finished all steps.",
  CONVERGED: "Reached the rounding floor: further steps would measure rounding, not learning.",
  DIVERGED: "Diverged.",
};

// 0, 1, 2, …: the whole numbers nearest to 10^(k/24) up to `steps`, and `steps` itself.
export function logSpaced(steps) {
  const exponents = Array.from({ length: Math.floor(Math.log10(steps) * PER_DECADE) + 1 }, (_, k) => k / PER_DECADE);
  return [...new Set([0, ...exponents.map((exponent) => Math.round(10 ** exponent)), steps])].sort((a, b) => a - b);
}

export class Training {
  constructor(setting, graphs) {
    Object.assign(this, { setting, problem: build(setting, graphs) });
    this.student = new Student(this.problem);
    this.optimiser = buildOptimiser(setting.optimiser, this.student.arrays.map((array) => array.length));
    this.points = logSpaced(setting.steps);
    this.measures = setting.student.name === "known_selection" ? ["excess_risk", "value_error", "cosine", "value_scale"] : Object.keys(MEASURES);
    Object.assign(this, { here: 0, measured: 0, outcome: null, first: null, pace: 64 });
  }

  step() {
    this.student.differentiate();
    this.optimiser.step(this.student.arrays, this.student.gradients, this.setting.rate);
    this.here++;
  }

  // Goes on for about so many milliseconds, and answers with events.
  advance(milliseconds) {
    const end = performance.now() + milliseconds;
    const told = { event: "points", from: this.measured, steps: [], curves: {}, at: 0 };
    const frames = [];
    while (this.outcome === null) {
      if (this.here === this.points[this.measured]) {
        this.measure(told, frames);
        continue;
      }
      this.go(Math.min(this.points[this.measured], this.here + this.pace));
      const late = performance.now() - end;
      if (late > 0) {
        if (late > milliseconds) this.pace = Math.max(1, Math.floor(this.pace / 2));
        break;
      }
      this.pace = Math.min(2 * this.pace, 4096);
    }
    told.at = this.here;
    const events = told.steps.length ? [told, ...frames] : [{ event: "at", step: this.here }];
    return this.outcome === null ? events : [...events, this.end()];
  }

  go(target) {
    const from = this.here;
    const before = [this.student.arrays.map((array) => array.slice()), this.optimiser.kept()];
    while (this.here < target) this.step();
    if (this.here === this.points[this.measured] || !this.blownUp(this.student.excess())) return;
    this.findDivergence(from, before);
  }

  blownUp(excess) {
    return !Number.isFinite(excess) || (this.first > 0 && excess > BLOWN_UP * this.first);
  }

  // The first step after `from` at which it had blown up.
  findDivergence(from, [arrays, kept]) {
    this.student.arrays.forEach((array, i) => array.set(arrays[i]));
    this.optimiser.restore(kept);
    this.here = from;
    do this.step();
    while (!this.blownUp(this.student.excess()));
    this.outcome = "DIVERGED";
  }

  measure(told, frames) {
    const excess = this.student.excess();
    this.first ??= excess;
    if (this.blownUp(excess)) {
      this.findDivergence(this.sound.step, this.sound.state);
      return;
    }
    this.sound = { step: this.here, state: [this.student.arrays.map((array) => array.slice()), this.optimiser.kept()] };
    told.steps.push(this.here);
    for (const name of this.measures) addScalars(told.curves, name, MEASURES[name](this.student));
    if (this.student.scores && this.isFrame()) {
      const packed = ({ rows, columns, data }) => ({ shape: [rows, columns], data: Float32Array.from(data) });
      frames.push({ event: "frame", step: this.here, matrices: { attention_matrix: packed(this.student.attention), value_matrix: packed(this.student.value) } });
    }
    this.measured++;
    if (this.first > 0 && excess <= ROUNDING * this.first) this.outcome = "CONVERGED";
    else if (this.here === this.setting.steps) this.outcome = "FINISHED";
  }

  // The first measured step of each twelfth of a decade, and the last step.
  isFrame() {
    const bin = (step) => (step === 0 ? -1 : Math.floor(Math.log10(step) * FRAMES_PER_DECADE + 1e-9));
    const { here, measured, points } = this;
    return measured === 0 || bin(here) !== bin(points[measured - 1]) || here === this.setting.steps;
  }

  end() {
    const notes = { FINISHED: () => "", CONVERGED: () => `That was after ${grouped(this.here)} steps.`, DIVERGED: () => this.describeDivergence() };
    const sentence = [SENTENCES[this.outcome], notes[this.outcome]()].filter(Boolean).join(" ");
    return { event: "end", outcome: this.outcome, sentence, seconds: null, identity: "" };
  }

  describeDivergence() {
    const said = `By step ${grouped(this.here)} the excess risk had passed 10000 times its start or was no longer finite.`;
    const stable = stableRate(this.problem);
    if (stable === null) return `${said} A smaller rate is needed.`;
    return `${said} Near this teacher plain gradient descent is stable below a rate of ${digits(stable)}; this run's was ${digits(this.setting.rate)}.`;
  }
}

// The largest step size that plain gradient descent bears near the teacher, as PopulationRisk.stable_rate has it; null without a formula.
export function stableRate({ teacher, inputs, student }) {
  const { activation, selection } = teacher;
  const { rows, columns, data } = selection;
  const sums = Array.from({ length: columns }, (_, q) => Array.from({ length: rows }, (_, i) => data[i * columns + q]).reduce((a, b) => a + b));
  if (activation.slope === null || !student.scores || sums.some((sum) => Math.abs(sum - 1) > 4 * rows * Number.EPSILON)) return null;
  const lam = 0.5 * (1 + activation.slope ** 2);
  const seen = inputs.positions ? inputs.positions.times(selection) : selection;
  const value = inputs.features ? teacher.value.times(inputs.features) : teacher.value;
  const weights = square(seen.data) * (inputs.features ? spectralNorm(inputs.features) ** 2 : 1);
  const codes = student.keys ? (spectralNorm(student.keys) * spectralNorm(student.asks ?? student.keys)) ** 2 : 1;
  const columnsOf = new Map(Array.from({ length: columns }, (_, q) => {
    const column = Array.from({ length: rows }, (_, i) => data[i * columns + q]);
    const kept = inputs.positions ? column : column.filter((x) => x > 0).sort((a, b) => a - b);
    return [kept.join(), kept];
  }));
  const sharpest = Math.max(...[...columnsOf.values()].map((column) => {
    const jacobian = Matrix.of(column.map((x, i) => column.map((y, j) => (i === j ? x : 0) - x * y)));
    return inputs.positions ? spectralNorm(inputs.positions.times(jacobian)) ** 2 : Math.max(...eigen(jacobian).values.map(Math.abs)) ** 2;
  }));
  return 2 / (lam * Math.max(weights, student.scale ** 2 * codes * square(value.data) * sharpest));
}

const grouped = (count) => count.toLocaleString("en");

// Three digits, as Python's %.3g.
const digits = (value) => String(Number(value.toPrecision(3)));
