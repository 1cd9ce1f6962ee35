"""Which presets have as many seeds as a power calculation asks for.

python -m tools.seeds     a table of the committed studies that have claims with chance in them
python -m tools.seeds A   every such claim of the study A, with what it has and what it needs
"""

from __future__ import annotations

import sys

from tools.committed import CommittedStudy, committed_studies
from tutelage.claims.chance import MOST_SEEDS
from tutelage.claims.power import Power, count_seeds


def powers_of(study: CommittedStudy) -> list[Power]:
    return [power for verdict in study.verdicts if (power := count_seeds(verdict)) is not None]


def seeds_table() -> str:
    """One row per study with chance: the claims, those that have enough seeds, the largest need."""
    rows = [
        "| study | claims with chance | with enough seeds | seeds | most that one needs |",
        "|---|---|---|---|---|",
    ]
    for name, study in committed_studies().items():
        if not (found := powers_of(study)):
            continue
        met = sum(power.met for power in found)
        had = sorted({power.had for power in found})
        needs = [power.needed for power in found if power.needed is not None]
        most = max(needs) if len(needs) == len(found) else f"more than {MOST_SEEDS}"
        rows.append(f"| {name} | {len(found)} | {met} | {', '.join(map(str, had))} | {most} |")
    return "\n".join(rows)


def main() -> None:
    if len(sys.argv) == 1:
        print(seeds_table())
        return
    for power in powers_of(committed_studies()[sys.argv[1]]):
        needed = f"more than {MOST_SEEDS}" if power.needed is None else power.needed
        print(f"{power.id}: has {power.had}, needs {needed}")


if __name__ == "__main__":
    main()
