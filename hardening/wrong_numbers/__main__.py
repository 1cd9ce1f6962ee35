"""`python -m hardening.wrong_numbers`: plants a sample of wrong numbers, and prints which the tests
noticed.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections import Counter

from hardening.figures import Figures, write_figures
from hardening.wrong_numbers.campaign import Answer, sample_mutants, try_mutants

CAUGHT = 0.95  # of the mutants that are not equivalent
COLUMNS = ("mutants", "caught", "equivalent", "survived")


def main() -> int:
    given = argparse.ArgumentParser(description=__doc__)
    given.add_argument("--mutants", type=int, default=400, help="how many, of all modules")
    given.add_argument("--seed", type=int, default=0)
    given.add_argument("--module", default="", help="only modules whose names hold this")
    given.add_argument("--minutes", type=float, default=float("inf"), help="begin none after these")
    given.add_argument("--write", action="store_true", help="write the figures into the docs")
    asked = given.parse_args()
    answers: list[Answer] = []
    start = time.monotonic()
    for answer in try_mutants(sample_mutants(asked.mutants, asked.seed, asked.module)):
        answers.append(answer)
        place = f"{answer.module}:{answer.mutant.line}"
        print(f"{answer.kind:<10} {place}  {answer.mutant.change}")
        print(f"           {answer.seconds:.0f} s  {answer.reason}", flush=True)
        if time.monotonic() - start > 60 * asked.minutes:
            break
    figures = tabulate(answers, asked.seed)
    print(f"\n{figures.markdown}")
    if asked.write:
        write_figures(figures)
    counts = Counter(answer.kind for answer in answers)
    return 0 if counts["caught"] >= CAUGHT * (counts["caught"] + counts["survived"]) else 1


def tabulate(answers: list[Answer], seed: int) -> Figures:
    """One row per package, and their sum."""
    packages = sorted({_package(answer.module) for answer in answers})
    rows = [_row(name, [a for a in answers if _package(a.module) == name]) for name in packages]
    said = f"A sample of {len(answers):,} mutants with seed {seed}, spread evenly over the modules."
    return Figures("wrong numbers", said, ("in", *COLUMNS), [*rows, _row("all", answers)])


def _package(module: str) -> str:
    return "papers' theory" if ".papers." in module else module.split(".")[1]


def _row(name: str, answers: list[Answer]) -> list[str | int]:
    counts = Counter(answer.kind for answer in answers)
    return [name, len(answers), *(counts[kind] for kind in COLUMNS[1:])]


if __name__ == "__main__":
    sys.exit(main())
