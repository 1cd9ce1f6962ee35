// A student of the bilinear class under way: its arrays, its attention, the risk and its gradient in the parameters.

import { Matrix } from "./matrices.js";
import { formOf, Risk } from "./risk.js";

export class Student {
  constructor({ teacher, inputs, student }) {
    Object.assign(this, { teacher, inputs, ...student });
    const { features, positions } = inputs;
    const seen = { value: features ? teacher.value.times(features) : teacher.value, selection: positions ? positions.times(teacher.selection) : teacher.selection };
    this.risk = new Risk(seen.value, seen.selection, formOf(teacher.activation));
    const { rows: tokens, columns: queries } = teacher.selection;
    this.attention = new Matrix(tokens, queries, teacher.selection.data.slice());
    this.gap = new Matrix(tokens, queries);
    this.valueGap = new Matrix(this.value.rows, this.value.columns);
    this.arrays = this.scores ? [this.value.data, this.scores.data] : [this.value.data];
    this.gradients = this.arrays.map((array) => new Float64Array(array.length));
    this.work = { mean: new Float64Array(queries), toAttention: new Matrix(tokens, queries) };
    // Scores are W_KQ itself where the codes are orthonormal.
    if (this.keys) Object.assign(this.work, { keysT: this.keys.transposed(), asks: this.asks ?? this.keys, asksT: (this.asks ?? this.keys).transposed() });
  }

  // S = softmax by columns of the scaled scores.
  attend() {
    if (!this.scores) return;
    const { keysT, asks } = this.work;
    const { columns, data } = this.attention;
    const scores = (this.keys ? keysT.times(this.scores).times(asks) : this.scores).data;
    const { scale } = this;
    const last = data.length;
    for (let q = 0; q < columns; q++) {
      let top = -Infinity;
      for (let at = q; at < last; at += columns) if (scores[at] > top) top = scores[at];
      let sum = 0;
      for (let at = q; at < last; at += columns) {
        const weight = Math.exp(scale * (scores[at] - top));
        data[at] = weight;
        sum += weight;
      }
      const share = 1 / sum;
      for (let at = q; at < last; at += columns) data[at] *= share;
    }
  }

  // Splits the student along its teacher; after that the risk knows where it stands.
  look() {
    const { teacher, inputs, value, valueGap, gap, attention } = this;
    this.attend();
    subtract(value.data, teacher.value.data, valueGap.data);
    subtract(attention.data, teacher.selection.data, gap.data);
    const { features, positions } = inputs;
    const [rows, rowGap] = features ? [value.times(features), valueGap.times(features)] : [value, valueGap];
    this.risk.look(rows.data, rowGap.data, (positions ? positions.times(gap) : gap).data);
  }

  excess() {
    this.look();
    return this.risk.excess();
  }

  // ∇L in every array, into `gradients`.
  differentiate() {
    this.look();
    const { risk, inputs } = this;
    risk.differentiate();
    risk.toValue(this.gradients[0]);
    if (inputs.features) this.gradients[0].set(new Matrix(this.value.rows, this.value.columns, this.gradients[0]).times(inputs.features).data);
    if (this.scores) this.differentiateScores();
  }

  // Through the softmax: s ∘ (∇_s − ⟨∇_s, s⟩), column by column; for iid positions ⟨∇_s, s⟩ is known without a sum.
  differentiateScores() {
    const { risk, inputs, work, attention, scale } = this;
    const { rows, columns, data } = attention;
    const { mean } = work;
    risk.toAttention(work.toAttention.data);
    let to = work.toAttention.data;
    if (inputs.positions) {
      to = inputs.positions.times(work.toAttention).data;
      mean.fill(0);
      for (let i = 0, at = 0; i < rows; i++) for (let q = 0; q < columns; q++, at++) mean[q] += to[at] * data[at];
    } else {
      const { on, away, delta, square, off } = risk.columns;
      for (let q = 0; q < columns; q++) mean[q] = on[q] * (1 + delta[q]) * square[q] + away[q] * off[q];
    }
    const out = this.keys ? work.toAttention.data : this.gradients[1];
    for (let i = 0, at = 0; i < rows; i++) for (let q = 0; q < columns; q++, at++) out[at] = scale * data[at] * (to[at] - mean[q]);
    if (this.keys) this.gradients[1].set(this.keys.times(work.toAttention).times(work.asksT).data);
  }
}

function subtract(one, other, out) {
  for (let at = 0; at < out.length; at++) out[at] = one[at] - other[at];
}
