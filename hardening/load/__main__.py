"""`python -m hardening.load`: pages, runs and shapes in number, and what they cost."""

from __future__ import annotations

import argparse
import sys
import tempfile
from pathlib import Path

from hardening.figures import Figures, write_figures
from hardening.load.lifetime import Life, live_long, many_shapes, short_runs
from hardening.load.pages import load_pages

MOST_GROWTH = 100.0  # megabytes over the second half of a life


def main() -> int:
    given = argparse.ArgumentParser(description=__doc__)
    given.add_argument("--pages", type=int, default=50)
    given.add_argument("--seconds", type=float, default=120.0, help="how long they ask")
    given.add_argument("--runs", type=int, default=10_000)
    given.add_argument("--shapes", type=int, default=500)
    given.add_argument("--write", action="store_true", help="write the figures into the docs")
    asked = given.parse_args()
    rows: list[list[str | int]] = []
    sound = True
    if asked.pages:
        with tempfile.TemporaryDirectory(prefix="hardening-") as folder:
            seen = load_pages(asked.pages, asked.seconds, Path(folder))
        said = (
            f"{seen.requests:,} requests, {seen.errors:,} errors, "
            f"{seen.statuses[503]:,} told to wait, slowest answer {seen.longest:.1f} s, server "
            f"{seen.bytes_before / 1e6:,.0f} MB before and {seen.bytes_after / 1e6:,.0f} MB after"
        )
        rows.append([f"{asked.pages} pages for {asked.seconds:g} s", said])
        sound = not seen.errors
    for name, count, settings in (
        ("short runs", asked.runs, short_runs(asked.runs)),
        ("shapes", asked.shapes, many_shapes(asked.shapes)),
    ):
        if count:
            life = live_long(settings, count)
            rows.append([f"{life.runs:,} {name} in one process", _describe(life)])
            sound &= life.growth <= MOST_GROWTH
    figures = Figures("load", "One machine, everything on loopback.", ("load", "seen"), rows)
    print(figures.markdown)
    if asked.write:
        write_figures(figures)
    return 0 if sound else 1


def _describe(life: Life) -> str:
    looks = ", ".join(f"{held:,.0f}" for held in life.megabytes)
    return f"{looks} MB; {life.growth:+,.0f} MB over the second half"


if __name__ == "__main__":
    sys.exit(main())
