// The population risk of the bilinear class in closed form, as tutelage/numerics/geometry.py and closed_forms.py derive it: the excess of a student σ(W X S) over its teacher σ(V* X S*) for tokens N(0, I), and its gradient, without cancellation near the teacher.
//
// Row w of W is split along its teacher's row v, column s of S along its teacher's column s*: w = (1+α)v + w⊥, s = (1+δ)s* + s⊥. Everything is a function of α, ‖w⊥‖², ‖v‖² per row and δ, ‖s⊥‖², ‖s*‖² per column.

const TWO_PI = 2 * Math.PI;

// The Gaussian expectations of one activation. `excess` and `slopes` see one pair of a row and a column; `slopes` writes μ, κ of the student and κ of the teacher into `out`. Leaky ReLU, of which the identity is a case, has λ as `mean` and (1−k)²/(2π) as `bend` instead.
export function formOf(activation) {
  if (activation.name === "identity") return identity;
  if (activation.name === "erf") return erf;
  return leaky(activation.slope);
}

const identity = { mean: 1, bend: 0, excess: (p) => 0.5 * p.distance() };

function leaky(slope) {
  const mean = 0.5 * (1 + slope * slope);
  const bend = (1 - slope) ** 2 / TWO_PI;
  return {
    mean,
    bend,
    // ½λΔ − (1−k)²σ_aσ_b(sin θ − θ cos θ)/(2π); by its series where θ is small and the direct form would cancel.
    excess: (p) => {
      const area = p.area();
      const theta = p.student() > 0 ? Math.atan2(area, p.covariance()) : 0.5 * Math.PI;
      let lens = area - theta * p.covariance();
      if (theta < 0.5) {
        const square = theta * theta;
        let series = 0;
        for (let n = 8; n >= 1; n--) series = series * square + SERIES[n];
        lens = Math.sqrt(p.student() * p.teacher()) * series * square * theta;
      }
      return 0.5 * mean * p.distance() - bend * lens;
    },
  };
}

// sin θ − θ cos θ = Σ_n (−1)^{n+1} 2n/(2n+1)! θ^{2n+1}.
const SERIES = Array.from({ length: 9 }, (_, n) => {
  let factorial = 1;
  for (let k = 2; k <= 2 * n + 1; k++) factorial *= k;
  return ((n % 2 ? 1 : -1) * 2 * n) / factorial;
});

// (asin x_aa + asin x_bb − 2 asin x_ab)/π as one angle, made rational where it would cancel.
const erf = {
  excess: (p) => {
    const [A, B, r] = [p.student(), p.teacher(), 2 * p.covariance()];
    const spread = p.distance();
    const area2 = p.area() ** 2;
    const [a, b] = [Math.sqrt(1 + 4 * A), Math.sqrt(1 + 4 * B)];
    const product = a * b;
    const lessOne = (4 * A + 4 * B + 16 * A * B) / (product + 1);
    const root = Math.sqrt(1 + 2 * A + 2 * B + 4 * area2);
    const imaginary = r > 0
      ? (4 * (1 + 2 * A) * (1 + 2 * B) * (spread + 4 * area2) * (lessOne + 2 * r)) / ((product + 1 + 2 * r) * (root * lessOne + r * (a + b)))
      : root * lessOne - r * (a + b);
    return (2 / Math.PI) * Math.atan2(imaginary, r * lessOne + root * (a + b));
  },
  slopes: (p, out) => {
    const [A, B, r] = [p.student(), p.teacher(), 2 * p.covariance()];
    const a = Math.sqrt(1 + 4 * A);
    const root = Math.sqrt(1 + 2 * A + 2 * B + 4 * p.area() ** 2);
    const spread = p.distance();
    const e = 2 * (p.rowOff * p.studentColumn + p.rowAlong * p.row * p.columnGap());
    const numerator = 2 * (1 + r) * spread + e * (2 * spread - e) - 4 * e * (1 + r) - e * e * (5 + 2 * r + 2 * e);
    const gap = e > -1 ? numerator / (root * a * (root + (1 + e) * a)) : 1 / a - (1 + e) / root;
    const scale = 4 / (Math.PI * (1 + 2 * A));
    out[0] = scale * (1 / a + r / root);
    out[1] = 0;
    out[2] = scale * gap;
  },
};

// One (row, column) pair; the names are those of geometry.py.
class Pair {
  student() {
    return this.studentRow * this.studentColumn;
  }
  teacher() {
    return this.row * this.column;
  }
  covariance() {
    return this.rowAlong * this.columnAlong * this.row * this.column;
  }
  stretch() {
    return this.alpha + this.delta + this.alpha * this.delta;
  }
  distance() {
    const stretch = this.stretch();
    return this.rowOff * this.studentColumn + this.row * (stretch * stretch * this.column + this.rowAlong * this.rowAlong * this.columnOff);
  }
  area() {
    const byRow = this.rowOff * this.row * this.studentColumn * this.column;
    return Math.sqrt(byRow + this.rowAlong * this.rowAlong * this.row * this.row * this.columnOff * this.column);
  }
  columnGap() {
    return this.columnAlong * this.stretch() * this.column + this.rowAlong * this.columnOff;
  }
  rowGap() {
    return this.rowAlong * this.stretch() * this.row + this.columnAlong * this.rowOff;
  }
}

// The risk against one teacher, given as V* (M×d) and S* (D×Q) as they act on iid tokens. `look` splits a student; then `excess` and `gradient` are of that student.
export class Risk {
  constructor(value, selection, form) {
    Object.assign(this, { value, selection, form });
    const [outputs, dim] = [value.rows, value.columns];
    const [tokens, queries] = [selection.rows, selection.columns];
    Object.assign(this, { outputs, dim, tokens, queries });
    const each = (count) => new Float64Array(count);
    this.rows = { square: each(outputs), alpha: each(outputs), along: each(outputs), off: each(outputs), on: each(outputs), away: each(outputs) };
    this.columns = { square: each(queries), delta: each(queries), off: each(queries), on: each(queries), away: each(queries) };
    this.valueOff = each(outputs * dim);
    this.attentionOff = each(tokens * queries);
    for (let m = 0; m < outputs; m++) for (let k = 0; k < dim; k++) this.rows.square[m] += value.data[m * dim + k] ** 2;
    for (let i = 0; i < tokens; i++) for (let q = 0; q < queries; q++) this.columns.square[q] += selection.data[i * queries + q] ** 2;
  }

  // W, W − V* and S − S*, as they act on iid tokens.
  look(value, valueGap, attentionGap) {
    this.lookAtRows(value, valueGap);
    this.lookAtColumns(attentionGap);
  }

  lookAtRows(value, valueGap) {
    const { rows, dim, valueOff } = this;
    const teacher = this.value.data;
    for (let m = 0, at = 0; m < this.outputs; m++, at += dim) {
      let [gap, along] = [0, 0];
      for (let k = at; k < at + dim; k++) {
        gap += valueGap[k] * teacher[k];
        along += value[k] * teacher[k];
      }
      const safe = rows.square[m] > 0 ? rows.square[m] : 1;
      gap /= safe;
      along /= safe;
      // Nearer to zero than to the teacher, w⊥ is small beside v but not beside w: there it is taken from w itself.
      const [base, factor] = along < 0.5 ? [value, along] : [valueGap, gap];
      let off = 0;
      for (let k = at; k < at + dim; k++) {
        const rest = base[k] - factor * teacher[k];
        valueOff[k] = rest;
        off += rest * rest;
      }
      rows.alpha[m] = gap;
      rows.along[m] = along;
      rows.off[m] = off;
    }
  }

  lookAtColumns(attentionGap) {
    const { columns, queries, tokens, attentionOff } = this;
    const teacher = this.selection.data;
    const last = tokens * queries;
    for (let q = 0; q < queries; q++) {
      let along = 0;
      for (let at = q; at < last; at += queries) along += attentionGap[at] * teacher[at];
      if (columns.square[q] > 0) along /= columns.square[q];
      let off = 0;
      for (let at = q; at < last; at += queries) {
        const rest = attentionGap[at] - along * teacher[at];
        attentionOff[at] = rest;
        off += rest * rest;
      }
      columns.delta[q] = along;
      columns.off[q] = off;
    }
  }

  // Calls act(pair, row, column) for every pair.
  each(act) {
    const { rows, columns } = this;
    const p = new Pair();
    for (let m = 0; m < this.outputs; m++) {
      p.alpha = rows.alpha[m];
      p.rowAlong = rows.along[m];
      p.rowOff = rows.off[m];
      p.row = rows.square[m];
      p.studentRow = p.rowAlong * p.rowAlong * p.row + p.rowOff;
      for (let q = 0; q < this.queries; q++) {
        p.delta = columns.delta[q];
        p.columnAlong = 1 + p.delta;
        p.columnOff = columns.off[q];
        p.column = columns.square[q];
        p.studentColumn = p.columnAlong * p.columnAlong * p.column + p.columnOff;
        act(p, m, q);
      }
    }
  }

  excess() {
    let sum = 0;
    this.each((p) => (sum += this.form.excess(p)));
    return sum;
  }

  // ∇ on its four directions: v and w⊥ for each row (`on`, `away`), s* and s⊥ for each column.
  differentiate() {
    for (const side of [this.rows, this.columns]) {
      side.on.fill(0);
      side.away.fill(0);
    }
    if (this.form.bend === undefined) this.differentiatePairs();
    else this.differentiateLeaky(this.form.mean, this.form.bend);
  }

  differentiatePairs() {
    const { rows, columns, form } = this;
    const slopes = new Float64Array(3);
    this.each((p, m, q) => {
      form.slopes(p, slopes);
      const mu = slopes[0];
      const student = slopes[1];
      const teacher = slopes[2];
      rows.on[m] += mu * p.columnGap() + teacher * p.columnAlong * p.column - student * p.rowAlong * p.studentColumn;
      columns.on[q] += mu * p.rowGap() + teacher * p.rowAlong * p.row - student * p.columnAlong * p.studentRow;
      rows.away[m] += (mu - student) * p.studentColumn;
      columns.away[q] += (mu - student) * p.studentRow;
    });
  }

  // The same for μ = λ, κ of the student = c(σ_b/σ_a) sin θ and κ of the teacher = cθ, in one loop over plain numbers: it is where a step spends its time.
  differentiateLeaky(mean, bend) {
    const { rows, columns, outputs, queries } = this;
    const { delta, off: columnOffs, square: columnSquares, on, away } = columns;
    for (let m = 0; m < outputs; m++) {
      const alpha = rows.alpha[m];
      const along = rows.along[m];
      const rowOff = rows.off[m];
      const row = rows.square[m];
      const studentRow = along * along * row + rowOff;
      let onRow = 0;
      let awayRow = 0;
      for (let q = 0; q < queries; q++) {
        const column = columnSquares[q];
        const columnOff = columnOffs[q];
        const columnAlong = 1 + delta[q];
        const studentColumn = columnAlong * columnAlong * column + columnOff;
        const stretch = alpha + delta[q] + alpha * delta[q];
        const variance = studentRow * studentColumn;
        let student = 0;
        let teacher = 0;
        if (bend > 0) {
          const area = Math.sqrt(rowOff * row * studentColumn * column + along * along * row * row * columnOff * column);
          student = variance > 0 ? (bend * area) / variance : 0;
          teacher = bend * (variance > 0 ? Math.atan2(area, along * columnAlong * row * column) : 0.5 * Math.PI);
        }
        onRow += mean * (columnAlong * stretch * column + along * columnOff) + teacher * columnAlong * column - student * along * studentColumn;
        on[q] += mean * (along * stretch * row + columnAlong * rowOff) + teacher * along * row - student * columnAlong * studentRow;
        awayRow += (mean - student) * studentColumn;
        away[q] += (mean - student) * studentRow;
      }
      rows.on[m] = onRow;
      rows.away[m] = awayRow;
    }
  }

  // ∇_W, M×d.
  toValue(out) {
    const { rows, dim, valueOff } = this;
    const teacher = this.value.data;
    for (let m = 0, at = 0; m < this.outputs; m++) for (let k = 0; k < dim; k++, at++) out[at] = rows.on[m] * teacher[at] + rows.away[m] * valueOff[at];
  }

  // ∇_S, D×Q.
  toAttention(out) {
    const { queries, attentionOff } = this;
    const { on, away } = this.columns;
    const teacher = this.selection.data;
    for (let i = 0, at = 0; i < this.tokens; i++) for (let q = 0; q < queries; q++, at++) out[at] = on[q] * teacher[at] + away[q] * attentionOff[at];
  }
}
