"""The figures of a campaign as a table, and where the docs keep those of the last run."""

from __future__ import annotations

import datetime
import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from tutelage.version import __version__

DOCS = Path(__file__).parents[1] / "docs" / "hardening.md"


@dataclass(frozen=True)
class Figures:
    """What a campaign counted, for people."""

    campaign: str  # names the place in the page
    sentence: str
    columns: Sequence[str]
    rows: Sequence[Sequence[str | int | float]]

    @property
    def markdown(self) -> str:
        lines = [self.columns, ["---"] * len(self.columns), *self.rows]
        return "\n".join("| " + " | ".join(map(_write, line)) + " |" for line in lines)


def write_figures(figures: Figures, page: Path = DOCS) -> None:
    """Puts the figures of this run in the place of those of the last, and says when it was."""
    begin, end = f"<!-- {figures.campaign} -->", f"<!-- end of {figures.campaign} -->"
    text = page.read_text(encoding="utf-8")
    if begin not in text or end not in text:
        raise ValueError(f"{page} has no place for the figures of {figures.campaign}.")
    today = datetime.datetime.now(datetime.UTC).date()
    said = f"{figures.sentence} Run on {today} with version {__version__}.\n\n{figures.markdown}"
    place = re.compile(f"{re.escape(begin)}.*?{re.escape(end)}", re.DOTALL)
    page.write_text(place.sub(lambda _: f"{begin}\n{said}\n{end}", text), encoding="utf-8")


def _write(cell: str | int | float) -> str:
    return f"{cell:,}" if isinstance(cell, int) else str(cell)
