"""How often the verdict rule is right: curves of known truth, each with the truth written beside
it.

Every curve is judged for Θ(1/t) and for O(1/t) at several horizons, with and without noise. A wrong
answer is a HOLDS where the truth is that it fails, or the reverse; UNDECIDED is never wrong, and
for a curve that is cut off on its plateau it is the only right one.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from jaxtyping import Float

from tutelage.claims.check import check
from tutelage.claims.power_laws import Bound, Rate
from tutelage.claims.verdict import Status
from tutelage.run import Outcome, Run

HOLDS, FAILS, UNDECIDED = Status.HOLDS, Status.FAILS, Status.UNDECIDED
HORIZONS = (1e4, 1e5, 1e6, 1e8)
FLOOR = 2e-28  # where a run in double precision stops, relative to its start
PER_DECADE = 24


@dataclass(frozen=True)
class Known:
    """A curve of time in units of its plateau, and the truth of Θ(1/t) and O(1/t) for it."""

    name: str
    curve: Callable[[Float[np.ndarray, "points"]], Float[np.ndarray, "points"]]
    rate: Status
    bound: Status
    horizons: tuple[float, ...] = HORIZONS
    noise: float = 0.0
    runs: int = 1
    plateau_known: bool = True


def _power(exponent: float) -> Callable[[np.ndarray], np.ndarray]:
    return lambda t: (1 + t) ** exponent


def _bent(c: float) -> Callable[[np.ndarray], np.ndarray]:
    return lambda t: (1 + c * (1 + t) ** -0.5) / (1 + c) / (1 + t)


def _mimic(rate: float) -> Callable[[np.ndarray], np.ndarray]:
    # Off-support weights that decay exponentially at last: a power law for decades, then e^{-2μt}.
    return lambda t: np.exp(-2 * rate * t) / (1 + t)


CURVES: tuple[Known, ...] = (
    Known("1/t", _power(-1), HOLDS, HOLDS),
    Known("1/t, plateau not told", _power(-1), HOLDS, HOLDS, plateau_known=False),
    Known("1/t, 5% noise, one run", _power(-1), HOLDS, HOLDS, noise=0.05),
    Known("1/t, 5% noise, ten runs", _power(-1), HOLDS, HOLDS, noise=0.05, runs=10),
    Known("(1 + 3/√t)/t", _bent(3.0), HOLDS, HOLDS),
    Known("(1 + 10/√t)/t", _bent(10.0), HOLDS, HOLDS),
    Known("(1 − 0.5/√t)/t", _bent(-0.5), HOLDS, HOLDS),
    Known(
        "early dip, then 1/t",
        lambda t: np.where(t < 1, np.maximum(1 - t, 1e-9), 1.0) / (1 + t),
        HOLDS,
        HOLDS,
    ),
    Known("t^-2", _power(-2), FAILS, HOLDS),
    Known("t^-1.1", _power(-1.1), FAILS, HOLDS),
    Known("e^-t", lambda t: np.exp(-t), FAILS, HOLDS),
    Known("e^-2μt/t, μ = 1e-4", _mimic(1e-4), FAILS, HOLDS),
    Known("log t / t", lambda t: np.log(np.e + t) / (1 + t), FAILS, FAILS),
    Known("t^-0.93", _power(-0.93), FAILS, FAILS),
    Known("t^-0.93, 5% noise, ten runs", _power(-0.93), FAILS, FAILS, noise=0.05, runs=10),
    Known("t^-1/2", _power(-0.5), FAILS, FAILS),
    Known("1/t + 1e-4", lambda t: 1 / (1 + t) + 1e-4, FAILS, FAILS),
    Known(
        "1/t + 1e-4, plateau not told",
        lambda t: 1 / (1 + t) + 1e-4,
        FAILS,
        FAILS,
        plateau_known=False,
    ),
    Known(
        "1/t, then erratic at a floor",
        lambda t: 1 / (1 + t) + 1e-3 * np.exp(np.sin(40 * np.log(1 + t))),
        FAILS,
        FAILS,
        horizons=(1e5, 1e6, 1e8),
    ),
    Known(
        "cut off on the plateau", _power(-1), UNDECIDED, UNDECIDED, horizons=(0.1, 1.0, 10.0, 60.0)
    ),
    Known(
        "cut off on the plateau, plateau not told",
        _power(-1),
        UNDECIDED,
        UNDECIDED,
        horizons=(0.1, 1.0, 10.0, 20.0),
        plateau_known=False,
    ),
    Known(
        "cut off in a steep fall",
        lambda t: np.exp(-np.minimum(t, 30.0)) + 1e-14 / (1 + t),
        UNDECIDED,
        UNDECIDED,
        horizons=(5.0, 10.0, 20.0),
    ),
    Known(
        "drop, long plateau, 1/t; cut, not told",
        lambda t: 1 / (1 + 1e3 * t) + 0.1 / (1 + t / 1e3),
        UNDECIDED,
        UNDECIDED,
        horizons=(3.0, 30.0, 300.0),
        plateau_known=False,
    ),
)


@dataclass(frozen=True)
class Row:
    """The answers on one curve, over horizons and repetitions."""

    name: str
    claim: str
    truth: Status
    right: int
    wrong: int
    undecided: int


def calibrate(repetitions: int = 20, seed: int = 0) -> list[Row]:
    """The table: for each curve and claim, how many answers were right, wrong and undecided."""
    generator = np.random.default_rng(seed)
    rows = []
    for known in CURVES:
        for name, kind, truth in (("Θ(1/t)", Rate, known.rate), ("O(1/t)", Bound, known.bound)):
            given = []
            for horizon in known.horizons:
                for _ in range(repetitions if known.noise else 1):
                    runs = [synthetic(known, horizon, generator) for _ in range(known.runs)]
                    plateau = PLATEAU if known.plateau_known else None
                    given.append(check(kind("excess_risk", -1.0, plateau=plateau), runs).status)
            right = sum(status is truth for status in given)
            undecided = (
                sum(status is UNDECIDED for status in given) if truth is not UNDECIDED else 0
            )
            rows.append(
                Row(known.name, name, truth, right, len(given) - right - undecided, undecided)
            )
    return rows


PLATEAU = 100.0  # steps


def synthetic(known: Known, horizon: float, generator: np.random.Generator) -> Run:
    """A run whose excess risk is the known curve, up to `horizon` plateaus or the rounding
    floor.
    """
    last = max(8.0, PLATEAU * horizon)
    steps = np.unique(np.rint(10 ** np.arange(0, np.log10(last) + 1e-9, 1 / PER_DECADE))).astype(
        np.int64
    )
    curve = known.curve(np.concatenate([[0], steps]) / PLATEAU)
    curve = curve * np.exp(known.noise * generator.standard_normal(len(curve)))
    below = np.flatnonzero(curve <= FLOOR * curve[0])
    steps = np.concatenate([[0], steps])
    if len(below):
        end = below[0] + 1
        return Run(
            steps[:end], {"excess_risk": np.maximum(curve[:end], 1e-300)}, None, Outcome.CONVERGED
        )
    return Run(steps, {"excess_risk": curve}, None, Outcome.FINISHED)
