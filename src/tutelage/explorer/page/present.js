// For a lecture: one figure in large type. Space runs or stops, arrows go through the prepared states, A changes to attention, Escape leaves.

export class Presentation {
  constructor(app, prepared) {
    Object.assign(this, { app, prepared });
    document.addEventListener("keydown", (event) => this.key(event));
  }

  get on() {
    return this.app.state.present;
  }

  enter(on) {
    document.activeElement?.blur();
    this.app.state.present = on;
    this.show();
    this.app.addressed();
  }

  show() {
    document.body.classList.toggle("presenting", this.on);
    if (!this.on) document.body.classList.remove("attending");
    this.app.places.keys.textContent = this.on ? "space runs   ← → prepared states   A attention   Esc leaves" : "";
    this.app.chart.large = this.on;
    this.app.chart.redraw();
  }

  index() {
    const query = this.app.state.query();
    return this.prepared.findIndex((state) => this.app.same(state.query, query));
  }

  key(event) {
    if (!this.on || event.ctrlKey || event.metaKey || event.altKey || /^(INPUT|SELECT|TEXTAREA)$/.test(event.target.tagName)) return;
    const acts = {
      " ": () => (this.app.running ? this.app.stop() : this.app.start()),
      ArrowRight: () => this.step(1),
      PageDown: () => this.step(1),
      ArrowLeft: () => this.step(-1),
      PageUp: () => this.step(-1),
      a: () => this.attend(),
      A: () => this.attend(),
      Escape: () => this.enter(false),
    };
    if (!acts[event.key]) return;
    event.preventDefault();
    acts[event.key]();
  }

  step(by) {
    if (!this.prepared.length) return;
    const now = this.index();
    const next = now < 0 ? (by > 0 ? 0 : this.prepared.length - 1) : (now + by + this.prepared.length) % this.prepared.length;
    this.app.open(this.prepared[next].query);
  }

  attend() {
    if (document.body.classList.toggle("attending")) this.app.replay.play();
    else this.app.replay.pause();
  }
}
