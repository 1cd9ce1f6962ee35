// A slider through the measured steps, which lie evenly in log time: it replays the learning, by hand or by itself.

import { el } from "./dom.js";
import { whole } from "./numbers.js";

const PLAYED = 5000; // milliseconds for the whole of it

export class Replay {
  constructor(place, changed, chosen) {
    Object.assign(this, { changed, chosen, wanted: null });
    this.frames = [];
    this.index = -1;
    this.following = true; // while a run goes on the picture is its latest, unless somebody looks back
    this.slider = el("input", { type: "range", id: "replay", min: 0, max: 0, value: 0, step: 1, disabled: true });
    this.output = el("output", { for: "replay" }, "no steps yet");
    this.button = el("button", { type: "button", disabled: true }, "Play");
    this.slider.addEventListener("input", () => this.go(Number(this.slider.value)));
    this.slider.addEventListener("change", () => this.settled());
    this.button.addEventListener("click", () => this.toggle());
    place.append(this.button, el("label", { for: "replay", class: "hidden" }, "Replay"), this.slider, this.output);
  }

  // nothing: what is said where there are no frames.
  setFrames(frames, nothing = "no steps yet") {
    const other = frames !== this.frames;
    this.frames = frames;
    this.slider.max = Math.max(frames.length - 1, 0);
    this.slider.disabled = this.button.disabled = frames.length < 2;
    if (other) this.following = true;
    if (!frames.length) {
      this.pause();
      this.index = -1;
      this.output.textContent = nothing;
      this.changed(null);
    } else if (this.wanted !== null && frames.at(-1).step >= this.wanted) {
      this.near(this.wanted); // the step that an address asks for, once it is there
      this.wanted = null;
    } else if (this.following || other) this.go(frames.length - 1);
  }

  // Somebody has chosen a step to look at, or is back at the last one.
  settled() {
    this.chosen(this.following ? null : this.frames[this.index].step);
  }

  go(index) {
    this.index = Math.min(Math.max(index, 0), this.frames.length - 1);
    this.following = this.index === this.frames.length - 1;
    const frame = this.frames[this.index];
    this.slider.value = this.index;
    const said = frame ? `step ${whole(frame.step)}` : "no steps yet";
    this.slider.setAttribute("aria-valuetext", said);
    this.output.textContent = said;
    this.changed(frame ?? null);
  }

  // The frame nearest to a step, in log time.
  near(step) {
    const far = (frame) => Math.abs(Math.log((frame.step + 1) / (step + 1)));
    if (this.frames.length) this.go(this.frames.reduce((best, frame, i) => (far(frame) < far(this.frames[best]) ? i : best), 0));
  }

  toggle() {
    if (this.timer) this.pause();
    else this.play();
  }

  play() {
    if (this.frames.length < 2) return;
    if (this.index === this.frames.length - 1) this.go(0);
    this.button.textContent = "Pause";
    const count = this.frames.length;
    this.timer = setInterval(() => {
      this.go(this.index + 1);
      if (this.index >= this.frames.length - 1) this.pause();
    }, Math.max(PLAYED / count, 30));
  }

  pause() {
    clearInterval(this.timer);
    this.timer = null;
    this.button.textContent = "Play";
  }
}
