// What the page says of its runs: title, legend, status line, tables. The app decides; this writes it down.

import { el, indexed } from "./dom.js";
import { raised, short, whole } from "./numbers.js";
import * as tables from "./tables.js";
import { title } from "./words.js";

export class Telling {
  constructor(app, places) {
    Object.assign(this, { app, places });
  }

  choices(names) {
    const { show } = this.places;
    if ([...show.options].map((option) => option.value).join() !== names.join()) show.replaceChildren(...names.map((name) => el("option", { value: name }, title(name))));
    if (!names.includes(this.app.curve)) show.append(el("option", { value: this.app.curve }, title(this.app.curve)));
    show.value = this.app.curve;
  }

  titles(list, curve, latest) {
    const { places } = this;
    const { state } = this.app;
    const prepared = this.app.prepared.find((other) => this.app.same(other.query, state.query()));
    const part = state.part("teacher");
    places.title.textContent = prepared?.name ?? part?.label ?? state.chosen("teacher");
    places.lead.textContent = prepared?.sentence ?? part?.sentence ?? "";
    for (const link of places.start.querySelectorAll("a")) link.toggleAttribute("aria-current", link.dataset.name === prepared?.name);
    const values = latest?.curves[curve];
    Object.assign(places.plot.dataset, { points: latest?.steps.length ?? 0, first: Math.round(latest?.first ?? 0) });
    places.plot.setAttribute("aria-label", values ? `${title(curve)} over steps, on a logarithmic axis of steps: ${short(values.find((value) => value !== null))} at the start, ${short(values.at(-1))} at step ${whole(latest.last)}. The last values are in a table below.` : "No run yet");
    const predicted = this.app.chart.theory().length ? "The dashed line is what theory predicts. Run, and the student’s curve grows towards it or does not." : "Run, and the student’s curve grows here.";
    places.hint.textContent = latest?.steps.length || this.app.before ? "" : predicted;
    places.hint.hidden = !places.hint.textContent;
  }

  legend(list) {
    const entries = list.filter(({ faint, run }) => !faint && run.steps.length).map(({ run, colour, label }) =>
      el("li", {}, el("span", { class: "sample", style: `--colour: var(--run${colour})` }), el("span", {}, indexed(label)),
        this.app.overlays.includes(run) ? el("button", { type: "button", class: "remove", "aria-label": `Remove ${label}`, onclick: () => this.app.remove(run) }, "×") : null));
    const lines = [...new Map([...this.app.chart.theory(), ...this.app.chart.fitted()].map((line) => [line.kind + line.label, line])).values()];
    entries.push(...lines.map((line) => el("li", {}, el("span", { class: `sample ${line.kind}`, style: `--colour: var(--run${list.find(({ main }) => main)?.colour ?? 0})` }), el("span", {}, raised(line.label ?? line.kind), line.window ? ", over the shaded steps" : "", this.app.chart.hides(line) ? ", outside the picture" : ""))));
    const text = entries.map((entry) => entry.textContent + entry.innerHTML).join();
    if (text !== this.legendText) this.places.legend.replaceChildren(...entries);
    this.legendText = text;
  }

  buttons() {
    const { places } = this;
    const { current, running } = this.app;
    places.run.textContent = current && !running ? "Run again" : "Run";
    places.stop.disabled = !running;
    places.keep.disabled = !current?.steps.length;
    places.save.disabled = !current?.identity || current.state !== "ended" || Boolean(current.saved);
  }

  speak(run) {
    if (!this.places.problem.hidden && run?.state !== "running") return this.status("refused");
    if (!run) return this.status("");
    const words = {
      waiting: () => "preparing",
      queued: () => `waiting, ${run.ahead} ahead`,
      preparing: () => (run.known ? "preparing" : "preparing: this shape is new and is compiled first"),
      running: () => `running, step ${whole(run.now)}${run.horizon ? ` of ${whole(run.horizon)}` : ""}`,
      stopped: () => `stopped at step ${whole(run.now)}`,
      ended: () => `${run.outcome === "FINISHED" ? "finished" : run.outcome?.toLowerCase() ?? "saved"}: ${run.sentence ?? ""}${run.seconds ? ` ${run.seconds.toFixed(1)} s.` : ""}`,
      error: () => run.sentence,
    };
    this.status(words[run.state]());
  }

  // A screen reader is not told of every step: the words change at most twice a second while a run goes on.
  status(words) {
    const now = performance.now();
    clearTimeout(this.later);
    if (words === this.said) return;
    const wait = this.saidAt + 500 - now;
    if (words.startsWith("running") && this.said?.startsWith("running") && wait > 0) {
      this.later = setTimeout(() => this.status(words), wait);
      return;
    }
    Object.assign(this, { said: words, saidAt: now });
    this.places.status.textContent = words;
  }

  tables(list, latest) {
    const { places } = this;
    this.judge(latest);
    const phases = tables.phases(latest?.phases.length ? latest.phases : this.app.described?.phases);
    places.phases.hidden = !phases;
    if (phases) places["phase-table"].replaceChildren(phases);
    places["value-table"].replaceChildren(tables.lastValues(list.filter(({ faint }) => !faint)));
    const [cosine, scale] = ["cosine", "value_scale"].map((name) => latest?.curves[name]?.at(-1));
    places["alignment-words"].textContent = cosine === undefined ? "" : `cosine of Wᵥ and V* ${short(cosine, 6)}${scale === undefined ? "" : `, share of V* in Wᵥ ${short(scale, 6)}`}`;
  }

  // Written again only where something changed, so that what a reader has opened stays open.
  judge(run) {
    const said = JSON.stringify([run?.verdicts, run?.why, run?.state === "ended"]);
    if (said === this.judged) return;
    this.judged = said;
    this.places["verdict-table"].replaceChildren(tables.verdicts(run));
  }
}
