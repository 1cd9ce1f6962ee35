// The studies of a paper: what each asks, how its committed verdicts fell out, and what the output folder holds of it.

import { locate } from "./address.js";
import { el, number, table, worded } from "./dom.js";
import { transport } from "./transport.js";
import { MARKS } from "./words.js";

export async function showStudies(section, place, paper, saved) {
  section.hidden = false;
  try {
    const { studies } = await transport.studies(paper);
    place.replaceChildren(studies.length ? listing(studies, saved) : el("p", {}, "This paper lists no studies."));
  } catch (problem) {
    place.replaceChildren(el("p", {}, problem.message));
  }
}

function listing(studies, saved) {
  const seen = new Set(studies.flatMap((study) => [study.committed, study.run?.counts ?? {}].flatMap(Object.keys)));
  const statuses = Object.keys(MARKS).filter((status) => seen.has(status));
  const rows = studies.map((study) => [described(study), ...statuses.map((status) => number(counted(study, status))), ran(study, saved)]);
  return table("Verdicts of the studies: committed, and in brackets those of the output folder", ["study", ...statuses, "stored runs"], rows);
}

function described(study) {
  const statement = el("p", { class: "sentence" });
  const details = el("details", { ontoggle: () => tell(statement, study.name) }, el("summary", {}, "statement"), statement);
  return el("th", { scope: "row" }, el("code", {}, study.name), el("p", { class: "sentence" }, worded(study.title)), details);
}

// A study is loaded when somebody asks what it states.
async function tell(place, name) {
  if (place.textContent) return;
  place.textContent = "…";
  try {
    place.textContent = (await transport.study(name)).statement;
  } catch (problem) {
    place.textContent = problem.message;
  }
}

function counted(study, status) {
  const committed = String(study.committed[status] ?? 0);
  return study.run ? `${committed} (${study.run.counts[status] ?? 0})` : committed;
}

function ran(study, saved) {
  if (study.run) return el("a", { href: locate(saved, `study=${encodeURIComponent(study.name)}`) }, "show");
  return el("span", { class: "soft" }, el("code", {}, `tutelage run ${study.name}`));
}
