"""Copies the verdicts and figures of finished studies into the folders of their papers, and writes
the tables of the docs from them.

python docs/make_table.py out
"""

from __future__ import annotations

import re
import shutil
import sys
from collections.abc import Sequence
from pathlib import Path

DOCS = Path(__file__).parent
sys.path.insert(0, str(DOCS.parent))

from tools.committed import ROOT, CommittedStudy, committed_studies  # noqa: E402

from tutelage.claims.calibration import Family  # noqa: E402
from tutelage.claims.verdict import Verdict  # noqa: E402
from tutelage.report.tables import STATUSES, count_groups  # noqa: E402
from tutelage.studies.counts import Counts  # noqa: E402

README = ROOT / "README.md"


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
        link = f"[{study.name}]({study.page.relative_to(ROOT)})"
        cells = [
            f"{link} (a question)" if study.entry.beyond else link,
            study.preset,
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
        *(f"| {' | '.join(row)} |" for row in count_groups(every)),
    ]
    return "\n".join(rows)


def study_table(study: CommittedStudy) -> str:
    """The table of a study: its own, or the usual one with one row per claim."""
    own = study.paper.study(study.short).table
    table = verdict_table(study.verdicts) if own is None else own(study.verdicts)
    return f"{table}\n\nPreset: {study.preset}."


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
    """For both held-out sets and the families of development, one row per kind of claim."""
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
    """Every page that shows a study's table, with its marker: the study's own page, and README
    where it names one.
    """
    studies = committed_studies()
    found = [
        (study.page, study.short, study)
        for study in studies.values()
        if f"<!-- {study.short} -->" in study.page.read_text()
    ]
    named = re.findall(r"<!-- (table ([\w/-]+)) -->", README.read_text())
    return [*found, *((README, marker, studies[name]) for marker, name in named)]


def copy_outputs(out: Path) -> None:
    """Verdicts and pictures of all studies that are there."""
    for study in committed_studies().values():
        made = out / study.name
        if made.exists():
            for folder in (study.results.parent, study.figures):
                folder.mkdir(parents=True, exist_ok=True)
            shutil.copy(made / "verdicts.json", study.results)
            for picture in (made / "figures").glob("*.png"):
                shutil.copy(picture, study.figures / picture.name)


def main(out: Path) -> None:
    copy_outputs(out)
    replace_between(README, "studies", studies_table())
    replace_between(DOCS / "verdicts.md", "calibration", calibration_tables())
    for page, marker, study in find_tables():
        replace_between(page, marker, study_table(study))


if __name__ == "__main__":
    main(Path(sys.argv[1]))
