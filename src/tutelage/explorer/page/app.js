// A page of the explorer: knobs, a run as it learns, and all that is read from it.

import { Chart } from "./chart.js";
import { RUNS } from "./colours.js";
import { Controls } from "./controls.js";
import { copy, debounced, el } from "./dom.js";
import { Editor } from "./editor.js";
import { Attention } from "./heat.js";
import { announce, applyTheme, explorer, header } from "./layout.js";
import { Presentation } from "./present.js";
import { Replay } from "./replay.js";
import { Run, storedRun } from "./runs.js";
import { KINDS, labels, State } from "./state.js";
import { ask, events } from "./stream.js";
import { showStudies } from "./studies.js";
import * as tables from "./tables.js";
import { Telling } from "./telling.js";
import { drawable } from "./words.js";

const MOVING = 150; // milliseconds without a move before a slider's value is run

class App {
  constructor(catalogue, page) {
    this.state = new State(catalogue, page);
    this.state.read(location.search);
    this.page = page;
    this.prepared = page.prepared;
    applyTheme(this.state.theme);
    document.body.prepend(header(catalogue, page.name, this.state.theme, (theme) => this.dress(theme)));
    this.places = explorer();
    Object.assign(this, { current: null, before: null, overlays: [], described: null, running: null });
    const places = this.places;
    this.chart = new Chart(places.plot, { picked: (step) => (this.replay.near(step), this.replay.settled()), pointed: (words) => (places.pointed.textContent = words) });
    this.aligned = ["cosine", "value_scale"].map((curve) => [curve, new Chart(places[curve === "cosine" ? "cosine-plot" : "scale-plot"], { bare: true })]);
    this.attention = new Attention(places.maps);
    this.replay = new Replay(places["replay-bar"], (frame) => this.look(frame), (step) => this.seek(step));
    this.editor = new Editor(catalogue.limits.tokens, (key, edges, nodes) => this.drawn(key, edges, nodes));
    this.controls = new Controls(places.panel, this.state, { changed: (key, live) => this.changed(live), draw: (key, value) => this.editor.open(key, value) });
    this.telling = new Telling(this, places);
    this.presentation = new Presentation(this, this.prepared);
    this.soon = debounced(() => this.act(), MOVING);
    this.wire();
  }

  wire() {
    const { places } = this;
    const on = (id, act) => places[id].addEventListener("click", act);
    on("run", () => this.start());
    on("stop", () => this.stop());
    on("keep", () => this.keep());
    on("save", () => this.save());
    on("present", () => this.presentation.enter(true));
    on("copy-link", async () => announce((await copy(location.href)) ? "Link copied." : "Copy it from the address bar."));
    for (const name of ["python", "command"]) on(`copy-${name}`, async () => announce((await copy(this.described[name])) ? "Copied." : "Copy it from “Numbers and code” below."));
    places.show.addEventListener("change", () => {
      this.state.show = places.show.value;
      this.addressed();
      this.draw();
    });
    addEventListener("popstate", () => this.arrive());
    matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => this.recolour());
  }

  // What the address says, shown; a shared state runs at once, a presented one waits for the space bar.
  async arrive() {
    this.halt();
    this.state.read(location.search);
    applyTheme(this.state.theme);
    Object.assign(this, { current: null, before: null, overlays: [], described: null });
    const asked = [...new URLSearchParams(location.search).keys()].some((key) => key !== "theme" && key !== "present");
    this.controls.build();
    this.presentation.show();
    this.replay.setFrames([]);
    this.replay.wanted = this.state.step === null ? null : Number(this.state.step);
    this.refresh();
    if (this.state.saved.length) return this.openSaved();
    this.describe();
    if (asked && !this.state.present) await this.start();
  }

  open(query) {
    const { theme, present } = this.state;
    history.pushState(null, "", `${this.page.address}?${query}${present ? "&present=1" : ""}${theme ? `&theme=${theme}` : ""}`);
    this.arrive();
  }

  addressed() {
    history.replaceState(null, "", this.state.address());
  }

  changed(live) {
    this.state.saved = [];
    this.addressed();
    if (live) this.soon();
    else this.act();
  }

  act() {
    this.describe();
    if (this.places.auto.checked) this.start();
    else this.refresh();
  }

  drawn(key, edges, nodes) {
    this.state.set(key, edges);
    this.state.set(`${key.split(".")[0]}.tokens`, String(nodes)); // each node is a token
    this.controls.build();
    this.changed(false);
  }

  async describe() {
    this.asking?.abort();
    this.asking = new AbortController();
    try {
      this.described = await ask(`/api/describe?${this.state.query()}&page=${this.page.name}`, { signal: this.asking.signal });
    } catch (problem) {
      if (problem.name !== "AbortError") this.refuse(problem.message);
      return;
    }
    this.refuse("");
    this.adopt();
    const { places } = this;
    this.attention.setTeacher(this.described.teacher?.selection);
    places.attention.hidden = !this.attention.selection;
    places.python.textContent = this.described.python;
    places.command.textContent = this.described.command;
    places["copy-python"].disabled = places["copy-command"].disabled = false;
    places["hypothesis-list"].replaceChildren(tables.hypotheses(this.described.hypotheses, this.described.sentence));
    this.look(this.replay.frames[this.replay.index] ?? null);
    this.draw();
  }

  // An address may use the paper's letters (D=36); the server's own query has the names that the knobs have.
  adopt() {
    const known = new Set([...KINDS, ...this.state.options().map(([key]) => key)]);
    if ([...this.state.values.keys()].every((key) => known.has(key))) return;
    this.settle(this.described.query);
    this.addressed();
  }

  // Another setting, looked at as before.
  settle(query) {
    const { show, step, theme, present, also, saved } = this.state;
    this.state.read(query);
    Object.assign(this.state, { show, step, theme, present, also, saved });
    this.controls.build();
  }

  refuse(sentence) {
    this.places.problem.textContent = sentence;
    this.places.problem.hidden = !sentence;
    this.controls.blame(sentence);
    if (!sentence) return;
    this.described = null;
    this.places["copy-python"].disabled = this.places["copy-command"].disabled = true;
    this.telling.status("refused");
  }

  async start() {
    this.halt();
    const colour = this.current?.colour ?? this.free();
    if (this.current?.steps.length) this.before = this.current; // stays, faintly, until the new one has points
    const run = (this.current = Object.assign(new Run(this.state.query(), this.horizon()), { colour }));
    this.addressed();
    this.refresh();
    const { turn } = this;
    await this.follow(run);
    if (turn === this.turn) await this.layOver();
  }

  horizon() {
    return Number(this.state.value("steps", this.state.fields.find((field) => field.name === "steps")));
  }

  // Takes the events of one run until it ends or is stopped.
  async follow(run) {
    const control = (this.running = new AbortController());
    this.telling.buttons();
    try {
      for await (const event of events(`${run.query}&page=${this.page.name}`, control.signal, run === this.current ? "main" : "over")) {
        run.take(event);
        if (event.event === "points" && run === this.current) this.before = null;
        if (event.event === "error") this.refuse(event.sentence);
        this.refresh();
      }
      if (run.state === "running" || run.state === "preparing") Object.assign(run, { state: "error", sentence: "the server went away" });
    } catch (problem) {
      if (problem.name !== "AbortError") Object.assign(run, { state: "error", sentence: `the connection was lost: ${problem.message}` });
      else Object.assign(run, { state: "stopped" });
    }
    if (this.running === control) this.running = null;
    this.refresh();
  }

  halt() {
    this.turn = (this.turn ?? 0) + 1;
    this.running?.abort();
    this.running = null;
  }

  stop() {
    this.halt();
    this.refresh();
  }

  // The first colour that no run on the chart has.
  free() {
    const taken = new Set([...this.overlays, this.current].map((run) => run?.colour));
    return Array.from({ length: RUNS }, (_, i) => i).find((i) => !taken.has(i)) ?? 0;
  }

  keep() {
    if (!this.current?.steps.length) return;
    this.overlays.push(Object.assign(this.current, { kept: true }));
    this.current = null;
    this.before = null;
    this.listed();
  }

  // The runs that the address names beside this one, one after another; those that are here already stay.
  async layOver() {
    const { turn } = this;
    for (const query of [...this.state.also]) {
      const held = this.overlays.find((run) => run.query === query);
      if (held?.kept || held?.state === "ended") continue;
      this.overlays = this.overlays.filter((run) => run !== held);
      const run = Object.assign(new Run(query, 0), { colour: held?.colour ?? this.free() });
      this.overlays.push(run);
      await this.follow(run);
      if (turn !== this.turn) return;
    }
  }

  remove(run) {
    this.overlays = this.overlays.filter((other) => other !== run);
    this.listed();
  }

  // The address names the overlays, so that a link shows them too.
  listed() {
    this.state.also = this.overlays.filter((run) => run.query && !run.saved).map((run) => run.query);
    this.addressed();
    this.refresh();
  }

  async save() {
    try {
      await ask("/api/save", { method: "POST", headers: { "Content-Type": "application/json" }, body: JSON.stringify({ identity: this.current.identity }) });
      this.current.saved = this.current.identity;
      announce("Saved to the store.");
    } catch (problem) {
      announce(problem.message);
    }
    this.telling.buttons();
  }

  async openSaved() {
    this.telling.status("reading saved runs");
    try {
      const runs = (await Promise.all(this.state.saved.map((name) => ask(`/api/saved/${name}`)))).map(storedRun);
      runs.forEach((run, i) => (run.colour = i % RUNS));
      [this.current, ...this.overlays] = runs;
    } catch (problem) {
      return this.refuse(problem.message);
    }
    if (this.current.query) {
      this.settle(this.current.query);
      await this.describe();
    }
    this.refresh();
  }

  // Redraws at the next frame, however many events came.
  refresh() {
    this.due ??= requestAnimationFrame(() => {
      this.due = null;
      this.draw();
    });
  }

  shown() {
    const runs = [...this.overlays, this.before?.steps.length && !this.current?.steps.length ? null : this.current].filter((run) => run);
    const named = labels(runs.map((run) => run.query), this.state.catalogue, this.state.page);
    const list = runs.map((run, i) => ({ run, colour: run.colour, label: runs.length > 1 ? named[i] : "the student", main: i === runs.length - 1 }));
    if (this.before && !this.current?.steps.length) list.push({ run: this.before, colour: this.before.colour, label: "before", faint: true });
    return list;
  }

  draw() {
    const { places, current } = this;
    const list = this.shown();
    const { latest } = this;
    const names = drawable([...new Set(list.flatMap(({ run }) => Object.keys(run.curves)))]);
    this.telling.choices(names.length ? names : ["excess_risk"]);
    const curve = this.curve;
    const predicted = Object.values(this.described?.predicted ?? {}).flat();
    if (current && !current.steps.length && !list.some(({ run }) => run === current)) list.push({ run: current, colour: current.colour, label: "", main: true });
    this.chart.show(list, curve, predicted, list.length ? 0 : this.horizon());
    const aligned = list.filter(({ run }) => run.curves.cosine);
    places.alignment.hidden = !aligned.length;
    if (aligned.length) for (const [curve, chart] of this.aligned) chart.show(aligned, curve);
    this.replay.setFrames(latest?.frames ?? []);
    this.telling.titles(list, curve, latest);
    this.telling.legend(list);
    this.telling.buttons();
    this.telling.speak(this.overlays.find((run) => ["waiting", "queued", "preparing", "running"].includes(run.state)) ?? latest);
    if (!this.tabled) {
      this.tabled = setTimeout(() => {
        this.tabled = null;
        this.telling.tables(this.shown(), this.latest);
      }, 250);
    }
  }

  // The run that is read: the present one, or the last that was kept.
  get latest() {
    return this.current ?? this.overlays.at(-1) ?? null;
  }

  get curve() {
    return this.state.show ?? (this.places.show.options[0]?.value || "excess_risk");
  }

  same(one, other) {
    const state = new State(this.state.catalogue, this.state.page);
    state.read(one);
    return state.query() === other;
  }

  look(frame) {
    this.attention.show(frame);
    const last = this.replay.index === this.replay.frames.length - 1;
    this.chart.mark(frame && !last ? frame.step : null);
  }

  seek(step) {
    this.state.step = step;
    this.addressed();
  }

  dress(theme) {
    this.state.theme = theme;
    applyTheme(theme);
    this.addressed();
    this.recolour();
  }

  recolour() {
    this.chart.redraw();
    for (const [, chart] of this.aligned) chart.redraw();
  }

  startLinks() {
    const links = this.prepared.map((state) => el("a", { href: `${this.page.address}?${state.query}`, "data-name": state.name, title: state.sentence, onclick: (event) => {
      if (event.ctrlKey || event.metaKey || event.shiftKey || event.button) return;
      event.preventDefault();
      this.open(state.query);
    } }, state.name));
    this.places.start.replaceChildren("Prepared:", ...links);
    this.places.start.hidden = !links.length;
  }
}

const catalogue = await ask("/api/catalogue");
const page = catalogue.pages.find(({ name }) => name === document.body.dataset.page);
const teacher = new URLSearchParams(location.search).get("teacher");
const other = catalogue.pages.find(({ teachers }) => teachers.includes(teacher));
if (other && !page.teachers.includes(teacher)) location.replace(other.address + location.search); // a teacher of another page
else {
  const app = new App(catalogue, page);
  app.startLinks();
  if (page.paper) showStudies(app.places.studies, app.places["study-list"], page.paper);
  await app.arrive();
}
