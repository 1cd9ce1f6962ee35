r"""What label noise leaves of a run, and what averaging and decaying steps recover: predictions
only, from the setting alone.

Two parts add up (docs/derivations.md, section 17). The exact path is the recursion of two scalars,
W_V = C·V* and one score gap z. Around it each curved direction h of the risk (`theory.curvatures`)
fluctuates by itself: x ← (1 − η_s h)x + η_s τ√(h/N) ξ. Both are linear in what an average does to
them, so the averaged iterate is the average of both. Identity activation, equal supports, tokens
N(0, I).
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import replace
from functools import lru_cache
from itertools import count
from typing import NamedTuple

import numpy as np
from jaxtyping import Float, Int

from tutelage.claims.claim import NoPrediction
from tutelage.papers.teacher_models.theory import (
    batch_of,
    counting_law,
    curvatures,
    facts,
    noise_floor,
)
from tutelage.papers.teacher_models.theory.recursion import along, states
from tutelage.settings import Setting


class Kept(NamedTuple):
    """The excess that label noise keeps up after each of some steps: in the last iterate and in the
    averaged one.
    """

    last: Float[np.ndarray, "points"]
    averaged: Float[np.ndarray, "points"]


def degree(setting: Setting) -> float:
    """k: the s-th iterate enters the average with a weight of about s^k."""
    return float(setting.optimiser.options.get("degree", 0.0))


def step_sizes(setting: Setting) -> Iterator[float]:
    """η_s = η/(1 + s/t₀)^a for s = 0, 1, …; constant where the optimiser has no `power`."""
    options = setting.optimiser.options
    a, onset = float(options.get("power", 0.0)), float(options.get("onset", 100.0))
    return (setting.rate * (1 + s / onset) ** -a for s in count())


def averaging_cost(setting: Setting) -> float:
    r"""averaged excess·t over the counting law, as t → ∞: e^{1/(k+1)} + ((D−K)/K)(A−B)², A =
    (k+1)/(k+½), B = e^{1/(2k+2)}.

    W_V − V* falls like t^-½, and its average is A times its last value. A score falls like −½log t,
    and its average makes the off-support weight B times its last value: the geometric mean. What A
    and B differ by leaves the slow manifold.
    """
    f, k = facts(setting), degree(setting)
    if not f.uniform:
        raise NoPrediction("The cost of averaging is known for equal weights on equal supports.")
    A, B = (k + 1) / (k + 0.5), math.exp(0.5 / (k + 1))
    return B**2 + (f.tokens - f.support) / f.support * (A - B) ** 2


def averaged_constant(setting: Setting) -> float:
    """The limit of averaged excess·t on the exact risk."""
    return counting_law(setting) * averaging_cost(setting)


def averaged_noise(setting: Setting) -> float:
    """T times the excess that noise leaves in the averaged iterate: (k+1)²/(2k+1) · τ²p/(2N), p
    curved directions, of whatever h and η.
    """
    k = degree(setting)
    p = sum(many for many, _ in curvatures(setting))
    return (k + 1) ** 2 / (2 * k + 1) * facts(setting).noise ** 2 * p / (2 * batch_of(setting))


def kept(setting: Setting, steps: Int[np.ndarray, "points"]) -> Kept:
    """½h times the variance of every curved direction, from the recursion of its second moments:
    exact for the linear descent.
    """
    return _kept(replace(setting, seed=0), tuple(int(step) for step in steps))


@lru_cache(maxsize=64)
def _kept(setting: Setting, steps: tuple[int, ...]) -> Kept:
    k, drive = degree(setting), facts(setting).noise ** 2 / batch_of(setting)
    last, averaged = np.zeros(len(steps)), np.zeros(len(steps))
    for many, h in curvatures(setting):
        x = cross = mean = 0.0  # E x², E x·x̄, E x̄²
        found = {0: (0.0, 0.0)}
        for s, eta in zip(range(1, steps[-1] + 1), step_sizes(setting), strict=False):
            stay, weight = 1 - eta * h, (1 + k) / (s + k)
            x = stay**2 * x + eta**2 * h * drive
            mean = (
                (1 - weight) ** 2 * mean + 2 * weight * (1 - weight) * stay * cross + weight**2 * x
            )
            cross = (1 - weight) * stay * cross + weight * x
            found[s] = (x, mean)
        last += many * h / 2 * np.array([found[s][0] for s in steps])
        averaged += many * h / 2 * np.array([found[s][1] for s in steps])
    return Kept(last, averaged)


def averaged_exact(
    setting: Setting, steps: Int[np.ndarray, "points"]
) -> Float[np.ndarray, "points"]:
    """The excess of the averaged iterate of the exact run: averages of C and z along the recursion,
    and the risk there.
    """
    return _averaged_exact(replace(setting, seed=0), tuple(int(step) for step in steps))


@lru_cache(maxsize=64)
def _averaged_exact(setting: Setting, steps: tuple[int, ...]) -> Float[np.ndarray, "points"]:
    f, k = facts(setting), degree(setting)
    if f.slope != 1.0:
        raise NoPrediction(
            f"The averaged path is written out for the identity. Got activation {f.activation}."
        )
    C = z = 0.0
    path = {}
    for s, state in zip(range(steps[-1] + 1), states(setting), strict=False):
        if s > 0:
            weight = (1 + k) / (s + k)
            C, z = C + weight * (state.value_scale - C), z + weight * (state.score_gap - z)
        path[s] = (C, z)
    C_, z_ = np.array([path[s] for s in steps]).T
    K, n = f.support, f.tokens - f.support
    u = np.exp(-f.attention_scale * z_)
    q = u / (K + n * u)
    miss = (C_ - 1) * (1 - n * q) - n * q
    return 0.5 * f.queries * f.value_square * (miss**2 / K + n * (C_ * q) ** 2)


def exact(setting: Setting, steps: Int[np.ndarray, "points"]) -> Float[np.ndarray, "points"]:
    """The excess of the exact run after some steps; with decaying ones at its time Ση_s, between
    steps of the constant η (log-log).
    """
    times = np.concatenate(
        [
            [0.0],
            np.cumsum(
                [eta for _, eta in zip(range(int(steps[-1])), step_sizes(setting), strict=False)]
            ),
        ]
    )
    here = times[np.asarray(steps)] / setting.rate
    grid = np.unique(
        np.rint(
            np.concatenate([np.arange(64), np.geomspace(64, max(65.0, here[-1] + 1), 400)])
        ).astype(int)
    )
    path = along(replace(setting, seed=0), grid)["excess_risk"]
    log = np.interp(np.log(np.maximum(here, 1)), np.log(grid[1:]), np.log(path[1:]))
    return np.where(here < 1, path[0], np.exp(log))


def expected(setting: Setting, steps: Int[np.ndarray, "points"]) -> Float[np.ndarray, "points"]:
    """excess(T) ≈ exact(Ση_s) + what noise keeps up at the present step size."""
    return exact(setting, steps) + kept(setting, steps).last


def expected_average(
    setting: Setting, steps: Int[np.ndarray, "points"]
) -> Float[np.ndarray, "points"]:
    """The same for the averaged iterate."""
    return averaged_exact(setting, steps) + kept(setting, steps).averaged


def crossing(setting: Setting) -> float:
    """The step at which the exact run's excess meets the floor; about C/(η·floor)."""
    floor = noise_floor(setting)
    before = math.inf
    for step, state in enumerate(states(replace(setting, seed=0))):
        if state.excess_risk <= floor:
            return (
                step - (floor - state.excess_risk) / (before - state.excess_risk) if step else 0.0
            )
        before = state.excess_risk
    raise AssertionError("the recursion never ends")


def averaged_bias(setting: Setting) -> float:
    r"""Where the averaged iterate of constant steps ends, T → ∞: ½‖V*‖²Q[Kχ² + (D−K)q²], of second
    order in ητ²/N.

    Fluctuations of W_V, of total variance σ², add ½σ²‖S‖² to the mean risk: attention that spreads
    a little pays, up to an off-support weight q = σ²/(K‖V*‖²). Fluctuations of scores add χ =
    (K−1)v/(DK²) to the squares of a column, and W_V shrinks by Kχ.
    """
    f = facts(setting)
    if f.slope != 1.0:
        raise NoPrediction(
            f"The bias of averaging is written out for the identity. Got activation {f.activation}."
        )
    drive = setting.rate * f.noise**2 / batch_of(setting)
    (entries, value), (_, scores) = curvatures(setting)
    K, n = f.support, f.tokens - f.support
    q = entries * drive / (2 - setting.rate * value) / (K * f.value_square)
    chi = (K - 1) / K**2 * f.attention_scale**2 * drive / (2 - setting.rate * scores)
    return 0.5 * f.value_square * f.queries * (K * chi**2 + n * q**2)
