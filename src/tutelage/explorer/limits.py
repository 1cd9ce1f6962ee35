"""How large, long and slow a run of the explorer may be; the command line has no such bounds."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NoReturn

import numpy as np

from tutelage.problem.options import Declared
from tutelage.problem.registry import options_of
from tutelage.problem.room import BYTES_PER_NUMBER, Room, check_room, estimate_sizes
from tutelage.refuse import Refused
from tutelage.settings import Setting
from tutelage.studies.pages import ATTENTION_BYTES

STEPS = 10_000_000
TOKEN_COUNTS = ("tokens", "queries")  # options that `Limits.tokens` bounds
MULTIPLICATIONS_PER_SECOND = 1e9  # of one core, roughly
REASON = "one run must leave room for others; the command line takes more"


@dataclass(frozen=True)
class Limits:
    """What one visitor's run may ask for."""

    tokens: int = 256
    steps: int = STEPS
    seconds: float = 120.0
    bytes: int = ATTENTION_BYTES  # of a sample
    memory: int = 2 * 10**9  # bytes of all that a run holds, by an estimate

    @property
    def room(self) -> Room:
        """What a setting may ask for in all: its first step must be done before its time is up."""
        work = self.seconds * MULTIPLICATIONS_PER_SECOND
        return Room(self.memory, work, "The explorer", REASON)

    def largest(self, name: str, declared: Declared) -> float | None:
        """The largest value of an option that is a size: a whole number that is part of a shape,
        up to the end of its slider. None for options that have no limit.
        """
        if name in TOKEN_COUNTS:
            return self.tokens
        counts = declared.kind == "int" and declared.shown.shape
        return declared.shown.most if counts else None

    def check(self, setting: Setting) -> None:
        """Refuses a setting that is too large, before anything is built."""
        for kind, part in setting.parts.items():
            declared = options_of(kind, part.name)
            for name, value in part.options.items():
                if isinstance(value, np.ndarray):
                    self._check_matrix(name, value)
                elif name in declared and _is_number(value):
                    most = self.largest(name, declared[name])
                    if most is not None and value > most:
                        _refuse(f"`{name}` up to {most:,}", f"{name}={value!r}")
        if _is_number(setting.steps) and setting.steps > self.steps:
            _refuse(f"`steps` up to {self.steps:,}", f"steps={setting.steps!r}")
        sizes = estimate_sizes(setting)
        sample = BYTES_PER_NUMBER * sizes.draws * sizes.dim * sizes.tokens
        if sample > self.bytes:
            _refuse(f"samples of up to {self.bytes // 2**20} MB", f"one of {sample / 2**20:.0f} MB")
        check_room(setting, self.room)

    def _check_matrix(self, name: str, matrix: np.ndarray) -> None:
        if max(matrix.shape, default=0) > self.tokens:
            rule = f"a matrix `{name}` of at most {self.tokens} rows and columns"
            _refuse(rule, f"shape {matrix.shape}")


def _is_number(value: float) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _refuse(rule: str, got: str) -> NoReturn:
    raise Refused(f"The explorer takes {rule}, since {REASON}. Got {got}.")
