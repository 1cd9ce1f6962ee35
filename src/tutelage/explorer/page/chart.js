// Curves on log-log axes: runs as full lines, what theory predicts dashed, what was fitted dotted, fit windows shaded, phases as marks.

import { axisTitle, factor, ratios } from "./axes.js";
import { resolved, RUNS } from "./colours.js";
import { power, short, whole } from "./numbers.js";
import uPlot from "./vendor/uplot/uPlot.esm.js";
import { logarithmic, unit } from "./words.js";

const LETTER = 0.55; // its width, in sizes of its type
const DASHES = { predicted: [9, 6], fitted: [2, 4] };
const SPACE = { plain: { font: 13, top: 16 }, large: { font: 22, top: 24 } };

// Powers of ten, not more than fit; 2 and 5 between them where there are few.
export function ticks(low, high, most) {
  const [first, last] = [Math.ceil(Math.log10(low) - 1e-9), Math.floor(Math.log10(high) + 1e-9)];
  const stride = Math.max(1, Math.ceil((last - first + 1) / most));
  if (last - first >= 1) return Array.from({ length: Math.floor((last - first) / stride) + 1 }, (_, i) => 10 ** (first + i * stride));
  const between = (parts) => [first - 1, first, first + 1].flatMap((e) => parts.map((part) => part * 10 ** e)).filter((value) => value >= low && value <= high);
  return [[1, 2, 5], [1, 2, 3, 4, 5, 6, 7, 8, 9], Array.from({ length: 18 }, (_, i) => 1 + i / 2)].map(between).find((at) => at.length > 2) ?? between(Array.from({ length: 90 }, (_, i) => 1 + i / 10));
}

// Powers where decades are counted, plain numbers between two of them.
export const tick = (values) => values.map((value) => (values.length > 2 && values[1] / values[0] > 9 ? power(Math.round(Math.log10(value))) : short(value, 3)));

const positive = (values) => values.map((value) => (value > 0 ? value : null));

export class Chart {
  constructor(place, { large = false, bare = false, picked = () => {}, pointed = () => {} } = {}) {
    Object.assign(this, { place, large, bare, picked, pointed, plot: null, signature: "", runs: [], predicted: [], horizon: 0, curve: "excess_risk", marker: null, axis: "step", view: "curve" });
    new ResizeObserver(() => this.resize()).observe(place);
  }

  // runs: [{run, colour (index), main, faint}], and what theory says before any of them has begun. Every run has its own theory line;
  // fits, their windows and phases are those of the main one. looks: the axis, and whether measured is divided by predicted.
  show(runs, curve, predicted = [], horizon = 0, { axis = "step", view = "curve" } = {}) {
    Object.assign(this, { runs, curve, predicted, horizon, axis, view });
    this.draw();
  }

  // By what the steps of a run are multiplied; a run without that axis is not drawn.
  factor(run) {
    return factor(run ?? {}, this.axis);
  }

  get mainFactor() {
    return (this.main && this.factor(this.main)) || 1;
  }

  // What is drawn of a run: the curve, or measured over predicted; undefined where there is none.
  measured(run) {
    if (this.view === "curve") return run.curves[this.curve];
    const [line] = this.theory(run);
    return line && run.curves[this.curve] ? ratios(run, this.curve, line) : undefined;
  }

  mark(step) {
    this.marker = step;
    this.plot?.redraw(false);
  }

  redraw() {
    this.signature = "";
    this.draw();
  }

  draw() {
    const { runs, curve } = this;
    const logY = this.view === "curve" ? logarithmic(curve, runs.map(({ run }) => run)) : this.wide();
    const clean = logY ? positive : (values) => values;
    const [ink, soft, line, ground, ...colours] = resolved("text", "soft", "line", "ground", ...Array.from({ length: RUNS }, (_, i) => `run${i}`));
    const tables = [];
    const series = [{}];
    const bands = [];
    const add = (steps, values, options) => {
      tables.push([positive(steps), clean(values)]);
      series.push({ spanGaps: true, points: { show: false }, ...options });
    };
    for (const { run, colour, faint, main, label } of runs) {
      const stroke = colours[colour % RUNS];
      const [values, by] = [this.measured(run), this.factor(run)];
      if (!values || !by) continue;
      const at = run.steps.map((step) => step * by);
      const [low, high] = this.view === "curve" ? [run.curves[`${curve}.min`], run.curves[`${curve}.max`]] : [];
      if (low && high) {
        add(at, high, { stroke: "transparent" });
        add(at, low, { stroke: "transparent" });
        bands.push({ series: [series.length - 2, series.length - 1], fill: tint(stroke, 0.18) });
      }
      const noisy = jagged(values);
      if (noisy) add(at, values, { stroke: tint(stroke, 0.3), width: 1 });
      add(at, noisy ? smooth(values) : values, { stroke: faint ? tint(stroke, 0.3) : stroke, width: this.large ? 4 : 2.2, kind: "run", label });
      for (const drawn of main && this.view === "curve" ? this.fitted() : []) add(drawn.steps.map((step) => step * by), drawn.values, { stroke, width: this.large ? 3 : 2, dash: DASHES.fitted });
    }
    // What theory says is drawn over the runs, since it is what they are held against: in ink for the main run, in its colour for another.
    if (this.view === "ratio") add([this.range(logY).x[0], this.range(logY).x[1]], [1, 1], { stroke: ink, width: 1.5, dash: DASHES.predicted });
    else for (const { line, stroke } of this.dashed(ink, colours)) add(line.steps, line.values, { stroke, width: this.large ? 2.5 : 1.5, dash: DASHES.predicted });
    const data = this.joined(tables);
    const range = this.range(logY);
    this.drawn = { data, series, logY, range };
    const signature = JSON.stringify([curve, logY, series, range.x, ink, this.large, this.axis, this.view]);
    this.limits = range;
    if (this.plot && signature === this.signature) {
      this.plot.setData(data, true);
      return;
    }
    this.signature = signature;
    this.plot?.destroy();
    this.place.replaceChildren();
    this.plot = new uPlot(this.options({ series, bands, logY, ink, soft, line, ground }), data, this.place);
    this.plot.root.setAttribute("aria-hidden", "true"); // the figure around it says in words what it shows
  }

  // Every table has its own steps, a predicted line two: one row per step of any of them.
  joined(tables) {
    const whole = tables.map(([steps, values]) => {
      const kept = steps.map((step, i) => [step, values[i] ?? null]).filter(([step]) => step !== null);
      return [kept.map(([step]) => step), kept.map(([, value]) => value)];
    });
    return whole.length ? uPlot.join(whole) : [[]];
  }

  theory(run = this.main) {
    const told = run?.lines.filter((line) => line.kind === "predicted") ?? [];
    return (told.length || run !== this.main ? told : this.predicted).filter((line) => line.curve === this.curve);
  }

  // The theory lines of all runs, as they are drawn.
  dashed(ink, colours) {
    const drawn = [];
    const add = (run, stroke, by) => drawn.push(...this.theory(run).map((line) => ({ line: { ...line, steps: line.steps.map((step) => step * by) }, stroke })));
    for (const { run, colour, main, faint } of this.runs) if (!main && !faint && this.factor(run)) add(run, colours[colour % RUNS], this.factor(run));
    if (this.main ? this.factor(this.main) : this.axis === "step") add(this.main, ink, this.mainFactor);
    return drawn;
  }

  // Whether measured over predicted is read on a logarithmic axis.
  wide() {
    const values = this.runs.flatMap(({ run }) => this.measured(run) ?? []).filter((value) => value > 0);
    return values.length > 0 && Math.max(...values) > 5 * Math.min(...values);
  }

  fitted() {
    return (this.main?.lines ?? []).filter((line) => line.curve === this.curve && line.kind === "fitted");
  }

  get main() {
    return this.runs.find(({ main }) => main)?.run;
  }

  // Whether a line lies above or below all that is shown.
  hides({ values }) {
    if (this.view === "ratio") return false;
    const [low, high] = this.limits?.y ?? [0, 0];
    return values.every((value) => value > high) || values.every((value) => value < low);
  }

  range(logY) {
    const runs = this.runs.filter(({ run }) => this.factor(run));
    const ends = runs.map(({ run }) => Math.max(run.horizon || 0, run.last, 10) * this.factor(run));
    const x = [Math.min(...(ends.length ? runs.map(({ run }) => this.factor(run)) : [1])), Math.max(...(ends.length ? ends : [Math.max(10, this.horizon || 0)]))];
    const seen = runs.flatMap(({ run }) => (this.measured(run) ?? []).filter((value, i) => value !== null && run.steps[i] > 0 && (!logY || value > 0)));
    if (this.view === "ratio") seen.push(1);
    const values = seen.length ? seen : this.theory().flatMap((line) => line.values);
    let [low, high] = [Math.min(...values), Math.max(...values)];
    if (!values.length) [low, high] = logY ? [1e-3, 1] : [0, 1];
    if (logY) {
      const pad = Math.max(0.12, 0.06 * Math.log10(high / low));
      return { x, y: [low * 10 ** -pad, high * 10 ** pad] };
    }
    if (this.curve === "cosine" && this.view === "curve") [low, high] = [Math.min(low, 0), 1];
    const pad = 0.06 * (high - low || Math.abs(high) || 1);
    return { x, y: [low - pad, high + pad] };
  }

  options({ series, bands, logY, ink, soft, line, ground }) {
    const space = this.large ? SPACE.large : SPACE.plain;
    const font = `${space.font}px system-ui, sans-serif`;
    const axis = { stroke: soft, font, labelFont: font, grid: { stroke: line, width: 1 }, ticks: { show: false } };
    const { clientWidth: width, clientHeight: height } = this.place;
    const upright = this.view === "ratio" ? "measured / predicted" : unit(this.curve);
    const fitting = Math.min(space.font, Math.max(9, (height - 4 * space.font) / (LETTER * upright.length))); // a long name in smaller type
    return {
      width: Math.max(width, 200),
      height: Math.max(height, 160),
      padding: [space.top, space.font, 0, 0],
      legend: { show: false },
      cursor: { drag: { x: false, y: false }, points: { show: false }, y: false },
      scales: {
        x: { time: false, distr: 3, range: () => this.limits.x },
        y: { distr: logY ? 3 : 1, range: () => this.limits.y },
      },
      series,
      bands,
      axes: [
        { ...axis, label: axisTitle(this.axis), labelSize: space.font * 1.9, size: space.font * 2.2, splits: (u, _, low, high) => ticks(low, high, u.width / (space.font * 5)), values: (_, at) => tick(at), filter: (_, at) => at },
        {
          ...axis,
          label: upright,
          labelFont: `${fitting}px system-ui, sans-serif`,
          labelSize: space.font * 1.9,
          size: (_, values) => 14 + space.font * 0.58 * Math.max(3, ...(values ?? []).map((text) => text.length)),
          ...(logY ? { splits: (u, _, low, high) => ticks(low, high, u.height / (space.font * 3)), filter: (_, at) => at } : {}),
          values: (_, at) => (logY ? tick(at) : at.map((value) => short(value, 3))),
        },
      ],
      hooks: {
        drawAxes: [(u) => this.ground(u, tint(soft, 0.12))],
        draw: [(u) => this.marks(u, { ink, soft, ground, font })],
        setCursor: [(u) => this.point(u)],
        ready: [(u) => u.over.addEventListener("click", () => u.cursor.left >= 0 && this.picked(u.posToVal(u.cursor.left, "x") / this.mainFactor))],
      },
    };
  }

  // The windows that slopes are fitted over, on the axis that is shown.
  shades() {
    const windows = (this.view === "curve" ? this.fitted() : []).map(({ window }) => window).filter(Boolean);
    return windows.map((window) => window.map((step) => Math.max(step, 1) * this.mainFactor));
  }

  ground(u, fill) {
    const { ctx, bbox } = u;
    for (const shade of this.shades()) {
      const [left, right] = shade.map((at) => u.valToPos(at, "x", true));
      ctx.save();
      ctx.fillStyle = fill;
      ctx.fillRect(left, bbox.top, right - left, bbox.height);
      ctx.restore();
    }
  }

  marks(u, { ink, soft, ground, font }) {
    const { ctx, bbox } = u;
    const ratio = devicePixelRatio;
    const by = this.mainFactor;
    const shown = (step) => step * by >= this.limits.x[0] && step * by <= this.limits.x[1];
    const upright = (step, stroke, dash) => {
      if (!shown(step)) return;
      const x = Math.round(u.valToPos(step * by, "x", true));
      ctx.save();
      ctx.strokeStyle = stroke;
      ctx.lineWidth = ratio;
      ctx.setLineDash(dash.map((length) => length * ratio));
      ctx.beginPath();
      ctx.moveTo(x, bbox.top);
      ctx.lineTo(x, bbox.top + bbox.height);
      ctx.stroke();
      ctx.restore();
    };
    // Beside its line, on the ground of the page, so that no other line goes through the words.
    const worded = (step, words, row) => {
      if (!shown(step)) return;
      const x = Math.round(u.valToPos(step * by, "x", true));
      const size = Number.parseInt(font) * 0.9 * ratio;
      ctx.save();
      ctx.font = `${size}px system-ui, sans-serif`;
      ctx.textAlign = "left"; // the axes leave another behind
      ctx.textBaseline = "alphabetic";
      const wide = ctx.measureText(words).width;
      const left = x + wide + 6 * ratio > bbox.left + bbox.width ? x - wide - 5 * ratio : x + 5 * ratio;
      const base = bbox.top + bbox.height - 8 * ratio - 1.4 * size * row;
      ctx.fillStyle = tint(ground, 0.85);
      ctx.fillRect(left - 2 * ratio, base - size, wide + 4 * ratio, 1.3 * size);
      ctx.fillStyle = soft;
      ctx.fillText(words, left, base);
      ctx.restore();
    };
    const phases = this.bare ? [] : this.main?.phases ?? [];
    phases.forEach((phase) => upright(phase.seen, soft, [1, 3]));
    phases.forEach((phase, row) => worded(phase.seen, phase.name, row));
    if (this.marker !== null && this.marker > 0) upright(this.marker, ink, []);
  }

  point(u) {
    if (u.cursor.left === null || u.cursor.left < 0) return this.pointed("");
    const at = u.posToVal(u.cursor.left, "x");
    const said = this.runs.filter(({ faint, run }) => !faint && this.factor(run)).map(({ run, label }) => {
      const values = this.measured(run) ?? [];
      const step = at / this.factor(run);
      let place = run.steps.findIndex((other) => other >= step);
      if (place < 0) place = run.steps.length - 1;
      return values[place] === undefined ? "" : `${this.runs.length > 1 ? `${label}: ` : ""}${short(values[place])}`;
    });
    this.pointed(`${this.axis === "step" ? `step ${whole(at)}` : `${axisTitle(this.axis)} ${short(at, 3)}`}   ${said.filter(Boolean).join("   ")}`);
  }

  resize() {
    const { clientWidth: width, clientHeight: height } = this.place;
    if (this.plot && width && height) this.plot.setSize({ width, height });
  }
}

const tint = (colour, share) => colour.replace(/rgba?\(([^)]+)\)/, (_, inside) => `rgba(${inside.split(/[ ,/]+/).slice(0, 3).join(", ")}, ${share})`);

const SMOOTHED = 8; // points on each side that a smoothed one is the mean of

// Whether neighbours jump about: the curve turns at most points, and by more than rounding would.
function jagged(values) {
  const known = values.filter((value) => value > 0).map(Math.log);
  if (known.length < 40) return false;
  const late = known.slice(known.length >> 1);
  const moves = late.slice(1).map((value, i) => value - late[i]);
  const turns = moves.slice(1).filter((move, i) => move * moves[i] < 0).length;
  const size = moves.reduce((sum, move) => sum + Math.abs(move), 0) / moves.length;
  return turns > 0.3 * moves.length && size > 0.005;
}

// The mean of neighbouring points, fewer of them at the ends; of logarithms where all are positive.
function smooth(values) {
  const log = values.every((value) => value === null || value > 0);
  const heights = values.map((value) => (value === null ? null : log ? Math.log(value) : value));
  return heights.map((value, i) => {
    if (value === null) return null;
    const reach = Math.min(SMOOTHED, i, heights.length - 1 - i);
    const near = heights.slice(i - reach, i + reach + 1).filter((other) => other !== null);
    const mean = near.reduce((sum, other) => sum + other, 0) / near.length;
    return log ? Math.exp(mean) : mean;
  });
}
