// Attention as a picture: the student's large, the teacher's and their difference beside it, with the scale of colours.

import { difference, heat } from "./colours.js";
import { el } from "./dom.js";
import { meaning, paint, place } from "./machine.js";
import { short, whole } from "./numbers.js";

class Map2 {
  constructor(name, colours, readout) {
    this.canvas = el("canvas", { role: "img", "aria-label": name });
    this.caption = el("figcaption", {}, name);
    Object.assign(this, { name, colours, readout, matrix: null });
    this.figure = el("figure", {}, this.canvas, this.caption);
    this.canvas.addEventListener("pointermove", (event) => this.read(event));
    this.canvas.addEventListener("pointerleave", () => (this.readout.textContent = ""));
  }

  draw(matrix, block, low, high, said) {
    Object.assign(this, { matrix, block, low, high });
    paint(this.canvas, matrix, block.shape, low, high, this.colours);
    this.canvas.setAttribute("aria-label", said);
  }

  read(event) {
    if (!this.matrix) return;
    const [row, column] = place(event, this.canvas, this.block.shape);
    this.readout.textContent = `${short(this.matrix[row * this.block.shape[1] + column], 3)}: ${meaning(this.block.says, row, column)}`;
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
    this.readout = el("p", { class: "readout", "aria-hidden": "true" });
    this.student = new Map2("student", heat, this.readout);
    this.teacher = new Map2("teacher", heat, this.readout);
    this.gap = new Map2("difference", difference, this.readout);
    this.scale = bar(heat);
    this.signed = bar(difference);
    this.maps = el("div", { class: "maps" }, this.student.figure, el("div", { class: "beside" }, this.teacher.figure, this.gap.figure));
    place.append(this.maps, el("div", { class: "strips" }, this.scale.strip, this.signed.strip), this.readout);
    this.block = null;
  }

  get shown() {
    return [this.student, this.teacher, this.gap].filter(({ matrix, figure }) => matrix && !figure.hidden && !figure.classList.contains("empty"));
  }

  // block: the machine's block of attention, or null where there is none.
  set(block) {
    this.block = block;
    if (!block) return;
    const [rows, columns] = block.shape;
    this.top = block.teacher ? block.teacher.reduce((most, value) => Math.max(most, Math.abs(value)), 0) : 1;
    this.student.colours = block.signed ? difference : heat;
    this.scale.strip.hidden = block.signed;
    this.student.caption.textContent = `student ${block.symbol}`;
    this.teacher.caption.textContent = `teacher ${block.symbol}*`;
    this.gap.caption.textContent = `${block.symbol} − ${block.symbol}*`;
    this.teacher.figure.hidden = this.gap.figure.hidden = !block.teacher;
    this.signed.strip.hidden = !block.teacher && !block.signed;
    this.maps.classList.toggle("alone", !block.teacher);
    if (block.teacher) this.teacher.draw(block.teacher, block, 0, this.top, `The teacher's ${block.symbol}*: ${rows} by ${columns} numbers, the largest ${short(this.top, 3)}`);
    this.scale.low.textContent = "0";
    this.scale.high.textContent = short(this.top, 3);
    this.maps.style.setProperty("--ratio", columns / rows);
    this.maps.dataset.tall = rows > columns * 1.6;
  }

  // A frame of the replay; without one, the uniform attention of the start is not invented: the squares stay empty.
  show(frame) {
    const { block } = this;
    const given = frame && block && frame.matrices[block.curve];
    const fits = given && given.shape.join() === block.shape.join();
    this.student.figure.classList.toggle("empty", !fits);
    this.gap.figure.classList.toggle("empty", !fits);
    if (!fits) return;
    if (!block.teacher) this.top = given.data.reduce((most, value) => Math.max(most, Math.abs(value)), 1e-12);
    [this.signed.low.textContent, this.signed.high.textContent, this.scale.high.textContent] = [-this.top, this.top, this.top].map((value) => short(value, 3));
    this.student.draw(given.data, block, block.signed ? -this.top : 0, this.top, `The student's ${block.symbol} after ${whole(frame.step)} steps`);
    if (!block.teacher) return;
    const gap = given.data.map((value, i) => value - block.teacher[i]);
    const widest = gap.reduce((most, value) => Math.max(most, Math.abs(value)), 0);
    const limit = this.top; // one scale for the whole replay, so that a fading picture is a shrinking error
    this.gap.draw(gap, block, -limit, limit, `Student less teacher after ${whole(frame.step)} steps: largest difference ${short(widest, 3)}`);
  }
}
