// The random numbers of JAX's keys, which draw a student's start: threefry in counter mode (Salmon et al. 2011), and normals by the inverse error function.

import { checksum } from "./draws.js";

const TURNS = [[13, 15, 26, 6], [17, 29, 16, 24]];

// Twenty rounds on two words of 32 bits.
function threefry([k0, k1], x0, x1) {
  const keys = [k0, k1, k0 ^ k1 ^ 0x1bd11bda];
  x0 = (x0 + k0) | 0;
  x1 = (x1 + k1) | 0;
  for (let block = 0; block < 5; block++) {
    for (const turn of TURNS[block % 2]) {
      x0 = (x0 + x1) | 0;
      x1 = ((x1 << turn) | (x1 >>> (32 - turn))) ^ x0;
    }
    x0 = (x0 + keys[(block + 1) % 3]) | 0;
    x1 = (x1 + keys[(block + 2) % 3] + block + 1) | 0;
  }
  return [x0 >>> 0, x1 >>> 0];
}

// The key of the stream `name` of a seed, as tutelage.numerics.streams.stream.
export function streamKey(seed, name) {
  return threefry([Math.floor(seed / 2 ** 32) >>> 0, seed >>> 0], 0, checksum(name));
}

export const splitKey = (key, count) => Array.from({ length: count }, (_, i) => threefry(key, 0, i));

// N(0, 1), as jax.random.normal in double precision.
export function keyedNormals(key, count) {
  return Float64Array.from({ length: count }, (_, i) => {
    const [high, low] = threefry(key, 0, i);
    const uniform = (high * 2 ** 20 + Math.floor(low / 2 ** 12)) / 2 ** 52; // the upper 52 bits
    const least = -1 + 2 ** -53;
    return Math.SQRT2 * inverseErf(Math.max(least, uniform * (1 - least) + least));
  });
}

// By Newton's method on erf, or on erfc where erf is near 1.
function inverseErf(y) {
  const size = Math.abs(y);
  if (size === 0) return 0;
  const guess = Math.log1p(-size * size);
  const b = 2 / (Math.PI * 0.147) + guess / 2;
  let x = Math.sqrt(Math.sqrt(b * b - guess / 0.147) - b);
  for (let turn = 0; turn < 8; turn++) {
    const slope = (2 / Math.sqrt(Math.PI)) * Math.exp(-x * x);
    const miss = x < 1.5 ? erfSeries(x) - size : 1 - size - erfcFraction(x);
    const step = miss / slope;
    x -= step / (1 + x * step);
    if (Math.abs(step) < 1e-16 * x) break;
  }
  return Math.sign(y) * x;
}

// erf(x) = 2/√π e^{−x²} Σ 2ⁿ x^{2n+1}/(2n+1)!!, all terms of one sign.
function erfSeries(x) {
  let [term, sum] = [x, x];
  for (let n = 1; term > 1e-18 * sum; n++) sum += term *= (2 * x * x) / (2 * n + 1);
  return (2 / Math.sqrt(Math.PI)) * Math.exp(-x * x) * sum;
}

// erfc by its continued fraction, from the far end.
function erfcFraction(x) {
  let tail = x;
  for (let n = 120; n >= 1; n--) tail = x + n / 2 / tail;
  return Math.exp(-x * x) / (Math.sqrt(Math.PI) * tail);
}
