// The guided tour of a page: its stops in order, each a state with a sentence and something to try.

import { locate } from "./address.js";
import { el } from "./dom.js";

export class Tour {
  constructor(app, place, stops, prepared) {
    Object.assign(this, { app, place, stops, prepared });
    const link = (stop, i) => el("a", { href: this.address(stop, i), title: stop.name, "aria-label": `Stop ${i + 1}: ${stop.name}`, onclick: (event) => this.follow(event, () => this.to(i)) }, String(i + 1));
    this.links = stops.map(link);
    this.before = el("button", { type: "button", id: "tour-back", "aria-label": "Previous stop", onclick: () => this.go(-1) }, "‹");
    this.after = el("button", { type: "button", id: "tour-next", "aria-label": "Next stop", onclick: () => this.go(1) }, "Next ›");
    this.back = el("button", { type: "button", id: "tour-reset", hidden: true, onclick: () => this.to(this.index) }, "Back to the stop");
    this.more = el("select", { id: "more-states", "aria-label": "More states", onchange: () => this.choose() },
      el("option", { value: "" }, "More states"), prepared.map(({ name }, i) => el("option", { value: i }, name)));
    this.more.hidden = !prepared.length;
    place.append(...(stops.length ? [this.before, ...this.links, this.after] : []), this.more);
    app.places.task.after(" ", this.back);
    place.hidden = !stops.length && !prepared.length;
  }

  // The stop that the address names; null where it names none.
  get stop() {
    return this.stops[this.index] ?? null;
  }

  get index() {
    return this.app.state.stop === null ? -1 : Number(this.app.state.stop) - 1;
  }

  query(stop, i) {
    return `${stop.query}&stop=${i + 1}`;
  }

  address(stop, i) {
    return locate(this.app.page.address, this.query(stop, i));
  }

  follow(event, act) {
    if (event.ctrlKey || event.metaKey || event.shiftKey || event.button) return;
    event.preventDefault();
    act();
  }

  to(i) {
    this.app.open(this.query(this.stops[i], i));
  }

  go(by) {
    if (!this.stops.length) return;
    const now = this.index;
    this.to(now < 0 ? (by > 0 ? 0 : this.stops.length - 1) : (now + by + this.stops.length) % this.stops.length);
  }

  choose() {
    const state = this.prepared[Number(this.more.value)];
    if (state && this.more.value !== "") this.app.open(state.query);
  }

  // Whether the setting is no longer that of the stop.
  get changed() {
    return Boolean(this.stop) && !this.app.same(this.stop.query, this.app.state.query());
  }

  show() {
    this.links.forEach((link, i) => (i === this.index ? link.setAttribute("aria-current", "step") : link.removeAttribute("aria-current")));
    this.back.hidden = !this.changed;
    const at = this.prepared.findIndex((state) => this.index < 0 && this.app.same(state.query, this.app.state.query()));
    this.more.value = at < 0 ? "" : String(at);
  }
}
