"""`python -m hardening.bad_input`: attacks every door for input, and prints what became of it."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from hardening.bad_input.campaign import DEFECTS, Tally, attack, share_cases
from hardening.bad_input.targets import TARGETS
from hardening.figures import Figures, write_figures

COLUMNS = ("refused", "taken", *DEFECTS)
PAGE = "bad input"
LINES = 7  # of what is printed of one defect
PRINTED = 10  # defects of a target; the file has all
DEFECT_FILE = Path("out") / "bad_input_defects.txt"


def main() -> int:
    given = argparse.ArgumentParser(description=__doc__)
    given.add_argument("--cases", type=int, default=100_000, help="of all targets together")
    given.add_argument("--seed", type=int, default=0)
    given.add_argument("--target", choices=list(TARGETS), help="one target alone")
    given.add_argument("--first", type=int, default=0, help="the number of the first case")
    given.add_argument("--write", action="store_true", help="write the figures into the docs")
    given.add_argument("--defects", type=Path, default=DEFECT_FILE, help="where all are written")
    asked = given.parse_args()
    shares = {asked.target: asked.cases} if asked.target else share_cases(asked.cases)
    tallies = []
    for target, cases in shares.items():
        tally = attack(target, asked.seed, asked.first, asked.first + cases)
        tallies.append(tally)
        print(_describe(tally), flush=True)
        for defect in tally.defects[:PRINTED]:
            print(f"  case {defect.case}: {defect.kind}", *_end_of(defect.said), sep="\n    ")
        write_defects(tallies, asked.seed, asked.defects)
    figures = tabulate(tallies, asked.seed, asked.first)
    print(f"\n{figures.markdown}")
    print(f"\nAll {sum(len(tally.defects) for tally in tallies):,} defects: {asked.defects}")
    if asked.write:
        write_figures(figures)
    return 1 if any(tally.defects for tally in tallies) else 0


def write_defects(tallies: list[Tally], seed: int, file: Path) -> None:
    """Every defect with its whole text, and the command that repeats its case."""
    told = [
        f"{tally.target}, case {defect.case}: {defect.kind}\n"
        f'python -m hardening.bad_input --target "{tally.target}" --seed {seed}'
        f" --first {defect.case} --cases 1\n{defect.said.strip()}\n"
        for tally in tallies
        for defect in tally.defects
    ]
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text("\n".join(told), encoding="utf-8")


def _end_of(said: str) -> list[str]:
    """The last lines of what a defect said, which name its cause."""
    return [line for line in said.strip().splitlines() if line.strip(" ^~")][-LINES:]


def _describe(tally: Tally) -> str:
    counts = ", ".join(f"{tally.counts[kind]:,} {kind}" for kind in COLUMNS if tally.counts[kind])
    return f"{tally.target}: {tally.cases:,} cases in {tally.seconds:,.0f} s: {counts}"


def tabulate(tallies: list[Tally], seed: int, first: int) -> Figures:
    """One row per target, and their sum."""
    whole = Tally("all")
    for tally in tallies:
        whole.counts += tally.counts
        whole.seconds += tally.seconds
    rows = [
        [tally.target, tally.cases, *(tally.counts[kind] for kind in COLUMNS), round(tally.seconds)]
        for tally in (*tallies, whole)
    ]
    said = f"Seed {seed}, cases from {first:,} on."
    return Figures(PAGE, said, ("input", "cases", *COLUMNS, "seconds"), rows)


if __name__ == "__main__":
    sys.exit(main())
