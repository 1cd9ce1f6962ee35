// Elements in one line, and where words come from the server they stay words: children are text, never markup.

export function el(tag, attributes = {}, ...children) {
  const made = tag.startsWith("svg:") ? document.createElementNS("http://www.w3.org/2000/svg", tag.slice(4)) : document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (value === undefined || value === null || value === false) continue;
    if (name.startsWith("on")) made.addEventListener(name.slice(2), value);
    else made.setAttribute(name, value === true ? "" : value);
  }
  made.append(...children.flat().filter((child) => child !== null && child !== undefined));
  return made;
}

// Formulas in plain words as they are printed: ν_c with its index below the line, t^(−1/3) with its power above. A name such as excess_risk stays as it is.
const SCRIPTS = /(?<![\p{L}\d_])(\p{L})_(?:\{([^{}]*)\}|([\p{L}\d]{1,4})(?![\p{L}\d_]))|(?<=\S)\^(?:\{([^{}]*)\}|\(((?:[^()]|\([^()]*\))*)\)|([-−]?(?:\d+(?:\.\d+)?(?:\/\d+)?|[½¼¾⅓⅔])|\p{L}{1,2}(?![\p{L}\d_])))/gu;

export function worded(text) {
  const parts = [];
  let at = 0;
  for (const found of text.matchAll(SCRIPTS)) {
    const [all, letter, ...inside] = found;
    const script = inside.find((each) => each !== undefined).replace("-", "−");
    parts.push(text.slice(at, found.index) + (letter ?? ""), el(letter ? "sub" : "sup", {}, script));
    at = found.index + all.length;
  }
  return [...parts, text.slice(at)];
}

export const find = (id) => document.getElementById(id);

// A wide table scrolls by itself, by keyboard too, and not the page.
export function table(caption, head, rows) {
  const titles = head.map((title) => el("th", { scope: "col" }, title));
  const body = rows.map((cells) => el("tr", {}, cells.map((cell) => (cell instanceof Node && /^T[DH]$/.test(cell.tagName) ? cell : el("td", {}, cell)))));
  return el("div", { class: "scroll", tabindex: "0", role: "region", "aria-label": caption },
    el("table", {}, el("caption", {}, caption), el("thead", {}, el("tr", {}, titles)), el("tbody", {}, body)));
}

export const number = (text) => el("td", { class: "number" }, text);

export async function copy(text) {
  try {
    await navigator.clipboard.writeText(text);
    return true;
  } catch {
    return false; // a browser may refuse; the text stands on the page as well
  }
}

export function debounced(act, milliseconds) {
  let timer;
  return (...given) => {
    clearTimeout(timer);
    timer = setTimeout(() => act(...given), milliseconds);
  };
}
