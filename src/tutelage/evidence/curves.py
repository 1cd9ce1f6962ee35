"""One curve made by hand, and the rules that every curve from elsewhere must follow."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from jaxtyping import Float, Int, Num

from tutelage.refuse import Refused, positive
from tutelage.run import Outcome, Run
from tutelage.settings import Setting

Numbers = Sequence[float] | Num[np.ndarray, "points"]
LARGEST = 2.0**62  # of a step, which is a whole number
DIGITS = 7  # that a step keeps where it is no whole number
PIECE = 5  # rows in a stretch of rising steps, on average, below which rows are merely unsorted


def curve(
    steps: Numbers,
    values: Numbers,
    rate: float | None = None,
    *,
    name: str = "loss",
    setting: Setting | None = None,
) -> Run[None]:
    """Evidence by hand: `values[i]` was measured at `steps[i]`, as a run that claims can judge.

    `steps` may be anything that grows: steps, epochs, samples, parameters, compute. `rate` is the
    step size, which constants need: their time is rate × step. `name` is what claims call the
    curve. `setting` is the setting that it was measured at, where a claim predicts from one.
    """
    x = as_numbers("steps", steps)
    y = as_numbers("values", values)
    if len(x) != len(y):
        raise Refused(
            "`steps` and `values` must be equally long, since each value was measured at one "
            f"step. Got {len(x)} steps and {len(y)} values."
        )
    return make_run(x, {name: y}, rate=rate, setting=setting)


def as_numbers(name: str, given: Numbers) -> Float[np.ndarray, "points"]:
    """A list or an array as floats in one dimension."""
    rule = f"`{name}` must be a list or an array of numbers, one per measurement"
    try:
        array = np.asarray(given)
        if array.dtype.kind not in "fiu":
            raise TypeError
    except (TypeError, ValueError):
        raise Refused(f"{rule}. Got {_shorten(given)}.") from None
    if array.ndim != 1:
        raise Refused(f"{rule}. Got an array of shape {array.shape}.")
    return array.astype(np.float64)


def make_run(
    x: Float[np.ndarray, "points"],
    curves: dict[str, Float[np.ndarray, "points"]],
    *,
    rate: float | None = None,
    x_name: str = "step",
    setting: Setting | None = None,
    where: str = "",
    unit: float | None = None,
) -> Run[None]:
    """A run of curves that were measured elsewhere; refused where they cannot be one run's. `unit`
    is what its steps are counted in; found from x where it is not given.
    """
    if not len(x):
        raise Refused(
            f"A curve must have at least one point, since it is judged by its values. Got none"
            f"{where}."
        )
    check_finite(x_name, x, x, x_name, where)
    for name, values in curves.items():
        check_finite(name, values, x, x_name, where)
    if (x < 0).any():
        raise Refused(
            f"`{x_name}` must not be negative, since it counts from the start of the run. Got "
            f"{x[x < 0][0]:g}{where}."
        )
    if not (x > 0).any():
        raise Refused(
            f"A curve must go beyond {x_name} 0, since it is read on a logarithmic axis. Got one "
            f"point, at 0{where}."
        )
    check_order(x, x_name, where)
    unit = find_unit(x) if unit is None else unit
    steps = count_steps(x, unit, x_name)
    if rate is None and setting is not None and setting.calculation is None:
        rate = setting.rate
    if rate is not None:
        rate = unit * positive("rate", rate, reason="time is rate × step")
    note = "" if unit == 1 else f"One step is {unit:g} of {x_name}."
    return Run(steps, curves, None, Outcome.FINISHED, note, rate, setting)


def check_finite(
    name: str,
    values: Float[np.ndarray, "points"],
    x: Float[np.ndarray, "points"],
    x_name: str,
    where: str = "",
) -> None:
    bad = np.flatnonzero(~np.isfinite(values))
    if len(bad):
        at = "" if name == x_name else f" at {x_name} {x[bad[0]]:,g}"
        more = f", and in {len(bad) - 1:,} other rows" if len(bad) > 1 else ""
        raise Refused(
            f"`{name}` must be finite, since a value that is not has no place on a curve. Got "
            f"{values[bad[0]]:g} in row {bad[0] + 1:,}{at}{more}{where}. Leave out rows in which "
            "nothing was measured; end a run that diverged before it did."
        )


def check_positive(
    name: str, values: Float[np.ndarray, "points"], x: Int[np.ndarray, "points"]
) -> None:
    """Refuses what has no logarithm, beyond step 0, at which nothing is read."""
    bad = np.flatnonzero((values <= 0) & (x > 0))
    if len(bad):
        raise Refused(
            f"`{name}` must be positive, since rates are read from its logarithm. Got "
            f"{values[bad[0]]:g} at step {x[bad[0]]:,}, and {len(bad)} such values in all. "
            "Subtract the smallest value that it can have, where that is known and below 0; or "
            "end the curve where it reaches zero."
        )


def check_order(x: Float[np.ndarray, "points"], x_name: str = "step", where: str = "") -> None:
    """Refuses steps that do not rise, and says what they look like."""
    falls = np.flatnonzero(np.diff(x) <= 0)
    if not len(falls):
        return
    rule = f"`{x_name}` must rise from row to row, since a curve has one value per {x_name}."
    first, (times, most) = int(falls[0]), _repeats(x)
    before, after = x[first], x[first + 1]
    place = f"in row {first + 2:,}{where}"
    backwards = falls[np.diff(x)[falls] < 0]
    if times == len(np.unique(x)) and most > 1:
        said = f"{most} rows for every {x_name}{where}: several runs are mixed"
    elif not len(backwards):
        said = f"{x_name} {after:,g} a second time {place}"
    elif x[backwards[0] + 1] <= x[0]:
        row, low = backwards[0] + 2, x[backwards[0] + 1]
        said = (
            f"{x_name} {low:,g} after {x[row - 2]:,g} in row {row:,}{where}: a second run begins "
            "there"
        )
    elif len(x) >= PIECE * (len(backwards) + 1):
        row, low = backwards[0] + 2, x[backwards[0] + 1]
        said = (
            f"{x_name} {low:,g} after {x[row - 2]:,g} in row {row:,}{where}: the log was resumed "
            "from an earlier state there. Keep one record of every step"
        )
    else:
        said = (
            f"{x_name} {after:,g} after {before:,g} {place}: the rows are not in order. Sort them"
        )
    raise Refused(f"{rule} Got {said}.")


def _repeats(x: Float[np.ndarray, "points"]) -> tuple[int, int]:
    """How many values of x stand in as many rows as the most frequent one, and in how many."""
    counts = np.unique(x, return_counts=True)[1]
    return int((counts == counts.max()).sum()), int(counts.max())


def find_unit(x: Float[np.ndarray, "points"]) -> float:
    """What x is counted in, since steps are whole numbers: 1 where x is whole already, else a power
    of ten in which the smallest x keeps its digits.
    """
    if (x == np.rint(x)).all() and x.max() < LARGEST:
        return 1.0
    if not (np.isfinite(x).all() and (x >= 0).all()):
        return 1.0  # refused later, with its place
    least = int(np.floor(np.log10(x[x > 0].min())))
    for digits in range(DIGITS):
        unit = float(10.0 ** (least - digits))
        if np.allclose(np.rint(x / unit) * unit, x, rtol=1e-12, atol=0):
            break
    return unit


def count_steps(
    x: Float[np.ndarray, "points"], unit: float, x_name: str = "step"
) -> Int[np.ndarray, "points"]:
    """x as whole numbers of its unit."""
    counted = np.rint(x / unit)
    if counted.max() >= LARGEST or (np.diff(counted) <= 0).any():
        raise Refused(
            f"`{x_name}` must be whole numbers, or numbers that differ in their first {DIGITS} "
            f"digits, since steps are counted. Got values from {x.min():g} to {x.max():g}."
        )
    return counted.astype(np.int64)


def _shorten(given: object) -> str:
    text = repr(given)
    return text if len(text) < 80 else f"{text[:77]}…"
