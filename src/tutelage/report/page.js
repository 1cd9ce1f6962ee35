// Search, filter by status, and printing. The page is whole without it.
"use strict";
const one = (query) => document.querySelector(query);
const all = (query, within = document) => [...within.querySelectorAll(query)];
const lines = all("li[data-s]");
const opened = new Set(); // details that a search has opened

// W_V is found as it is written in plain text, though its index stands below the line.
const plain = (text) => text.toLowerCase().replace(/[_^{}]/g, "");

function choose() {
  const wanted = all("[data-filter][aria-pressed=true]").map((button) => button.dataset.filter);
  const words = plain(one("#search").value).split(/\s+/).filter(Boolean);
  const active = wanted.length > 0 || words.length > 0;
  let found = 0;
  for (const line of lines) {
    const statuses = line.dataset.s.split(" ");
    const text = plain(`${line.textContent} ${line.id}`);
    const fits =
      (!wanted.length || statuses.some((status) => wanted.includes(status))) &&
      words.every((word) => text.includes(word));
    line.classList.toggle("hidden", active && !fits);
    found += fits && line.closest(".verdicts") ? 1 : 0;
  }
  for (const section of all("section.study")) {
    const left = all("li[data-s]:not(.hidden)", section).length;
    section.classList.toggle("hidden", active && !left);
  }
  for (const details of all("details.verdicts")) {
    if (active && !details.open) opened.add(details);
    if (active || opened.has(details)) details.open = active;
    if (!active) opened.delete(details);
  }
  for (const part of all(".front, .contents, .papers")) part.classList.toggle("hidden", active);
  one("#found").textContent = active ? `${found} ${found === 1 ? "verdict" : "verdicts"}` : "";
}

function reveal() {
  const target = location.hash && document.getElementById(decodeURIComponent(location.hash.slice(1)));
  const details = target && target.closest("details");
  if (details) details.open = true;
  if (target) target.scrollIntoView();
}

one("#search").addEventListener("input", choose);
for (const button of all("[data-filter]")) {
  button.addEventListener("click", () => {
    button.setAttribute("aria-pressed", button.getAttribute("aria-pressed") !== "true");
    choose();
  });
}
one("#print").addEventListener("click", () => print());
one("#print-all").addEventListener("click", () => {
  const closed = all("details:not([open])");
  document.body.classList.add("appendix");
  closed.forEach((details) => (details.open = true));
  print();
  closed.forEach((details) => (details.open = false));
  document.body.classList.remove("appendix");
});
addEventListener("hashchange", reveal);
reveal();
