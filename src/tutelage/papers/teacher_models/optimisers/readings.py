"""What `teacher-models/optimisers` reads off runs: the level at which they hover, how they fall,
how far from two values they are.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

import numpy as np
from jaxtyping import Float

from tutelage.claims.claim import NotYet
from tutelage.claims.exponent import fitted_exponent
from tutelage.papers.teacher_models.theory import optimisers as predictions
from tutelage.run import Run
from tutelage.settings import Setting


def setting_of(run: Run) -> Setting:
    assert run.setting is not None
    return run.setting


def by_time(run: Run) -> Mapping[str, Float[np.ndarray, "points"]]:
    """The excess times Σ_t η_t."""
    return {
        "excess_by_time": run.curves["excess_risk"] * predictions.time(setting_of(run), run.steps)
    }


def hover(run: Run) -> float:
    """The mean excess over the measured points from T/3 on: where an optimiser with constant steps
    goes to and fro.
    """
    if run.steps[-1] < 10_000:
        raise NotYet(
            f"Too short to tell: the fall ends after some thousand steps. Got {run.steps[-1]:,}; "
            "50,000 would decide."
        )
    return float(run.curves["excess_risk"][run.steps >= run.steps[-1] / 3].mean())


def hover_points(runs: Sequence[Run]) -> list[tuple[float, float, int]]:
    """(η, level, seed)."""
    return [(setting_of(run).rate, hover(run), setting_of(run).seed) for run in runs]


def hover_exponents(runs: Sequence[Run]) -> list[float]:
    """The exponent of the level in η, one per seed."""
    points = hover_points(runs)
    return [
        fitted_exponent([(x, y) for x, y, s in points if s == seed])
        for seed in sorted({s for _, _, s in points})
    ]


def hover_levels(runs: Sequence[Run]) -> list[float]:
    """The level over η², the mean over step sizes on a log scale, one per seed."""
    points = hover_points(runs)
    seeds = sorted({s for _, _, s in points})
    return [
        float(np.exp(np.mean([np.log(y / x**2) for x, y, s in points if s == seed])))
        for seed in seeds
    ]


def fall(run: Run) -> float:
    """d log excess/d(ηT) of normalised descent by least squares, where its excess is 15 to 2 times
    that of its edge.

    Measured steps are log-spaced and the fall is exponential, so there are few points there; two
    are enough, since there is no noise.
    """
    edge, excess = predictions.normalised_edge_excess(setting_of(run)), run.curves["excess_risk"]
    early = (excess < 15 * edge) & (excess > 2 * edge) & (run.steps > 0)
    if early.sum() < 2:
        raise NotYet(
            f"Too short to tell: fewer than two points have an excess from {15 * edge:.3g} to "
            f"{2 * edge:.3g}. More steps would decide."
        )
    return float(np.polyfit(run.time[early], np.log(excess[early]), 1)[0])


def departures(runs: Sequence[Run]) -> list[tuple[float, float, int]]:
    """(η, largest |log excess − log excess of gradient flow| from ηt = 1 on, seed)."""
    found = []
    for run in runs:
        late = run.time >= 1.0
        flow = predictions.flow(setting_of(run), run.time[late])
        away = np.log(run.curves["excess_risk"][late] / flow)
        found.append((setting_of(run).rate, float(np.abs(away).max()), setting_of(run).seed))
    return found


def _each(read: Callable[[Run], float]) -> Callable[[Sequence[Run]], list[float]]:
    return lambda runs: [read(run) for run in runs]


def first_cosine(run: Run) -> float:
    """The cosine of W_V and V* after the first step."""
    return float(run.curves["cosine"][run.steps == 1][0])


worst_cosines = _each(lambda run: float(run.curves["cosine"][1:].min()))
worst_distances = _each(lambda run: float(run.curves["two_value_distance"].max()))
end_distances = _each(lambda run: float(run.curves["two_value_distance"][-1].max()))
end_excesses = _each(
    lambda run: float(run.curves["excess_risk"][-1] / run.curves["excess_risk"][0])
)
