// Any panel as a file: PNG and SVG of what it shows, CSV of its numbers. Pictures are drawn anew as SVG; a PNG is that SVG, painted.

import { axisTitle } from "./axes.js";
import { tick, ticks } from "./chart.js";
import { resolved } from "./colours.js";
import { el, worded } from "./dom.js";
import { announce } from "./layout.js";
import { interval, short, whole } from "./numbers.js";
import { drawable, standing, unit } from "./words.js";

const SCALE = 2; // pixels of a PNG per unit of its SVG
const FONT = "system-ui, sans-serif";
const safe = (text) => String(text).replace(/[&<>"]/g, (sign) => ({ "&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;" })[sign]);
const written = (x, y, text, fill, { size = 13, anchor = "start", turn = "", markup = safe(text) } = {}) => `<text x="${x}" y="${y}" fill="${fill}" font-family="${FONT}" font-size="${size}" text-anchor="${anchor}"${turn}>${markup}</text>`;
// Words with their indices and powers: what is below or above the line is so in a picture, too. The empty sign brings what follows back.
const inked = (part) => [...part.childNodes].map((child) => {
  const shift = { SUB: 3, SUP: -5 }[child.tagName];
  if (shift) return `<tspan dy="${shift}" font-size="10">${safe(child.textContent)}</tspan><tspan dy="${-shift}">\u200b</tspan>`;
  return child.nodeType === Node.TEXT_NODE ? safe(child.textContent) : inked(child);
}).join("");
const framed = (width, height, ground, inside) => `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" width="${width}" height="${height}"><rect width="${width}" height="${height}" fill="${ground}"/>${inside.join("")}</svg>`;

// Pictures below each other, as one.
function stacked(pictures) {
  const sizes = pictures.map((svg) => svg.match(/width="(\d+)" height="(\d+)"/).slice(1).map(Number));
  let top = 0;
  const placed = pictures.map((svg, i) => {
    const moved = svg.replaceAll('"inside"', `"inside${i}"`).replaceAll("#inside", `#inside${i}`).replace("<svg", `<svg y="${top}"`);
    top += sizes[i][1];
    return moved;
  });
  return framed(Math.max(...sizes.map(([width]) => width)), top, resolved("ground")[0], placed);
}

// A chart as it is drawn now, with its legend below: these entries of it.
export function chartSvg(chart, entries) {
  const [ink, soft, line, ground, card] = resolved("text", "soft", "line", "ground", "card");
  const { data, series, logY, range } = chart.drawn;
  const box = { left: 78, top: 16, width: 620, height: 360 };
  const share = (value, [low, high], log) => (log ? Math.log(value / low) / Math.log(high / low) : (value - low) / (high - low));
  const x = (value) => box.left + box.width * share(value, range.x, true);
  const y = (value) => box.top + box.height * (1 - share(value, range.y, logY));
  const across = ticks(...range.x, 9);
  const up = logY ? ticks(...range.y, 9) : Array.from({ length: 5 }, (_, i) => range.y[0] + ((range.y[1] - range.y[0]) * (i + 0.5)) / 5);
  const label = (values, log) => (log ? tick(values) : values.map((value) => short(value, 3)));
  const parts = [
    ...chart.shades().map(([from, to]) => `<rect x="${x(from)}" y="${box.top}" width="${x(to) - x(from)}" height="${box.height}" fill="${card}"/>`),
    ...across.map((value, i) => `<path d="M${x(value)} ${box.top}v${box.height}" stroke="${line}"/>${written(x(value), box.top + box.height + 18, label(across, true)[i], soft, { anchor: "middle" })}`),
    ...up.map((value, i) => `<path d="M${box.left} ${y(value)}h${box.width}" stroke="${line}"/>${written(box.left - 8, y(value) + 4, label(up, logY)[i], soft, { anchor: "end" })}`),
    written(box.left + box.width / 2, box.top + box.height + 40, axisTitle(chart.axis), ink, { anchor: "middle" }),
    written(0, 0, chart.view === "ratio" ? "measured / predicted" : unit(chart.curve), ink, { anchor: "middle", turn: ` transform="translate(18 ${box.top + box.height / 2}) rotate(-90)"` }),
    `<clipPath id="inside"><rect x="${box.left}" y="${box.top}" width="${box.width}" height="${box.height}"/></clipPath>`,
  ];
  series.slice(1).forEach(({ stroke, width, dash }, i) => {
    const points = data[0].map((at, j) => [at, data[i + 1][j]]).filter(([, value]) => value !== null && value !== undefined).map(([at, value]) => `${x(at).toFixed(1)},${y(value).toFixed(1)}`);
    if (points.length && stroke !== "transparent") parts.push(`<polyline clip-path="url(#inside)" fill="none" stroke="${stroke}" stroke-width="${width}"${dash ? ` stroke-dasharray="${dash.join(" ")}"` : ""} points="${points.join(" ")}"/>`);
  });
  const rows = [...entries].map((entry, i) => {
    const sample = getComputedStyle(entry.querySelector(".sample"));
    const dash = { dashed: "8 5", dotted: "2 4" }[sample.borderTopStyle];
    const at = box.top + box.height + 64 + 20 * i;
    return `<path d="M${box.left} ${at - 4}h30" stroke="${sample.borderTopColor}" stroke-width="2.5"${dash ? ` stroke-dasharray="${dash}"` : ""}/>${written(box.left + 40, at, "", ink, { markup: inked(entry) })}`;
  });
  return framed(720, box.top + box.height + 60 + 20 * rows.length, ground, [...parts, ...rows]);
}

// Matrices side by side, one square per number. maps: [{title, matrix, shape, low, high, colours}]
export function mapsSvg(maps) {
  const [ink, , line, ground] = resolved("text", "soft", "line", "ground");
  const [size, gap] = [260, 24];
  let left = gap;
  const parts = maps.map(({ title, matrix, shape: [rows, columns], low, high, colours }) => {
    const cell = size / Math.max(rows, columns);
    const squares = [...matrix].map((value, i) => `<rect x="${(left + (i % columns) * cell).toFixed(2)}" y="${(36 + Math.floor(i / columns) * cell).toFixed(2)}" width="${cell.toFixed(2)}" height="${cell.toFixed(2)}" shape-rendering="crispEdges" fill="rgb(${colours((value - low) / (high - low || 1)).map(Math.round).join()})"/>`);
    const words = written(left, 24, title, ink);
    const frame = `<rect x="${left}" y="36" width="${columns * cell}" height="${rows * cell}" fill="none" stroke="${line}"/>`;
    left += Math.max(columns * cell, 120) + gap;
    return words + squares.join("") + frame;
  });
  return framed(left, 36 + size + gap, ground, parts);
}

// The words of a cell in lines that fit its column.
function wrapped(text, width, pen) {
  const lines = [""];
  for (const word of String(text).split(" ")) {
    const longer = lines.at(-1) ? `${lines.at(-1)} ${word}` : word;
    if (lines.at(-1) && pen.measureText(longer).width > width) lines.push(word);
    else lines[lines.length - 1] = longer;
  }
  return lines;
}

// A table with a rule above each row. columns: [[title, width]]; rows: their cells as text.
export function tableSvg(columns, rows) {
  const [ink, soft, line, ground] = resolved("text", "soft", "line", "ground");
  const [margin, gap, leading] = [16, 16, 18];
  const pen = el("canvas").getContext("2d");
  pen.font = `13px ${FONT}`;
  const lefts = columns.map((_, i) => margin + columns.slice(0, i).reduce((sum, [, width]) => sum + width + gap, 0));
  const right = lefts.at(-1) + columns.at(-1)[1];
  let top = margin;
  const parts = [columns.map(([title]) => title), ...rows].map((cells, place) => {
    const lines = cells.map((cell, i) => wrapped(cell, columns[i][1], pen));
    const words = lines.flatMap((cell, i) => cell.map((text, j) => written(lefts[i], top + leading * (j + 1), "", place ? ink : soft, { markup: inked(el("span", {}, worded(text))) })));
    const rule = place ? `<path d="M${margin} ${top}H${right}" stroke="${line}"/>` : "";
    top += leading * Math.max(...lines.map((cell) => cell.length)) + 10;
    return rule + words.join("");
  });
  return framed(right + margin, top + margin, ground, parts);
}

const judged = ({ statement, control }) => (control ? `${statement} (breaks ${control})` : statement);
const verdictsSvg = (verdicts) => tableSvg([["verdict", 130], ["claim", 330], ["predicted", 90], ["measured", 90], ["interval", 150], ["±", 60]],
  verdicts.map((each) => [standing(each)[1], judged(each), short(each.predicted), short(each.measured), interval(each.interval), short(each.tolerance, 2)]));
const phasesSvg = (phases) => tableSvg([["phase", 330], ["predicted, in steps", 130], ["seen, in steps", 130]], phases.map(({ label, predicted, seen }) => [label, whole(predicted), whole(seen)]));
const hypothesesSvg = (hypotheses) => tableSvg([["hypothesis", 330], ["met", 110], ["detail", 330]], hypotheses.map(({ text, word, detail }) => [text, word, detail ?? ""]));

const field = (value) => (/[",\n]/.test(value ?? "") ? `"${String(value).replaceAll('"', '""')}"` : String(value ?? ""));
const csv = (rows) => rows.map((row) => row.map(field).join(",")).join("\n") + "\n";

export function curvesCsv(runs, only = null) {
  const names = drawable([...new Set(runs.flatMap(({ run }) => Object.keys(run.curves)))]).filter((name) => !only || only.includes(name));
  const rows = runs.flatMap(({ run, label }) => run.steps.map((step, i) => [label, step, run.about ? run.about.rate * step : "", ...names.map((name) => run.curves[name]?.[i] ?? "")]));
  return csv([["run", "step", "time", ...names], ...rows]);
}

export const mapsCsv = (maps) => csv([["matrix", "row", "column", "value"], ...maps.flatMap(({ title, matrix, shape: [, columns] }) => [...matrix].map((value, i) => [title, Math.floor(i / columns) + 1, (i % columns) + 1, value]))]);

export const verdictsCsv = (verdicts) => csv([["id", "statement", "status", "predicted", "measured", "lower", "upper", "tolerance", "sentence"],
  ...verdicts.map((each) => [each.id, each.statement, each.status, each.predicted, each.measured, each.interval?.[0], each.interval?.[1], each.tolerance, each.sentence])]);

async function png(svg) {
  const image = new Image();
  image.src = `data:image/svg+xml;charset=utf-8,${encodeURIComponent(svg)}`;
  await image.decode();
  const canvas = el("canvas", { width: image.width * SCALE, height: image.height * SCALE });
  canvas.getContext("2d").drawImage(image, 0, 0, canvas.width, canvas.height);
  return new Promise((done) => canvas.toBlob(done, "image/png"));
}

function download(blob, name) {
  const link = el("a", { href: URL.createObjectURL(blob), download: name });
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 10_000);
}

// What each panel is saved as: a picture, and its numbers.
const PANELS = {
  chart: { svg: (app) => chartSvg(app.chart, app.places.legend.querySelectorAll(".entry")), csv: (app) => curvesCsv(app.shown()) },
  attention: { svg: (app) => mapsSvg(attended(app)), csv: (app) => mapsCsv(attended(app)) },
  machine: { svg: (app) => mapsSvg(pictured(app)), csv: (app) => mapsCsv(pictured(app)) },
  alignment: { svg: (app) => stacked(app.aligned.map(([, chart]) => chartSvg(chart, students(app)))), csv: (app) => curvesCsv(app.shown(), ["cosine", "value_scale"]) },
  verdicts: { svg: (app) => verdictsSvg(app.latest?.verdicts ?? []), csv: (app) => verdictsCsv(app.latest?.verdicts ?? []) },
  phases: { svg: (app) => phasesSvg(app.phases), csv: (app) => csv([["phase", "predicted", "seen"], ...app.phases.map(({ name, predicted, seen }) => [name, predicted, seen])]) },
  hypotheses: { svg: (app) => hypothesesSvg(app.described?.hypotheses ?? []), csv: (app) => csv([["hypothesis", "met", "detail"], ...(app.described?.hypotheses ?? []).map(({ text, word, detail }) => [text, word, detail])]) },
};

// The runs in the legend, without what theory says about the main chart.
const students = (app) => [...app.places.legend.querySelectorAll(".entry")].filter((entry) => !entry.querySelector(".predicted, .fitted"));

const attended = (app) => app.attention.shown.map(({ caption, matrix, block, low, high, colours }) => ({ title: caption.textContent, matrix, shape: block.shape, low, high, colours }));
const pictured = (app) => app.machine.pictures();

export function fillMenus(app) {
  for (const menu of document.querySelectorAll(".take")) {
    const { panel } = menu.dataset;
    const save = async (kind) => {
      menu.open = false;
      try {
        const name = `tutelage-${app.page.name}-${panel}.${kind.toLowerCase()}`;
        if (kind === "CSV") download(new Blob([PANELS[panel].csv(app)], { type: "text/csv" }), name);
        else {
          const svg = PANELS[panel].svg(app);
          download(kind === "SVG" ? new Blob([svg], { type: "image/svg+xml" }) : await png(svg), name);
        }
      } catch (problem) {
        announce(`It could not be saved: ${problem.message}`);
      }
    };
    menu.lastElementChild.append(...["PNG", "SVG", "CSV"].map((kind) => el("button", { type: "button", "aria-label": `${kind} of the ${panel}`, onclick: () => save(kind) }, kind)));
  }
}
