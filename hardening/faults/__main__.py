"""`python -m hardening.faults`: disturbs sweeps in every way, and prints what was lost."""

from __future__ import annotations

import argparse
import math
import sys
import tempfile
from pathlib import Path
from random import Random

from hardening.faults.scenarios import SCENARIOS
from hardening.figures import Figures, write_figures


def main() -> int:
    given = argparse.ArgumentParser(description=__doc__)
    given.add_argument("--kills", type=int, default=200, help="the others follow in proportion")
    given.add_argument("--seed", type=int, default=0)
    given.add_argument("--scenario", default="", help="only those whose names hold this")
    given.add_argument("--write", action="store_true", help="write the figures into the docs")
    asked = given.parse_args()
    rows, troubles = [], 0
    with tempfile.TemporaryDirectory(prefix="hardening-") as root:
        for scenario, share in SCENARIOS.items():
            if asked.scenario not in scenario.__name__:
                continue
            times = max(1, math.ceil(asked.kills * share / 100))
            draw = Random(f"{asked.seed} {scenario.__name__}")
            told = scenario(Path(root), draw, times)
            print(f"{told.name}: tried {told.tried}, {len(told.troubles)} troubles", flush=True)
            for trouble in told.troubles[:10]:
                print(f"  {trouble}", flush=True)
            rows.append([told.name, told.tried, len(told.troubles)])
            troubles += len(told.troubles)
    said = f"Sweeps of 24 settings, seed {asked.seed}."
    figures = Figures("faults", said, ("fault", "tried", "lost, half or with a traceback"), rows)
    print(f"\n{figures.markdown}")
    if asked.write:
        write_figures(figures)
    return 1 if troubles else 0


if __name__ == "__main__":
    sys.exit(main())
