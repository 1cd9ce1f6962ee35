// What stands on every page, and the places of those that run something. Words here are fixed; what comes from the server is put in as text.

import { el, find } from "./dom.js";

const THEMES = [["", "as the system"], ["light", "light"], ["dark", "dark"]];

export function header(catalogue, page, theme, changed) {
  const pages = [...catalogue.pages.map(({ name, address, title }) => [name, address, title]), ...catalogue.papers.map(({ name, address }) => [name, address, name]), ["saved", catalogue.saved, "Saved runs"]];
  const links = pages.map(([name, href, words]) => el("a", { href, "aria-current": name === page ? "page" : false }, words));
  const select = el("select", { id: "theme", onchange: () => changed(select.value || null) }, THEMES.map(([value, words]) => el("option", { value, selected: value === (theme ?? "") }, words)));
  return el("header", { class: "top" }, el("a", { class: "skip", href: "#content" }, "To the content"), el("span", { class: "name" }, "tutelage"), el("nav", { "aria-label": "Pages" }, links),
    el("label", { class: "theme", for: "theme" }, "Theme"), select);
}

export function applyTheme(theme) {
  if (theme === "dark" || theme === "light") document.documentElement.dataset.theme = theme;
  else delete document.documentElement.dataset.theme;
}

// A menu that saves a panel; `takeaway.js` fills it in.
const take = (panel, words) => `<details class="take" data-panel="${panel}"><summary aria-label="Save ${words}">Save</summary><div class="bar"></div></details>`;

export function explorer() {
  document.body.insertAdjacentHTML("beforeend", `
<main id="content" class="explorer">
  <section id="figure" aria-labelledby="title">
    <div id="story">
      <div class="heading">
        <h1 id="title"></h1>
        <nav id="tour" aria-label="Tour"></nav>
      </div>
      <p class="words"><span id="lead"></span> <span id="task" class="soft"></span></p>
      <div class="band"><div id="theorem" tabindex="0" role="group" aria-label="Theorem"></div><p id="statement" class="soft"></p></div>
      <ul id="chips" aria-label="Verdicts"></ul>
    </div>
    <section id="machine" class="panel" aria-label="The machine" hidden><div id="blocks" tabindex="0" role="group" aria-label="From input to output"></div><p id="number" class="readout" aria-hidden="true"></p>${take("machine", "the machine")}</section>
    <div class="bar running">
      <button type="button" id="run" class="primary">Run</button>
      <button type="button" id="stop" disabled>Stop</button>
      <div class="field show"><label for="show">Curve</label><select id="show"></select></div>
      <div class="field show"><label for="axis">against</label><select id="axis"></select></div>
      <label class="switch" id="view-switch"><input type="checkbox" id="view"> measured / predicted</label>
    </div>
    <p id="status" role="status" aria-live="polite"></p>
    <p id="problem" role="alert" hidden></p>
    <p id="cost" class="soft" hidden></p>
    <div id="stage">
      <div id="chart" class="panel">
        <div id="plot" role="img" aria-label="No run yet"></div>
        <p id="hint" class="soft"></p>
        <p id="pointed" class="readout" aria-hidden="true"></p>
        <ul id="legend" aria-label="Lines of the chart"></ul>
        <p id="budget" class="soft" hidden></p>
        ${take("chart", "the chart")}
      </div>
      <section id="attention" class="panel" aria-labelledby="attention-title" hidden>
        <h2 id="attention-title">Attention</h2>
        <div id="maps"></div><div id="replay-bar" class="bar"></div>
        ${take("attention", "the attention")}
      </section>
    </div>
    <div class="bar tools">
      <button type="button" id="keep" disabled>Keep as overlay</button>
      <button type="button" id="save" disabled>Save to the store</button>
      <button type="button" id="copy-link">Copy link</button>
      <button type="button" id="copy-python" disabled>Copy as Python</button>
      <button type="button" id="copy-command" disabled>Copy as command</button>
      <button type="button" id="present">Present</button>
      <button type="button" id="help">Keys</button>
      <span id="copied" role="status"></span>
    </div>
  </section>
  <aside id="panel" aria-label="Setting"><div id="knobs"></div><label class="switch"><input type="checkbox" id="auto" checked> run on change</label></aside>
  <div id="rest">
    <section id="verdicts" class="panel" aria-labelledby="verdicts-title"><h2 id="verdicts-title">Verdicts</h2><div id="verdict-table"></div>${take("verdicts", "the verdicts")}</section>
    <section id="hypotheses" class="panel" aria-labelledby="hypotheses-title"><h2 id="hypotheses-title">Hypotheses of the theorem</h2><div id="hypothesis-list"></div>${take("hypotheses", "the hypotheses")}</section>
    <section id="phases" class="panel" aria-labelledby="phases-title"><h2 id="phases-title">Phases</h2><div id="phase-table"></div>${take("phases", "the phases")}</section>
    <section id="alignment" class="panel" aria-labelledby="alignment-title">
      <h2 id="alignment-title">Value alignment</h2>
      <p class="soft" id="alignment-words"></p>
      <div class="pair"><div id="cosine-plot" class="small-plot" role="img" aria-label="Cosine of Wᵥ and V* over steps"></div><div id="scale-plot" class="small-plot" role="img" aria-label="Share of V* in Wᵥ over steps"></div></div>
      ${take("alignment", "the value alignment")}
    </section>
    <section id="numbers" aria-labelledby="numbers-title"><h2 id="numbers-title">Numbers and code</h2>
      <details><summary>Last values of every curve</summary><div id="value-table"></div></details>
      <details><summary>The same run in Python, and as a command</summary><pre id="python" tabindex="0" role="group" aria-label="Python"></pre><pre id="command" tabindex="0" role="group" aria-label="Command"></pre></details>
    </section>
    <section id="studies" aria-labelledby="studies-title" hidden><h2 id="studies-title">Studies of this paper</h2><div id="study-list"></div></section>
  </div>
</main>
<dialog id="keys" aria-labelledby="keys-title"><h2 id="keys-title">Keys</h2><table></table><div class="buttons"><button type="button" id="close-keys">Close</button></div></dialog>`);
  return Object.fromEntries([...document.querySelectorAll("main [id], #keys, #keys [id]")].map((part) => [part.id, part]));
}

export const announce = (words) => {
  const place = find("copied");
  place.textContent = words;
  setTimeout(() => place.textContent === words && (place.textContent = ""), 4000);
};
