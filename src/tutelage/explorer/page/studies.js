// What the output folder holds of the second paper's studies.

import { el, number, table } from "./dom.js";
import { ask } from "./stream.js";

const STATUSES = ["HOLDS", "FAILS", "UNDECIDED", "MEASURED"];

export async function showStudies(places) {
  places.studies.hidden = false;
  try {
    const { studies } = await ask("/api/study/shallow-transformers");
    if (!studies?.length) throw new Error("No studies have been run into this folder. `tutelage run shallow-transformers` makes them.");
    const rows = studies.map((study) => [el("th", { scope: "row" }, study.name, study.sentence ? el("p", { class: "sentence" }, study.sentence) : null), ...STATUSES.map((status) => number(String(study.counts?.[status] ?? 0)))]);
    places["study-list"].replaceChildren(table("Verdicts of the studies", ["study", ...STATUSES], rows));
  } catch (problem) {
    places["study-list"].replaceChildren(el("p", {}, problem.message));
  }
}
