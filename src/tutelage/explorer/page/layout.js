// What stands on every page, and the places of those that run something. Words here are fixed; what comes from the server is put in as text.

import { el, find } from "./dom.js";

const THEMES = [["", "as the system"], ["light", "light"], ["dark", "dark"]];

export function header(catalogue, page, theme, changed) {
  const pages = [...catalogue.pages.map(({ name, address, title }) => [name, address, title]), ...catalogue.papers.map(({ name, address }) => [name, address, name]), ["saved", "/saved", "Saved runs"]];
  const links = pages.map(([name, href, words]) => el("a", { href, "aria-current": name === page ? "page" : false }, words));
  const select = el("select", { id: "theme", onchange: () => changed(select.value || null) }, THEMES.map(([value, words]) => el("option", { value, selected: value === (theme ?? "") }, words)));
  return el("header", { class: "top" }, el("a", { class: "skip", href: "#content" }, "To the content"), el("span", { class: "name" }, "tutelage"), el("nav", { "aria-label": "Pages" }, links),
    el("label", { class: "theme", for: "theme" }, "Theme"), select);
}

export function applyTheme(theme) {
  if (theme === "dark" || theme === "light") document.documentElement.dataset.theme = theme;
  else delete document.documentElement.dataset.theme;
}

export function explorer() {
  document.body.insertAdjacentHTML("beforeend", `
<main id="content" class="explorer">
  <nav id="start" aria-label="Prepared states"></nav>
  <section id="figure" aria-labelledby="title">
    <div class="heading">
      <div><h1 id="title"></h1><p id="lead" class="soft"></p></div>
      <div class="field show"><label for="show">Curve</label><select id="show"></select></div>
    </div>
    <div class="bar">
      <button type="button" id="run" class="primary">Run</button>
      <button type="button" id="stop" disabled>Stop</button>
      <label class="switch"><input type="checkbox" id="auto" checked> run on change</label>
      <p id="status" role="status" aria-live="polite"></p>
    </div>
    <p id="problem" role="alert" hidden></p>
    <div id="plot" role="img" aria-label="No run yet"></div>
    <p id="hint" class="soft"></p>
    <p id="pointed" class="readout" aria-hidden="true"></p>
    <ul id="legend" aria-label="Lines of the chart"></ul>
    <div class="bar tools">
      <button type="button" id="keep" disabled>Keep as overlay</button>
      <button type="button" id="save" disabled>Save to the store</button>
      <button type="button" id="copy-link">Copy link</button>
      <button type="button" id="copy-python" disabled>Copy as Python</button>
      <button type="button" id="copy-command" disabled>Copy as command</button>
      <button type="button" id="present">Present</button>
      <span id="copied" role="status"></span>
    </div>
  </section>
  <aside id="panel" aria-label="Setting"></aside>
  <div id="rest">
    <section id="attention" aria-labelledby="attention-title">
      <h2 id="attention-title">Attention</h2>
      <p class="soft">Rows are tokens, columns are queries. The slider goes through the measured steps, evenly in log time.</p>
      <div id="maps"></div><div id="replay-bar" class="bar"></div>
    </section>
    <section id="alignment" aria-labelledby="alignment-title">
      <h2 id="alignment-title">Value alignment</h2>
      <p class="soft" id="alignment-words"></p>
      <div class="pair"><div id="cosine-plot" class="small-plot" role="img" aria-label="Cosine of Wᵥ and V* over steps"></div><div id="scale-plot" class="small-plot" role="img" aria-label="Share of V* in Wᵥ over steps"></div></div>
    </section>
    <section id="verdicts" aria-labelledby="verdicts-title"><h2 id="verdicts-title">Verdicts</h2><div id="verdict-table"></div></section>
    <section id="hypotheses" aria-labelledby="hypotheses-title"><h2 id="hypotheses-title">Hypotheses of the theorem</h2><div id="hypothesis-list"></div></section>
    <section id="phases" aria-labelledby="phases-title"><h2 id="phases-title">Phases</h2><div id="phase-table"></div></section>
    <section id="numbers" aria-labelledby="numbers-title"><h2 id="numbers-title">Numbers and code</h2>
      <details><summary>Last values of every curve</summary><div id="value-table"></div></details>
      <details><summary>The same run in Python, and as a command</summary><pre id="python" tabindex="0" role="group" aria-label="Python"></pre><pre id="command" tabindex="0" role="group" aria-label="Command"></pre></details>
    </section>
    <section id="studies" aria-labelledby="studies-title" hidden><h2 id="studies-title">Studies of this paper</h2><div id="study-list"></div></section>
  </div>
</main>
<p id="keys" aria-hidden="true"></p>`);
  return Object.fromEntries([...document.querySelectorAll("main [id], #keys")].map((part) => [part.id, part]));
}

export const announce = (words) => {
  const place = find("copied");
  place.textContent = words;
  setTimeout(() => place.textContent === words && (place.textContent = ""), 4000);
};
