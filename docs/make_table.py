"""Copies the verdicts and figures of a finished quick run into docs/, and writes the tables of README.md and verdicts.md from them.

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
STUDIES = ("teacher-models/rates", "teacher-models/online", "teacher-models/scaling", "teacher-models/images")

PLAIN = ("online", "images")  # pages whose table is simply all verdicts of the study


def readme_table(verdicts: list[dict]) -> str:
    """A row a case: the claims in the order of SHOWN, each its measured value, interval and status."""
    cases: dict[str, dict[str, dict]] = {}
    for verdict in verdicts:
        *_, case, claim = verdict["id"].split("/")
        cases.setdefault(case, {})[claim] = verdict
    head = ["run", "slope of the excess", "excess·ηT", "‖W_V−V*‖√(ηT)", "‖S−S*‖√(ηT)", "cosine, worst step"]
    rows = [head, ["---"] * len(head)]
    rows += [[case, *(_cell(claims[name]) for name in SHOWN)] for case, claims in cases.items() if set(SHOWN) <= set(claims)]
    controls = [f"`{case}` {v['status']}" for case, claims in cases.items() for v in claims.values() if v["control"]]
    lines = ["| " + " | ".join(row) + " |" for row in rows]
    counts = {s: sum(v["status"] == s and not v["control"] for v in verdicts) for s in ("HOLDS", "FAILS", "UNDECIDED")}
    total = ", ".join(f"{n} {s}" for s, n in counts.items())
    said = f"Preset: {verdicts[0]['preset']}. All {sum(counts.values())} claims of the study: {total}."
    return "\n".join([*lines, "", f"{said} Controls, which must not hold: {', '.join(controls)}."])


def sweep_table(verdicts: list[dict]) -> str:
    """A row a sweep and quantity: the measured exponent beside that of each theory."""
    rows = ["| sweep | quantity | measured exponent | sharp | printed |", "| --- | --- | --- | --- | --- |"]
    named = {tuple(v["id"].split("/")[-2:]): v for v in verdicts}
    for (sweep, name), sharp in named.items():
        if name.endswith("-sharp"):
            printed = named[sweep, name.replace("sharp", "printed")]
            quantity = name.removesuffix("-sharp")
            cells = [f"{v['predicted']:.3g} {v['status']}" for v in (sharp, printed)]
            rows.append(f"| {sweep} | {quantity} | {sharp['measured']:.4f} | {cells[0]} | {cells[1]} |")
    return "\n".join(rows)


def verdict_table(verdicts: list[dict]) -> str:
    """A row a claim: predicted, measured, interval, status."""
    rows = ["| case | claim | predicted | measured | interval | |", "| --- | --- | --- | --- | --- | --- |"]
    for v in verdicts:
        *_, case, name = v["id"].split("/")
        numbers = ["–" if v[key] is None else f"{v[key]:.4g}" for key in ("predicted", "measured")]
        interval = "–" if v["interval"] is None else f"[{v['interval'][0]:.4g}, {v['interval'][1]:.4g}]"
        rows.append(f"| {case} | {name} | {numbers[0]} | {numbers[1]} | {interval} | {v['status']}{' (control)' if v['control'] else ''} |")
    return "\n".join(rows)


def _cell(verdict: dict) -> str:
    low, high = verdict["interval"]
    return f"{verdict['measured']:.5g} of {verdict['predicted']:.5g}<br>[{low:.5g}, {high:.5g}] {verdict['status']}"


def calibration_table() -> str:
    from tutelage.claims.calibration import calibrate

    rows = [f"| {row.name} | {row.claim} | {row.truth.value} | {row.right} | {row.wrong} | {row.undecided} |" for row in calibrate()]
    return "\n".join(["| curve | claim | truth | right | wrong | undecided |", "|---|---|---|---|---|---|", *rows])


def between(path: Path, marker: str, text: str) -> None:
    """Replaces what stands between `<!-- marker -->` and `<!-- /marker -->`."""
    whole = path.read_text()
    pattern = rf"(<!-- {marker} -->\n).*?(<!-- /{marker} -->)"
    assert re.search(pattern, whole, re.S), f"{path.name} has no marker {marker}"
    path.write_text(re.sub(pattern, lambda m: f"{m[1]}\n{text}\n\n{m[2]}", whole, flags=re.S))


def main(out: Path) -> None:
    (DOCS / "results").mkdir(exist_ok=True)
    (DOCS / "figures").mkdir(exist_ok=True)
    for study in STUDIES:
        shutil.copy(out / study / "verdicts.json", committed(study))
        for picture in (out / study / "figures").glob("*.png"):
            shutil.copy(picture, DOCS / "figures" / picture.name)
    between(README, "rates", readme_table(verdicts_of("teacher-models/rates")))
    between(DOCS / "scaling.md", "scaling", sweep_table(verdicts_of("teacher-models/scaling")))
    for study in PLAIN:
        between(DOCS / f"{study}.md", study, verdict_table(verdicts_of(f"teacher-models/{study}")))
    between(DOCS / "verdicts.md", "calibration", calibration_table())


def committed(study: str) -> Path:
    return DOCS / "results" / f"{study.replace('/', '-')}.json"


def verdicts_of(study: str) -> list[dict]:
    return json.loads(committed(study).read_text())


if __name__ == "__main__":
    main(Path(sys.argv[1]))
