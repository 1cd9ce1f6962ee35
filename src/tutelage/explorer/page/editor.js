// A small editor of graphs: click to add a node, drag from node to node to join them, click an edge or node to erase it; or type the edges.

import { el } from "./dom.js";
import { laidOut, nodesOf, parse, tidy, written } from "./graphs.js";

const [WIDE, HIGH, RADIUS] = [560, 400, 12];

export class Editor {
  constructor(most, done) {
    Object.assign(this, { most, done, places: [], edges: [], mode: "draw" });
    this.svg = el("svg:svg", { viewBox: `0 0 ${WIDE} ${HIGH}`, role: "img", "aria-label": "The graph as drawn" });
    this.text = el("textarea", { id: "edges", rows: 3, spellcheck: "false", placeholder: "0-1, 1-2, 2-0" });
    this.file = el("input", { type: "file", id: "graph-file", accept: ".txt,.csv,.tsv,.json,.edges,.edgelist" });
    this.said = el("p", { role: "status", class: "soft" });
    const mode = (name, label) => el("label", {}, el("input", { type: "radio", name: "graph-mode", value: name, checked: name === "draw", onchange: () => (this.mode = name) }), label);
    this.dialog = el("dialog", { "aria-labelledby": "graph-title" },
      el("h2", { id: "graph-title" }, "Your own graph"),
      el("p", { class: "soft" }, "Click to add nodes, drag from one node to another to join them. Every node averages itself and its neighbours."),
      el("div", { class: "modes", role: "radiogroup", "aria-label": "What the pointer does" }, mode("draw", "draw"), mode("move", "move"), mode("erase", "erase")),
      this.svg,
      el("div", { class: "field" }, el("label", { for: "edges" }, "Edges, as text"), this.text),
      el("div", { class: "field" }, el("label", { for: "graph-file" }, "Or a file: an edge list, or adjacency as JSON"), this.file),
      this.said,
      el("div", { class: "buttons" },
        el("button", { type: "button", class: "primary", id: "use-graph", onclick: () => this.use() }, "Use this graph"),
        el("button", { type: "button", onclick: () => this.set([]) }, "Clear"),
        el("button", { type: "button", onclick: () => this.dialog.close() }, "Cancel")));
    document.body.append(this.dialog);
    this.text.addEventListener("change", () => this.read(this.text.value));
    this.file.addEventListener("change", async () => this.file.files[0] && this.read(await this.file.files[0].text()));
    this.svg.addEventListener("pointerdown", (event) => this.down(event));
    this.svg.addEventListener("pointermove", (event) => this.move(event));
    this.svg.addEventListener("pointerup", (event) => this.up(event));
  }

  // key: the option that the graph is for.
  open(key, value) {
    this.key = key;
    this.set(value ? parse(value) : []);
    this.dialog.showModal();
  }

  read(text) {
    try {
      this.set(parse(text));
    } catch (problem) {
      this.said.textContent = problem.message;
    }
  }

  set(edges) {
    this.edges = edges;
    this.places = laidOut(nodesOf(edges), edges).map(([x, y]) => [x * WIDE, y * HIGH]);
    this.paint();
  }

  use() {
    const joined = new Set(this.edges.flat());
    const alone = this.places.findIndex((_, i) => !joined.has(i));
    if (!this.edges.length) this.said.textContent = "A graph needs an edge. Got none.";
    else if (alone >= 0) this.said.textContent = `Every node needs an edge, since a node alone has no neighbours to average. Got node ${alone} without one.`;
    else if (this.places.length > this.most) this.said.textContent = `A graph has at most ${this.most} nodes here. Got ${this.places.length}.`;
    else {
      this.dialog.close();
      this.done(this.key, written(this.edges), this.places.length);
    }
  }

  at(event) {
    const point = new DOMPoint(event.clientX, event.clientY).matrixTransform(this.svg.getScreenCTM().inverse());
    const node = this.places.findIndex(([x, y]) => Math.hypot(x - point.x, y - point.y) < RADIUS * 1.6);
    return { point, node };
  }

  down(event) {
    const { point, node } = this.at(event);
    this.svg.setPointerCapture(event.pointerId);
    if (this.mode === "erase") return node >= 0 ? this.drop(node) : this.cut(point);
    if (this.mode === "draw" && node < 0) {
      this.places.push([point.x, point.y]);
      this.from = this.places.length - 1;
      this.paint();
    } else this.from = node;
  }

  move(event) {
    if (this.from === undefined || this.from < 0) return;
    const { point } = this.at(event);
    if (this.mode === "move") this.places[this.from] = [point.x, point.y];
    this.paint(this.mode === "draw" ? point : null);
  }

  up(event) {
    const { node } = this.at(event);
    if (this.mode === "draw" && this.from >= 0 && node >= 0 && node !== this.from) this.edges = tidy([...this.edges, [this.from, node]]);
    this.from = undefined;
    this.paint();
  }

  drop(node) {
    const closed = (other) => (other > node ? other - 1 : other);
    this.places.splice(node, 1);
    this.edges = this.edges.filter((edge) => !edge.includes(node)).map((edge) => edge.map(closed));
    this.paint();
  }

  cut(point) {
    const far = ([a, b]) => {
      const [[ax, ay], [bx, by]] = [this.places[a], this.places[b]];
      const along = Math.min(Math.max(((point.x - ax) * (bx - ax) + (point.y - ay) * (by - ay)) / ((bx - ax) ** 2 + (by - ay) ** 2), 0), 1);
      return Math.hypot(ax + along * (bx - ax) - point.x, ay + along * (by - ay) - point.y);
    };
    this.edges = this.edges.filter((edge) => far(edge) > 8);
    this.paint();
  }

  paint(towards = null) {
    const line = ([x1, y1], [x2, y2], more = {}) => el("svg:line", { x1, y1, x2, y2, ...more });
    this.svg.replaceChildren(
      ...this.edges.map(([a, b]) => line(this.places[a], this.places[b])),
      ...(towards && this.from >= 0 ? [line(this.places[this.from], [towards.x, towards.y], { class: "loose" })] : []),
      ...this.places.flatMap(([x, y], i) => [el("svg:circle", { cx: x, cy: y, r: RADIUS }), el("svg:text", { x, y: y + 4 }, String(i))]));
    this.text.value = this.edges.map(([a, b]) => `${a}-${b}`).join(", ");
    this.said.textContent = this.places.length ? `${this.places.length} nodes, ${this.edges.length} edges` : "";
    this.svg.setAttribute("aria-label", `The graph as drawn: ${this.places.length} nodes, ${this.edges.length} edges`);
  }
}
