// What Theorem 3.1 says of a setting before it runs, for an exported page: hypotheses, lines and phases, as explore.py and theory/ have them in Python. The tests compare the two.

const RECURSION_STEPS = 100_000;
const PHASES = [
  ["settled", "C₁ settled", "W_V has come within 1% of its best length at the present attention"],
  ["halving", "excess halved", "half of the first excess risk is left"],
  ["attention", "plateau ends", "the tokens that the teacher reads have half of the attention"],
];
const WORDS = new Map([[true, "met"], [false, "not met"], [null, "met up to an unstated constant"]]);

export function read(setting, problem) {
  if (setting.student.name !== "position_attention") {
    return { hypotheses: [], predicted: [], phases: [], why_no_phases: "", plateau: null, sentence: `No claims here: Theorem 3.1 is about the student position_attention. Got ${setting.student.name}.` };
  }
  const f = factsOf(setting, problem);
  const hypotheses = theorem(f);
  const proven = hypotheses.slice(0, -1).every(({ met }) => met !== false);
  return { hypotheses, predicted: linesOf(f, setting), phases: proven ? phasesOf(f) : [], why_no_phases: proven ? tooLong(f) : "", plateau: plateauOf(f) >= 1 ? plateauOf(f) : null, sentence: "" };
}

function factsOf(setting, { teacher, inputs, student }) {
  const { rows: tokens, columns: queries, data } = teacher.selection;
  const total = (values) => values.reduce((sum, value) => sum + value, 0);
  const columns = Array.from({ length: queries }, (_, q) => Array.from({ length: tokens }, (_, i) => data[i * queries + q]));
  const supports = columns.map((column) => column.filter((weight) => weight > 0).length);
  const seen = inputs.features ? teacher.value.times(inputs.features) : teacher.value;
  const { slope } = teacher.activation;
  const covariance = inputs.features?.times(inputs.features);
  const near = (matrix, tolerance) => matrix.data.every((x, at) => Math.abs(x - (Math.floor(at / matrix.columns) === at % matrix.columns ? 1 : 0)) <= tolerance);
  const squares = (values) => total([...values].map((value) => value * value));
  return {
    tokens, queries, supports, slope,
    outputs: teacher.value.rows,
    support: Math.max(...supports),
    uniform: new Set(supports).size === 1 && data.every((weight) => weight === 0 || Math.abs(weight * supports[0] - 1) <= 1e-12),
    realisable: columns.every((column) => Math.abs(total(column) - 1) <= 1e-12),
    selectionSquare: squares(data),
    valueSquare: squares(seen.data),
    norm: Math.sqrt(squares(teacher.value.data)),
    lam: slope === null ? null : 0.5 * (1 + slope * slope),
    scale: student.scale,
    rate: setting.rate,
    zeroStart: ![...student.value.data, ...student.scores.data].some((x) => x !== 0),
    standard: !covariance || near(covariance, 2e-12),
    iid: !inputs.positions,
    orthonormal: [student.keys, student.asks].every((codes) => !codes || near(codes.transposed().times(codes), 1e-12)),
    plain: setting.optimiser.name === "gradient_descent" && !setting.optimiser.options.power,
    activation: teacher.activation.name,
  };
}

// ---- hypotheses

function theorem(f) {
  const { tokens: D, outputs: M, support: K } = f;
  const said = (text, met, detail = "") => ({ text, met, word: WORDS.get(met), detail });
  const power = M * K === 1 ? "D ≥ (MK)^a for every a" : `D = (MK)^${digits(Math.log(D) / Math.log(M * K), 3)}`;
  return [
    said("tokens iid N(0, I)", f.standard && f.iid),
    said("every column of S* has K equal weights", f.uniform, Math.min(...f.supports) === K ? `K = ${K}` : `K from ${Math.min(...f.supports)} to ${K}`),
    said("zeros in every column of S* (K < D)", f.supports.every((each) => each < D), `K = ${K}, D = ${D}`),
    said("σ is identity, ReLU or leaky ReLU", f.lam !== null, f.activation),
    said("orthonormal position codes, scale 1/√D", f.orthonormal && Math.abs(f.scale ** 2 * D - 1) <= 1e-9),
    said("W_V(0) = 0, W_KQ(0) = 0", f.zeroStart),
    said("plain gradient descent on the population risk", f.plain, "population"),
    said("D ≥ poly(M, K)", null, `D = ${D}, M = ${M}, K = ${K}: ${power}`),
    stepCondition(f, said),
  ];
}

function stepCondition(f, said) {
  const limit = 1 / (f.outputs * f.tokens ** 2.5);
  const largest = f.lam === null ? Infinity : 2 / (f.lam * f.selectionSquare);
  const detail = `η = ${digits(f.rate, 6)} is ${digits(f.rate / limit, 3)} times 1/(M D^5/2) = ${digits(limit, 3)}; the theorem's constant is not stated`;
  if (f.rate <= largest) return said("η ≤ O(1/(M D^5/2))", null, detail);
  return said("η ≤ O(1/(M D^5/2))", false, `${detail}; but descent is unstable above 2/(λ‖S*‖²) = ${digits(largest, 3)}`);
}

// ---- lines

const plateauOf = (f) => ((f.support * f.tokens ** 2) / (2 * f.rate * f.valueSquare)) * (f.lam ?? 1) ** -Math.log2(3);

function linesOf(f, setting) {
  const begin = Math.max(1, plateauOf(f));
  const end = setting.steps;
  if (begin >= end || !f.orthonormal || !f.realisable) return [];
  const laws = [["excess_risk", -1, counting(f), "1/ηT"]];
  if (f.lam !== null) {
    const [value, attention] = errorConstants(f);
    laws.push(["value_error", -0.5, value, "1/√(ηT)"], ["attention_error", -0.5, attention, "1/√(ηT)"]);
  }
  return laws.filter(([, , constant]) => constant).map(([curve, exponent, constant, time]) => (
    { curve, kind: "predicted", label: `theory: ${digits(constant, 4)} · ${time}`, steps: [begin, end], values: [begin, end].map((step) => constant * (f.rate * step) ** exponent) }));
}

const scaleSquare = (f) => f.scale ** 2 * f.tokens;
const counting = (f) => f.supports.reduce((sum, K) => sum + K * (f.tokens - K), 0) / 4 / scaleSquare(f);

// The constants of ‖W_V − V*‖√t and ‖S − S*‖√t on the slow manifold.
function errorConstants(f) {
  const { tokens: D, supports } = f;
  if (supports.every((K) => K === D)) return [0, 0];
  const x = (K, rho) => (rho + Math.sqrt(rho * rho + 4 * D * K * K)) / (2 * D);
  const balance = (rho) => supports.reduce((sum, K) => sum + rho / K - ((D - K) * x(K, rho)) / K, 0);
  let [low, high] = [0, 1];
  while (balance(high) < 0) high *= 2;
  for (let turn = 0; turn < 200 && high - low > 1e-15 * high; turn++) {
    const middle = (low + high) / 2;
    if (balance(middle) < 0) low = middle;
    else high = middle;
  }
  const rho = (low + high) / 2;
  const unit = 2 * f.lam * f.valueSquare * scaleSquare(f);
  const squares = supports.reduce((sum, K) => sum + (D * (D - K) * x(K, rho) ** 2) / K, 0) + rho * rho * (f.selectionSquare - supports.reduce((sum, K) => sum + 1 / K, 0));
  return [(rho * f.norm) / Math.sqrt(unit), Math.sqrt(squares / unit)];
}

// ---- phases, by the recursion of two scalars (theory/recursion.py)

const reducible = (f) => f.slope !== null && f.uniform && f.support < f.tokens;

// Why there are no phases where Python has them, by the integrals of theory/slow_manifold.py.
function tooLong(f) {
  if (!reducible(f) || plateauOf(f) <= RECURSION_STEPS) return "";
  const plateau = Number(plateauOf(f).toPrecision(3)).toLocaleString("en");
  return `Theory predicts a plateau of about ${plateau} steps. This exported page predicts phases for plateaus of up to ${RECURSION_STEPS.toLocaleString("en")} steps, since it goes through them one by one; \`tutelage explore\` predicts longer ones.`;
}

function phasesOf(f) {
  if (!reducible(f) || plateauOf(f) > RECURSION_STEPS) return [];
  const times = recursionTimes(f);
  return PHASES.filter(([name]) => Number.isFinite(times[name])).map(([name, short, label]) => ({ name: short, label, predicted: times[name], seen: null }));
}

function recursionTimes(f) {
  const { tokens: D, support: K, queries: Q, lam, slope: k, scale: c } = f;
  const n = D - K;
  const ratio = Math.sqrt(n / K);
  const bend = (1 - k) ** 2 / (2 * Math.PI);
  const [valueRate, scoreRate] = [(f.rate * Q * f.valueSquare) / f.norm ** 2, (f.rate * c * f.valueSquare * D) / K];
  const times = { settled: NaN, halving: NaN, attention: NaN };
  let [C, z, first, before] = [0, 0, null, null];
  for (let step = 0; step <= 100 + 20 * plateauOf(f); step++) {
    const u = Math.exp(-c * z);
    const p = 1 / (K + n * u);
    const q = u * p;
    const theta = Math.atan(ratio * u);
    const square = K * p * p + n * q * q;
    const lift = bend * (ratio * q - theta * p);
    const miss = (C - 1) * (1 - n * q) - n * q;
    const excess = Q * f.valueSquare * (0.5 * lam * ((miss * miss) / K + n * (C * q) ** 2) - C * lift);
    const mass = K * p;
    first ??= excess;
    before ??= { excess, mass };
    if (Number.isNaN(times.settled) && Math.abs(C / ((p + lift / lam) / square) - 1) <= 0.01) times.settled = step;
    if (Number.isNaN(times.halving) && excess <= 0.5 * first) times.halving = step - (excess - 0.5 * first) / (excess - before.excess);
    if (Number.isNaN(times.attention) && mass >= 0.5) times.attention = step === 0 ? 0 : step - (mass - 0.5) / (mass - before.mass);
    if (!Number.isNaN(times.settled + times.halving + times.attention)) return times;
    before = { excess, mass };
    if (C === 0) {
      C = valueRate * p * ((1 + k) / 2) ** 2; // the kink: no force on the scores yet
      continue;
    }
    const slopeC = lam * (p * (C - 1) - C * n * q * (p - q)) - lift;
    const slopeZ = p * q * C * (lam * (C - 1 - C * D * q) - bend * ((ratio * K * q * (p - q)) / square - theta));
    C -= valueRate * slopeC;
    z -= scoreRate * slopeZ;
  }
  return {}; // it does not leave its plateau in that time, and nothing is predicted
}

// A number as Python's %.{count}g writes it.
function digits(value, count) {
  const [mantissa, exponent] = value.toExponential(count - 1).split("e");
  const power = Number(exponent);
  if (power < -4 || power >= count) return `${Number(mantissa)}e${power < 0 ? "-" : "+"}${String(Math.abs(power)).padStart(2, "0")}`;
  return String(Number(value.toPrecision(count)));
}
