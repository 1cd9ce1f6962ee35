// A page of the explorer: knobs, a run as it learns, and all that is read from it.

import { locate } from "./address.js";
import { AXES, axisTitle, nameSteps } from "./axes.js";
import { Chart } from "./chart.js";
import { RUNS } from "./colours.js";
import { Controls } from "./controls.js";
import { copy, debounced, el, worded } from "./dom.js";
import { Editor } from "./editor.js";
import { Attention } from "./heat.js";
import { announce, applyTheme, explorer, header } from "./layout.js";
import { Machine } from "./machine.js";
import { Presentation } from "./present.js";
import { Replay } from "./replay.js";
import { Run, storedRun } from "./runs.js";
import { KINDS, labels, State } from "./state.js";
import { showStudies } from "./studies.js";
import * as tables from "./tables.js";
import { fillMenus } from "./takeaway.js";
import { Telling } from "./telling.js";
import { Tour } from "./tour.js";
import { transport } from "./transport.js";
import { drawable, nameCurves } from "./words.js";

const REMEMBERED = 12; // finished runs that are shown again without running
const MOVING = 150; // milliseconds without a move before a slider's value is run
const BETWEEN_TABLES = 250; // milliseconds

class App {
  constructor(catalogue, page) {
    this.state = new State(catalogue, page);
    this.state.read(location.search);
    this.page = page;
    this.prepared = page.prepared;
    this.finished = new Map(); // by query
    nameCurves(catalogue.curves);
    applyTheme(this.state.theme);
    document.body.prepend(header(catalogue, page.name, this.state.theme, (theme) => this.dress(theme)));
    this.places = explorer();
    Object.assign(this, { current: null, before: null, overlays: [], described: null, running: null });
    const places = this.places;
    this.chart = new Chart(places.plot, { picked: (step) => (this.replay.near(step), this.replay.settled()), pointed: (words) => (places.pointed.textContent = words) });
    this.aligned = ["cosine", "value_scale"].map((curve) => [curve, new Chart(places[curve === "cosine" ? "cosine-plot" : "scale-plot"], { bare: true })]);
    this.machine = new Machine(places.blocks, places.number);
    this.attention = new Attention(places.maps);
    this.replay = new Replay(places["replay-bar"], (frame) => this.replayed(frame), (step) => this.seek(step));
    this.editor = new Editor(catalogue.limits.tokens, (key, edges, nodes) => this.drawn(key, edges, nodes));
    this.controls = new Controls(places.knobs, this.state, { changed: (key, live) => this.changed(live), draw: (key, value) => this.editor.open(key, value) });
    this.telling = new Telling(this, places);
    this.tour = new Tour(this, places.tour, page.tour, page.prepared);
    this.presentation = new Presentation(this);
    this.write();
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
    places.show.addEventListener("change", () => this.look({ show: places.show.value }));
    places.axis.addEventListener("change", () => this.look({ axis: places.axis.value }));
    places.view.addEventListener("change", () => this.look({ view: places.view.checked ? "ratio" : "curve" }));
    fillMenus(this);
    addEventListener("popstate", () => this.arrive());
    matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => this.recolour());
  }

  // What never changes: the theorem in words, and the names of the axes.
  write() {
    const { places, page } = this;
    places.statement.replaceChildren(...worded(page.statement));
    places.statement.hidden = !page.statement;
    nameSteps(this.state.fields.find(({ name }) => name === "steps").letter);
    places.axis.replaceChildren(...AXES.map((value) => el("option", { value }, axisTitle(value))));
  }

  // How the chart is looked at: the curve, the axis, and whether it is divided by what was predicted.
  look(looks) {
    Object.assign(this.state, looks);
    this.addressed();
    this.draw();
  }

  turnAxis() {
    this.look({ axis: AXES[(AXES.indexOf(this.state.axis) + 1) % AXES.length] });
  }

  // What the address says, shown. It runs at once; a presented state waits for the space bar.
  async arrive() {
    this.halt();
    const asked = [...new URLSearchParams(location.search).keys()].some((key) => !["theme", "present", "page"].includes(key));
    this.state.read(location.search);
    if (!asked && this.tour.stops.length) this.settle(this.tour.query(this.tour.stops[0], 0), true);
    applyTheme(this.state.theme);
    this.state.also = this.state.also.map((query) => this.normal(query));
    const known = (query) => this.finished.get(query) ?? null;
    Object.assign(this, { current: known(this.state.query()), before: null, described: null });
    this.overlays = this.state.also.map(known).filter(Boolean);
    this.colour();
    this.controls.build();
    this.presentation.show();
    this.replay.setFrames([]);
    this.replay.wanted = this.state.step === null ? null : Number(this.state.step);
    this.draw();
    if (this.state.saved.length) return this.openSaved();
    if (this.current) {
      this.describe();
      await this.layOver();
    } else await this.begin(!this.state.present);
  }

  // Runs that come back may have the same colour.
  colour() {
    [...this.overlays, this.current].filter(Boolean).forEach((run, i) => (run.colour = i % RUNS));
  }

  normal(query) {
    const state = new State(this.state.catalogue, this.state.page);
    state.read(query);
    return state.query();
  }

  open(query) {
    const { theme, present } = this.state;
    history.pushState(null, "", locate(this.page.address, `${query}${present ? "&present=1" : ""}${theme ? `&theme=${theme}` : ""}`));
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
    this.begin(this.places.auto.checked);
  }

  // Runs by itself what is cheap; what takes long says so first, and waits to be started.
  async begin(wanted) {
    this.halt();
    this.describing = true;
    this.draw();
    if (!(await this.describe())) return;
    if (wanted && !this.described.cost) await this.start();
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
    const asking = (this.asking = new AbortController());
    try {
      this.described = await transport.describe(this.state.query(), this.page.name, asking.signal);
    } catch (problem) {
      if (problem.name !== "AbortError") this.refuse(problem.message);
      return false;
    } finally {
      if (this.asking === asking) this.describing = false;
    }
    this.refuse("");
    this.adopt();
    const { places } = this;
    places.theorem.innerHTML = this.described.theorem.join(" "); // MathML that the server made of the paper's own formulas
    places.theorem.hidden = !this.described.theorem.length;
    this.machine.set(this.described.machine);
    this.attention.set(this.machine.attention);
    places.machine.hidden = !this.described.machine.length;
    places.attention.hidden = !this.attention.block?.curve;
    places["attention-title"].textContent = this.attention.block?.name ?? "";
    places.cost.textContent = this.described.cost;
    places.cost.hidden = !this.described.cost;
    places.python.textContent = this.described.python;
    places.command.textContent = this.described.command;
    places["copy-python"].disabled = places["copy-command"].disabled = false;
    places["hypothesis-list"].replaceChildren(tables.hypotheses(this.described.hypotheses, this.described.sentence));
    this.replayed(this.replay.frames[this.replay.index] ?? null);
    this.draw();
    return true;
  }

  // An address may use the paper's letters (D=36); the server's own query has the names that the knobs have.
  adopt() {
    const known = new Set([...KINDS, ...this.state.options().map(([key]) => key)]);
    if ([...this.state.values.keys()].every((key) => known.has(key))) return;
    this.settle(this.described.query);
    this.addressed();
  }

  // Another setting; looked at as before, or as its own query says.
  settle(query, looks = false) {
    const before = this.state.looks;
    this.state.read(query);
    if (looks) Object.assign(this.state, { theme: before.theme, present: before.present });
    else Object.assign(this.state, before);
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
    this.draw();
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
      for await (const event of transport.run(run.query, this.page.name, control.signal, run === this.current ? "main" : "over")) {
        run.take(event);
        if (event.event === "points" && run === this.current) this.before = null;
        if (event.event === "error") this.refuse(event.sentence);
        this.refresh();
      }
      if (run.state === "running" || run.state === "preparing") Object.assign(run, { state: "error", sentence: "the run broke off" });
    } catch (problem) {
      if (problem.name !== "AbortError") Object.assign(run, { state: "error", sentence: `the connection was lost: ${problem.message}` });
      else Object.assign(run, { state: "stopped" });
    }
    if (run.state === "ended" && run.outcome !== "STOPPED") this.remember(run);
    if (this.running === control) this.running = null;
    this.refresh();
  }

  remember(run) {
    this.finished.delete(run.query);
    this.finished.set(run.query, run);
    if (this.finished.size > REMEMBERED) this.finished.delete(this.finished.keys().next().value);
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
      await transport.save(this.current.identity);
      this.current.saved = this.current.identity;
      announce("Saved to the store.");
    } catch (problem) {
      announce(problem.message);
    }
    this.telling.buttons();
  }

  async openSaved() {
    this.reading = true;
    this.draw();
    try {
      const runs = (await Promise.all(this.state.saved.map((name) => transport.savedRun(name)))).map(storedRun);
      runs.forEach((run, i) => (run.colour = i % RUNS));
      [this.current, ...this.overlays] = runs;
    } catch (problem) {
      return this.refuse(problem.message);
    } finally {
      this.reading = false;
    }
    if (this.current.query) {
      this.settle(this.current.query);
      await this.describe();
    }
    this.refresh();
  }

  // Redraws at the next frame, however many events came. What a visitor does is drawn at once instead, so that the page never shows the end of the run before.
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
    this.chart.show(list, curve, predicted, list.length ? 0 : this.horizon(), this.state);
    places.axis.value = this.state.axis;
    places.view.checked = this.state.view === "ratio";
    const aligned = list.filter(({ run }) => run.curves.cosine);
    places.alignment.hidden = !aligned.length;
    if (aligned.length) for (const [curve, chart] of this.aligned) chart.show(aligned, curve);
    this.replay.setFrames(latest?.frames ?? [], latest?.state === "ended" ? "not measured" : "no steps yet");
    this.telling.titles(curve, latest);
    this.telling.legend(list);
    this.telling.buttons();
    const told = this.overlays.find((run) => run.going) ?? latest;
    this.tabulate(told?.going ?? false);
    this.telling.speak(told);
  }

  // Tables are written four times a second while a run goes on, and at once when it has ended: whoever reads that it has can read its verdicts.
  tabulate(going) {
    const write = () => {
      clearTimeout(this.tabled);
      this.tabled = null;
      this.telling.tables(this.shown(), this.latest);
    };
    if (!going) write();
    else this.tabled ??= setTimeout(write, BETWEEN_TABLES);
  }

  // The run that is read: the present one, or the last that was kept.
  get latest() {
    return this.current ?? this.overlays.at(-1) ?? null;
  }

  // Its phases, as far as they are seen; before that, as theory predicts them.
  get phases() {
    return this.latest?.phases.length ? this.latest.phases : this.described?.phases ?? [];
  }

  get curve() {
    return this.state.show ?? (this.places.show.options[0]?.value || "excess_risk");
  }

  same(one, other) {
    return this.normal(one) === other;
  }

  replayed(frame) {
    this.attention.show(frame);
    this.machine.show(frame, this.latest);
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
}

const catalogue = await transport.catalogue();
const page = catalogue.pages.find(({ name }) => name === document.body.dataset.page);
const asked = new URLSearchParams(location.search);
asked.delete("page");
const teacher = asked.get("teacher");
const other = catalogue.pages.find(({ teachers }) => teachers.includes(teacher));
if (other && !page.teachers.includes(teacher)) location.replace(locate(other.address, asked.toString())); // a teacher of another page
else {
  const app = new App(catalogue, page);
  if (page.paper) showStudies(app.places.studies, app.places["study-list"], page.paper, catalogue.saved);
  await app.arrive();
}
