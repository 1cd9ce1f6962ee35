"""Copies the verdicts and figures of finished studies into the folders of their papers, and writes
the tables of the docs from them.

python docs/make_table.py out
"""

from __future__ import annotations

import re
import shutil
import sys
from collections.abc import Callable, Sequence
from pathlib import Path

DOCS = Path(__file__).parent
sys.path.insert(0, str(DOCS.parent))

from tools.committed import ROOT, CommittedStudy, committed_studies  # noqa: E402

from tutelage.claims.verdict import Verdict  # noqa: E402
from tutelage.refuse import Refused  # noqa: E402
from tutelage.studies.counts import Counts  # noqa: E402

README = ROOT / "README.md"
SHOWN = ("excess-rate", "excess-constant", "value-constant", "attention-constant", "cosine")
HEAD = ("slope of the excess", "excess·ηT", "‖W_V−V*‖√(ηT)", "‖S−S*‖√(ηT)", "cosine, worst step")


def studies_table() -> str:
    """One row per study: its preset, how many claims got which answer, how many controls are
    sound.
    """
    rows = [
        "| study | preset | claims | HOLDS | FAILS | UNDECIDED | controls that do not hold | "
        "measurements |",
        "| --- | --- | --- | --- | --- | --- | --- | --- |",
    ]
    for study in committed_studies().values():
        counts = Counts.of(study.verdicts)
        link = f"[{study.name}]({study.page.relative_to(ROOT)})"
        cells = [
            f"{link} (a question)" if study.entry.beyond else link,
            study.preset,
            counts.claims,
            counts.holds,
            counts.fails,
            counts.undecided,
            f"{counts.sound} of {counts.controls}",
            f"{counts.read} of {counts.measurements} read" if counts.measurements else "–",
        ]
        rows.append("| " + " | ".join(map(str, cells)) + " |")
    return "\n".join(rows)


def study_table(study: CommittedStudy) -> str:
    """The table of a study: its own, or the usual one with one row per claim."""
    try:
        own = study.paper.study(study.short).table
    except Refused:
        own = None
    if own is not None:
        table = own(study.verdicts)
    elif study.name in MOVING:
        table = MOVING[study.name](study.plain_verdicts)
    else:
        table = verdict_table(study.verdicts)
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


def sweep_table(verdicts: list[dict]) -> str:
    """A row a sweep and quantity: the measured exponent beside that of each theory."""
    rows = [
        "| sweep | quantity | measured exponent | sharp | printed |",
        "| --- | --- | --- | --- | --- |",
    ]
    named = {tuple(v["id"].split("/")[-2:]): v for v in verdicts}
    for (sweep, name), sharp in named.items():
        if name.endswith("-sharp"):
            printed = named[sweep, name.replace("sharp", "printed")]
            quantity = name.removesuffix("-sharp")
            cells = [f"{v['predicted']:.3g} {v['status']}" for v in (sharp, printed)]
            rows.append(
                f"| {sweep} | {quantity} | {sharp['measured']:.4f} | {cells[0]} | {cells[1]} |"
            )
    return "\n".join(rows)


def phases_table(verdicts: list[dict]) -> str:
    """The plateau's sweeps: the exponent of each time beside those of the theories, and measured
    over recursion.
    """
    rows = [
        "| sweep | time | measured exponent | formula | printed | measured / recursion |",
        "| --- | --- | --- | --- | --- | --- |",
    ]
    named = {tuple(v["id"].split("/")[-2:]): v for v in verdicts}
    for (sweep, name), formula in named.items():
        if name.endswith("-formula"):
            exact, printed = (
                named.get((sweep, name.replace("formula", theory)))
                for theory in ("recursion", "printed")
            )
            cells = [
                "–" if v is None else f"{v['predicted']:.4f} {v['status']}"
                for v in (formula, printed)
            ]
            time = {"halving": "excess halved", "attention": "K p = ½"}[
                name.removesuffix("-formula")
            ]
            ratio = "{:.4f} to {:.4f}".format(*exact["interval"])
            rows.append(
                f"| {sweep} | {time} | {formula['measured']:.4f} | {cells[0]} | {cells[1]} | "
                f"{ratio} {exact['status']} |"
            )
    return "\n".join([*rows, "", _counts(verdicts)])


def hypotheses_table(verdicts: list[dict]) -> str:
    """A row a case: how η and D stand to the theorem's conditions, and the claims in the order of
    SHOWN.
    """
    cases: dict[str, dict[str, dict]] = {}
    for verdict in verdicts:
        *_, case, claim = verdict["id"].split("/")
        cases.setdefault(case, {})[claim] = verdict
    head = ["run", "η · M D^5/2", "D ≥ poly(M, K)", *HEAD]
    rows = [head, ["---"] * len(head)]
    for case, claims in cases.items():
        if set(SHOWN) <= set(claims):
            details = {h["text"]: h["detail"] for h in claims["excess-rate"]["hypotheses"]}
            times = details["η ≤ O(1/(M D^5/2))"].split(" is ")[1].split(" times")[0]
            rows.append(
                [
                    case,
                    times,
                    details["D ≥ poly(M, K)"].split(": ")[1],
                    *(_cell(claims[name]) for name in SHOWN),
                ]
            )
    return "\n".join([*("| " + " | ".join(row) + " |" for row in rows), "", _counts(verdicts)])


def _counts(verdicts: list[dict]) -> str:
    counts = {
        s: sum(v["status"] == s and not v["control"] for v in verdicts)
        for s in ("HOLDS", "FAILS", "UNDECIDED")
    }
    controls = [v for v in verdicts if v["control"]]
    total = ", ".join(f"{n} {s}" for s, n in counts.items())
    held = sum(v["status"] == "HOLDS" for v in controls)
    said = f"All {sum(counts.values())} claims: {total}."
    return f"{said} Of {len(controls)} controls, which must not hold, {held} do."


def codes_table(verdicts: list[dict]) -> str:
    """A row a kind of codes: the slope, the constant and the increment; kinds that have no number
    yet say so.
    """
    rows = [
        "| codes | slope of the excess | excess·ηT | distance of ΔW_KQ/Δlog t from W_svm |",
        "| --- | --- | --- | --- |",
    ]
    named: dict[str, dict[str, dict]] = {}
    for verdict in verdicts:
        *_, case, claim = verdict["id"].split("/")
        named.setdefault(case, {})[claim] = verdict
    for case, claims in named.items():
        if "increment" in claims:
            cells = [
                _cell(v) if v["interval"] else f"– of {v['predicted']:.5g} {v['status']}"
                for v in claims.values()
            ]
            rows.append(f"| {case} | {' | '.join(cells)} |")
    return "\n".join(rows)


def limits_table(verdicts: list[dict]) -> str:
    """A row a cell of the map: what was measured, and what theory says of it; then the controls."""
    head = [
        "teacher",
        "student",
        "best of restarts",
        "second",
        "median",
        "worst",
        "near the best",
        "Monte Carlo error",
        "over the training sample",
    ]
    rows = [[*head, "best / bound", "verdicts"], ["---"] * (len(head) + 2)]
    cells: dict[str, dict[str, dict]] = {}
    for verdict in verdicts:
        *_, case, claim = verdict["id"].split("/")
        cells.setdefault(case, {})[claim] = verdict
    controls = [
        f"`{case}` {v['status']}"
        for case, claims in cells.items()
        for v in claims.values()
        if v["control"]
    ]
    for case, claims in cells.items():
        if "best" not in claims:
            continue
        low, high = claims["best"]["interval"]
        middle = [
            f"{claims[name]['measured']:.3g}" for name in ("second", "median", "worst", "near")
        ]
        small = [f"{claims[name]['measured']:.1g}" for name in ("error", "gap")]
        over = (
            "{:.4f}<br>[{:.4f}, {:.4f}]".format(
                claims["floor"]["measured"], *claims["floor"]["interval"]
            )
            if "floor" in claims
            else "–"
        )
        said = [
            f"{name} {claims[name]['status']}"
            for name in ("floor", "reached", "learned")
            if name in claims
        ]
        best = (
            f"{claims['best']['measured']:.3g}{' †' if claims['alone']['measured'] else ''}"
            f"<br>[{low:.3g}, {high:.3g}]"
        )
        rows.append(
            [*case.split("+"), best, *middle, *small, over, "<br>".join(said) or "measured"]
        )
    lines = ["| " + " | ".join(row) + " |" for row in rows]
    return "\n".join([*lines, "", f"{_counts(verdicts)} Controls: {', '.join(controls)}."])


def _cell(verdict: dict) -> str:
    low, high = verdict["interval"]
    return (
        f"{verdict['measured']:.5g} of {verdict['predicted']:.5g}<br>[{low:.5g}, {high:.5g}] "
        f"{verdict['status']}"
    )


def calibration_table() -> str:
    from tutelage.claims.calibration import calibrate

    rows = [
        f"| {row.name} | {row.claim} | {row.truth.value} | {row.right} | {row.wrong} | "
        f"{row.undecided} |"
        for row in calibrate()
    ]
    return "\n".join(
        [
            "| curve | claim | truth | right | wrong | undecided |",
            "|---|---|---|---|---|---|",
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
    replace_between(DOCS / "verdicts.md", "calibration", calibration_table())
    for page, marker, study in find_tables():
        replace_between(page, marker, study_table(study))


# Tables that are on their way into the folders of their studies.
MOVING: dict[str, Callable[[list[dict]], str]] = {
    "teacher-models/scaling": sweep_table,
    "teacher-models/phases": phases_table,
    "teacher-models/hypotheses": hypotheses_table,
    "teacher-models/codes": codes_table,
    "teacher-models/limits": limits_table,
}


if __name__ == "__main__":
    main(Path(sys.argv[1]))
