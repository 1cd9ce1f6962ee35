// Attention as a picture: student, teacher and their difference, one square a (token, query), with the scale of colours beside.

import { difference, heat } from "./colours.js";
import { el } from "./dom.js";
import { short, whole } from "./numbers.js";

class Map2 {
  constructor(caption, colours) {
    this.canvas = el("canvas", { role: "img", "aria-label": caption });
    this.caption = caption;
    this.colours = colours;
    this.figure = el("figure", {}, this.canvas, el("figcaption", {}, caption));
    this.readout = el("span", { class: "readout" });
    this.figure.append(this.readout);
    this.canvas.addEventListener("pointermove", (event) => this.read(event));
    this.canvas.addEventListener("pointerleave", () => (this.readout.textContent = ""));
  }

  draw(matrix, [rows, columns], low, high, said) {
    Object.assign(this, { matrix, columns, rows });
    const { canvas } = this;
    if (canvas.width !== columns || canvas.height !== rows) [canvas.width, canvas.height] = [columns, rows];
    canvas.style.aspectRatio = `${columns} / ${rows}`;
    const image = new ImageData(columns, rows);
    const span = high - low || 1;
    matrix.forEach((value, i) => image.data.set([...this.colours((value - low) / span), 255], 4 * i));
    canvas.getContext("2d").putImageData(image, 0, 0);
    canvas.setAttribute("aria-label", said);
  }

  read(event) {
    if (!this.matrix) return;
    const box = this.canvas.getBoundingClientRect();
    const column = Math.min(Math.floor(((event.clientX - box.left) / box.width) * this.columns), this.columns - 1);
    const row = Math.min(Math.floor(((event.clientY - box.top) / box.height) * this.rows), this.rows - 1);
    this.readout.textContent = `token ${row + 1}, query ${column + 1}: ${short(this.matrix[row * this.columns + column], 3)}`;
  }
}

function bar(colours) {
  const canvas = el("canvas", { width: 128, height: 1, "aria-hidden": "true" });
  const image = new ImageData(128, 1);
  for (let i = 0; i < 128; i++) image.data.set([...colours(i / 127), 255], 4 * i);
  canvas.getContext("2d").putImageData(image, 0, 0);
  const [low, high] = [el("span", {}), el("span", {})];
  return { low, high, strip: el("div", { class: "strip" }, low, canvas, high) };
}

export class Attention {
  constructor(place) {
    this.student = new Map2("student S", heat);
    this.teacher = new Map2("teacher S*", heat);
    this.gap = new Map2("difference S − S*", difference);
    this.scale = bar(heat);
    this.signed = bar(difference);
    this.maps = el("div", { class: "maps" }, this.student.figure, this.teacher.figure, this.gap.figure);
    place.append(this.maps, el("div", { class: "strips" }, this.scale.strip, this.signed.strip));
    this.selection = null;
  }

  setTeacher(selection) {
    this.selection = selection?.length ? Float32Array.from(selection.flat()) : null;
    if (!this.selection) return;
    this.shape = [selection.length, selection[0].length];
    this.top = Math.max(...this.selection);
    const [tokens, queries] = this.shape;
    this.teacher.draw(this.selection, this.shape, 0, this.top, `The teacher's selection S*: ${tokens} tokens by ${queries} queries, largest weight ${short(this.top, 3)}`);
    this.scale.low.textContent = "0";
    this.scale.high.textContent = short(this.top, 3);
    this.maps.style.setProperty("--columns", queries);
    this.maps.style.setProperty("--rows", tokens);
  }

  // A frame of the replay; without one, the uniform attention of the start is not invented: the squares stay empty.
  show(frame) {
    const fits = frame && this.selection && frame.shape[0] === this.shape[0] && frame.shape[1] === this.shape[1];
    this.student.figure.classList.toggle("empty", !fits);
    this.gap.figure.classList.toggle("empty", !fits);
    if (!fits) return;
    const gap = frame.matrix.map((value, i) => value - this.selection[i]);
    const widest = gap.reduce((most, value) => Math.max(most, Math.abs(value)), 0);
    const limit = this.top; // one scale for the whole replay, so that a fading picture is a shrinking error
    this.student.draw(frame.matrix, frame.shape, 0, this.top, `The student's attention after ${whole(frame.step)} steps`);
    this.gap.draw(gap, frame.shape, -limit, limit, `Student less teacher after ${whole(frame.step)} steps: largest difference ${short(widest, 3)}`);
    this.signed.low.textContent = short(-limit, 3);
    this.signed.high.textContent = short(limit, 3);
  }
}
