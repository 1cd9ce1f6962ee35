"""How far a study is, told while it runs."""

from __future__ import annotations

import math
import threading
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np

from tutelage.settings import Setting
from tutelage.studies.study import Case
from tutelage.studies.weights import weigh
from tutelage.training.effort import estimate_effort

SECONDS_BETWEEN = 0.2  # two times that it is told, but for cases that end
CHECKING = "checking claims"


@dataclass(frozen=True)
class Standing:
    """How far some cases of a study are."""

    weight: float  # done so far, of `weigh_cases`
    seen: str = ""  # what was measured last, or what is done
    case: str = ""  # one that has just finished its runs
    runs: int = 0  # how many it has


Tell: TypeAlias = Callable[[Standing], None]


class Tally:
    """Counts what the runs of some cases have done, and tells it."""

    def __init__(self, cases: Sequence[Case], tell: Tell) -> None:
        self._tell = tell
        self._cases_of: dict[Setting, list[Case]] = {}  # a setting may serve two cases
        for case in cases:
            for setting in case.settings:
                self._cases_of.setdefault(setting, []).append(case)
        self._done: dict[Setting, float] = {}  # of its weight
        self._unfinished = {case.name: set(case.settings) for case in cases}
        self._weight, self._told = 0.0, -math.inf
        self._one_by_one = threading.Lock()  # runs are watched from several threads

    def __call__(self, setting: Setting, step: int, curves: dict[str, np.ndarray]) -> None:
        """To be given to `execute` as its `watch`."""
        with self._one_by_one:
            done = weigh(setting) * estimate_effort(step) / estimate_effort(setting.steps)
            self._weight += done - self._done.get(setting, 0.0)
            self._done[setting] = done
            seen = _describe_last(curves)
            for case in self._cases_of[setting] if step >= setting.steps else ():
                waiting = self._unfinished[case.name]
                if setting in waiting:
                    waiting.remove(setting)
                    if not waiting:
                        self._tell(Standing(self._weight, seen, case.name, len(case.settings)))
            if time.monotonic() - self._told > SECONDS_BETWEEN:
                self._told = time.monotonic()
                self._tell(Standing(self._weight, seen))

    def end(self) -> None:
        """All runs are there, and claims are checked next."""
        self._tell(Standing(self._weight, CHECKING))


def _describe_last(curves: dict[str, np.ndarray]) -> str:
    """The excess risk measured last, where there is one that is a number."""
    excess = curves.get("excess_risk", np.zeros(0))
    if not len(excess) or not math.isfinite(excess[-1]):
        return ""
    return f"excess {float(excess[-1]):.2e}"
