// For a lecture: one state in large type, full screen, by keyboard.

import { el } from "./dom.js";

const KEYS = [
  ["Space", "run, or stop"],
  ["← →", "through the tour"],
  ["P", "play the replay, or pause"],
  ["A", "attention alone, or beside the curve"],
  ["M", "the machine, or not"],
  ["R", "measured over predicted, or the curve"],
  ["X", "the next axis: step, time, step / plateau"],
  ["F", "full screen, or not"],
  ["?", "these keys"],
  ["Esc", "leave the presentation"],
];

export class Presentation {
  constructor(app) {
    Object.assign(this, { app });
    const { keys } = app.places;
    keys.querySelector("table").append(el("tbody", {}, KEYS.map(([key, words]) => el("tr", {}, el("th", { scope: "row" }, el("kbd", {}, key)), el("td", {}, words)))));
    app.places.help.addEventListener("click", () => this.help());
    app.places["close-keys"].addEventListener("click", () => keys.close());
    document.addEventListener("keydown", (event) => this.key(event));
  }

  get on() {
    return this.app.state.present;
  }

  enter(on) {
    document.activeElement?.blur();
    this.app.state.present = on;
    if (!on && document.fullscreenElement) document.exitFullscreen();
    this.show();
    this.app.addressed();
  }

  show() {
    const body = document.body.classList;
    body.toggle("presenting", this.on);
    if (!this.on) body.remove("attending", "machined");
    this.app.chart.large = this.on;
    this.app.chart.redraw();
  }

  help() {
    const { keys } = this.app.places;
    if (keys.open) keys.close();
    else keys.showModal();
  }

  // F and ? do on every page; the others while presenting.
  key(event) {
    if (event.ctrlKey || event.metaKey || event.altKey || /^(INPUT|SELECT|TEXTAREA)$/.test(event.target.tagName) && event.target.type !== "range") return;
    const everywhere = { f: () => this.fill(), "?": () => this.help() };
    const presenting = {
      " ": () => (this.app.running ? this.app.stop() : this.app.start()),
      ArrowRight: () => this.app.tour.go(1),
      PageDown: () => this.app.tour.go(1),
      ArrowLeft: () => this.app.tour.go(-1),
      PageUp: () => this.app.tour.go(-1),
      a: () => document.body.classList.toggle("attending"),
      m: () => document.body.classList.toggle("machined"),
      p: () => this.app.replay.toggle(),
      r: () => this.app.look({ view: this.app.state.view === "ratio" ? "curve" : "ratio" }),
      x: () => this.app.turnAxis(),
      Escape: () => this.enter(false),
    };
    const key = event.key.length === 1 ? event.key.toLowerCase() : event.key;
    const slides = event.target.type === "range" && key.startsWith("Arrow"); // the slider's own keys
    const act = everywhere[key] ?? (this.on && !this.app.places.keys.open && !slides ? presenting[key] : undefined);
    if (!act) return;
    event.preventDefault();
    act();
  }

  // Full screen, where the browser allows it; the large layout in any case.
  async fill() {
    if (document.fullscreenElement) return document.exitFullscreen();
    if (!this.on) this.enter(true);
    try {
      await document.documentElement.requestFullscreen();
    } catch {
      // a browser may refuse; the page fills its window all the same
    }
  }
}
