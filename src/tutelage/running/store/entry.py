"""What a listing knows of one stored run, without its arrays."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from tutelage.running.store.encoding import environment
from tutelage.settings import DRAWS, current_origin

HORIZON = re.compile("0|[1-9][0-9]{0,18}")  # the name of a run's folder: its steps
IDENTITY = re.compile("[0-9a-f]{20}")
VERSIONS = ("tutelage", "jax", "jaxlib")  # with another of these a run counts as another version's


@dataclass(frozen=True)
class Entry:
    """What a listing knows of one folder: what its `run.json` says, or the trouble with it."""

    name: str  # <identity>/<steps> or <identity>/failed.json; <identity> where that is unreadable
    about: Mapping[str, Any]
    trouble: str = ""
    newer: bool = False  # whether the trouble is that a newer version wrote it

    @property
    def identity(self) -> str:
        return self.name.partition("/")[0]

    @property
    def horizon(self) -> str:
        """The steps as the folder is named, or `failed.json`."""
        return self.name.partition("/")[2]

    @property
    def outcome(self) -> str:
        if self.newer:
            return "NEWER"
        return "DAMAGED" if self.trouble else self.about["outcome"]

    @property
    def foreign(self) -> str:
        """Which versions, code or random draws made it or a piece of it, where they are not those
        at work now; "" where they are.
        """
        here, pieces = environment(), self.about.get("made", ())
        versions = [
            f"{n} {made[n]}" for made in pieces for n in VERSIONS if made.get(n, here[n]) != here[n]
        ]
        code = [
            f"other {'draws' if origin.startswith('draws ') else 'code'} of {named}"
            for made in pieces
            for named, origin in made.get("origins", {}).items()
            if (current_origin(named) or origin) != origin
        ]
        return ", ".join(dict.fromkeys([*versions, *code, *self._earlier_draws]))

    @property
    def _earlier_draws(self) -> list[str]:
        """Says so where a run was stored before versions of draws were told apart."""
        if (name := self.about.get("setting", {}).get("objective", {}).get("name")) not in DRAWS:
            return []
        named = f"objective {name}"
        unmarked = any(named not in made.get("origins", {}) for made in self.about.get("made", ()))
        return [f"earlier draws of {named}"] if unmarked else []


def horizons(names: list[str]) -> list[int]:
    """The steps among the names of folders, the longest first."""
    return sorted((int(name) for name in names if HORIZON.fullmatch(name)), reverse=True)


def odd_horizons(names: list[str]) -> list[str]:
    """Names that are digits to some, and no number of steps as the store writes one: `²`, `007`."""
    return [name for name in names if name.isdigit() and not HORIZON.fullmatch(name)]
