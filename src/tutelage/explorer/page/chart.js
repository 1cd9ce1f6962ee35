// Curves on log-log axes: runs as full lines, what theory predicts dashed, what was fitted dotted, fit windows shaded, phases as marks.

import { resolved, RUNS } from "./colours.js";
import { power, short, whole } from "./numbers.js";
import uPlot from "./vendor/uplot/uPlot.esm.js";
import { logarithmic, unit } from "./words.js";

const DASHES = { predicted: [9, 6], fitted: [2, 4] };
const SPACE = { plain: { font: 13, top: 16 }, large: { font: 22, top: 24 } };

// Powers of ten, not more than fit; 2 and 5 between them where there are few.
function ticks(low, high, most) {
  const [first, last] = [Math.ceil(Math.log10(low) - 1e-9), Math.floor(Math.log10(high) + 1e-9)];
  const stride = Math.max(1, Math.ceil((last - first + 1) / most));
  if (last - first >= 1) return Array.from({ length: Math.floor((last - first) / stride) + 1 }, (_, i) => 10 ** (first + i * stride));
  const between = (parts) => [first - 1, first, first + 1].flatMap((e) => parts.map((part) => part * 10 ** e)).filter((value) => value >= low && value <= high);
  return [[1, 2, 5], [1, 2, 3, 4, 5, 6, 7, 8, 9], Array.from({ length: 18 }, (_, i) => 1 + i / 2)].map(between).find((at) => at.length > 2) ?? between(Array.from({ length: 90 }, (_, i) => 1 + i / 10));
}

// Powers where decades are counted, plain numbers between two of them.
const tick = (values) => values.map((value) => (values.length > 2 && values[1] / values[0] > 9 ? power(Math.round(Math.log10(value))) : short(value, 3)));

const positive = (values) => values.map((value) => (value > 0 ? value : null));

export class Chart {
  constructor(place, { large = false, bare = false, picked = () => {}, pointed = () => {} } = {}) {
    Object.assign(this, { place, large, bare, picked, pointed, plot: null, signature: "", runs: [], predicted: [], horizon: 0, curve: "excess_risk", marker: null });
    new ResizeObserver(() => this.resize()).observe(place);
  }

  // runs: [{run, colour (index), main, faint}], and what theory says before any of them has begun. Lines, fit windows and phases are those
  // of the main one: those of all would be a thicket.
  show(runs, curve, predicted = [], horizon = 0) {
    Object.assign(this, { runs, curve, predicted, horizon });
    this.draw();
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
    const logY = logarithmic(curve, runs.map(({ run }) => run));
    const clean = logY ? positive : (values) => values;
    const [ink, soft, line, ground, ...colours] = resolved("text", "soft", "line", "ground", ...Array.from({ length: RUNS }, (_, i) => `run${i}`));
    const tables = [];
    const series = [{}];
    const bands = [];
    const add = (steps, values, options) => {
      tables.push([positive(steps), clean(values)]);
      series.push({ spanGaps: true, points: { show: false }, ...options });
    };
    for (const { run, colour, faint, main } of runs) {
      const stroke = colours[colour % RUNS];
      const values = run.curves[curve];
      if (!values) continue;
      const [low, high] = [run.curves[`${curve}.min`], run.curves[`${curve}.max`]];
      if (low && high) {
        add(run.steps, high, { stroke: "transparent" });
        add(run.steps, low, { stroke: "transparent" });
        bands.push({ series: [series.length - 2, series.length - 1], fill: tint(stroke, 0.18) });
      }
      add(run.steps, values, { stroke: faint ? tint(stroke, 0.3) : stroke, width: this.large ? 4 : 2.2, kind: "run" });
      for (const drawn of main ? this.fitted() : []) add(drawn.steps, drawn.values, { stroke, width: this.large ? 3 : 2, dash: DASHES.fitted });
    }
    // What theory says is drawn over the runs, in ink, since it is what they are held against.
    for (const drawn of this.theory()) add(drawn.steps, drawn.values, { stroke: ink, width: this.large ? 2.5 : 1.5, dash: DASHES.predicted });
    const data = this.joined(tables);
    const range = this.range(logY);
    const signature = JSON.stringify([curve, logY, series, range.x, ink, this.large]);
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

  // Every table has its own steps, a predicted line two: one row a step of any of them.
  joined(tables) {
    const whole = tables.map(([steps, values]) => {
      const kept = steps.map((step, i) => [step, values[i] ?? null]).filter(([step]) => step !== null);
      return [kept.map(([step]) => step), kept.map(([, value]) => value)];
    });
    return whole.length ? uPlot.join(whole) : [[]];
  }

  theory() {
    const told = this.main?.lines.filter((line) => line.kind === "predicted") ?? [];
    return (told.length ? told : this.predicted).filter((line) => line.curve === this.curve);
  }

  fitted() {
    return (this.main?.lines ?? []).filter((line) => line.curve === this.curve && line.kind === "fitted");
  }

  get main() {
    return this.runs.find(({ main }) => main)?.run;
  }

  // Whether a line lies above or below all that is shown.
  hides({ values }) {
    const [low, high] = this.limits?.y ?? [0, 0];
    return values.every((value) => value > high) || values.every((value) => value < low);
  }

  range(logY) {
    const horizon = Math.max(10, this.horizon || 0, ...this.runs.map(({ run }) => Math.max(run.horizon || 0, run.last)));
    const seen = this.runs.flatMap(({ run }) => (run.curves[this.curve] ?? []).filter((value, i) => value !== null && run.steps[i] > 0 && (!logY || value > 0)));
    const values = seen.length ? seen : this.theory().flatMap((line) => line.values);
    let [low, high] = [Math.min(...values), Math.max(...values)];
    if (!values.length) [low, high] = logY ? [1e-3, 1] : [0, 1];
    if (logY) {
      const pad = Math.max(0.12, 0.06 * Math.log10(high / low));
      return { x: [1, horizon], y: [low * 10 ** -pad, high * 10 ** pad] };
    }
    if (this.curve === "cosine") [low, high] = [Math.min(low, 0), 1];
    const pad = 0.06 * (high - low || Math.abs(high) || 1);
    return { x: [1, horizon], y: [low - pad, high + pad] };
  }

  options({ series, bands, logY, ink, soft, line, ground }) {
    const space = this.large ? SPACE.large : SPACE.plain;
    const font = `${space.font}px system-ui, sans-serif`;
    const axis = { stroke: soft, font, labelFont: font, grid: { stroke: line, width: 1 }, ticks: { show: false } };
    const { clientWidth: width, clientHeight: height } = this.place;
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
        { ...axis, label: "step", labelSize: space.font * 1.9, size: space.font * 2.2, splits: (u, _, low, high) => ticks(low, high, u.width / (space.font * 5)), values: (_, at) => tick(at), filter: (_, at) => at },
        {
          ...axis,
          label: unit(this.curve),
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
        ready: [(u) => u.over.addEventListener("click", () => u.cursor.left >= 0 && this.picked(u.posToVal(u.cursor.left, "x")))],
      },
    };
  }

  ground(u, fill) {
    const { ctx, bbox } = u;
    for (const { window } of this.fitted().filter((line) => line.window)) {
      const [left, right] = window.map((step) => u.valToPos(Math.max(step, 1), "x", true));
      ctx.save();
      ctx.fillStyle = fill;
      ctx.fillRect(left, bbox.top, right - left, bbox.height);
      ctx.restore();
    }
  }

  marks(u, { ink, soft, ground, font }) {
    const { ctx, bbox } = u;
    const ratio = devicePixelRatio;
    const shown = (step) => step >= this.limits.x[0] && step <= this.limits.x[1];
    const upright = (step, stroke, dash) => {
      if (!shown(step)) return;
      const x = Math.round(u.valToPos(step, "x", true));
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
      const x = Math.round(u.valToPos(step, "x", true));
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
    const step = u.posToVal(u.cursor.left, "x");
    const said = this.runs.filter(({ faint }) => !faint).map(({ run, label }) => {
      const values = run.curves[this.curve] ?? [];
      let at = run.steps.findIndex((other) => other >= step);
      if (at < 0) at = run.steps.length - 1;
      return values[at] === undefined ? "" : `${this.runs.length > 1 ? `${label}: ` : ""}${short(values[at])}`;
    });
    this.pointed(`step ${whole(step)}   ${said.filter(Boolean).join("   ")}`);
  }

  resize() {
    const { clientWidth: width, clientHeight: height } = this.place;
    if (this.plot && width && height) this.plot.setSize({ width, height });
  }
}

const tint = (colour, share) => colour.replace(/rgba?\(([^)]+)\)/, (_, inside) => `rgba(${inside.split(/[ ,/]+/).slice(0, 3).join(", ")}, ${share})`);
