// An exported page as a transport: what Python computed when it was exported, and runs of the bilinear class in a worker of this page. Nothing is ever asked of a network.

import { commandOf, pythonOf } from "./code.js";
import { meets } from "./conditions.js";
import { build, whyPython } from "./exact/problem.js";
import { PER_DECADE } from "./exact/training.js";
import { Said } from "./said.js";
import { KINDS, State } from "./state.js";

const INSTALL = "Install tutelage, and `tutelage explore` runs it on your own machine.";
const NO_VERDICTS = "Verdicts are computed in Python, and this exported page has those of the prepared states. Copy this run as Python, or run `tutelage explore`, for its own.";
const REPLAY = 1200; // milliseconds, over which a recorded run is drawn
const PIECES = 40; // of a replay

export class Baked {
  noSaving = "An exported page has no store to save to.";

  constructor(carried) {
    const { catalogue, states, papers, statements, saved, graphs, code, runs_here, matrix_bytes } = carried;
    Object.assign(this, { listed: catalogue, states, papers, statements, saved, graphs, code, runsHere: runs_here, matrixBytes: matrix_bytes });
    this.known = new Map(); // of each page: what was computed for a query, by the query as the page writes it
  }

  async catalogue() {
    return this.listed;
  }

  async describe(query, page) {
    const state = this.read(query, page);
    const known = this.find(state);
    if (known?.described) return known.described;
    const setting = this.settle(state);
    const problem = build(setting, this.graphs);
    const said = this.readSetting(page, setting, problem);
    return {
      ok: true,
      query: state.query(),
      known: true,
      ...said,
      about: aboutOf(setting, said),
      theorem: this.states[page]?.[0]?.described.theorem ?? [],
      machine: machineOf(problem, this.states[page]?.[0]?.described.machine ?? []),
      cost: "",
      ...this.writeCode(page, state, setting, problem),
    };
  }

  async *run(query, page, signal) {
    const state = this.read(query, page);
    const known = this.find(state);
    if (known?.events) {
      yield* replay(known.events, signal);
      return;
    }
    const setting = this.settle(state);
    const said = known ? null : this.readSetting(page, setting, build(setting, this.graphs));
    yield { event: "preparing", known: true };
    yield known?.described.about ?? aboutOf(setting, said);
    yield { event: "lines", lines: known?.described.predicted ?? said.predicted };
    for await (const event of follow({ setting, graphs: this.graphs }, signal)) {
      if (event.event === "end") yield* known ? known.end : [{ event: "phases", phases: said.phases }, { event: "verdicts", verdicts: [], sentence: NO_VERDICTS }];
      yield event;
    }
  }

  async savedRuns(where, study) {
    const runs = this.saved.runs.filter((run) => (!study || run.asked.some((asked) => asked.study === study)) && meets(run, where ?? ""));
    return { ...this.saved, runs, count: runs.length };
  }

  async savedRun(name) {
    const place = document.getElementById(`run:${name}`);
    if (!place) throw new Said(`This exported page holds no run ${name}.`);
    return JSON.parse(place.textContent);
  }

  async save() {
    throw new Said(this.noSaving);
  }

  async studies(paper) {
    return this.papers[paper] ?? { studies: [] };
  }

  async study(name) {
    return { statement: this.statements[name] ?? "" };
  }

  read(query, page) {
    const state = new State(this.listed, this.listed.pages.find(({ name }) => name === page));
    state.read(query);
    this.resolve(state);
    return state;
  }

  // An address may use a paper's letters (D=36) or bare names (tokens=36).
  resolve(state) {
    const options = new Map(state.options());
    for (const [key, value] of [...state.values]) {
      if (options.has(key) || KINDS.includes(key)) continue;
      const path = state.page.paths[key] ?? key;
      const fitting = options.has(path) ? path : [...options].find(([other, option]) => other.endsWith(`.${path}`) || option.letter === path)?.[0];
      if (!fitting) throw new Said(`There is no option named '${key}' here. Known: ${[...options.keys()].join(", ")}.`);
      state.values.delete(key);
      state.set(fitting, value);
    }
  }

  // What Python computed for a state, if it did.
  find(state) {
    const { name } = state.page;
    if (!this.known.has(name)) {
      const key = (query) => this.read(query, name).query();
      this.known.set(name, new Map((this.states[name] ?? []).map((each) => [key(each.query), each])));
    }
    return this.known.get(name).get(state.query());
  }

  // The setting of a state, with every option; refused where this page cannot run it.
  settle(state) {
    const setting = {};
    for (const kind of KINDS) {
      const part = state.part(kind);
      if (!part) throw new Said(`There is no ${kind} named '${state.chosen(kind)}' here.`);
      setting[kind] = { name: part.name, options: {} };
      for (const option of part.options) {
        const value = valueOf(state.value(`${kind}.${option.name}`, option));
        if (option.kind === "int" && option.shape && value > option.most) throw new Said(`This page takes \`${option.name}\` up to ${option.most}, since a run must fit a browser; the command line takes more. Got ${option.name}=${value}.`);
        setting[kind].options[option.name] = value;
      }
    }
    for (const field of state.fields) setting[field.name] = valueOf(state.value(field.name, field));
    const reason = whyPython(setting, this.runsHere);
    if (reason) throw new Said(`This setting needs Python, since ${reason}. ${INSTALL}`);
    if (setting.steps > this.listed.limits.steps) throw new Said(`This page takes \`steps\` up to ${this.listed.limits.steps.toLocaleString("en")}. Got steps=${setting.steps}.`);
    return setting;
  }

  // The same run in Python, with the measures and claims of the page. Python keeps no matrices that are too large, by the rule of `measured_matrices`.
  writeCode(page, state, { teacher, student, steps }, problem) {
    const { python, command, measures } = this.code[page];
    const { rows, columns } = problem.teacher.selection;
    const size = 8 * PER_DECADE * (1 + Math.log10(steps)) * rows * columns;
    const kept = measures[teacher.name][student.name].filter((name) => size <= this.matrixBytes || !name.endsWith("_matrix"));
    return { python: pythonOf(state, kept, python), command: commandOf(state, kept, command) };
  }

  // What the page's paper says about a setting, by the script that it brings for an exported page.
  readSetting(page, setting, problem) {
    const silent = { predicted: [], phases: [], hypotheses: [], sentence: "What theory says about a setting is computed in Python here; this exported page has it for the prepared states." };
    return globalThis.readings?.[page]?.(setting, problem) ?? silent;
  }
}

// What a chart must know of a run beside its points. The risk of the bilinear class is exact.
const aboutOf = ({ rate }, { plateau }) => ({ event: "about", rate, plateau: plateau ?? null, errors: [] });

// The machine of a setting: the words of one that Python drew, with this teacher's numbers. The example input is that of Python where it fits.
function machineOf({ teacher: { value, selection, activation } }, drawn) {
  const matrices = { attention: selection, values: value };
  const [tokens, queries, outputs, dim] = [selection.rows, selection.columns, value.rows, value.columns];
  const shapes = { inputs: [dim, tokens], attention: [tokens, queries], values: [outputs, dim], output: [outputs, queries] };
  const fits = drawn.some(({ role, shape }) => role === "inputs" && shape.join() === shapes.inputs.join());
  return drawn.filter(({ role }) => role !== "activation" || drawn.some(({ name }) => name === activation.name)).filter(({ role }) => fits || !["inputs", "output"].includes(role))
    .map((block) => ({ ...block, shape: shapes[block.role] ?? block.shape, teacher: matrices[block.role]?.lists() ?? null }));
}

// As the command line reads it: JSON, or else a word; nothing is null.
function valueOf(text) {
  if (text === "") return null;
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}

// The events of a run in a worker of its own. Leaving the loop ends the worker.
async function* follow(message, signal) {
  const source = new Blob([document.getElementById("worker").textContent], { type: "text/javascript" });
  const address = URL.createObjectURL(source);
  const worker = new Worker(address);
  const waiting = [];
  let wake = () => {};
  const push = (event) => (waiting.push(event), wake());
  worker.onmessage = ({ data }) => push(data);
  worker.onerror = (error) => push({ event: "error", sentence: `stopped by an error: ${error.message}` });
  signal.addEventListener("abort", () => wake());
  worker.postMessage(message);
  try {
    for (;;) {
      if (!waiting.length && !signal.aborted) await new Promise((resolve) => (wake = resolve));
      signal.throwIfAborted();
      const event = waiting.shift();
      yield event;
      if (event.event === "end" || event.event === "error") return;
    }
  } finally {
    worker.terminate();
    URL.revokeObjectURL(address);
  }
}

// A recorded run, drawn as if it went on: its points in pieces, each with the attention up to there.
async function* replay({ first, points, frames, last }, signal) {
  yield* first;
  const count = points.steps.length;
  const size = Math.max(1, Math.ceil(count / PIECES));
  let shown = 0;
  for (let from = 0; from < count; from += size) {
    const cut = (list) => list.slice(from, from + size);
    const steps = cut(points.steps);
    yield { event: "points", from, steps, at: steps.at(-1), curves: Object.fromEntries(Object.entries(points.curves).map(([name, values]) => [name, cut(values)])) };
    for (; shown < frames.length && frames[shown].step <= steps.at(-1); shown++) yield { event: "frame", ...frames[shown] };
    await new Promise((resolve) => setTimeout(resolve, REPLAY / PIECES));
    signal.throwIfAborted();
  }
  yield* last;
}
