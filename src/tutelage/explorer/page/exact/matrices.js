// Small dense matrices, row by row in a Float64Array.

export class Matrix {
  constructor(rows, columns, data = new Float64Array(rows * columns)) {
    Object.assign(this, { rows, columns, data });
  }

  // From a list of lists of numbers.
  static of(lists) {
    return new Matrix(lists.length, lists[0].length, Float64Array.from(lists.flat()));
  }

  static identity(size, factor = 1) {
    const made = new Matrix(size, size);
    for (let i = 0; i < size; i++) made.data[i * size + i] = factor;
    return made;
  }

  lists() {
    return Array.from({ length: this.rows }, (_, i) => [...this.data.subarray(i * this.columns, (i + 1) * this.columns)]);
  }

  transposed() {
    const made = new Matrix(this.columns, this.rows);
    for (let i = 0; i < this.rows; i++) for (let j = 0; j < this.columns; j++) made.data[j * this.rows + i] = this.data[i * this.columns + j];
    return made;
  }

  times(other, out = new Matrix(this.rows, other.columns)) {
    const { data } = out;
    data.fill(0);
    for (let i = 0; i < this.rows; i++) {
      for (let k = 0; k < this.columns; k++) {
        const factor = this.data[i * this.columns + k];
        if (factor === 0) continue;
        for (let j = 0, at = i * other.columns, from = k * other.columns; j < other.columns; j++) data[at + j] += factor * other.data[from + j];
      }
    }
    return out;
  }

  scaled(factor) {
    return new Matrix(this.rows, this.columns, this.data.map((value) => factor * value));
  }
}

export const square = (data) => data.reduce((sum, value) => sum + value * value, 0);
export const length = (data) => Math.sqrt(square(data));

// Eigenvalues and eigenvectors (columns) of a symmetric matrix, by Jacobi's rotations.
export function eigen(symmetric) {
  const size = symmetric.rows;
  const a = symmetric.data.slice();
  const vectors = Matrix.identity(size);
  const v = vectors.data;
  const rotate = (x, one, other, cosine, sine) => {
    const [p, q] = [x[one], x[other]];
    x[one] = cosine * p - sine * q;
    x[other] = sine * p + cosine * q;
  };
  for (let sweep = 0; sweep < 60; sweep++) {
    let off = 0;
    for (let i = 0; i < size; i++) for (let j = 0; j < i; j++) off += a[i * size + j] ** 2;
    if (off === 0) break;
    for (let p = 0; p < size; p++) {
      for (let q = p + 1; q < size; q++) {
        const entry = a[p * size + q];
        if (entry === 0) continue;
        const half = (a[q * size + q] - a[p * size + p]) / (2 * entry);
        const tangent = (half >= 0 ? 1 : -1) / (Math.abs(half) + Math.hypot(half, 1));
        const cosine = 1 / Math.hypot(tangent, 1);
        const sine = tangent * cosine;
        for (let k = 0; k < size; k++) rotate(a, k * size + p, k * size + q, cosine, sine);
        for (let k = 0; k < size; k++) rotate(a, p * size + k, q * size + k, cosine, sine);
        for (let k = 0; k < size; k++) rotate(v, k * size + p, k * size + q, cosine, sine);
        a[p * size + q] = a[q * size + p] = 0;
      }
    }
  }
  return { values: Array.from({ length: size }, (_, i) => a[i * size + i]), vectors };
}

// The symmetric square root; negative eigenvalues, which rounding may leave, count as 0.
export function symmetricRoot({ values, vectors }) {
  const stretched = new Matrix(vectors.rows, vectors.columns, vectors.data.map((x, at) => x * Math.sqrt(Math.max(values[at % vectors.columns], 0))));
  return stretched.times(vectors.transposed());
}

// The largest singular value.
export function spectralNorm(matrix) {
  return Math.sqrt(Math.max(0, ...eigen(matrix.transposed().times(matrix)).values));
}

// Q of A = QR for a square A by Householder's reflections, with LAPACK's signs.
export function orthogonalFactor(matrix) {
  const size = matrix.rows;
  const r = matrix.data.slice();
  const q = Matrix.identity(size);
  const reflect = (x, normal, from) => {
    for (let j = 0; j < size; j++) {
      let along = 0;
      for (let i = from; i < size; i++) along += normal[i] * x[i * size + j];
      for (let i = from; i < size; i++) x[i * size + j] -= 2 * along * normal[i];
    }
  };
  const normals = [];
  for (let k = 0; k < size - 1; k++) {
    const normal = new Float64Array(size);
    for (let i = k; i < size; i++) normal[i] = r[i * size + k];
    if (length(normal.subarray(k + 1)) === 0) continue; // nothing to reflect
    normal[k] += (normal[k] < 0 ? -1 : 1) * length(normal);
    const total = length(normal);
    for (let i = k; i < size; i++) normal[i] /= total;
    reflect(r, normal, k);
    normals.push([normal, k]);
  }
  for (const [normal, k] of normals.reverse()) reflect(q.data, normal, k);
  return q;
}
