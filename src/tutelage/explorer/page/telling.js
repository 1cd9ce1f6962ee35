// What the page says about its runs: title, legend, status line, tables. The app decides; this writes it down.

import { el, worded } from "./dom.js";
import { short, signed, whole } from "./numbers.js";
import * as tables from "./tables.js";
import { transport } from "./transport.js";
import { progress, standing, title } from "./words.js";

const ROUNDING = 1e-12; // relative errors below this are those of double precision
const percent = (size) => (size >= 1e-3 ? `${short(100 * size, 2)}%` : short(size, 2));

// The claim that an id names: teacher/study/case/excess-constant is "excess constant".
const spokenId = (id) => id.split("/").at(-1).replaceAll("-", " ");

// How a run ended, in a word and a sentence.
function ending(run) {
  const sentence = run.sentence ?? "";
  const outcome = run.outcome?.toLowerCase() ?? "saved";
  if (outcome !== "finished") return sentence.toLowerCase().startsWith(outcome) ? sentence : `${outcome}: ${sentence}`;
  const [word, why] = progress(run) ?? ["finished", ""];
  return word === "finished" ? sentence : `${word}: ${why}. All ${whole(run.last)} steps were taken.`;
}

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

  titles(curve, latest) {
    const { places, app } = this;
    const { state } = app;
    const stop = app.tour.stop;
    const prepared = stop ?? app.prepared.find((other) => app.same(other.query, state.query()));
    const part = state.part("teacher");
    places.title.textContent = prepared?.name ?? part?.label ?? state.chosen("teacher");
    const lead = app.tour.changed ? "You have changed the setting of this stop, so that its sentence need not be true here." : prepared?.sentence ?? part?.sentence ?? "";
    places.lead.replaceChildren(...worded(lead));
    places.task.hidden = !stop;
    if (stop) places.task.replaceChildren(el("b", {}, "Try: "), ...worded(stop.task));
    app.tour.show();
    const values = latest?.curves[curve];
    Object.assign(places.plot.dataset, { points: latest?.steps.length ?? 0, first: Math.round(latest?.first ?? 0) });
    places.plot.setAttribute("aria-label", values ? `${title(curve)} over steps, on a logarithmic axis of steps: ${short(values.find((value) => value !== null))} at the start, ${short(values.at(-1))} at step ${whole(latest.last)}. The last values are in a table below.` : "No run yet");
    places.hint.textContent = this.hint(curve, latest);
    places.hint.hidden = !places.hint.textContent;
  }

  // Why there is nothing on the chart, or not what was asked for.
  hint(curve, latest) {
    const { chart, state } = this.app;
    if (latest?.steps.length) {
      if (state.axis !== "step" && !chart.factor(latest)) return "No plateau is predicted here, so that this axis has no unit: choose steps or time.";
      if (state.view === "ratio" && !chart.measured(latest)?.some((value) => value !== null)) return "Nothing is predicted of this curve here, so that there is no ratio.";
      return "";
    }
    if (this.app.before || this.app.running || !this.places.problem.hidden) return "";
    return chart.theory().length ? "The dashed line is what theory predicts. Run, and the student’s curve grows towards it or does not." : "Run, and the student’s curve grows here.";
  }

  legend(list) {
    const { chart } = this.app;
    const one = list.length < 2;
    const said = (line, run) => el("span", {}, worded(signed(line.label ?? line.kind)), line.window ? ", over the shaded steps" : "", chart.hides(line, run) ? ", outside the picture" : "");
    const theory = (run, main, colour) => (chart.view === "ratio" ? [] : chart.theory(run)).map((line) => el("span", { class: "entry" }, el("span", { class: `sample predicted${main ? "" : " other"}`, style: `--colour: var(--run${colour})` }), said(line, run)));
    const entries = list.filter(({ faint, run }) => !faint && run.steps.length).map(({ run, colour, label, main }) =>
      el("li", {}, el("span", { class: "entry" }, el("span", { class: "sample", style: `--colour: var(--run${colour})` }), el("span", {}, worded(label))), chart.factor(run) ? theory(run, main, colour) : el("span", { class: "soft" }, "not on this axis"),
        this.app.overlays.includes(run) ? el("button", { type: "button", class: "remove", "aria-label": `Remove ${label}`, onclick: () => this.app.remove(run) }, "×") : null));
    if (!entries.length && one) entries.push(...theory(chart.main, true, 0).map((entry) => el("li", {}, entry)));
    const colour = list.find(({ main }) => main)?.colour ?? 0;
    if (chart.view === "curve") entries.push(...chart.fitted().map((line) => el("li", {}, el("span", { class: "entry" }, el("span", { class: "sample fitted", style: `--colour: var(--run${colour})` }), said(line, chart.main)))));
    const text = entries.map((entry) => entry.textContent + entry.innerHTML).join();
    if (text !== this.legendText) this.places.legend.replaceChildren(...entries);
    this.legendText = text;
  }

  // The error budget of a risk that is not exact, and of a run that went on by gradient flow.
  budget(run) {
    const terms = (run?.about ?? this.app.described?.about)?.errors ?? [];
    const { budget } = this.places;
    budget.hidden = !terms.length;
    const largest = Math.max(...terms.map(({ size }) => size));
    const exact = largest < ROUNDING ? "The risk is exact to rounding here." : "The risk is not exact here.";
    budget.textContent = terms.length ? `${exact} Estimated relative error: ${terms.map(({ name, size }) => `${name} ${percent(size)}`).join(", ")}.${largest > 0.01 ? " Do not read constants to more digits than that." : ""}` : "";
  }

  // One chip per verdict under the title: what is claimed, and how it stands.
  chips(run) {
    const { chips } = this.places;
    const verdicts = run?.verdicts ?? [];
    const said = JSON.stringify([verdicts.map(({ id, status }) => [id, status]), run?.why, run?.state === "ended"]);
    if (said === this.chipped) return;
    this.chipped = said;
    const chip = (verdict) => {
      const [kind, words] = standing(verdict);
      return el("li", {}, el("a", { href: "#verdicts", class: `chip ${kind}`, title: `${verdict.statement}. ${verdict.sentence}` }, `${words.split(" ")[0]} ${spokenId(verdict.id)}`, el("span", { class: "hidden" }, words.replace(/^\S*/, ""))));
    };
    const none = run?.verdicts === null || !run ? "Verdicts form while the run goes on." : run.why || "No claim is about this setting.";
    chips.replaceChildren(...(verdicts.length ? verdicts.map(chip) : [el("li", { class: "soft" }, none)]));
  }

  buttons() {
    const { places } = this;
    const { current, running } = this.app;
    places.run.textContent = current && !running ? "Run again" : "Run";
    places.stop.disabled = !running;
    places.keep.disabled = !current?.steps.length;
    places.save.title = transport.noSaving;
    places.save.disabled = Boolean(transport.noSaving) || !current?.identity || current.state !== "ended" || Boolean(current.saved);
  }

  speak(run) {
    if (!this.places.problem.hidden && run?.state !== "running") return this.status("refused");
    if (this.app.reading) return this.status("reading saved runs");
    if (this.app.describing && !this.app.running) return this.status("preparing: reading what theory says about this setting, and what it costs");
    if (!run) return this.status("");
    const words = {
      waiting: () => "preparing",
      queued: () => `waiting, ${run.ahead} ahead`,
      preparing: () => (run.known ? "preparing" : "preparing: this shape is new and is compiled first"),
      running: () => `running, step ${whole(run.now)}${run.horizon ? ` of ${whole(run.horizon)}` : ""}`,
      stopped: () => `stopped at step ${whole(run.now)}`,
      ended: () => `${ending(run)}${run.seconds ? ` ${run.seconds.toFixed(1)} s.` : ""}`,
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
    this.places.status.textContent = this.places.status.title = words;
  }

  tables(list, latest) {
    const { places } = this;
    this.judge(latest);
    this.chips(latest);
    this.budget(latest);
    const phases = tables.phases(this.app.phases, this.app.described?.why_no_phases);
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
