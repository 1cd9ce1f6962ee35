// How numbers are written: four digits, powers of ten as in a paper, steps with their thousands.

const RAISED = { "-": "⁻", 0: "⁰", 1: "¹", 2: "²", 3: "³", 4: "⁴", 5: "⁵", 6: "⁶", 7: "⁷", 8: "⁸", 9: "⁹" };

export const power = (exponent) => "10" + [...String(exponent)].map((digit) => RAISED[digit]).join("");

export function short(value, digits = 4) {
  if (value === null || value === undefined || Number.isNaN(value)) return "–";
  if (value === 0) return "0";
  const size = Math.abs(value);
  if (size >= 1e-3 && size < 1e6) return String(Number(value.toPrecision(digits))).replace("-", "−");
  const [mantissa, exponent] = value.toExponential(digits - 2).split("e");
  return `${String(Number(mantissa)).replace("-", "−")}·${power(Number(exponent))}`;
}

export const whole = (value) => (value === null || value === undefined ? "–" : Math.round(value).toLocaleString("en"));

export const interval = (pair) => (pair ? `[${short(pair[0])}, ${short(pair[1])}]` : "–");

// As the address and the fields have it: 100000, 0.2, 1e7.
export function plain(value) {
  if (typeof value !== "number") return String(value);
  return Math.abs(value) >= 1e7 || (value !== 0 && Math.abs(value) < 1e-4) ? value.toExponential().replace("e+", "e") : String(Number(value.toPrecision(12)));
}

// Words of the server with minus signs, and none before a zero.
export const signed = (text) => text.replace(/-(?=0\.0+(?!\d))/g, "").replace(/(^|\s)-(?=\d)/g, "$1−");
