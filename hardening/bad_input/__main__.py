"""`python -m hardening.bad_input`: attacks every door for input, and prints what became of it."""

from __future__ import annotations

import argparse
import sys

from hardening.bad_input.campaign import DEFECTS, Tally, attack, share_cases
from hardening.bad_input.targets import TARGETS
from hardening.figures import Figures, write_figures

COLUMNS = ("refused", "taken", *DEFECTS)
PAGE = "bad input"
LINES = 7  # of what is told of one defect


def main() -> int:
    given = argparse.ArgumentParser(description=__doc__)
    given.add_argument("--cases", type=int, default=100_000, help="of all targets together")
    given.add_argument("--seed", type=int, default=0)
    given.add_argument("--target", choices=list(TARGETS), help="one target alone")
    given.add_argument("--first", type=int, default=0, help="the number of the first case")
    given.add_argument("--write", action="store_true", help="write the figures into the docs")
    asked = given.parse_args()
    shares = {asked.target: asked.cases} if asked.target else share_cases(asked.cases)
    tallies = []
    for target, cases in shares.items():
        tally = attack(target, asked.seed, asked.first, asked.first + cases)
        tallies.append(tally)
        print(_describe(tally), flush=True)
        for defect in tally.defects[:10]:
            print(f"  case {defect.case}: {defect.kind}", *_end_of(defect.said), sep="\n    ")
    figures = tabulate(tallies, asked.seed, asked.first)
    print(f"\n{figures.markdown}")
    if asked.write:
        write_figures(figures)
    return 1 if any(tally.defects for tally in tallies) else 0


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
