// A paper that brings no page of its own: its citation and its studies.

import { locate } from "./address.js";
import { el } from "./dom.js";
import { applyTheme, header } from "./layout.js";
import { showStudies } from "./studies.js";
import { transport } from "./transport.js";

const theme = new URLSearchParams(location.search).get("theme");

function dress(name) {
  applyTheme(name);
  history.replaceState(null, "", locate(paper.address, name ? `theme=${name}` : ""));
}

const catalogue = await transport.catalogue();
const paper = catalogue.papers.find(({ name }) => name === document.body.dataset.page);
const list = el("div", { id: "study-list" });
const section = el("section", { "aria-labelledby": "studies-title" }, el("h2", { id: "studies-title" }, "Studies of this paper"), list);
applyTheme(theme);
document.body.prepend(header(catalogue, paper.name, theme, dress));
document.body.append(el("main", { id: "content", class: "plain" }, el("h1", {}, paper.title), el("p", { class: "soft" }, paper.citation),
  paper.trouble ? el("p", { role: "alert" }, paper.trouble) : null, section));
await showStudies(section, list, paper.name, catalogue.saved);
