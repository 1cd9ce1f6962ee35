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
STUDY = "teacher-models/rates"


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
    results = DOCS / "results"
    results.mkdir(exist_ok=True)
    committed = results / "teacher-models-rates.json"
    shutil.copy(out / STUDY / "verdicts.json", committed)
    (DOCS / "figures").mkdir(exist_ok=True)
    for picture in (out / STUDY / "figures").glob("*.png"):
        shutil.copy(picture, DOCS / "figures" / picture.name)
    between(README, "rates", readme_table(json.loads(committed.read_text())))
    between(DOCS / "verdicts.md", "calibration", calibration_table())


if __name__ == "__main__":
    main(Path(sys.argv[1]))
