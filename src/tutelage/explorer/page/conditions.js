// Which stored runs of an exported page are meant: by conditions on what its list says of them, as `tokens>16, seed=0`, or by words in it.

const CONDITION = /^([\w.]+)\s*(!=|<=|>=|=|<|>)\s*(.+)$/;
const SIGNS = {
  "=": (one, other) => one === other,
  "!=": (one, other) => one !== other,
  "<": (one, other) => one < other,
  "<=": (one, other) => one <= other,
  ">": (one, other) => one > other,
  ">=": (one, other) => one >= other,
};

// Whether a run meets all conditions. A run that does not have what is asked for meets none.
export function meets(run, where) {
  const known = namedValues(run);
  return where.split(",").map((text) => text.trim()).filter(Boolean).every((text) => {
    const [, key, sign, wanted] = CONDITION.exec(text) ?? [];
    if (!key) return `${run.identity} ${run.summary} ${run.outcome}`.toLowerCase().includes(text.toLowerCase());
    return known.has(key) && SIGNS[sign](...comparable(known.get(key), wanted));
  });
}

// What the list says: the options in a run's summary, its seed, steps, outcome and identity.
function namedValues({ summary, seed, steps, outcome, identity }) {
  const options = [...summary.matchAll(/(\w+)=([^,;()\s]+)/g)].map(([, key, value]) => [key, value]);
  const [teacher] = summary.split(/[(;]/);
  return new Map([...options, ["teacher", teacher], ...Object.entries({ seed, steps, outcome, identity }).map(([key, value]) => [key, String(value)])]);
}

const comparable = (...texts) => (texts.every((text) => text !== "" && Number.isFinite(Number(text))) ? texts.map(Number) : texts);
