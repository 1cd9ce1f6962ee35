// The state of the page is its address: the setting as the server reads it, the runs laid over it, and how it is looked at.

import { plain } from "./numbers.js";
import { locate } from "./address.js";

export const KINDS = ["teacher", "inputs", "student", "objective", "optimiser"];
const VIEW = new Set(["show", "axis", "view", "stop", "present", "theme", "also", "saved", "step"]);
const UNSEEN = { also: [], saved: [], show: null, axis: "step", view: "curve", stop: null, step: null, present: false, theme: null };

export class State {
  // page: one of the catalogue's.
  constructor(catalogue, page) {
    this.catalogue = catalogue;
    this.page = page;
    this.values = new Map();
    this.unsee();
  }

  // As a page is looked at that nothing was said of.
  unsee() {
    Object.assign(this, UNSEEN, { also: [], saved: [] });
  }

  // How it is looked at.
  get looks() {
    return Object.fromEntries([...VIEW].map((name) => [name, this[name]]));
  }

  teachers() {
    return this.page.teachers.map((name) => this.catalogue.kinds.teacher.find((part) => part.name === name));
  }

  // The page's default step size, number of steps and seed for this teacher.
  get fields() {
    const own = this.page.begin_with[this.chosen("teacher")] ?? {};
    return this.page.fields.map((field) => this.lettered(field.name, { ...field, default: own[field.name] ?? field.default }));
  }

  // The parts of a kind that go with the chosen teacher, the usual one first.
  parts(kind) {
    if (kind === "teacher") return this.teachers();
    const admitted = this.catalogue.goes_with?.[this.chosen("teacher")]?.[kind];
    const all = this.catalogue.kinds[kind];
    return admitted ? admitted.map((name) => all.find((part) => part.name === name)).filter(Boolean) : all;
  }

  chosen(kind) {
    return this.values.get(kind) ?? this.usual(kind);
  }

  // The part that is taken where none is named: the first that goes with the teacher and with the parts of the kinds before it.
  usual(kind) {
    if (kind === "teacher") return this.teachers()[0].name;
    const parts = this.parts(kind);
    const before = KINDS.slice(0, KINDS.indexOf(kind));
    const needs = this.catalogue.needs[kind] ?? {};
    const agrees = ({ name }) => before.every((other) => needs[name]?.[other]?.includes(this.chosen(other)) ?? true);
    return (parts.find(agrees) ?? parts[0])?.name;
  }

  part(kind) {
    const part = this.catalogue.kinds[kind].find(({ name }) => name === this.chosen(kind));
    return part && { ...part, options: part.options.map((option) => this.lettered(`${kind}.${option.name}`, option)) };
  }

  // An option with the letter that this page has for it.
  lettered(key, option) {
    return this.page.letters[key] ? { ...option, letter: this.page.letters[key] } : option;
  }

  // Every option there is now, as [key, option].
  options() {
    const fields = this.fields.map((field) => [field.name, field]);
    return [...KINDS.flatMap((kind) => (this.part(kind)?.options ?? []).map((option) => [`${kind}.${option.name}`, option])), ...fields];
  }

  value(key, option) {
    const given = this.values.get(key);
    if (given === undefined) return text(option.default);
    const amount = option.kind === "int" || option.kind === "float";
    return amount && given.trim() !== "" && Number.isFinite(Number(given)) ? plain(Number(given)) : given; // 1e5 and 100000 are one value
  }

  // An empty value is one: what the registry would take, where the page begins with another.
  set(key, value) {
    if (KINDS.includes(key)) return this.choose(key, value);
    const option = new Map(this.options()).get(key);
    if (value === text(option?.default)) this.values.delete(key);
    else this.values.set(key, value);
  }

  // Another part has other options, and another teacher may not go with what was chosen.
  choose(kind, name) {
    this.values.delete(kind);
    for (const old of [...this.values.keys()]) if (old.startsWith(`${kind}.`)) this.values.delete(old);
    if (name && name !== this.usual(kind)) this.values.set(kind, name);
    if (kind !== "teacher") return;
    for (const other of KINDS.slice(1)) {
      const chosen = this.values.get(other);
      if (chosen && !this.parts(other).some((part) => part.name === chosen)) this.choose(other, "");
    }
  }

  read(search) {
    this.values.clear();
    this.unsee();
    for (const [key, value] of new URLSearchParams(search)) {
      if (key === "also" || key === "saved") this[key].push(value);
      else if (key === "present") this.present = value === "1";
      else if (key === "page") continue; // it is open already
      else if (VIEW.has(key)) this[key] = value;
      else this.values.set(key, value);
    }
    // What is said and is the default anyway follows the default when another teacher is chosen.
    for (const [key, option] of this.options()) if (this.values.has(key) && this.value(key, option) === text(option.default)) this.values.delete(key);
  }

  // The setting alone. What every teacher needs is always said; the rest where it is not what the page begins with.
  query() {
    const said = new URLSearchParams();
    const known = new Map(this.options());
    for (const kind of KINDS) {
      const name = this.chosen(kind);
      if (kind === "teacher" || name !== this.usual(kind)) said.set(kind, name);
      for (const option of this.part(kind)?.options ?? []) {
        const key = `${kind}.${option.name}`;
        const value = this.value(key, option);
        if ((kind === "teacher" && option.required) || value !== text(option.default)) said.set(key, value);
      }
    }
    for (const field of this.fields) said.set(field.name, this.value(field.name, field));
    for (const [key, value] of this.values) if (!known.has(key) && !KINDS.includes(key)) said.set(key, value); // the server says what is wrong with it
    return readable(said);
  }

  address() {
    const view = new URLSearchParams();
    if (this.show && this.show !== "excess_risk") view.set("show", this.show);
    if (this.axis !== "step") view.set("axis", this.axis);
    if (this.view !== "curve") view.set("view", this.view);
    if (this.stop !== null) view.set("stop", this.stop);
    if (this.step !== null) view.set("step", this.step);
    if (this.present) view.set("present", "1");
    if (this.theme) view.set("theme", this.theme);
    for (const key of ["also", "saved"]) for (const value of this[key]) view.append(key, value);
    const parts = [this.saved.length ? "" : this.query(), readable(view)].filter(Boolean);
    return locate(this.page.address, parts.join("&"));
  }
}

// As a field holds it; a matrix as JSON.
function text(value) {
  if (value === null || value === undefined) return "";
  return Array.isArray(value) ? JSON.stringify(value) : plain(value);
}

// Commas, colons and brackets may stand in a query as they are, and are easier to read.
const readable = (parameters) => parameters.toString().replace(/%(2C|3A|5B|5D|2F)/g, (code) => decodeURIComponent(code));

// What tells runs apart: for each query the options in which they differ, in the paper's letters.
export function labels(queries, catalogue, page) {
  const tables = queries.map((query) => {
    const state = new State(catalogue, page);
    state.read(query);
    const parts = KINDS.map((kind) => [kind, { name: "", value: state.part(kind)?.label ?? state.chosen(kind) }]);
    const options = state.options().map(([key, option]) => [key, { name: option.letter ?? option.label ?? option.name, value: state.value(key, option) }]);
    return new Map([...parts, ...options]);
  });
  const differs = (key, value) => key !== "steps" && tables.some((other) => other.has(key) && other.get(key).value !== value);
  return tables.map((values) => {
    const words = [...values].filter(([key, { value }]) => differs(key, value)).map(([, { name, value }]) => {
      const brief = value.length > 32 ? `${value.slice(0, 30)}…` : value || "default";
      return name ? `${name} = ${brief}` : brief;
    });
    return words.slice(0, 4).join(", ") || values.get("teacher").value;
  });
}
