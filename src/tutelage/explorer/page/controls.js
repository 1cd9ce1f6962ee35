// The panel of knobs, made from the catalogue. What is only a number acts while it moves; what is a shape acts when it is let go.

import { el, worded } from "./dom.js";
import { plain, whole } from "./numbers.js";
import { KINDS } from "./state.js";
import { spell } from "./words.js";

const TITLES = { teacher: "Teacher", inputs: "Inputs", student: "Student", objective: "Risk", optimiser: "Optimiser" };
const NOTCHES = 1000; // of a logarithmic slider

export class Controls {
  // changed(key, live): live while a slider moves, and only of options that are no shape.
  constructor(place, state, { changed, draw }) {
    Object.assign(this, { place, state, changed, draw });
  }

  // All of it again; the open parts stay open and what had the focus keeps it.
  build() {
    const focus = document.activeElement?.id;
    const open = new Set([...this.place.querySelectorAll("details[open]")].map((part) => part.dataset.part));
    const first = !this.place.children.length;
    const fields = this.state.fields.map((field) => this.control(field.name, field));
    this.place.replaceChildren(
      this.group("teacher", true),
      el("fieldset", {}, el("legend", {}, "Training"), fields),
      ...KINDS.slice(1).map((kind) => this.group(kind, false)),
    );
    if (!first) for (const part of this.place.querySelectorAll("details")) part.open = open.has(part.dataset.part);
    if (focus) document.getElementById(focus)?.focus({ preventScroll: true });
  }

  // The teacher is open, with its usual options; other parts are folded, and named by what was chosen.
  group(kind, shown) {
    const { state } = this;
    const part = state.part(kind);
    const options = part?.options ?? [];
    const plainly = (option) => option.required || (option.default !== null && option.default !== undefined && option.kind !== "bool");
    const main = options.filter((option) => shown && plainly(option));
    const rest = options.filter((option) => !main.includes(option));
    const select = el("select", { id: `choose-${kind}`, onchange: (event) => this.pick(kind, event.target.value) },
      state.parts(kind).map(({ name, label, python }) => el("option", { value: name, selected: name === part?.name, disabled: Boolean(python) && name !== part?.name, title: python }, `${label ?? name}${python ? " (in Python)" : ""}`)));
    const changed = rest.some((option) => state.values.has(`${kind}.${option.name}`));
    const controls = (options) => options.map((option) => this.control(`${kind}.${option.name}`, option));
    const choice = el("div", { class: "field" }, el("label", { for: `choose-${kind}`, class: "hidden" }, TITLES[kind]), select);
    if (shown) return el("fieldset", {}, el("legend", {}, TITLES[kind]), choice, controls(main),
      rest.length ? el("details", { "data-part": kind, open: changed }, el("summary", {}, "more options"), controls(rest)) : null);
    return el("details", { "data-part": kind, class: "folded", open: changed },
      el("summary", {}, el("b", {}, TITLES[kind]), " ", el("span", { class: "soft" }, part?.label ?? part?.name ?? "")),
      el("fieldset", {}, el("legend", { class: "hidden" }, TITLES[kind]), choice, part?.sentence ? el("p", { class: "soft" }, part.sentence) : null, controls(rest)));
  }

  pick(kind, name) {
    this.state.set(kind, name);
    this.build();
    this.changed(kind, false);
  }

  control(key, option) {
    const id = `option-${key.replace(".", "-")}`;
    const value = this.state.value(key, option);
    const label = el("label", { for: id }, option.letter && option.letter !== option.label ? [el("i", {}, worded(option.letter)), " "] : null, worded(option.label ?? option.name));
    const make = { choice: "choice", bool: "flag", matrix: "matrix", graph: "graph" }[option.kind] ?? "amount";
    return el("div", { class: `field ${make}`, "data-name": option.name }, label, this[make](key, option, id, value));
  }

  put(key, value, live = false) {
    this.state.set(key, value);
    this.changed(key, live);
  }

  amount(key, option, id, value) {
    const box = el("input", { id, type: "text", inputmode: "decimal", autocomplete: "off", spellcheck: "false", value, placeholder: option.required ? "" : "default" });
    box.addEventListener("change", () => this.put(key, box.value.trim()));
    if (option.least === undefined || option.least === null || option.most === undefined || option.most === null) return [box];
    const scale = option.log ? logarithmic(option) : linear(option);
    const slider = el("input", { type: "range", class: "slider", id: `${id}-slider`, "aria-label": `${option.label ?? option.name}, slider`, ...scale.attributes });
    const follow = () => {
      const now = Number(box.value);
      if (box.value !== "" && Number.isFinite(now)) slider.value = scale.at(now);
      slider.setAttribute("aria-valuetext", box.value === "" ? "default" : box.value);
    };
    slider.addEventListener("input", () => {
      box.value = plain(this.fitting(key, option, scale.of(Number(slider.value))));
      slider.setAttribute("aria-valuetext", box.value);
      if (!option.shape) this.put(key, box.value, true);
    });
    slider.addEventListener("change", () => option.shape && this.put(key, box.value));
    box.addEventListener("change", follow);
    follow();
    return [slider, box];
  }

  // Sliders stop where a setting is one: an option may be bounded by another of its part, or divide it. Fields take anything.
  fitting(key, option, value) {
    const [kind, name] = key.split(".");
    const options = name ? this.state.part(kind).options : []; // step size, steps and seed are of no part
    const count = (name) => Math.round(Number(this.state.value(`${kind}.${name}`, options.find((other) => other.name === name) ?? {})));
    const near = option.at_most ? Math.min(value, count(option.at_most)) : value;
    if (option.divides) {
      const whole = count(option.divides);
      return Array.from({ length: whole }, (_, i) => i + 1).filter((k) => whole % k === 0).reduce((best, k) => (Math.abs(k - near) < Math.abs(best - near) ? k : best), 1);
    }
    const divisor = options.find((other) => other.divides === option.name);
    return divisor ? Math.max(1, Math.round(near / count(divisor.name))) * count(divisor.name) : near;
  }

  choice(key, option, id, value) {
    const choices = option.choices.map((choice) => (choice === null ? "" : String(choice)));
    if (value && !choices.includes(value)) choices.push(value);
    const select = el("select", { id, onchange: () => this.put(key, select.value) },
      choices.map((choice) => el("option", { value: choice, selected: choice === value, ...inPython(option, choice, value) }, choice === "" ? "default" : spell(choice))));
    return [select];
  }

  flag(key, option, id, value) {
    const box = el("input", { id, type: "checkbox", ...inPython(option, "true", value), onchange: () => this.put(key, box.checked ? "true" : "false") });
    box.checked = /^(true|1|yes)$/i.test(value);
    return [box];
  }

  matrix(key, option, id, value) {
    const area = el("textarea", { id, rows: 3, spellcheck: "false", placeholder: "[[1, 0], [0, 1]]" });
    area.value = value;
    area.addEventListener("change", () => this.put(key, area.value.replace(/\s+/g, "")));
    return [area];
  }

  graph(key, option, id, value) {
    const drawn = value.startsWith("edges:");
    const select = el("select", { id, onchange: () => this.named(key, option, select.value) },
      option.choices.map((name) => el("option", { value: name, selected: name === value, ...inPython(option, name, value) }, name.replaceAll("_", " "))),
      drawn ? el("option", { value, selected: true }, `drawn, ${whole(value.split(",").length)} edges`) : null);
    return [select, el("button", { type: "button", id: "open-graph", onclick: () => this.draw(key, drawn ? value : "") }, "Draw or upload a graph")];
  }

  // A graph brings with it what it needs, such as its number of nodes.
  named(key, option, name) {
    const [kind] = key.split(".");
    this.state.set(key, name);
    for (const [other, value] of Object.entries(option.brings?.[name] ?? {})) this.state.set(`${kind}.${other}`, value === null ? "" : String(value));
    this.build();
    this.changed(key, false);
  }

  // The fields that a refusal names in backticks.
  blame(sentence) {
    const named = new Set([...(sentence ?? "").matchAll(/`([a-z_]+)`/g)].map(([, name]) => name));
    for (const field of this.place.querySelectorAll("[data-name]")) {
      const wrong = named.has(field.dataset.name);
      for (const box of field.querySelectorAll("input:not(.slider), select, textarea")) {
        if (wrong) box.setAttribute("aria-invalid", "true");
        else box.removeAttribute("aria-invalid");
      }
    }
  }
}

// What an exported page cannot run is disabled, and says why.
function inPython({ python }, choice, value) {
  const reason = python?.[choice];
  return reason && choice !== value ? { disabled: true, title: reason } : {};
}

function linear({ kind, least, most }) {
  const step = kind === "int" ? 1 : (most - least) / NOTCHES;
  return { attributes: { min: least, max: most, step }, at: (value) => value, of: (at) => Number(at.toPrecision(6)) };
}

// Notches lie evenly in the logarithm; what they stand for has two digits, or is whole.
function logarithmic({ kind, least, most }) {
  const low = Math.log10(Math.max(least, kind === "int" ? 1 : 1e-12));
  const high = Math.log10(most);
  const round = kind === "int" ? (value) => Math.round(Number(value.toPrecision(2))) : (value) => Number(value.toPrecision(2));
  return {
    attributes: { min: 0, max: NOTCHES, step: 1 },
    at: (value) => Math.round((NOTCHES * (Math.log10(Math.max(value, 10 ** low)) - low)) / (high - low)),
    of: (at) => round(10 ** (low + ((high - low) * at) / NOTCHES)),
  };
}
