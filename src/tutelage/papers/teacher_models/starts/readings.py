"""What `teacher-models/starts` reads off its runs: decay, halving, alignment, tokens that are
missing, and how columns are shared out.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
from jaxtyping import Float
from scipy.interpolate import CubicSpline

from tutelage.claims.claim import NotYet
from tutelage.papers.teacher_models import theory
from tutelage.papers.teacher_models.theory.bilinear import build_bilinear
from tutelage.run import Run
from tutelage.settings import Setting
from tutelage.studies.study import Curves

FLOOR = 1e-20  # of the first excess: errors of 1e-10, of which rounding is a millionth
DEEP = 1e-8  # of the first excess: how far it must have fallen before its decay is read
PARTED = 0.01  # a third of the tolerance of a constant
ALIGNED = 0.99


def each(read: Callable[[Run], float]) -> Callable[[Sequence[Run]], list[float]]:
    """One number per run, as claims about numbers ask for it."""
    return lambda runs: [read(run) for run in runs]


def sixths(run: Run) -> Float[np.ndarray, "3"]:
    """ηT at the ends of the last two sixths of the fall: in the last a decay is read, by the one
    before it is judged.
    """
    excess = run.curves["excess_risk"]
    kept = excess > FLOOR * excess[0]
    if excess[kept][-1] > DEEP * excess[0]:
        raise NotYet(
            f"Too short to tell: the excess has not fallen to {DEEP:g} of its start. Ten times "
            "the steps may decide."
        )
    return np.asarray(run.time[kept][-1] * np.array([2 / 3, 5 / 6, 1.0]))


def decay(run: Run) -> float:
    """−½ d ln(excess)/d(ηT) over the last sixth of the fall; not yet to be read while the sixth
    before it differs by more than 1%.

    Modes of nearly the same curvature take long to part, and rounding may come first.
    """
    at, excess = sixths(run), run.curves["excess_risk"]
    kept = excess > FLOOR * excess[0]
    before, last = (
        -0.5 * np.diff(CubicSpline(run.time[kept], np.log(excess[kept]))(at)) / np.diff(at)
    )
    if abs(before / last - 1) > PARTED:
        raise NotYet(
            f"The decay still goes from {before:.4g} to {last:.4g} where rounding begins: "
            "several modes are left."
        )
    return float(last)


def row_decay(run: Run) -> float:
    """The same of the rows of W_V − V*, between steps 5 and 50 of a run from zero: that of the row
    farthest from the mean of all.
    """
    assert run.setting is not None
    value = np.asarray(build_bilinear(run.setting).value)
    gaps = np.linalg.norm(
        run.curves["value_matrix"].reshape(len(run.steps), *value.shape) - value, axis=2
    )
    early, late = (int(np.searchsorted(run.steps, step)) for step in (5, 50))
    rates = -np.log(gaps[late] / gaps[early]) / (run.time[late] - run.time[early])
    return float(rates[np.abs(rates - rates.mean()).argmax()])


def halved(run: Run) -> float:
    """The first measured step at which half of the first excess is left; not a number where it
    never is.
    """
    below = run.curves["excess_risk"] <= 0.5 * run.curves["excess_risk"][0]
    return float(run.steps[below.argmax()]) if below.any() else float("nan")


def first_cosine(run: Run) -> float:
    """cos(W_V, V*) after the first step."""
    return float(run.curves["cosine"][1])


def aligned(run: Run) -> float:
    """The first measured step from which on the cosine stays above 0.99; not a number where it does
    not.
    """
    below = np.flatnonzero(run.curves["cosine"] < ALIGNED)
    last = int(below[-1]) + 1 if len(below) else 0
    return float(run.steps[last]) if last < len(run.steps) else float("nan")


def missing(run: Run) -> float:
    """How many weights of S* the student has at less than half their size in the end."""
    wanted = _selection(run)
    return float(np.sum(np.asarray(run.student.attention()) < 0.5 * wanted))


def found(run: Run) -> float:
    """ηT from which on every weight of S* has at least half its size; not a number where one still
    has not.
    """
    wanted = _selection(run)
    short = (
        run.curves["attention_matrix"].reshape(len(run.steps), *wanted.shape) < 0.5 * wanted
    ).any((1, 2))
    last = int(np.flatnonzero(short)[-1]) + 1 if short.any() else 0
    return float(run.time[last]) if last < len(run.steps) else float("nan")


def missing_any(run: Run) -> float:
    """1 if a weight is missing in the end, else 0: its mean is the share of seeds."""
    return float(missing(run) > 0)


def over_law(run: Run) -> float:
    """The last excess·ηT over Σ_i K_i(D−K_i)/4."""
    assert run.setting is not None
    return float(run.curves["excess_risk"][-1] * run.time[-1] / theory.counting_law(run.setting))


def settled(within: float, plateau: Callable[[Setting], float]) -> Callable[[Run], float]:
    """The step from which on excess·ηT stays within a share of the counting law, in plateaus."""

    def read(run: Run) -> float:
        assert run.setting is not None
        away = (
            np.abs(run.curves["excess_risk"] * run.time / theory.counting_law(run.setting) - 1)
            > within
        )
        last = int(np.flatnonzero(away)[-1]) + 1
        return (
            float(run.steps[last] / plateau(run.setting)) if last < len(run.steps) else float("nan")
        )

    return read


def shares(run: Run) -> Curves:
    """How columns of unequal weights are shared out, the worst column at each step, C = ⟨W_V,
    V*⟩/‖V*‖².

    `stranger_spread`: largest over least weight off the support, less 1. `support_spread`: the
    range of C·S − S* on the support.
    """
    wanted = _selection(run)
    attention = run.curves["attention_matrix"].reshape(len(run.steps), *wanted.shape)
    on = wanted > 0
    scale = run.curves["value_scale"][:, None, None]
    off = np.where(on, np.nan, attention)
    missed = np.where(on, scale * attention - wanted, np.nan)
    return {
        "stranger_spread": (np.nanmax(off, 1) / np.nanmin(off, 1) - 1).max(1),
        "support_spread": (np.nanmax(missed, 1) - np.nanmin(missed, 1)).max(1),
    }


def _selection(run: Run) -> Float[np.ndarray, "D Q"]:
    assert run.setting is not None
    return np.asarray(build_bilinear(run.setting).selection)
