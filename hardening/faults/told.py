"""What came of a scenario, and the folders that scenarios work in."""

from __future__ import annotations

import tempfile
from dataclasses import dataclass, field
from pathlib import Path

from hardening.faults.sweeps import Place


@dataclass
class Told:
    """What came of one scenario."""

    name: str
    tried: int = 0
    troubles: list[str] = field(default_factory=list)


def make_place(root: Path) -> Place:
    """A new folder for one sweep."""
    return Place(Path(tempfile.mkdtemp(dir=root)))
