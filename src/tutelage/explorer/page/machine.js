// The machine from input to output: each block a small picture of its numbers, the teacher's beside the student's.

import { difference, heat } from "./colours.js";
import { el, worded } from "./dom.js";
import { short } from "./numbers.js";
import { spell } from "./words.js";

const flat = (matrix) => (matrix ? Float64Array.from(matrix.flat()) : null);
const largest = (...arrays) => Math.max(1e-12, ...arrays.filter(Boolean).map((array) => array.reduce((most, value) => Math.max(most, Math.abs(value)), 0)));

// A picture of a matrix on a canvas, one pixel per number.
export function paint(canvas, matrix, [rows, columns], low, high, colours) {
  if (canvas.width !== columns || canvas.height !== rows) [canvas.width, canvas.height] = [columns, rows];
  const image = new ImageData(columns, rows);
  const span = high - low || 1;
  matrix.forEach((value, i) => image.data.set([...colours((value - low) / span), 255], 4 * i));
  canvas.getContext("2d").putImageData(image, 0, 0);
}

// The row and column of a matrix under the pointer.
export function place(event, canvas, [rows, columns]) {
  const box = canvas.getBoundingClientRect();
  const inside = (at, from, size, count) => Math.min(Math.max(Math.floor(((at - from) / size) * count), 0), count - 1);
  return [inside(event.clientY, box.top, box.height, rows), inside(event.clientX, box.left, box.width, columns)];
}

export const meaning = (says, row, column) => says.replace("{row}", row + 1).replace("{column}", column + 1);

export class Machine {
  constructor(place, readout) {
    Object.assign(this, { place, readout, blocks: [], frame: null, run: null });
  }

  get attention() {
    return this.blocks.find(({ role, curve, teacher }) => role === "attention" && (curve || teacher)) ?? null;
  }

  set(blocks) {
    this.blocks = blocks.map((block) => ({ ...block, shared: flat(block.shared), teacher: flat(block.teacher) }));
    const parts = this.blocks.flatMap((block, i) => [i ? el("span", { class: "arrow", "aria-hidden": "true" }, "→") : null, this.build(block)]);
    this.place.replaceChildren(...parts.filter(Boolean));
    this.draw();
  }

  build(block) {
    const title = el("figcaption", {}, el("b", {}, worded(block.symbol)), ` ${block.bend ? spell(block.name) : block.name}`);
    block.thumbs = [];
    if (block.bend) return el("figure", { class: "block" }, title, this.graph(block));
    if (block.role === "number") return el("figure", { class: "block" }, title, block.curve ? (block.output = el("output", { class: "big" }, "–")) : null, el("small", {}, block.says));
    const thumb = (who) => {
      const canvas = el("canvas", { role: "img", "aria-label": `${who} ${block.symbol}: ${block.name}` });
      const [rows, columns] = block.shape;
      canvas.style.setProperty("--ratio", columns / rows);
      const made = { who, canvas, matrix: null };
      canvas.addEventListener("pointermove", (event) => this.read(block, made, event));
      canvas.addEventListener("pointerleave", () => (this.readout.textContent = ""));
      block.thumbs.push(made);
      return el("span", { class: "thumb" }, canvas, el("small", {}, who));
    };
    const who = block.shared ? ["example"] : [...(block.teacher ? ["teacher"] : []), ...(block.curve || block.role === "output" ? ["student"] : [])];
    return el("figure", { class: "block" }, title, el("div", { class: "thumbs" }, who.map(thumb)));
  }

  graph(block) {
    const [points, heights] = block.bend;
    const [wide, high] = [points.at(-1), largest(heights)];
    const line = points.map((x, i) => `${((x / wide + 1) * 50).toFixed(2)},${(50 - (heights[i] / high) * 46).toFixed(2)}`).filter((_, i) => i % 16 === 0);
    return el("svg:svg", { viewBox: "0 0 100 100", class: "bend", role: "img", "aria-label": block.says },
      el("svg:line", { x1: 0, x2: 100, y1: 50, y2: 50 }), el("svg:line", { x1: 50, x2: 50, y1: 0, y2: 100 }), el("svg:polyline", { points: line.join(" ") }));
  }

  // A frame of the student, and the run whose last values are the numbers.
  show(frame, run) {
    Object.assign(this, { frame, run });
    this.draw();
  }

  draw() {
    for (const block of this.blocks) {
      if (block.output) {
        const values = this.run?.curves[block.curve] ?? [];
        const at = this.frame ? this.run.steps.findLastIndex((step) => step <= this.frame.step) : values.length - 1;
        block.output.textContent = short(values[at] ?? null, 3);
      }
      const student = this.student(block);
      const top = block.signed ? largest(block.shared, block.teacher ?? student) : largest(block.teacher ?? student);
      for (const thumb of block.thumbs) {
        thumb.matrix = { example: block.shared, teacher: block.teacher, student }[thumb.who];
        thumb.canvas.classList.toggle("empty", !thumb.matrix);
        if (thumb.matrix) paint(thumb.canvas, thumb.matrix, block.shape, block.signed ? -top : 0, top, block.signed ? difference : heat);
      }
      block.top = top;
    }
  }

  // The frame's matrix of a block; a frame of another shape is that of the run before, and is not shown.
  framed(block) {
    const given = block?.curve && this.frame?.matrices[block.curve];
    return given && given.shape.join() === block.shape.join() ? given.data : null;
  }

  // What the student has in a block now; its output is σ(V X S).
  student(block) {
    if (block.curve) return this.framed(block);
    if (block.role !== "output") return null;
    const [inputs, attention, values, bend] = ["inputs", "attention", "values", "activation"].map((role) => this.blocks.find((other) => other.role === role));
    const [S, V] = [attention, values].map((other) => this.framed(other));
    if (!S || !V || !inputs?.shared) return null;
    const mixed = multiply(inputs.shared, inputs.shape, S, attention.shape);
    const made = multiply(V, values.shape, mixed, [inputs.shape[0], attention.shape[1]]);
    return bend ? made.map((value) => bent(bend.bend, value)) : made;
  }

  // What is seen, for a file.
  pictures() {
    return this.blocks.flatMap((block) => block.thumbs.filter(({ matrix }) => matrix).map(({ who, matrix }) =>
      ({ title: `${who} ${block.symbol}`, matrix, shape: block.shape, low: block.signed ? -block.top : 0, high: block.top, colours: block.signed ? difference : heat })));
  }

  read(block, thumb, event) {
    if (!thumb.matrix) return;
    const [row, column] = place(event, thumb.canvas, block.shape);
    const value = thumb.matrix[row * block.shape[1] + column];
    this.readout.textContent = `${thumb.who} ${block.symbol} [${row + 1}, ${column + 1}] = ${short(value, 3)}: ${meaning(block.says, row, column)}`;
  }
}

function multiply(a, [rows, inner], b, [, columns]) {
  const out = new Float64Array(rows * columns);
  for (let i = 0; i < rows; i++) for (let k = 0; k < inner; k++) {
    const factor = a[i * inner + k];
    if (factor) for (let j = 0; j < columns; j++) out[i * columns + j] += factor * b[k * columns + j];
  }
  return out;
}

// An activation between the points of its graph, and straight on beyond them.
function bent([points, heights], value) {
  const step = points[1] - points[0];
  const at = Math.min(Math.max(Math.floor((value - points[0]) / step), 0), points.length - 2);
  return heights[at] + ((heights[at + 1] - heights[at]) * (value - points[at])) / step;
}
