"""The claims of `teacher-models/noise`: how its runs are read, and what theory says of each
number.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from tutelage.claims import Claim, Constant, Number, Rate
from tutelage.claims.claim import NotYet
from tutelage.papers.teacher_models.rates.study import PAPER, hypotheses, predicted
from tutelage.run import Run
from tutelage.settings import Setting

NAME = "teacher-models/noise"
DERIVED = "derived here (docs/derivations.md, section 17)"
AFTER = 30  # plateaus, from which on slopes are read, as in teacher-models/rates
Read = Callable[[Run, Setting], float]


def theory(function: str, *given: Any) -> Any:
    """A prediction of `noise_theory.py` by name; it loads JAX only when it is asked."""
    from tutelage.papers.teacher_models.theory import noise as noise_theory

    return getattr(noise_theory, function)(*given)


def limit(function: str) -> Callable[[Setting], float]:
    """The same as a function of the setting."""
    return lambda setting: float(theory(function, setting))


def each(read: Read) -> Callable[[Sequence[Run]], list[float]]:
    """One number a run: the replications of a claim."""
    return lambda runs: [read(run, run.setting) for run in runs if run.setting is not None]


def within(run: Run, first: float, last: float) -> np.ndarray:
    """Which measured steps lie between two, of which there must be enough."""
    inside = (run.steps >= max(1.0, first)) & (run.steps <= last)
    if inside.sum() < 10 or run.steps[-1] < 0.9 * last:
        raise NotYet(
            f"Too short to tell: it is read from step {first:,.0f} to {last:,.0f}, and the run "
            f"ends at {run.steps[-1]:,}."
        )
    return inside


def window(setting: Setting, part: str) -> tuple[float, float]:
    """The steps that a claim is read in, from theory alone: before the crossing, around it, after
    it; or the last factor of ten.
    """
    settled = AFTER * predicted("plateau")(setting)
    if part == "last":
        return max(settled, setting.steps / 10), float(setting.steps)
    cross = theory("crossing", setting)
    return {
        "before": (settled, cross / 10),
        "around": (cross / np.sqrt(10), min(cross * np.sqrt(10), setting.steps)),
        "after": (cross, float(setting.steps)),
    }[part]


def slope_in(part: str, curve: str = "excess_risk") -> Read:
    """The slope of a curve in a window."""

    def read(run: Run, setting: Setting) -> float:
        seen = within(run, *window(setting, part))
        return float(theory("slope", run.steps[seen], run.curves[curve][seen]))

    return read


def own_slope(part: str) -> Callable[[Setting], float]:
    """That of theory itself, over steps that are even in log time."""

    def at(setting: Setting) -> float:
        first, last = window(setting, part)
        steps = np.unique(np.rint(np.geomspace(max(1.0, first), last, 200)).astype(np.int64))
        return float(theory("slope", steps, theory("expected", setting, steps)))

    return at


def ratio(curve: str, expected: str, part: str) -> Read:
    """The curve over its prediction: the mean over log time in a window."""

    def read(run: Run, setting: Setting) -> float:
        seen = within(run, *window(setting, part))
        return float(np.mean(run.curves[curve][seen] / theory(expected, setting, run.steps[seen])))

    return read


def crossing_ratio(run: Run, setting: Setting) -> float:
    """The step at which the online excess is twice the exact one, over the predicted crossing.

    Around the crossing excess/exact − 1 is about T/T_cross; a line through its means over sixths of
    a decade in log-log has its zero there.
    """
    seen = within(run, *window(setting, "around"))
    steps = run.steps[seen]
    above = run.curves["excess_risk"][seen] / theory("exact", setting, steps) - 1
    tilt, level = theory("line", steps, above)
    return float(np.exp(-level / tilt) / theory("crossing", setting))


def over_floor(run: Run, setting: Setting) -> float:
    """The mean excess over time after the crossing, over the floor."""
    seen = within(run, *window(setting, "after"))
    gaps = np.gradient(run.steps.astype(float))[seen]
    return float(
        np.average(run.curves["excess_risk"][seen], weights=gaps)
        / predicted("noise_floor")(setting)
    )


def averaged_noise_ratio(run: Run, setting: Setting) -> float:
    """Averaged excess × T over (k+1)²/(2k+1)·τ²p/(2N), the mean over log time from the 400th step
    on, where the start is forgotten.
    """
    seen = within(run, 400, run.steps[-1])
    return float(
        (run.curves["averaged_excess"] * run.steps)[seen].mean() / theory("averaged_noise", setting)
    )


def bias_ratio(run: Run, setting: Setting) -> float:
    """The averaged excess at the end, over its predicted limit and what noise still leaves
    there.
    """
    end = run.steps[-1:]
    return float(
        run.curves["averaged_excess"][-1]
        / (theory("averaged_bias", setting) + theory("kept", setting, end).averaged[0])
    )


def noisy_and_not(runs: Sequence[Run]) -> list[tuple[Run, Run]]:
    """(with label noise, without) for each seed."""
    found: dict[int, dict[bool, Run]] = {}
    for run in runs:
        if run.setting is not None:
            found.setdefault(run.setting.seed, {})[run.setting.teacher.options["noise"] > 0] = run
    return [(pair[True], pair[False]) for pair in found.values()]


def largest_difference(runs: Sequence[Run]) -> list[float]:
    """The largest relative difference of the excess between the run with label noise and the one
    without, over all measured steps.
    """
    return [
        float(np.max(np.abs(a.curves["excess_risk"] / b.curves["excess_risk"] - 1)))
        for a, b in noisy_and_not(runs)
    ]  # fmt: skip


def risk_difference(runs: Sequence[Run]) -> list[float]:
    """L with label noise less L without it, each at the end of its own run, over ½MQτ²."""
    from tutelage.papers.teacher_models.theory import facts
    from tutelage.problem.build import build

    found = []
    for noisy, plain in noisy_and_not(runs):
        assert noisy.setting is not None
        assert plain.setting is not None
        f = facts(noisy.setting)
        gap = float(
            build(noisy.setting).objective(noisy.student)
            - build(plain.setting).objective(plain.student)
        )
        found.append(gap / (0.5 * f.outputs * f.queries * f.noise**2))
    return found


def named(
    case: str,
    name: str,
    kind: Callable[..., Any],
    *given: Any,
    statement: str,
    source: str = DERIVED,
    **more: Any,
) -> Claim:
    claim: Claim = kind(
        *given,
        id=f"{NAME}/{case}/{name}",
        statement=statement,
        source=source,
        hypotheses=hypotheses,
        **more,
    )
    return claim


def exact_claims(case: str) -> tuple[Claim, ...]:
    """Label noise and the population risk. Rounding apart the two runs are one, hence 1e-12."""
    apart = "the largest relative difference of the excess from the run without label noise"
    same = "on the population risk a run with label noise is the run without it"
    gap = "the difference of the two risks over ½MQτ²"
    return (
        named(
            case,
            "same-path",
            Number,
            largest_difference,
            0.0,
            apart,
            1e-12,
            "at most",
            True,
            statement=same,
        ),
        named(
            case,
            "risk",
            Number,
            risk_difference,
            1.0,
            gap,
            1e-12,
            certain=True,
            statement="L_opt = ½MQτ²: noise lifts the risk by a constant",
        ),
    )


def constant_claims(case: str) -> tuple[Claim, ...]:
    """Constant steps: the rate before the floor, the crossing, the floor; and the average of the
    same iterates.
    """
    before, last = (
        "the slope between 30 plateaus and a tenth of the crossing",
        "over the last factor of ten of the steps",
    )
    crossing = "the step at which the excess is twice the exact one, over the predicted one"
    average = "averaged excess over (averaged exact path + averaged noise)"
    return (
        named(
            case, "rate-before", Number, each(slope_in("before")), own_slope("before"), before, 0.05,
            statement="before the crossing the excess falls as on the exact risk, like 1/T",
        ),
        named(case, "crossing", Number, each(crossing_ratio), 1.0, crossing, 0.1, statement="the run leaves the "
"exact one "
"at ηT ≈ C/floor"),
        named(
            case, "after", Number, each(ratio("excess_risk", "expected", "after")), 1.0, "excess over (exact + floor) "
"after the crossing",
            0.1, statement="after it the excess is exact(t) + floor",
        ),
        named(
            case, "averaged", Number, each(ratio("averaged_excess", "expected_average", "last")), 1.0, f"{average} {last}", 0.1,
            statement="the averaged iterate has no floor: its path's average, and noise "
"(k+1)²/(2k+1)·τ²p/(2NT)",
        ),
        named(
            case, "averaged-rate", Rate, "averaged_excess", -1.0, 0.05, plateau=predicted("plateau"),
            statement="averaged excess = Θ(1/T), beyond the floor",
        ),
    )  # fmt: skip


def decay_claims(case: str, power: float) -> tuple[Claim, ...]:
    """η_T = η/(1+T/t₀)^a: exact(Ση) falls like T^(a−1) and the floor like T^(−a)."""
    last = "over the last factor of ten of the steps"
    return (
        named(
            case, "sum-law", Number, each(ratio("excess_risk", "expected", "last")), 1.0, "excess over (exact(Ση) + "
f"floor(η_T)) {last}",
            0.1, statement="excess ≈ exact(Ση_s) + floor(η_T)",
        ),
        named(
            case, "exponent", Number, each(slope_in("last")), own_slope("last"), f"the slope {last}", 0.05,
            statement=f"a = {power:g}: the slope of exact(Ση) + floor(η_T), on its way to "
f"−min(a, 1−a) = {0.0 - min(power, 1 - power):g}",
        ),
    )  # fmt: skip


def cost_claims(case: str) -> tuple[Claim, ...]:
    """The average of an exact run: what averaging costs where there is no noise."""
    about: dict[str, Any] = {"plateau": predicted("plateau")}
    return (
        named(case, "rate", Rate, "averaged_excess", -1.0, statement="averaged excess = Θ(1/T) on "
"the exact risk", source=PAPER, **about),
        named(
            case, "constant", Constant, "averaged_excess", -1.0, value=limit("averaged_constant"),
            statement="averaged excess·ηT → Σ_i K_i(D−K_i)/4 · [e^(1/(k+1)) "
"+ ((D−K)/K)(A−B)²]", **about,
        ),
    )  # fmt: skip
