"""Copies the verdicts and figures of a finished quick run into docs/, and writes the tables of
README.md and verdicts.md from them.

python docs/make_table.py out
"""

import json
import re
import shutil
import sys
from pathlib import Path

DOCS = Path(__file__).parent
README = DOCS.parent / "README.md"
SHOWN = ("excess-rate", "excess-constant", "value-constant", "attention-constant", "cosine")
HEAD = ("slope of the excess", "excess·ηT", "‖W_V−V*‖√(ηT)", "‖S−S*‖√(ηT)", "cosine, worst step")
PAPERS = {
    "teacher-models": (
        "rates",
        "online",
        "phases",
        "scaling",
        "hypotheses",
        "ood",
        "blocks",
        "codes",
        "images",
    ),
    "shallow-transformers": ("width", "samples", "length", "kernel", "bounds", "autoregressive"),
}
STUDIES = tuple(f"{paper}/{name}" for paper, names in PAPERS.items() for name in names)
# Asked of a paper and run by name, not by `make table`: kept as they are where out/ has none.
QUESTIONS = tuple(
    f"teacher-models/{name}"
    for name in ("graphs", "optimisers", "starts", "inputs", "samples", "noise", "limits")
)
PAGES = {"teacher-models/samples": "finite-samples"}  # where two papers have a study of one name
# Pages whose table is simply all verdicts of the study.
OWN = ("teacher-models/limits",)  # questions whose page has a table of its own kind
PLAIN = (
    *(f"teacher-models/{name}" for name in ("online", "ood", "blocks", "images")),
    *STUDIES[-6:],
    *(study for study in QUESTIONS if study not in OWN),
)


def page_of(study: str) -> str:
    """The name of a study's page, without its ending: its own, unless another paper has it."""
    return PAGES.get(study, study.split("/")[1])


def readme_table(verdicts: list[dict]) -> str:
    """A row a case: the claims in the order of SHOWN, each its measured value, interval and
    status.
    """
    cases: dict[str, dict[str, dict]] = {}
    for verdict in verdicts:
        *_, case, claim = verdict["id"].split("/")
        cases.setdefault(case, {})[claim] = verdict
    head = ["run", *HEAD]
    rows = [head, ["---"] * len(head)]
    rows += [
        [case, *(_cell(claims[name]) for name in SHOWN)]
        for case, claims in cases.items()
        if set(SHOWN) <= set(claims)
    ]
    controls = [
        f"`{case}` {v['status']}"
        for case, claims in cases.items()
        for v in claims.values()
        if v["control"]
    ]
    lines = ["| " + " | ".join(row) + " |" for row in rows]
    counts = {
        s: sum(v["status"] == s and not v["control"] for v in verdicts)
        for s in ("HOLDS", "FAILS", "UNDECIDED")
    }
    total = ", ".join(f"{n} {s}" for s, n in counts.items())
    said = (
        f"Preset: {verdicts[0]['preset']}. All {sum(counts.values())} claims of the study: {total}."
    )
    return "\n".join([*lines, "", f"{said} Controls, which must not hold: {', '.join(controls)}."])


def studies_table() -> str:
    """A row a study: which preset made its verdicts, how many claims got which answer, and how many
    controls were sound.
    """
    rows = [
        "| study | preset | claims | HOLDS | FAILS | UNDECIDED | controls that do not hold | "
        "measurements |",
        "| --- | --- | --- | --- | --- | --- | --- | --- |",
    ]
    for study in (*STUDIES, *QUESTIONS):
        verdicts = verdicts_of(study)
        claims, controls, measurements = (
            [v for v in verdicts if kind_of(v) == kind]
            for kind in ("claim", "control", "measurement")
        )
        counts = [
            sum(v["status"] == status for v in claims) for status in ("HOLDS", "FAILS", "UNDECIDED")
        ]
        sound = sum(v["status"] != "HOLDS" for v in controls)
        page = f"[{study}](docs/{page_of(study)}.md){' (a question)' if study in QUESTIONS else ''}"
        read = sum(v["status"] == "MEASURED" for v in measurements)
        measured = f"{read} of {len(measurements)} read" if measurements else "–"
        cells = [
            page,
            verdicts[0]["preset"],
            len(claims),
            *counts,
            f"{sound} of {len(controls)}",
            measured,
        ]
        rows.append("| " + " | ".join(map(str, cells)) + " |")
    return "\n".join(rows)


def kind_of(verdict: dict) -> str:
    return (
        "control"
        if verdict["control"]
        else "measurement"
        if verdict.get("measurement")
        else "claim"
    )


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


def verdict_table(verdicts: list[dict]) -> str:
    """A row a claim: predicted, measured, interval, status."""
    rows = [
        "| case | claim | predicted | measured | interval | |",
        "| --- | --- | --- | --- | --- | --- |",
    ]
    for v in verdicts:
        *_, case, name = v["id"].split("/")
        numbers = ["–" if v[key] is None else f"{v[key]:.4g}" for key in ("predicted", "measured")]
        interval = (
            "–" if v["interval"] is None else f"[{v['interval'][0]:.4g}, {v['interval'][1]:.4g}]"
        )
        rows.append(
            f"| {case} | {name} | {numbers[0]} | {numbers[1]} | {interval} | "
            f"{v['status']}{' (control)' if v['control'] else ''} |"
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
    said = f"Preset: {verdicts[0]['preset']}. All {sum(counts.values())} claims: {total}."
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
            f"{claims['best']['measured']:.3g}{' †' if claims['alone']['measured'] else ''}<br>[{low:.3g}, "
            ""
            ""
            ""
            f"{high:.3g}]"
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


def between(path: Path, marker: str, text: str) -> None:
    """Replaces what stands between `<!-- marker -->` and `<!-- /marker -->`."""
    whole = path.read_text()
    pattern = rf"(<!-- {marker} -->\n).*?(<!-- /{marker} -->)"
    assert re.search(pattern, whole, re.S), f"{path.name} has no marker {marker}"
    path.write_text(re.sub(pattern, lambda m: f"{m[1]}\n{text}\n\n{m[2]}", whole, flags=re.S))


def main(out: Path) -> None:
    (DOCS / "results").mkdir(exist_ok=True)
    (DOCS / "figures").mkdir(exist_ok=True)
    for study in (*STUDIES, *(study for study in QUESTIONS if (out / study).exists())):
        shutil.copy(out / study / "verdicts.json", committed(study))
        for picture in (out / study / "figures").glob("*.png"):
            shutil.copy(picture, DOCS / "figures" / picture.name)
    between(README, "rates", readme_table(verdicts_of("teacher-models/rates")))
    between(README, "studies", studies_table())
    between(DOCS / "scaling.md", "scaling", sweep_table(verdicts_of("teacher-models/scaling")))
    for study in PLAIN:
        name = page_of(study)
        between(DOCS / f"{name}.md", name, verdict_table(verdicts_of(study)))
    between(DOCS / "phases.md", "phases", phases_table(verdicts_of("teacher-models/phases")))
    between(
        DOCS / "hypotheses.md",
        "hypotheses",
        hypotheses_table(verdicts_of("teacher-models/hypotheses")),
    )
    between(DOCS / "codes.md", "codes", codes_table(verdicts_of("teacher-models/codes")))
    between(DOCS / "limits.md", "limits", limits_table(verdicts_of("teacher-models/limits")))
    between(DOCS / "verdicts.md", "calibration", calibration_table())


def committed(study: str) -> Path:
    return DOCS / "results" / f"{study.replace('/', '-')}.json"


def verdicts_of(study: str) -> list[dict]:
    return json.loads(committed(study).read_text())


if __name__ == "__main__":
    main(Path(sys.argv[1]))
