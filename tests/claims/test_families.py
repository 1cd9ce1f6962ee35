"""The families on which the rule is evaluated: their truths by construction, and that those which
are called decidable can be decided by an oracle which knows of which kind their noise is.
"""

from __future__ import annotations

from collections import Counter
from functools import cache

import numpy as np
import pytest
from scipy.special import stdtrit

from tutelage.claims.families import FAMILIES, KINDS, Family
from tutelage.claims.families.family import Case, Collection
from tutelage.claims.verdict import Status
from tutelage.refuse import Refused

HOLDS, FAILS, UNDECIDED = Status.HOLDS, Status.FAILS, Status.UNDECIDED
LEAST = {"rate": 8, "bound": 8, "order": 8, "constant": 8}  # families of a kind; 6 of the others
SEEDS = range(4)
FAR = 500.0  # ln t, at which slopes are read: 10^217 steps
FARTHER = np.array([FAR, 5e4, 5e7])  # ln t, between which an order drifts or does not
HALF_DECADE = 10**0.5
CONTRACTION = HALF_DECADE**-0.25  # of the class, from half a decade to the next

every_family = pytest.mark.parametrize("family", FAMILIES, ids=lambda family: family.name)


@cache
def make(family: Family, seed: int) -> Case:
    """A case that several tests read: some have thousands of runs."""
    return family.make(seed)


def of(*kinds: str):
    chosen = [family for family in FAMILIES if family.kind in kinds]
    return pytest.mark.parametrize("family", chosen, ids=lambda family: family.name)


# ------------------------------------------------------------------------------------ the list


def test_there_are_enough_families_of_every_kind():
    counts = Counter(family.kind for family in FAMILIES)
    print(dict(counts), len(FAMILIES))
    assert set(counts) == set(KINDS)
    assert all(counts[kind] >= LEAST.get(kind, 6) for kind in KINDS)
    assert len(FAMILIES) >= 60


@pytest.mark.parametrize("kind", KINDS)
def test_each_kind_has_decidable_families_of_both_truths(kind):
    found = {family.truth for family in FAMILIES if family.kind == kind and family.decidable}
    assert found == {HOLDS, FAILS}


def test_names_are_unique_and_every_family_gives_a_reason():
    names = [family.name for family in FAMILIES]
    assert len(set(names)) == len(names)
    assert all(family.reason.endswith(".") for family in FAMILIES)


def test_a_kind_that_no_rule_is_for_is_refused():
    with pytest.raises(Refused, match="'slope'"):
        Collection("slope")


# ---------------------------------------------------------------------------------- generators


@every_family
def test_a_seed_always_makes_the_same_case_and_another_seed_another(family):
    first, again, other = (numbers_of(family.make(seed)) for seed in (3, 3, 4))
    np.testing.assert_array_equal(first, again)
    assert len(first) != len(other) or not np.array_equal(first, other)


@every_family
def test_runs_are_what_a_run_must_be(family):
    for seed in range(2):
        case = make(family, seed)
        assert case.runs
        for run in case.runs:
            assert np.all(np.diff(run.steps) > 0)
            assert run.steps[0] >= 0
            for curve in run.curves.values():
                assert curve.shape == run.steps.shape
                assert np.all(np.isfinite(curve))


@of("rate", "bound", "order", "constant", "recovery")
def test_curves_are_positive_and_have_a_size_that_people_bring(family):
    for seed in SEEDS:
        for run in make(family, seed).runs:
            assert np.all(run.curves["loss"] > 0)
            assert len(run.steps) <= 20_000
            assert 900 <= run.steps[-1] <= 1e11


@of("constant")
def test_constants_know_their_step_size(family):
    assert all(run.rate is not None for run in make(family, 0).runs)


# -------------------------------------------------------------------------------------- truths


@every_family
def test_the_truth_is_that_of_the_noiseless_curve_at_an_astronomical_horizon(family):
    for seed in SEEDS:
        assert truth_of(family, make(family, seed)) is family.truth


@every_family
def test_the_limit_is_on_the_side_of_the_truth_and_not_near_the_edge(family):
    for seed in SEEDS:
        case = make(family, seed)
        share = share_of_tolerance(family, case)
        if share is None:
            continue
        assert share <= 0.9 if family.truth is HOLDS else share >= 1.1


@of("rate", "bound", "order", "constant", "recovery")
def test_the_limit_is_that_of_the_curve(family):
    for seed in SEEDS:
        case = make(family, seed)
        if case.limit is not None:
            assert limit_of(family, case) == pytest.approx(case.limit, rel=1e-3, abs=1e-3)


@of("number")
def test_numbers_have_the_mean_that_is_their_truth(family):
    case = [make(family, seed) for seed in range(60)]
    errors = [np.mean(each.asked.values(each.runs)) / each.limit - 1.0 for each in case]
    spread = np.std(errors) / np.sqrt(len(errors))
    assert abs(np.mean(errors)) <= 4.5 * spread + 1e-12


# --------------------------------------------------------------------------------- decidability


@every_family
def test_a_noisy_case_that_is_decidable_has_replicates(family):
    if family.decidable:
        for seed in SEEDS:
            case = make(family, seed)
            assert len(case.runs) >= 3 or not case.noisy


@pytest.mark.parametrize(
    "family", [each for each in FAMILIES if each.decidable], ids=lambda family: family.name
)
def test_an_oracle_decides_what_is_called_decidable(family):
    answers = [oracle(family, make(family, seed)) for seed in range(8)]
    assert answers.count(family.truth) >= 7, Counter(answers)


def test_the_oracle_does_not_decide_whatever_it_is_given():
    others = [family for family in FAMILIES if family.kind == "rate" and not family.decidable]
    answers = [oracle(family, make(family, seed)) for family in others for seed in range(5)]
    assert answers.count(UNDECIDED) > len(answers) / 3


# ------------------------------------------------------------------------- truths, once more


def numbers_of(case: Case) -> np.ndarray:
    return np.concatenate([curve for run in case.runs for curve in run.curves.values()])


def slope_at(case: Case, x: float) -> float:
    low, high = case.log_curve(np.array([x - 0.5, x + 0.5]))
    return float(high - low)


def limit_of(family: Family, case: Case) -> float:
    if family.kind in ("rate", "bound"):
        return slope_at(case, FARTHER[1])
    x = FARTHER[-1]
    level = float(case.log_curve(np.array([x]))[0])
    if family.kind in ("order", "constant"):
        rate = case.runs[0].rate if family.kind == "constant" else 1.0
        level -= case.asked.exponent * (x + np.log(rate))
    return float(np.exp(level))


def truth_of(family: Family, case: Case) -> Status:
    """By the convention of its kind, from the curve or the numbers and not from `limit`."""
    asked = case.asked
    if family.kind == "rate":
        true = abs(slope_at(case, FAR) - asked.exponent) <= asked.tolerance
    elif family.kind == "bound":
        true = slope_at(case, FAR) <= asked.exponent + asked.tolerance
    elif family.kind == "order":
        true = np.ptp(case.log_curve(FARTHER) - asked.exponent * FARTHER) < 0.62
    elif family.kind == "constant":
        x = FARTHER[1:, None] + np.linspace(0.0, 20.0, 50)  # log-periodic ones turn within
        level = case.log_curve(x) - asked.exponent * (x + np.log(case.runs[0].rate))
        value = np.log(asked.value)
        inside = np.log1p(-asked.tolerance) <= level - value
        true = bool(np.all(inside & (level - value <= np.log1p(asked.tolerance))))
    elif family.kind == "recovery":
        end = float(np.exp(case.log_curve(np.array([FAR])))[0])
        true = abs(end - asked.target) <= asked.within
    elif family.kind == "ratio":
        numbers = np.array([asked.read(run) for run in case.runs])
        true = np.all(np.abs(numbers - asked.value) <= asked.tolerance * abs(asked.value))
    elif family.kind == "exponent":
        x = np.log([point[0] for point in asked.points(case.runs)])
        local = (case.log_curve(x + 0.01) - case.log_curve(x - 0.01)) / 0.02
        true = np.all(np.abs(local - asked.exponent) <= asked.tolerance)
    else:
        off = case.limit - asked.value
        by_side = {"equal": abs(off), "at most": off, "at least": -off}
        true = by_side[asked.side] <= asked.tolerance
    return HOLDS if true else FAILS


def share_of_tolerance(family: Family, case: Case) -> float | None:
    """How far the limit is from the claim, in tolerances; None without a limit or a tolerance."""
    asked, limit = case.asked, case.limit
    if limit is None or family.kind == "order":
        return None
    if family.kind == "rate" or family.kind == "exponent":
        return abs(limit - asked.exponent) / asked.tolerance
    if family.kind == "bound":
        return max((limit - asked.exponent) / asked.tolerance, 0.0)
    if family.kind == "constant":
        return abs(limit / asked.value - 1.0) / asked.tolerance
    if family.kind == "recovery":
        return abs(limit - asked.target) / asked.within
    if family.kind == "number":
        off = (limit - asked.value) / asked.tolerance
        return max({"equal": abs(off), "at most": off, "at least": -off}[asked.side], 0.0)
    errors = [asked.read(run) / asked.value - 1.0 for run in case.runs]
    return max(map(abs, errors)) / asked.tolerance


# ---------------------------------------------------------------------------------- the oracle


def oracle(family: Family, case: Case) -> Status:
    """An answer by someone who knows the family, though not the parameters of the case."""
    if family.kind == "ratio":
        return truth_of(family, case)  # it is about what is read
    if family.kind == "number":
        return oracle_of_numbers(case)
    if family.kind == "exponent":
        asked = case.asked
        return decide(slopes_of_seeds(case), asked.exponent - asked.tolerance,
                      asked.exponent + asked.tolerance)  # fmt: skip
    if family.kind == "order" and family.truth is HOLDS:
        return oracle_of_order(case)
    low, high = allowed(family.kind, case)
    if case.noisy or len(case.runs) > 1:
        return decide(np.array([fitted(family.kind, case, run) for run in case.runs]), low, high)
    left, right = limits_between(*windows(family.kind, case))
    if low <= left and right <= high:
        return HOLDS
    return FAILS if right < low or high < left else UNDECIDED


def allowed(kind: str, case: Case) -> tuple[float, float]:
    """The limits with which the claim is true, of the quantity that `windows` gives."""
    asked = case.asked
    if kind == "constant":
        return (np.log(asked.value * (1 - asked.tolerance)),
                np.log(asked.value * (1 + asked.tolerance)))  # fmt: skip
    if kind == "recovery":
        return asked.target - asked.within, asked.target + asked.within
    tolerance = 0.0 if kind == "order" else asked.tolerance
    low = -np.inf if kind == "bound" else asked.exponent - tolerance
    return low, asked.exponent + tolerance


def windows(kind: str, case: Case) -> tuple[float, float]:
    """What contracts, in the last two half decades: slopes, or what stands at their ends."""
    run = case.runs[0]
    steps, curve = run.steps[run.steps > 0], run.curves["loss"][run.steps > 0]
    x, y = np.log(steps), np.log(curve)
    ends = np.log(steps[-1] * HALF_DECADE ** np.array([-2.0, -1.0, 0.0]))
    if kind == "constant":
        levels = np.interp(ends, x, y - case.asked.exponent * (x + np.log(run.rate)))
        return levels[1], levels[2]
    if kind == "recovery":
        values = np.interp(ends, x, curve)
        return values[1], values[2]
    slopes = np.diff(np.interp(ends, x, y)) / np.diff(ends)
    return slopes[0], slopes[1]


def limits_between(earlier: float, later: float) -> tuple[float, float]:
    """All L with |later − L| ≤ r^-¼·|earlier − L|, and a little for rounding."""
    step = later - earlier
    ends = earlier + step / (1 + CONTRACTION), earlier + step / (1 - CONTRACTION)
    rounding = 1e-4 * abs(later)
    return min(ends) - rounding, max(ends) + rounding


def oracle_of_order(case: Case) -> Status:
    """HOLDS if the steps of the level contract from half decade to half decade."""
    run = case.runs[0]
    x, y = np.log(run.steps[run.steps > 0]), np.log(run.curves["loss"][run.steps > 0])
    level = y - case.asked.exponent * x
    at = np.interp(x[-1] - np.log(HALF_DECADE) * np.arange(5)[::-1], x, level)
    steps = np.abs(np.diff(at))
    contracts = steps[1:] <= CONTRACTION * steps[:-1] + 1e-5
    return HOLDS if np.all(contracts) else UNDECIDED


def fitted(kind: str, case: Case, run) -> float:
    """The slope or level of one run by least squares, with a correction t^-½ of unknown size."""
    late = run.steps > 30
    x, y = np.log(run.steps[late]), np.log(run.curves["loss"][late])
    columns = [np.exp(-x / 2), np.ones_like(x)]
    if kind == "constant":
        y = y - case.asked.exponent * (x + np.log(run.rate))
    elif kind != "recovery":
        columns.append(x)
    columns = np.stack(columns, axis=1)
    weights = np.ones(len(x))
    for _ in range(4):  # a spike or a heavy tail counts for less: Huber's weights
        solution = np.linalg.lstsq(columns * weights[:, None], y * weights, rcond=None)[0]
        left = np.abs(y - columns @ solution)
        scale = 1.5 * np.median(left) + 1e-13
        weights = np.sqrt(np.minimum(1.0, 1.345 * scale / np.maximum(left, 1e-300)))
    return float(np.exp(solution[-1])) if kind == "recovery" else float(solution[-1])


def slopes_of_seeds(case: Case) -> np.ndarray:
    points = np.array(case.asked.points(case.runs))
    return np.array(
        [
            np.polyfit(*np.log(points[points[:, 2] == seed, :2]).T, 1)[0]
            for seed in np.unique(points[:, 2])
        ]
    )


def oracle_of_numbers(case: Case) -> Status:
    asked = case.asked
    values = np.array(asked.values(case.runs))
    low = -np.inf if asked.side == "at most" else asked.value - asked.tolerance
    high = np.inf if asked.side == "at least" else asked.value + asked.tolerance
    return decide(values, low, high)


def decide(values: np.ndarray, low: float, high: float) -> Status:
    """By the t interval of 99% of a mean; by the value itself where there is one alone."""
    count, half = len(values), 1e-9
    if count > 1:
        half += stdtrit(count - 1, 0.995) * values.std(ddof=1) / np.sqrt(count)
    left, right = values.mean() - half, values.mean() + half
    if low <= left and right <= high:
        return HOLDS
    return FAILS if right < low or high < left else UNDECIDED
