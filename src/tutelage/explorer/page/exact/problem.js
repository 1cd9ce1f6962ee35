// A setting of the bilinear class as matrices: teacher, inputs and student, as tutelage/problem builds them. A setting is { teacher, inputs, student, objective, optimiser: { name, options }, rate, steps, seed }; options are values, null where none is given.

import { Said } from "../said.js";
import { generator } from "./draws.js";
import { keyedNormals, splitKey, streamKey } from "./keys.js";
import { eigen, length, Matrix, orthogonalFactor, symmetricRoot } from "./matrices.js";

// Why a setting cannot be run in the page; "" where it can. `runsHere` names the parts that can, by their kind.
export function whyPython(setting, runsHere) {
  const found = Object.entries(runsHere).find(([kind, names]) => !names.includes(setting[kind].name));
  if (found) return `the ${found[0]} ${setting[found[0]].name} runs in Python only`;
  const { teacher, student } = setting;
  if (teacher.options.collapse) return "a collapsed teacher runs in Python only";
  if (readActivation(teacher.options.activation) === null) return `the risk of ${teacher.options.activation} is known by quadrature, which runs in Python only`;
  if (teacher.options.graph === "regular") return "a random regular graph is drawn in Python only";
  if (student.options.learned) return "learned codes run in Python only";
  return "";
}

export function build(setting, graphs) {
  positive("rate", setting.rate, "a step of gradient descent moves against the gradient");
  whole("steps", setting.steps, 1, "a run takes at least one step");
  whole("seed", setting.seed, 0, "it seeds the random streams");
  const teacher = buildTeacher(setting, graphs);
  const inputs = buildInputs(setting.inputs.options, teacher);
  return { teacher, inputs, student: buildStudent(setting, teacher) };
}

// ---- teachers

function buildTeacher({ teacher: { name, options }, seed }, graphs) {
  const activation = readActivation(options.activation);
  const noise = positive("noise", options.noise ?? 0, "it is a standard deviation", true);
  const made = { convolution, graph_convolution, token_selection, group_sparse, bilinear }[name](options, seed, graphs);
  return { ...made, activation, noise };
}

function convolution(options, seed) {
  const value = randomValue(seed, options.outputs, options.dim, options.norm);
  const [tokens, support] = supportWithin(options.tokens, options.support);
  if (tokens % support) refuse("`tokens` must be a multiple of `support`, since pooling groups are disjoint and of equal size.", `tokens=${tokens}, support=${support}`);
  const group = (i) => Math.floor(i / support);
  return { value, selection: filled(tokens, tokens, (i, q) => (group(i) === group(q) ? 1 / support : 0)) };
}

function graph_convolution(options, seed, graphs) {
  const value = randomValue(seed, options.outputs, options.dim, options.norm);
  if ((options.degree ?? null) !== null || (options.graph_seed ?? null) !== null) refuse("`degree` and `graph_seed` belong to the graph 'regular'.", `degree=${options.degree}, graph_seed=${options.graph_seed} without it`);
  const closed = closedNeighbourhoods(options.graph ?? "cycle", options.tokens, graphs);
  const tokens = closed.length;
  if (tokens !== options.tokens) refuse("`tokens` must be the number of nodes, since each token is one.", `tokens=${options.tokens}, a graph of ${tokens}`);
  const sizes = closed.map((near) => near.size);
  const symmetric = options.normalisation === "symmetric";
  const weight = (i, q) => (symmetric ? 1 / Math.sqrt(sizes[i] * sizes[q]) : 1 / sizes[q]);
  return { value, selection: filled(tokens, tokens, (i, q) => (closed[q].has(i) ? weight(i, q) : 0)) };
}

// For each node the set of itself and its neighbours. `graph` is a name, edges:0-1,1-2 or an adjacency matrix.
function closedNeighbourhoods(graph, nodes, graphs) {
  if (Array.isArray(graph)) {
    const { rows, columns, data } = readMatrix("graph", graph, "it is an adjacency matrix");
    if (rows !== columns) refuse("An adjacency matrix must be square, since it pairs nodes with nodes.", `(${rows}, ${columns})`);
    if (data.some((entry, at) => (entry !== 0 && entry !== 1) || entry !== data[(at % columns) * columns + Math.floor(at / columns)])) refuse("An adjacency matrix must be symmetric with entries 0 or 1, since neighbours count equally here.", "another");
    return Array.from({ length: rows }, (_, i) => new Set([i, ...Array.from({ length: columns }, (_, j) => j).filter((j) => data[i * columns + j])]));
  }
  if (graph === "cycle") {
    whole("tokens", nodes, 3, "a cycle has at least three nodes");
    return Array.from({ length: nodes }, (_, i) => new Set([i, (i + 1) % nodes, (i + nodes - 1) % nodes]));
  }
  const edges = graphs[graph]?.edges ?? readEdges(graph, nodes);
  const closed = Array.from({ length: graphs[graph]?.nodes ?? nodes }, (_, i) => new Set([i]));
  for (const [one, other] of edges) {
    closed[one].add(other);
    closed[other].add(one);
  }
  return closed;
}

function readEdges(graph, nodes) {
  if (!/^edges:((\d{1,9}-\d{1,9})(,\d{1,9}-\d{1,9})*)?$/.test(graph)) refuse("Your own graph is edges:0-1,1-2,… with nodes numbered from 0.", `'${String(graph).slice(0, 80)}'`);
  whole("tokens", nodes, 1, "it is the number of nodes, and each token is one");
  return graph.slice(6).split(",").filter(Boolean).map((edge) => {
    const [one, other] = edge.split("-").map(Number);
    if (one === other) refuse("Your own graph has no edge from a node to itself, since each node counts itself already.", edge);
    if (Math.max(one, other) >= nodes) refuse("`tokens` must be the number of nodes, since each token is one.", `tokens=${nodes}, an edge ${edge}`);
    return [one, other];
  });
}

function token_selection(options, seed) {
  const dim = whole("dim", options.dim, 1, "tokens have at least one feature");
  const value = Matrix.identity(dim, positive("scale", options.scale ?? 1, "V* is that multiple of the identity"));
  return { value, selection: sameSubset(options, options.support, seed) };
}

function group_sparse(options, seed) {
  return { value: randomValue(seed, 1, options.dim, options.norm), selection: sameSubset(options, 1, seed) };
}

function sameSubset(options, asked, seed) {
  const [tokens, support] = supportWithin(options.tokens, asked);
  const queries = (options.queries ?? null) === null ? tokens : whole("queries", options.queries, 1, "there must be an output");
  const chosen = new Set(generator(seed, "subset").subset(tokens, support));
  return filled(tokens, queries, (i) => (chosen.has(i) ? 1 / support : 0));
}

function bilinear(options, seed) {
  const selection = readMatrix("selection", options.selection, "each column of S* weighs the D tokens for one query");
  const { rows, columns, data } = selection;
  if (data.some((weight) => weight < 0)) refuse("`selection` must not have negative weights, since a column of a softmax has none.", Math.min(...data));
  for (let q = 0; q < columns; q++) {
    let sum = 0;
    for (let i = 0; i < rows; i++) sum += data[i * columns + q];
    if (Math.abs(sum - 1) > 4 * rows * Number.EPSILON) refuse("Columns of `selection` must sum to 1, since the student's attention is a softmax by columns.", `a sum of ${Number(sum.toPrecision(12))} in column ${q}`);
  }
  if (options.value ?? null) return { value: readMatrix("value", options.value, "V* maps d features to M outputs"), selection };
  if ((options.outputs ?? null) === null || (options.dim ?? null) === null) refuse("The teacher 'bilinear' needs `value`, or `outputs` and `dim` to draw one from.", "neither");
  return { value: randomValue(seed, options.outputs, options.dim, options.norm), selection };
}

// V* with iid N(0, 1) entries, scaled to a Frobenius norm, by default √(outputs·dim).
function randomValue(seed, outputs, dim, norm) {
  whole("outputs", outputs, 1, "V* has at least one row");
  whole("dim", dim, 1, "tokens have at least one feature");
  const wanted = (norm ?? null) === null ? Math.sqrt(outputs * dim) : positive("norm", norm, "it is the norm of V*");
  const drawn = new Matrix(outputs, dim, generator(seed, "teacher").normals(outputs * dim));
  return drawn.scaled(wanted / length(drawn.data));
}

function supportWithin(tokens, support) {
  whole("tokens", tokens, 1, "there must be a token to attend to");
  whole("support", support, 1, "a column of S* reads at least one token");
  if (support > tokens) refuse("`support` must be between 1 and `tokens`, since a column of S* averages that many tokens.", `support=${support}, tokens=${tokens}`);
  return [tokens, support];
}

// The activation of a name, with its slope where it has one; null where the risk has no closed form.
export function readActivation(name) {
  if (name === "identity" || name === "erf") return { name, slope: name === "identity" ? 1 : null };
  if (name === "relu") return { name, slope: 0 };
  const given = name === "leaky_relu" ? ["", "0.1"] : /^leaky_relu\(\s*([-+.\deE]+)\s*\)$/.exec(name ?? "");
  if (!given) return null;
  const slope = Number(given[1]);
  if (!(slope >= 0 && slope < 1)) refuse("The leaky slope must be a number in [0, 1), since slope 1 is the identity and a slope outside that range bends the other way.", `slope=${given[1]}`);
  return { name: slope === 0 ? "relu" : `leaky_relu(${slope})`, slope };
}

// ---- inputs

// Square roots of Σ and R, null where they are the identity.
function buildInputs({ covariance, correlation }, { value, selection }) {
  return { features: root("covariance", covariance, value.columns, "features"), positions: root("correlation", correlation, selection.rows, "tokens") };
}

function root(name, given, size, what) {
  if ((given ?? null) === null) return null;
  const moments = readMatrix(name, given, "it holds second moments");
  const { rows, columns, data } = moments;
  const largest = Math.max(...data.map(Math.abs));
  const mirrored = (at) => data[(at % columns) * columns + Math.floor(at / columns)];
  if (rows !== columns || data.some((entry, at) => Math.abs(entry - mirrored(at)) > 1e-12 * largest)) refuse(`\`${name}\` must be square and symmetric, since it holds second moments.`, `shape (${rows}, ${columns})`);
  if (rows !== size) refuse(`\`${name}\` must be ${size}×${size}, since the inputs have ${size} ${what}.`, `shape (${rows}, ${columns})`);
  const found = eigen(new Matrix(rows, columns, data.map((entry, at) => (entry + mirrored(at)) / 2)));
  const [least, most] = [Math.min(...found.values), Math.max(...found.values)];
  if (least < -rows * Number.EPSILON * Math.max(most, 0) * 8 || most <= 0) refuse(`\`${name}\` must be positive semidefinite and not zero, since it holds second moments.`, `eigenvalues from ${least.toPrecision(3)} to ${most.toPrecision(3)}`);
  return symmetricRoot(found);
}

// ---- students

// W_V and W_KQ at the start, the codes and the scale; of `known_selection` W_V alone.
function buildStudent({ student: { name, options }, seed }, { value, selection }) {
  const start = { name, value: new Matrix(value.rows, value.columns) };
  if (name === "known_selection") return start;
  const tokens = selection.rows;
  const { keys, asks } = buildCodes(options, tokens, selection.columns, seed);
  const scale = (options.attention_scale ?? null) === null ? 1 / Math.sqrt(tokens) : positive("attention_scale", options.attention_scale, "scores are multiplied by it");
  start.scores = new Matrix(keys ? keys.rows : tokens, keys ? (asks ?? keys).rows : selection.columns);
  const spread = positive("scale", options.start ?? 0, "it is the standard deviation of the start", true);
  if (spread > 0) {
    const restart = whole("restart", options.restart ?? 0, 0, "it counts the starts of one student");
    const drawn = splitKey(streamKey(seed, restart ? `start ${restart}` : "start"), 2);
    [start.value, start.scores].forEach((matrix, i) => matrix.data.set(keyedNormals(drawn[i], matrix.data.length).map((x) => spread * x)));
  }
  return { ...start, keys, asks, scale };
}

function buildCodes({ key_codes, query_codes, size, code_scale }, tokens, queries, seed) {
  const absent = (given) => (given ?? null) === null;
  if (typeof key_codes !== "string" && (!absent(size) || (code_scale ?? 1) !== 1)) refuse("`size` and `code_scale` belong to codes that are given by name.", `size=${size}, code_scale=${code_scale} without one`);
  if (absent(key_codes)) {
    if (!absent(query_codes)) refuse("`query_codes` need `key_codes` beside them, since scores pair the two.", "query codes alone");
    return { keys: null, asks: null };
  }
  const keys = typeof key_codes === "string" ? namedCodes(key_codes, size ?? tokens, tokens, seed).scaled(positive("code_scale", code_scale ?? 1, "every code is multiplied by it")) : readMatrix("key_codes", key_codes, "it holds a code (column) for each token");
  if (keys.columns !== tokens) refuse(`\`key_codes\` must have ${tokens} columns, one for each token.`, `shape (${keys.rows}, ${keys.columns})`);
  if (absent(query_codes)) {
    if (queries !== tokens) refuse("`query_codes` must be given when there are not as many queries as tokens, since a token's code then says nothing about a query.", `${queries} queries, ${tokens} tokens`);
    return { keys, asks: null };
  }
  const asks = readMatrix("query_codes", query_codes, "it holds a code (column) for each query");
  if (asks.columns !== queries) refuse(`\`query_codes\` must have ${queries} columns, one for each query.`, `shape (${asks.rows}, ${asks.columns})`);
  return { keys, asks };
}

function namedCodes(name, size, positions, seed) {
  whole("size", size, 1, "a code is a vector");
  if (name === "sinusoidal") {
    return filled(size, positions, (row, at) => {
      const angle = at / 10_000 ** ((2 * Math.floor(row / 2)) / size);
      return row % 2 === 0 ? Math.sin(angle) : Math.cos(angle);
    });
  }
  const drawn = generator(seed, "codes");
  if (name === "gaussian") return new Matrix(size, positions, drawn.normals(size * positions)).scaled(1 / Math.sqrt(size));
  if (name !== "orthonormal") refuse("There is no position codes of that name. Known: gaussian, orthonormal, sinusoidal.", `'${name}'`);
  if (size < positions) refuse(`Orthonormal codes of ${positions} positions need at least as many dimensions.`, `size=${size}`);
  const rotation = orthogonalFactor(new Matrix(size, size, drawn.normals(size * size)));
  return filled(size, positions, (row, at) => rotation.data[row * size + at]);
}

// ---- what is refused: the rule, the reason, and what was received

function refuse(rule, got) {
  throw new Said(`${rule} Got ${got}.`);
}

function whole(name, value, least, reason) {
  if (!Number.isInteger(value) || value < least) refuse(`\`${name}\` must be a whole number of at least ${least}, since ${reason}.`, `${name}=${JSON.stringify(value)}`);
  return value;
}

function positive(name, value, reason, zero = false) {
  if (typeof value !== "number" || !Number.isFinite(value) || value < 0 || (value === 0 && !zero)) refuse(`\`${name}\` must be ${zero ? "zero or a positive" : "a positive"} finite number, since ${reason}.`, `${name}=${JSON.stringify(value)}`);
  return value;
}

function readMatrix(name, given, reason) {
  const rows = Array.isArray(given) && given.length && given.every((row) => Array.isArray(row) && row.length === given[0].length && row.length && row.every(Number.isFinite));
  if (!rows) refuse(`\`${name}\` must be a matrix of finite numbers, a list for each row, since ${reason}.`, JSON.stringify(given)?.slice(0, 80));
  return Matrix.of(given);
}

function filled(rows, columns, entry) {
  const made = new Matrix(rows, columns);
  for (let i = 0; i < rows; i++) for (let j = 0; j < columns; j++) made.data[i * columns + j] = entry(i, j);
  return made;
}
