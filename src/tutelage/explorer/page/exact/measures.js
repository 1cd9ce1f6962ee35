// What is measured of a student on the way, by the names of tutelage.measures. A vector has one entry per query.

import { length, square } from "./matrices.js";

export const MEASURES = {
  excess_risk: (student) => student.risk.excess(),
  value_error: (student) => length(student.valueGap.data),
  cosine: ({ value, teacher }) => {
    const [ours, theirs] = [length(value.data), length(teacher.value.data)];
    if (!(ours > 0 && theirs > 0)) return 0;
    return 1 - 0.5 * square(value.data.map((x, at) => x / ours - teacher.value.data[at] / theirs));
  },
  attention_error: (student) => length(student.gap.data),
  support_mass: ({ attention, teacher }) => columnSums(attention, (ours, at) => (teacher.selection.data[at] > 0 ? ours : 0)),
  entropy: ({ attention }) => columnSums(attention, (ours) => (ours > 0 ? -ours * Math.log(ours) : 0)),
  value_scale: ({ value, teacher }) => value.data.reduce((sum, x, at) => sum + x * teacher.value.data[at], 0) / square(teacher.value.data),
};

function columnSums({ columns, data }, term) {
  const sums = new Float64Array(columns);
  data.forEach((entry, at) => (sums[at % columns] += term(entry, at)));
  return sums;
}

// Curves as the page draws them: a vector by its mean, least and largest entry.
export function addScalars(curves, name, measured) {
  const put = (key, value) => (curves[key] ??= []).push(Number.isFinite(value) ? value : null);
  if (typeof measured === "number") return put(name, measured);
  put(name, measured.reduce((sum, x) => sum + x, 0) / measured.length);
  if (measured.length === 1) return;
  put(`${name}.min`, measured.reduce((a, b) => Math.min(a, b)));
  put(`${name}.max`, measured.reduce((a, b) => Math.max(a, b)));
}
