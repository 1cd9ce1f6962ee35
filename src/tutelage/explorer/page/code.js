// A state as code, where no server writes it: a Python script and a command that make the same run. What stands around the setting comes from Python, as `around`: it was written by the code of the server.

import { KINDS } from "./state.js";

const LONGEST = 88; // characters, up to which a part stands on one line

// How the two languages write what JSON has.
const PYTHON = { true: "True", false: "False", null: "None", text: (text) => (/['\\]/.test(text) ? JSON.stringify(text) : `'${text}'`) };
const TOML = { true: "true", false: "false", null: '""', text: (text) => JSON.stringify(text) };

// A number with a point or an exponent, as Python's repr writes it.
function float(value) {
  const [mantissa, power] = value.toExponential().split("e");
  const exponent = Number(power);
  if (value !== 0 && (exponent < -4 || exponent >= 16)) return `${mantissa}e${exponent < 0 ? "-" : "+"}${String(Math.abs(exponent)).padStart(2, "0")}`;
  return Number.isInteger(value) ? `${value}.0` : String(value);
}

function write(value, kind, words) {
  if (typeof value === "boolean" || value === null) return words[String(value)];
  if (Array.isArray(value)) return `[${value.map((entry) => write(entry, "float", words)).join(", ")}]`;
  if (typeof value === "string") return words.text(value);
  return kind === "float" ? float(value) : String(value);
}

// A value as the address has it, in Python or in TOML.
function literal(text, kind, words) {
  let value = text;
  try {
    value = JSON.parse(text);
  } catch {} // a word
  return write(value, kind, words);
}

// A drawn graph is the matrix of its edges.
function drawn(text, nodes) {
  if (!text.startsWith("edges:")) return text;
  const rows = Array.from({ length: Number(nodes) }, () => Array(Number(nodes)).fill(0));
  for (const edge of text.slice(6).split(",").filter(Boolean)) {
    const [one, other] = edge.split("-").map(Number);
    rows[one][other] = rows[other][one] = 1;
  }
  return JSON.stringify(rows);
}

// [kind, name, [[option, literal], …]] of every part, by the names of its options, without those that are as the registry has them.
function partsOf(state, words) {
  return KINDS.map((kind) => {
    const { name, options } = state.part(kind);
    const texts = new Map(options.map((option) => [option.name, state.value(`${kind}.${option.name}`, option)]));
    const given = options.filter((option) => texts.get(option.name) !== "" && texts.get(option.name) !== String(option.usual));
    const pairs = given.map((option) => [option.name, literal(drawn(texts.get(option.name), texts.get("tokens")), option.kind, words)]);
    return [kind, name, pairs.sort(([one], [other]) => (one < other ? -1 : 1))];
  });
}

const fieldsOf = (state, words) => state.fields.map((field) => [field.name, literal(state.value(field.name, field), field.kind, words)]);

function call(name, options) {
  const given = [JSON.stringify(name), ...options.map((pair) => pair.join("="))];
  const line = `tt.Part(${given.join(", ")})`;
  return line.length <= LONGEST ? line : `tt.Part(\n${given.map((item) => `        ${item},\n`).join("")}    )`;
}

export function pythonOf(state, measures, [begin, end]) {
  const parts = partsOf(state, PYTHON).map(([kind, name, options]) => `    ${kind}=${call(name, options)},\n`);
  const fields = fieldsOf(state, PYTHON).map(([name, value]) => `    ${name}=${value},\n`);
  const measured = measures.map((name) => PYTHON.text(name)).join(", ");
  return `${begin}${parts.join("")}${fields.join("")}    measures=(${measured}${measures.length === 1 ? "," : ""}),\n${end}`;
}

export function commandOf(state, measures, [begin, end]) {
  const parts = partsOf(state, TOML).map(([kind, name, options]) => `${kind} = { ${[`name = ${JSON.stringify(name)}`, ...options.map((pair) => pair.join(" = "))].join(", ")} }\n`);
  const fields = fieldsOf(state, TOML).map(([name, value]) => `${name} = ${value}\n`);
  const measured = measures.map((name) => TOML.text(name)).join(", ");
  return `${begin}${fields.join("")}measures = [${measured}]\n${parts.join("")}${end}`;
}
