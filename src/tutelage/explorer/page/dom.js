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

// A letter with an index, such as ν_c, as it is printed: the index below the line. Other words stay as they are.
const INDEX = /(?<![\p{L}\d_])(\p{L})_([\p{L}\d])(?![\p{L}\d_])/ug;

export function indexed(text) {
  return text.split(INDEX).map((piece, at) => (at % 3 === 2 ? el("sub", {}, piece) : piece));
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
