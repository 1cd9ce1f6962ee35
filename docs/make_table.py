"""Writes the tables of the docs and the list of papers from the committed verdicts.

python docs/make_table.py         from the committed files alone: nothing is run
python docs/make_table.py out     first copies verdicts and figures of the studies finished in out
                                  into the folders of their papers, and calibrates the rule anew
"""

from __future__ import annotations

import re
import shutil
import sys
from collections.abc import Sequence
from pathlib import Path

DOCS = Path(__file__).parent
sys.path.insert(0, str(DOCS.parent))

from tools.committed import (  # noqa: E402
    FURTHER_PRESETS,
    ROOT,
    CommittedStudy,
    committed_studies,
    own_papers,
)
from tools.mathematics import write_formulas  # noqa: E402
from tools.seeds import seeds_table  # noqa: E402

from tutelage.claims.calibration import Family  # noqa: E402
from tutelage.claims.verdict import Verdict  # noqa: E402
from tutelage.durations import say_seconds  # noqa: E402
from tutelage.studies.counts import Counts  # noqa: E402
from tutelage.studies.outputs import read_verdicts  # noqa: E402

INDEX = DOCS / "index.md"
STUDIES = DOCS / "studies.md"
PAPER = "paper"  # the preset of a paper's own sizes
STATUSES = tuple(Counts.of(()).by_status)  # that a claim may have


def papers_list() -> str:
    """One line per paper, linked to its landing page."""
    lines = []
    for paper in own_papers():
        folder = paper.folder.relative_to(ROOT).as_posix()
        cited = f"({paper.authors}, {paper.year})"
        lines.append(f"- [{paper.title}](../{folder}/docs/index.md) {cited}")
    return "\n".join(lines)


def studies_table() -> str:
    """One row per study: its preset, how many claims got which answer, how many controls are
    sound.
    """
    rows = [
        f"| study | preset | claims | {' | '.join(STATUSES)} | controls that FAIL | measurements |",
        "| --- " * (5 + len(STATUSES)) + "|",
    ]
    for study in committed_studies().values():
        counts = Counts.of(study.verdicts)
        link = f"[{study.name}](../{study.page.relative_to(ROOT)})"
        cells = [
            f"{link} (a question)" if study.entry.beyond else link,
            study.presets,
            counts.claims,
            *counts.by_status.values(),
            f"{counts.sound} of {counts.controls}",
            f"{counts.read} of {counts.measurements} read" if counts.measurements else "–",
        ]
        rows.append("| " + " | ".join(map(str, cells)) + " |")
    every = [verdict for study in committed_studies().values() for verdict in study.verdicts]
    rows += [
        "",
        f"| whose claims | claims | {' | '.join(STATUSES)} |",
        "| --- " * (2 + len(STATUSES)) + "|",
        *(
            f"| {' | '.join(map(str, [group.heading, c.claims, *c.by_status.values()]))} |"
            for group, c in Counts.by_group(every).items()
            if c.claims
        ),
    ]
    return "\n".join(rows)


def paper_table() -> str:
    """One row per study that has a preset of its paper's size: how long that takes, and what came
    out of it where it was run.
    """
    rows = [
        f"| study | on two cores | claims | {' | '.join(STATUSES)} |",
        "| --- " * (3 + len(STATUSES)) + "|",
    ]
    for study in committed_studies().values():
        if (preset := study.paper.study(study.short).presets.get(PAPER)) is None:
            continue
        cells = [f"[{study.name}](../{study.page.relative_to(ROOT)})", say_seconds(preset.seconds)]
        if (path := study.further_results.get(PAPER)) is None:
            cells += ["not run yet", *("–" for _ in STATUSES)]
        else:
            counts = Counts.of([Verdict.from_plain(plain) for plain in read_verdicts(path)])
            cells += map(str, [counts.claims, *counts.by_status.values()])
        rows.append(f"| {' | '.join(cells)} |")
    return "\n".join(rows)


def study_table(study: CommittedStudy) -> str:
    """The table of a study: its own, or the usual one with one row per claim."""
    own = study.paper.study(study.short).table
    table = verdict_table(study.verdicts) if own is None else own(study.verdicts)
    changed = "".join(f" {said}" for said in study.history.of_study(study.name))
    return write_formulas(f"{table}\n\n{say_presets(study)}{changed}")


def say_presets(study: CommittedStudy) -> str:
    """The presets that the table shows, and the cases of those beside the first."""
    cases: dict[str, dict[str, None]] = {}
    for verdict in study.plain_verdicts:
        cases.setdefault(verdict["preset"], {})[verdict["id"].split("/")[2]] = None
    first, *others = [preset for preset in study.files if preset in cases]
    said = [f"Preset {name}: {', '.join(f'`{case}`' for case in cases[name])}." for name in others]
    return " ".join([f"Preset: {first}.", *said])


def verdict_table(verdicts: Sequence[Verdict]) -> str:
    """One row per claim: predicted, measured, interval, status."""
    rows = [
        "| case | claim | predicted | measured | interval | |",
        "| --- | --- | --- | --- | --- | --- |",
    ]
    for v in verdicts:
        *_, case, name = v.id.split("/")
        predicted, measured = (
            "–" if value is None else f"{value:.4g}" for value in (v.predicted, v.measured)
        )
        interval = "–" if v.interval is None else "[{:.4g}, {:.4g}]".format(*v.interval)
        status = f"{v.status.value}{' (control)' if v.control else ''}"
        rows.append(f"| {case} | {name} | {predicted} | {measured} | {interval} | {status} |")
    return "\n".join(rows)


def calibration_tables() -> str:
    """For every held-out set and the families of development, one row per kind of claim."""
    from tutelage.claims.development import FAMILIES
    from tutelage.claims.evaluation import SETS, held_out

    parts = [
        f"*The {name} held-out set.* {found.evaluated}\n\n{calibration_table(held_out(name))}"
        for name, found in SETS.items()
    ]
    developed = calibration_table(FAMILIES)
    return "\n\n".join([*parts, f"*Families on which the rule was developed.*\n\n{developed}"])


def calibration_table(families: Sequence[Family]) -> str:
    """One row per kind of claim."""
    from tutelage.claims.calibration import calibrate, summarise

    rows = [
        f"| {row.kind} | {row.name} | {row.answers} | {row.wrong_holds} | {row.wrong_fails} | "
        f"{row.undecided_decidable} of {row.decidable} | "
        f"{f'{row.covering} of {row.intervals}' if row.intervals else '–'} |"
        for row in summarise(calibrate(families))
    ]
    return "\n".join(
        [
            "| kind | families | answers | wrong HOLDS | wrong FAILS | undecided where the class "
            "decides | intervals that cover |",
            "|---|---|---|---|---|---|---|",
            *rows,
        ]
    )


def replace_between(path: Path, marker: str, text: str) -> None:
    """Replaces what stands between `<!-- marker -->` and `<!-- /marker -->`."""
    whole = path.read_text()
    pattern = rf"(<!-- {marker} -->\n).*?(<!-- /{marker} -->)"
    assert re.search(pattern, whole, re.S), f"{path.name} has no marker {marker}"
    path.write_text(re.sub(pattern, lambda m: f"{m[1]}\n{text}\n\n{m[2]}", whole, flags=re.S))


def find_tables() -> list[tuple[Path, str, CommittedStudy]]:
    """Every page that shows a study's table, with its marker: the study's own page, and that of
    all studies where it names one.
    """
    studies = committed_studies()
    found = [
        (study.page, study.short, study)
        for study in studies.values()
        if f"<!-- {study.short} -->" in study.page.read_text()
    ]
    named = re.findall(r"<!-- (table ([\w/-]+)) -->", STUDIES.read_text())
    return [*found, *((STUDIES, marker, studies[name]) for marker, name in named)]


def copy_outputs(out: Path) -> None:
    """Verdicts and pictures of all studies that are there."""
    for study in committed_studies().values():
        made = out / study.name
        if made.exists():
            for folder in (study.results.parent, study.figures):
                folder.mkdir(parents=True, exist_ok=True)
            preset = read_verdicts(made / "verdicts.json")[0]["preset"]
            further = preset in FURTHER_PRESETS
            stem = f"{study.short}-{preset}" if further else study.short
            shutil.copy(made / "verdicts.json", study.results.with_stem(stem))
            for picture in () if further else (made / "figures").glob("*.png"):
                shutil.copy(picture, study.figures / picture.name)


def main(out: Path | None) -> None:
    if out is not None:
        copy_outputs(out)
        replace_between(DOCS / "verdicts.md", "calibration", calibration_tables())
    replace_between(INDEX, "papers", papers_list())
    replace_between(STUDIES, "studies", studies_table())
    replace_between(STUDIES, "paper-size", paper_table())
    replace_between(DOCS / "verdicts.md", "seeds", seeds_table())
    for page, marker, study in find_tables():
        replace_between(page, marker, study_table(study))


if __name__ == "__main__":
    main(Path(sys.argv[1]) if len(sys.argv) > 1 else None)
