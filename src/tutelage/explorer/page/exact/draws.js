// The random numbers of numpy's default generator, bit for bit where it draws integers and to rounding where it draws normals, so that a seed is the same teacher here as in Python. Algorithms: SeedSequence's hash, PCG64 (O'Neill 2014), the ziggurat of 256 strips (Marsaglia & Tsang 2000), Floyd's sampling, Lemire's bounded integers.

const M64 = (1n << 64n) - 1n;
const M128 = (1n << 128n) - 1n;
const MULTIPLIER = 0x2360ed051fc65da44385df649fccf645n;

// The stream `name` of a seed, as tutelage.numerics.streams.generator.
export function generator(seed, name) {
  const [a, b, c, d] = seedWords([...words(seed), ...words(checksum(name))]);
  return new Generator((a << 64n) | b, (c << 64n) | d);
}

// CRC-32 of a name.
export function checksum(text) {
  let crc = 0xffffffff;
  for (const byte of new TextEncoder().encode(text)) {
    crc ^= byte;
    for (let bit = 0; bit < 8; bit++) crc = (crc >>> 1) ^ (crc & 1 ? 0xedb88320 : 0);
  }
  return (crc ^ 0xffffffff) >>> 0;
}

// A whole number in words of 32 bits, the lowest first; 0 is one word.
function words(number) {
  const found = [];
  for (let rest = BigInt(number); rest > 0n || !found.length; rest >>= 32n) found.push(Number(rest & 0xffffffffn));
  return found;
}

// Four words of 64 bits from any number of words of 32.
function seedWords(entropy) {
  let factor = 0x43b0d7e5;
  const hashed = (value) => {
    value = (value ^ factor) >>> 0;
    factor = Math.imul(factor, 0x931e8875) >>> 0;
    value = Math.imul(value, factor) >>> 0;
    return (value ^ (value >>> 16)) >>> 0;
  };
  const mixed = (x, y) => {
    const value = (Math.imul(0xca01f9dd, x) - Math.imul(0x4973f715, y)) >>> 0;
    return (value ^ (value >>> 16)) >>> 0;
  };
  const pool = Array.from({ length: 4 }, (_, i) => hashed(entropy[i] ?? 0));
  for (let from = 0; from < 4; from++) for (let to = 0; to < 4; to++) if (from !== to) pool[to] = mixed(pool[to], hashed(pool[from]));
  for (const more of entropy.slice(4)) for (let to = 0; to < 4; to++) pool[to] = mixed(pool[to], hashed(more));
  factor = 0x8b51f9dd;
  const out = Array.from({ length: 8 }, (_, i) => {
    let value = (pool[i % 4] ^ factor) >>> 0;
    factor = Math.imul(factor, 0x58f38ded) >>> 0;
    value = Math.imul(value, factor) >>> 0;
    return BigInt((value ^ (value >>> 16)) >>> 0);
  });
  return [0, 2, 4, 6].map((i) => out[i] | (out[i + 1] << 32n));
}

class Generator {
  constructor(start, sequence) {
    this.increment = ((sequence << 1n) | 1n) & M128;
    this.state = 0n;
    this.step();
    this.state = (this.state + start) & M128;
    this.step();
    this.half = null; // the upper half of a word of which the lower was asked for
  }

  step() {
    this.state = (this.state * MULTIPLIER + this.increment) & M128;
  }

  next64() {
    this.step();
    const folded = (this.state >> 64n) ^ (this.state & M64);
    const turn = this.state >> 122n;
    return ((folded >> turn) | (folded << (64n - turn))) & M64;
  }

  next32() {
    if (this.half !== null) {
      const high = this.half;
      this.half = null;
      return high;
    }
    const both = this.next64();
    this.half = Number(both >> 32n);
    return Number(both & 0xffffffffn);
  }

  // Uniform in [0, 1), 53 bits.
  uniform() {
    return Number(this.next64() >> 11n) / 2 ** 53;
  }

  // Uniform on 0, …, top.
  upTo(top) {
    if (top === 0) return 0;
    const count = BigInt(top + 1);
    let product = BigInt(this.next32()) * count;
    if ((product & 0xffffffffn) < count) {
      const least = (0xffffffffn - BigInt(top)) % count;
      while ((product & 0xffffffffn) < least) product = BigInt(this.next32()) * count;
    }
    return Number(product >> 32n);
  }

  // Distinct ones of 0, …, total − 1, in rising order; up to 10,000 of them.
  subset(total, size) {
    const taken = new Set();
    for (let j = total - size; j < total; j++) {
      const drawn = this.upTo(j);
      taken.add(taken.has(drawn) ? j : drawn);
    }
    return [...taken].sort((a, b) => a - b);
  }

  normals(count) {
    return Float64Array.from({ length: count }, () => this.normal());
  }

  normal() {
    const { edge, height, inside } = ziggurat();
    for (;;) {
      const word = this.next64();
      const strip = Number(word & 0xffn);
      const size = Number((word >> 9n) & 0xfffffffffffffn); // 52 bits
      const sign = (word >> 8n) & 1n ? -1 : 1;
      const x = (size * edge[strip]) / 2 ** 52;
      if (size < inside[strip]) return sign * x;
      if (strip > 0) {
        if ((height[strip - 1] - height[strip]) * this.uniform() + height[strip] < Math.exp(-0.5 * x * x)) return sign * x;
        continue;
      }
      for (;;) { // beyond the last edge
        const beyond = -Math.log1p(-this.uniform()) / LAST_EDGE;
        const other = -Math.log1p(-this.uniform());
        if (2 * other > beyond * beyond) return ((word >> 17n) & 1n ? -1 : 1) * (LAST_EDGE + beyond);
      }
    }
  }
}

const LAST_EDGE = 3.6541528853610087963519472518; // of 256 strips
const STRIP = 0.0049286732339746519; // the area of each, the last with its tail
let tables = null;

// Edges and heights of the strips under exp(−x²/2), and below which 52-bit number a point lies inside for certain.
function ziggurat() {
  if (tables) return tables;
  const edge = new Float64Array(256);
  const height = new Float64Array(256);
  const inside = new Float64Array(256);
  const curve = (x) => Math.exp(-0.5 * x * x);
  edge[255] = LAST_EDGE;
  height[255] = curve(LAST_EDGE);
  for (let i = 254; i >= 1; i--) {
    edge[i] = Math.sqrt(-2 * Math.log(STRIP / edge[i + 1] + height[i + 1]));
    height[i] = curve(edge[i]);
    inside[i + 1] = Math.floor((edge[i] / edge[i + 1]) * 2 ** 52);
  }
  height[0] = 1;
  edge[0] = STRIP / height[255];
  inside[0] = Math.floor((LAST_EDGE / edge[0]) * 2 ** 52);
  inside[1] = 0;
  return (tables = { edge, height, inside });
}
