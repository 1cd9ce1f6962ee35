"""How the runs of `teacher-models/online` are read: each online run beside its exact twin."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
from jaxtyping import Float

from tutelage.claims.claim import NotYet
from tutelage.papers.teacher_models import theory
from tutelage.run import Run
from tutelage.settings import Part, Setting

EXACT = Part("population")
LATE = 10  # plateaus after which a run is compared with its exact twin
SHORTEST = 30  # steps of a run whose floor can be read


def make_twin(setting: Setting) -> Setting:
    """The exact run beside an online one: the same teacher, rate and seed on the population
    risk.
    """
    return replace(setting, objective=EXACT)


def pair_runs(runs: Sequence[Run]) -> list[tuple[Run, Run]]:
    """(online, exact) for each online run that has its twin among the runs."""
    exact = {
        run.setting: run
        for run in runs
        if run.setting is not None and run.setting.objective == EXACT
    }
    return [
        (run, exact[make_twin(run.setting)])
        for run in runs
        if run.setting is not None and run.setting.objective != EXACT
    ]


def read_beside(online: Run, exact: Run, curve: str = "excess_risk") -> Float[np.ndarray, "points"]:
    """The exact run's curve at the steps of the online one (log-log between measured steps)."""
    late = exact.steps > 0
    log = np.interp(
        np.log(np.maximum(online.steps, 1)),
        np.log(exact.steps[late]),
        np.log(exact.curves[curve][late]),
    )
    return np.where(online.steps > 0, np.exp(log), exact.curves[curve][0])


def read_floor(online: Run, exact: Run) -> float:
    """What is left of the online excess when that of the exact run is taken away, on average over
    the last two thirds of its time.
    """
    if online.steps[-1] < SHORTEST:
        raise NotYet(
            "Too short to tell: a floor is a mean over many steps, and the run ends at step "
            f"{online.steps[-1]:,}."
        )
    late = online.steps > online.steps[-1] / 3
    # Points are log-spaced: weighted by their gaps, so that it is a mean over time.
    gaps = np.gradient(online.steps.astype(float))[late]
    left = online.curves["excess_risk"] - read_beside(online, exact)
    return float(np.average(left[late], weights=gaps))


def read_floor_ratios(runs: Sequence[Run]) -> list[float]:
    """The floor over its prediction: for each seed the mean over the points of a sweep, since seeds
    are what is independent.
    """
    found: dict[int, list[float]] = {}
    for online, exact in pair_runs(runs):
        assert online.setting is not None
        ratio = read_floor(online, exact) / theory.noise_floor(online.setting)
        found.setdefault(online.setting.seed, []).append(ratio)
    return [float(np.mean(ratios)) for ratios in found.values()]


def read_sum_law(runs: Sequence[Run]) -> list[float]:
    """The excess over exact + floor: the geometric mean over log time from ten plateaus on."""
    found = []
    for online, exact in pair_runs(runs):
        assert online.setting is not None
        late = online.steps > LATE * theory.plateau(make_twin(online.setting))
        if not late.any():
            raise NotYet(
                f"Too short to tell: it is read after {LATE} plateaus, and the run ends at step "
                f"{online.steps[-1]:,}."
            )
        expected = read_beside(online, exact) + theory.noise_floor(online.setting)
        found.append(float(np.exp(np.log(online.curves["excess_risk"] / expected)[late].mean())))
    return found


def read_misalignment(runs: Sequence[Run]) -> list[float]:
    """1 − cos(W_V, V*) of each online run at its end."""
    return [1 - float(online.curves["cosine"][-1]) for online, _ in pair_runs(runs)]


def read_mass_gap(runs: Sequence[Run]) -> list[float]:
    """The largest difference of support mass between online and exact run, over queries, at the
    end.
    """
    ends = [
        (online.curves["support_mass"][-1], exact.curves["support_mass"][-1])
        for online, exact in pair_runs(runs)
    ]
    return [float(np.abs(ours - theirs).max()) for ours, theirs in ends]
