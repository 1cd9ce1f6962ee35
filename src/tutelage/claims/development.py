"""Families of known truth on which the verdict rule was developed. It is not judged by them: those
that judge it were written by others.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial

import numpy as np
from jaxtyping import Float

from tutelage.claims.above_floor import AboveFloor
from tutelage.claims.calibration import Family
from tutelage.claims.claim import Claim
from tutelage.claims.exponent import Exponent
from tutelage.claims.number import Number
from tutelage.claims.order import Order
from tutelage.claims.power_laws import Bound, Constant, Rate
from tutelage.claims.ratio import Ratio
from tutelage.claims.recovery import Recovery
from tutelage.claims.verdict import Status
from tutelage.run import Outcome, Run

HOLDS, FAILS, UNDECIDED = Status.HOLDS, Status.FAILS, Status.UNDECIDED
HORIZONS = (1e4, 1e5, 1e6, 1e8)  # plateaus
FLOOR = 2e-28  # where a run in double precision stops, relative to its start
PER_DECADE = 24
PLATEAU = 100.0  # steps
RATE = 0.5  # η of runs whose constant is read
Shape = Callable[[Float[np.ndarray, "points"]], Float[np.ndarray, "points"]]


@dataclass(frozen=True)
class Known:
    """A curve of time in units of its plateau, and what is true of it: of the limit −1 of its
    slope, of that limit as a bound, and of the order 1/t.
    """

    name: str
    curve: Shape
    rate: Status
    bound: Status
    order: Status
    limit: float | None = None  # of its slope
    horizons: tuple[float, ...] = HORIZONS
    noise: float = 0.0
    runs: int = 1
    plateau_known: bool = True
    decidable: bool = True
    order_decidable: bool = True


def _power(exponent: float) -> Shape:
    return lambda t: (1 + t) ** exponent


def _bent(c: float, p: float = 0.5) -> Shape:
    return lambda t: (1 + c * (1 + t) ** -p) / (1 + c) / (1 + t)


def _log(power: float, unit: float = 1.0) -> Shape:
    return lambda t: np.log(np.e + unit * t) ** power / (1 + t)


CURVES: tuple[Known, ...] = (
    Known("1/t", _power(-1), HOLDS, HOLDS, HOLDS, -1.0),
    Known("1/t, plateau not told", _power(-1), HOLDS, HOLDS, HOLDS, -1.0, plateau_known=False),
    Known(
        "1/t, 5% noise, one run",
        _power(-1),
        *(HOLDS, HOLDS, HOLDS, -1.0),
        noise=0.05,
        decidable=False,
        order_decidable=False,
    ),
    Known(
        "1/t, 5% noise, ten runs",
        _power(-1),
        *(HOLDS, HOLDS, HOLDS, -1.0),
        noise=0.05,
        runs=10,
        order_decidable=False,
    ),
    Known("(1 + 3/√t)/t", _bent(3.0), HOLDS, HOLDS, HOLDS, -1.0),
    Known("(1 + 10/√t)/t", _bent(10.0), HOLDS, HOLDS, HOLDS, -1.0),
    Known("(1 − 0.5/√t)/t", _bent(-0.5), HOLDS, HOLDS, HOLDS, -1.0),
    Known("(1 + 3/t^0.1)/t", _bent(3.0, 0.1), HOLDS, HOLDS, HOLDS, -1.0, decidable=False),
    Known(
        "early dip, then 1/t",
        lambda t: np.where(t < 1, np.maximum(1 - t, 1e-9), 1.0) / (1 + t),
        *(HOLDS, HOLDS, HOLDS, -1.0),
    ),
    Known("t^-2", _power(-2), FAILS, HOLDS, FAILS, -2.0),
    Known("t^-1.1", _power(-1.1), FAILS, HOLDS, FAILS, -1.1),
    Known("t^-0.985", _power(-0.985), HOLDS, HOLDS, FAILS, -0.985),
    Known("e^-t", lambda t: np.exp(-t), FAILS, HOLDS, FAILS),
    Known("e^-2μt/t, μ = 1e-4", lambda t: np.exp(-2e-4 * t) / (1 + t), FAILS, HOLDS, FAILS),
    Known("log t / t", _log(1.0), HOLDS, HOLDS, FAILS, -1.0, decidable=False),
    Known("(log t)^¼ / t", _log(0.25), HOLDS, HOLDS, FAILS, -1.0, decidable=False),
    Known("(log 1000t)^-½ / t", _log(-0.5, 1e3), HOLDS, HOLDS, FAILS, -1.0, decidable=False),
    Known("t^-0.93", _power(-0.93), FAILS, FAILS, FAILS, -0.93),
    Known(
        "t^-0.93, 5% noise, ten runs",
        _power(-0.93),
        *(FAILS, FAILS, FAILS, -0.93),
        noise=0.05,
        runs=10,
    ),
    Known("t^-1/2", _power(-0.5), FAILS, FAILS, FAILS, -0.5),
    Known("1/t + 1e-4", lambda t: 1 / (1 + t) + 1e-4, FAILS, FAILS, FAILS, 0.0),
    Known(
        "1/t + 1e-4, plateau not told",
        lambda t: 1 / (1 + t) + 1e-4,
        *(FAILS, FAILS, FAILS, 0.0),
        plateau_known=False,
        decidable=False,
        order_decidable=False,
    ),
    Known(
        "1/t, then erratic at a floor",
        lambda t: 1 / (1 + t) + 1e-3 * np.exp(np.sin(40 * np.log(1 + t))),
        *(FAILS, FAILS, FAILS),
        horizons=(1e5, 1e6, 1e8),
        decidable=False,
        order_decidable=False,
    ),
    Known(
        "cut off on the plateau",
        _power(-1),
        *(UNDECIDED, UNDECIDED, UNDECIDED),
        horizons=(0.1, 1.0, 10.0, 40.0),
    ),
    Known(
        "cut off on the plateau, plateau not told",
        _power(-1),
        *(UNDECIDED, UNDECIDED, UNDECIDED),
        horizons=(0.1, 1.0, 10.0, 20.0),
        plateau_known=False,
    ),
    Known(
        "cut off in a steep fall",
        lambda t: np.exp(-np.minimum(t, 30.0)) + 1e-14 / (1 + t),
        *(UNDECIDED, UNDECIDED, UNDECIDED),
        horizons=(5.0, 10.0, 20.0),
    ),
    Known(
        "drop, long plateau, 1/t; cut, not told",
        lambda t: 1 / (1 + 1e3 * t) + 0.1 / (1 + t / 1e3),
        *(UNDECIDED, UNDECIDED, UNDECIDED),
        horizons=(3.0, 30.0, 300.0),
        plateau_known=False,
    ),
)


def synthetic(known: Known, horizon: float, generator: np.random.Generator) -> Run:
    """A run whose excess risk is the known curve, up to `horizon` plateaus or the rounding
    floor.
    """
    last = max(8.0, PLATEAU * horizon)
    steps = np.unique(np.rint(10 ** np.arange(0, np.log10(last) + 1e-9, 1 / PER_DECADE))).astype(
        np.int64
    )
    steps = np.concatenate([[0], steps])
    curve = known.curve(steps / PLATEAU)
    curve = curve * np.exp(known.noise * generator.standard_normal(len(curve)))
    below = np.flatnonzero(curve <= FLOOR * curve[0])
    if len(below):
        end = below[0] + 1
        return Run(
            steps[:end], {"excess_risk": np.maximum(curve[:end], 1e-300)}, None, Outcome.CONVERGED
        )
    return Run(steps, {"excess_risk": curve}, None, Outcome.FINISHED, rate=RATE)


def _draw(
    known: Known, claim: type[Rate] | type[Bound] | type[Order], seed: int
) -> tuple[Claim, Sequence[Run]]:
    generator = np.random.default_rng(seed)
    horizon = known.horizons[seed % len(known.horizons)]
    runs = [synthetic(known, horizon, generator) for _ in range(known.runs)]
    return claim("excess_risk", -1.0, plateau=PLATEAU if known.plateau_known else None), runs


def _curve_families() -> list[Family]:
    found = []
    for known in CURVES:
        draws = None if known.noise else len(known.horizons)
        found += [
            Family(
                known.name,
                "rate",
                partial(_draw, known, Rate),
                known.rate,
                known.limit,
                known.decidable,
                draws,
            ),
            Family(
                known.name,
                "bound",
                partial(_draw, known, Bound),
                known.bound,
                known.limit,
                known.decidable,
                draws,
            ),
            Family(
                known.name,
                "order",
                partial(_draw, known, Order),
                known.order,
                None,
                known.order_decidable,
                draws,
            ),
        ]
    return found


def _constant(shape: Shape, noise: float, runs: int, seed: int) -> tuple[Claim, Sequence[Run]]:
    generator = np.random.default_rng(seed)
    known = Known("", shape, HOLDS, HOLDS, HOLDS, noise=noise)
    horizon = (1e5, 1e6)[seed % 2]
    # The curve in units of the plateau, 1/t' with t' = T/PLATEAU, has ηT·curve → η·PLATEAU.
    claim = Constant("excess_risk", -1.0, RATE * PLATEAU, plateau=PLATEAU)
    return claim, [synthetic(known, horizon, generator) for _ in range(runs)]


def _number(
    draw: Callable[[np.random.Generator, int], np.ndarray],
    count: int,
    value: float,
    tolerance: float,
    side: str,
    seed: int,
) -> tuple[Claim, Sequence[Run]]:
    values = draw(np.random.default_rng(seed), count).tolist()
    return Number(lambda runs: values, value, "it", tolerance, side), [_empty()] * count


def _exponent(
    true: float, noise: float, seeds: int, points: int, seed: int
) -> tuple[Claim, Sequence[Run]]:
    generator = np.random.default_rng(seed)
    axis = 2.0 ** np.arange(3, 3 + points)
    found = [
        (float(x), float(x**true * np.exp(noise * generator.standard_normal())), s)
        for s in range(seeds)
        for x in axis
    ]
    return Exponent(lambda runs: found, 1.0, tolerance=0.1), [_empty()]


def _ratio(mean: float, noise: float, count: int, seed: int) -> tuple[Claim, Sequence[Run]]:
    generator = np.random.default_rng(seed)
    values = mean * np.exp(noise * generator.standard_normal(count))
    runs = [
        Run(np.array([1]), {"it": np.array([value])}, None, Outcome.FINISHED) for value in values
    ]
    return Ratio(lambda run: float(run.curves["it"][-1]), 1.0, 0.05), runs


def _recovery(shape: Shape, noise: float, seed: int) -> tuple[Claim, Sequence[Run]]:
    generator = np.random.default_rng(seed)
    run = synthetic(Known("", shape, HOLDS, HOLDS, HOLDS, noise=noise), 1e4, generator)
    return Recovery("excess_risk", 0.0, 0.01), [run]


def _above_floor(
    exponent: float, floor: float, bend: float, noise: float, runs: int, seed: int
) -> tuple[Claim, Sequence[Run]]:
    """floor + t^exponent·(1 + bend·t^-½), against an exponent of −½ above an unknown floor."""
    generator = np.random.default_rng(seed)

    def curve(t: Float[np.ndarray, "points"]) -> Float[np.ndarray, "points"]:
        return floor + (1 + t) ** exponent * (1 + bend * (1 + t) ** -0.5)

    known = Known("", curve, HOLDS, HOLDS, HOLDS, noise=noise)
    made = [synthetic(known, 1e6, generator) for _ in range(runs)]
    return AboveFloor("excess_risk", -0.5, plateau=PLATEAU), made


def _empty() -> Run:
    return Run(np.array([1]), {"it": np.ones(1)}, None, Outcome.FINISHED)


def _lognormal(generator: np.random.Generator, count: int) -> np.ndarray:
    return np.exp(0.8 * generator.standard_normal(count) - 0.32)  # of mean 1


def _normal(generator: np.random.Generator, count: int) -> np.ndarray:
    return 1 + 0.1 * generator.standard_normal(count)


FAMILIES: tuple[Family, ...] = (
    *_curve_families(),
    Family("1/t", "constant", partial(_constant, _power(-1), 0.0, 1), HOLDS, 50.0, draws=2),
    Family("1/t, 2% noise, 6", "constant", partial(_constant, _power(-1), 0.02, 6), HOLDS, 50.0),
    Family(
        "(1 + 1/√t)/t",
        "constant",
        partial(_constant, lambda t: (1 + (1 + t) ** -0.5) / (1 + t), 0.0, 1),
        HOLDS,
        50.0,
        draws=2,
    ),
    Family(
        "1.1/t, 2% noise, 6",
        "constant",
        partial(_constant, lambda t: 1.1 / (1 + t), 0.02, 6),
        FAILS,
        55.0,
    ),
    Family("t^-0.97", "constant", partial(_constant, _power(-0.97), 0.0, 1), FAILS, draws=2),
    Family(
        "normal, 12 seeds", "number", partial(_number, _normal, 12, 1.0, 0.25, "equal"), HOLDS, 1.0
    ),
    Family("normal, off", "number", partial(_number, _normal, 8, 1.5, 0.25, "equal"), FAILS, 1.0),
    *(
        Family(
            f"lognormal ratios, {count} seeds, at most 0.95",
            "number",
            partial(_number, _lognormal, count, 0.95, 0.0, "at most"),
            FAILS,
            1.0,
            decidable=False,
        )
        for count in (3, 4, 5)
    ),
    Family(
        "1 seed, 30% noise, 3",
        "exponent",
        partial(_exponent, 1.0, 0.3, 1, 3),
        HOLDS,
        1.0,
        decidable=False,
    ),
    Family("8 seeds, 10% noise, 5", "exponent", partial(_exponent, 1.0, 0.1, 8, 5), HOLDS, 1.0),
    Family("exact, off", "exponent", partial(_exponent, 1.3, 0.0, 1, 5), FAILS, 1.3, draws=1),
    Family("8 seeds, off", "exponent", partial(_exponent, 1.5, 0.1, 8, 5), FAILS, 1.5),
    Family("1, 1% noise, 6", "ratio", partial(_ratio, 1.0, 0.01, 6), HOLDS),
    Family("1, 4% noise, 6", "ratio", partial(_ratio, 1.0, 0.04, 6), HOLDS, decidable=False),
    Family("1.2, 4% noise, 6", "ratio", partial(_ratio, 1.2, 0.04, 6), FAILS),
    Family("there", "recovery", partial(_recovery, _power(-1), 0.0), HOLDS, draws=1),
    Family("there, 10% noise", "recovery", partial(_recovery, _power(-1), 0.1), HOLDS),
    Family(
        "at 0.02",
        "recovery",
        partial(_recovery, lambda t: 1 / (1 + t) + 0.02, 0.0),
        FAILS,
        draws=1,
    ),
    Family(
        "at 0.02, 5% noise",
        "recovery",
        partial(_recovery, lambda t: 1 / (1 + t) + 0.02, 0.05),
        FAILS,
    ),
    Family("falling", "recovery", partial(_recovery, _power(-0.3), 0.0), UNDECIDED, draws=1),
    *(
        Family(
            f"{floor:g} + t^{exponent:g}(1 + {bend:g}/√t)",
            "floor",
            partial(_above_floor, exponent, floor, bend, 0.0, 1),
            HOLDS if exponent == -0.5 else FAILS,
            exponent,
            draws=1,
        )
        for floor in (0.0, 0.2, 5.0)
        for exponent in (-0.5, -0.4, -0.55, -1.0)
        for bend in (0.0, 1.0)
    ),
    Family(
        "0.2 + t^-0.5, 0.001% noise, 6",
        "floor",
        partial(_above_floor, -0.5, 0.2, 0.0, 1e-5, 6),
        HOLDS,
        -0.5,
        decidable=False,
    ),
    Family(
        "0.2 + t^-0.4, 1% noise, 6",
        "floor",
        partial(_above_floor, -0.4, 0.2, 0.0, 0.01, 6),
        FAILS,
        -0.4,
        decidable=False,
    ),
)
