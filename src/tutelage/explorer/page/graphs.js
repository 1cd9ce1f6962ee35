// Graphs as text: edge lists, adjacency as JSON, and the `edges:0-1,1-2` of an address; and where to put nodes that came without places.

export const written = (edges) => `edges:${edges.map(([a, b]) => `${a}-${b}`).join(",")}`;

// One edge once, smaller node first, no node with itself.
export function tidy(edges) {
  const seen = new Map();
  for (const [a, b] of edges) if (a !== b) seen.set(`${Math.min(a, b)}-${Math.max(a, b)}`, [Math.min(a, b), Math.max(a, b)]);
  return [...seen.values()].sort(([a, b], [c, d]) => a - c || b - d);
}

export const nodesOf = (edges) => edges.reduce((most, edge) => Math.max(most, ...edge), -1) + 1;

function numbered(pairs) {
  const names = [...new Set(pairs.flat())];
  const whole = names.every((name) => /^\d+$/.test(name));
  if (whole) names.sort((a, b) => a - b);
  const place = new Map(names.map((name, i) => [name, i])); // nodes without an edge are no tokens: numbers close up
  return tidy(pairs.map(([a, b]) => [place.get(a), place.get(b)]));
}

function fromJson(data) {
  if (data && !Array.isArray(data) && Array.isArray(data.edges)) data = data.edges;
  if (Array.isArray(data) && data.length && data.every((row) => Array.isArray(row) && row.length === data.length) && data.flat().every((x) => x === 0 || x === 1 || typeof x === "boolean") && data.length !== 2)
    return numbered(data.flatMap((row, i) => row.flatMap((entry, j) => (entry && i !== j ? [[String(i), String(j)]] : []))));
  if (Array.isArray(data)) return numbered(data.map(([a, b]) => [String(a), String(b)]));
  return numbered(Object.entries(data).flatMap(([node, others]) => others.map((other) => [node, String(other)])));
}

// What a file or the text field holds; throws with a sentence where it is no graph.
export function parse(text) {
  const bare = text.trim().replace(/^edges:/, "");
  if (!bare) return [];
  if (/^[[{]/.test(bare)) {
    try {
      return fromJson(JSON.parse(bare));
    } catch {
      throw new Error("This JSON is no graph: give a square matrix of 0 and 1, a list of pairs, or lists of neighbours by node.");
    }
  }
  const lines = bare.split(/\n|;/).map((line) => line.replace(/[#%].*/, "").trim()).filter(Boolean);
  const pieces = lines.flatMap((line) => (/\w\s*-\s*\w/.test(line) ? line.split(/[,\s]+(?![\s-])/).filter((piece) => piece.includes("-")).map((piece) => piece.split("-")) : [line.split(/[,\s]+/)]));
  const wrong = pieces.find((piece) => piece.length < 2 || !piece[0].trim() || !piece[1].trim());
  if (wrong) throw new Error(`An edge joins two nodes, as in 0-1. Got ${JSON.stringify(wrong.join(" "))}.`);
  return numbered(pieces.map(([a, b]) => [a.trim(), b.trim()]));
}

// Springs along edges, repulsion between all: places in the unit square.
export function laidOut(count, edges) {
  const at = Array.from({ length: count }, (_, i) => [0.5 + 0.4 * Math.cos((2 * Math.PI * i) / count), 0.5 + 0.4 * Math.sin((2 * Math.PI * i) / count)]);
  if (count < 3) return at;
  const rest = 0.75 / Math.sqrt(count);
  for (let round = 0; round < 150; round++) {
    const push = at.map(() => [0, 0]);
    const force = (a, b, size) => {
      const [dx, dy] = [at[a][0] - at[b][0], at[a][1] - at[b][1]];
      const far = Math.hypot(dx, dy) || 1e-6;
      const by = size(far) / far;
      [push[a][0], push[a][1], push[b][0], push[b][1]] = [push[a][0] + dx * by, push[a][1] + dy * by, push[b][0] - dx * by, push[b][1] - dy * by];
    };
    for (let a = 0; a < count; a++) for (let b = 0; b < a; b++) force(a, b, (far) => rest ** 2 / far);
    for (const [a, b] of edges) force(a, b, (far) => -(far ** 2) / rest);
    const most = 0.1 * (1 - round / 150) + 0.002;
    at.forEach((place, i) => {
      const size = Math.hypot(...push[i]) || 1;
      place[0] += (push[i][0] / size) * Math.min(size, most);
      place[1] += (push[i][1] / size) * Math.min(size, most);
    });
  }
  const [xs, ys] = [at.map(([x]) => x), at.map(([, y]) => y)];
  const fit = (value, all) => 0.06 + (0.88 * (value - Math.min(...all))) / (Math.max(...all) - Math.min(...all) || 1);
  return at.map(([x, y]) => [fit(x, xs), fit(y, ys)]);
}
