"""Claims of every kind, on curves small enough to judge by hand."""

import json

import numpy as np
import pytest

from tutelage.claims import Bound, Exponent, Hypothesis, Rate, Recovery, Status, check
from tutelage.claims.power_laws import window_of, windows_of
from tutelage.refuse import Refused
from tutelage.run import Outcome, Run
from tutelage.settings import Part, Setting

STEPS = np.unique(np.rint(10 ** np.arange(0, 6.01, 1 / 24))).astype(np.int64)


def run_of(curve, name="excess_risk", outcome=Outcome.FINISHED, **more):
    return Run(STEPS, {name: curve}, None, outcome, **more)


def test_a_diverged_run_fails_a_rate_and_says_why():
    run = run_of(1.0 / STEPS, outcome=Outcome.DIVERGED, note="By step 7 it had blown up.")
    verdict = check(Rate("excess_risk", -1.0), run)
    assert verdict.status is Status.FAILS
    assert "By step 7" in verdict.sentence


def test_exact_runs_that_differ_have_an_interval_that_holds_them_all():
    generator = np.random.default_rng(0)
    exponents = -1.0 + 0.1 * generator.standard_normal(6)
    runs = [run_of(STEPS.astype(float) ** e) for e in exponents]
    verdict = check(Rate("excess_risk", -1.0, plateau=1.0), runs)
    assert verdict.interval == pytest.approx((exponents.min(), exponents.max()), abs=1e-6)
    assert verdict.status is Status.UNDECIDED
    assert verdict.e_value is None


def test_noisy_runs_have_chance_and_an_e_value():
    generator = np.random.default_rng(0)
    runs = [run_of(np.exp(0.05 * generator.standard_normal(len(STEPS))) / STEPS) for _ in range(12)]
    verdict = check(Rate("excess_risk", -1.0, tolerance=0.05, plateau=1.0), runs)
    assert verdict.status is Status.HOLDS
    assert verdict.spread == verdict.interval
    assert verdict.horizon is None
    assert verdict.e_value > 20  # its inverse is the error of each interval
    assert 0 < verdict.smallest_violation <= 0.05
    alone = check(Rate("excess_risk", -1.0, tolerance=0.05, plateau=1.0), runs[0])
    assert alone.status is Status.UNDECIDED
    assert "noise='independent'" in alone.sentence


def test_seeds_that_are_one_run_to_rounding_have_no_chance():
    runs = [run_of((1 + 1e-9 * k) / (1.0 + STEPS)) for k in range(3)]
    verdict = check(Rate("excess_risk", -1.0, plateau=1.0), runs)
    assert (verdict.status, verdict.spread, verdict.e_value) == (Status.HOLDS, None, None)


def test_recovery_at_the_end():
    falling = run_of(STEPS**-0.5, "attention_error")
    assert check(Recovery("attention_error", 0.0, 0.01), falling).status is Status.HOLDS
    undecided = check(Recovery("attention_error", 0.0, 1e-4), falling)
    assert undecided.status is Status.UNDECIDED
    assert "1e+08 steps" in undecided.sentence  # 10⁶ steps give 1e-3 at t^-½, so 1e-4 needs 10⁸
    flat = run_of(np.full(len(STEPS), 0.3), "attention_error")
    assert check(Recovery("attention_error", 0.0, 0.01), flat).status is Status.FAILS


def test_recovery_from_a_step_on_looks_at_every_later_point():
    cosine = np.ones(len(STEPS))
    cosine[0] = 0.0
    assert (
        check(Recovery("cosine", 1.0, 1e-9, from_step=2), run_of(cosine, "cosine")).status
        is Status.HOLDS
    )
    assert (
        check(Recovery("cosine", 1.0, 1e-9, from_step=1), run_of(cosine, "cosine")).status
        is Status.FAILS
    )
    cosine[len(cosine) // 2] = 1 - 1e-8
    verdict = check(Recovery("cosine", 1.0, 1e-9, from_step=2), run_of(cosine, "cosine"))
    assert verdict.status is Status.FAILS
    assert verdict.measured == 1 - 1e-8


def test_recovery_of_a_vector_takes_its_worst_entry():
    mass = np.ones((len(STEPS), 3))
    mass[:, 1] = 0.9
    verdict = check(Recovery("support_mass", 1.0, 0.05), run_of(mass, "support_mass"))
    assert verdict.status is Status.FAILS
    assert verdict.measured == pytest.approx(0.9)


@pytest.mark.parametrize(
    ("exponent", "wave", "status"),
    [
        (2.0, 0.005, Status.HOLDS),
        (2.0, 0.01, Status.UNDECIDED),  # between its points it is 1.976 and 2.022
        (2.1, 0.01, Status.FAILS),
        (2.022, 0.01, Status.UNDECIDED),
    ],
)
def test_an_exponent_over_a_sweep(exponent, wave, status):
    def points(runs):
        return [
            (x, 3.0 * x**2 * (1 + wave * np.sin(5 * x)), seed)
            for x in (2.0, 4.0, 8.0, 16.0)
            for seed in (0, 1)
        ]

    claim = Exponent(points, exponent, of="y", certain=True)
    assert check(claim, [run_of(1.0 / STEPS)]).status is status
    if status is not Status.UNDECIDED:
        # One seed whose points scatter about a power has no chance interval of its own.
        undeclared = check(Exponent(points, exponent, of="y"), [run_of(1.0 / STEPS)])
        assert undeclared.status is Status.UNDECIDED
        assert "noise='independent'" in undeclared.sentence


def test_an_exponent_needs_three_points():
    with pytest.raises(Refused, match="at least three points"):
        check(Exponent(lambda runs: [(1.0, 1.0, 0), (2.0, 2.0, 0)], 1.0), [run_of(1.0 / STEPS)])


def test_missing_and_vector_curves_are_refused():
    run = Run(STEPS, {"support_mass": np.ones((len(STEPS), 4))}, None, Outcome.FINISHED)
    with pytest.raises(Refused, match="did not record"):
        check(Rate("excess_risk", -1.0), run)
    with pytest.raises(Refused, match="scalar curve"):
        check(Rate("support_mass", -1.0, plateau=1.0), run)
    with pytest.raises(Refused, match="at least one run"):
        check(Rate("excess_risk", -1.0), [])


def test_a_prediction_from_a_setting_needs_one():
    with pytest.raises(Refused, match="predicts from a setting"):
        check(Rate("excess_risk", -1.0, plateau=lambda setting: 1.0), run_of(1.0 / STEPS))


def test_a_verdict_carries_hypotheses_seeds_and_control_and_is_json():
    setting = Setting(
        Part("convolution", tokens=4, support=2, outputs=1, dim=1), rate=0.1, steps=10
    )
    runs = [run_of(1.0 / STEPS, setting=setting.change(seed=i), rate=0.1) for i in (3, 5)]
    claim = Bound(
        "excess_risk",
        -1.0,
        plateau=1.0,
        id="x",
        statement="s",
        hypotheses=lambda s: [Hypothesis("h", None, "why")],
    )
    verdict = check(claim, runs, control="small steps")
    assert verdict.seeds == (3, 5)
    assert verdict.hypotheses[0].word == "met up to an unstated constant"
    assert verdict.status is Status.HOLDS
    assert verdict.surprising  # a control must not hold
    data = json.loads(json.dumps(verdict.plain()))
    assert {
        "id",
        "statement",
        "source",
        "predicted",
        "measured",
        "interval",
        "tolerance",
        "status",
        "hypotheses",
        "seeds",
    } <= set(data)


def test_a_run_that_is_there_does_not_make_a_falling_one_fail():
    """One run at its target, one still falling towards it: undecided, as the falling one alone."""
    steps = np.arange(0, 1001)
    falling = Run(steps, {"x": 1 / (1.0 + steps) ** 0.5}, None, Outcome.FINISHED)
    there = Run(steps, {"x": np.zeros(1001)}, None, Outcome.FINISHED)
    claim = Recovery("x", 0.0, 1e-3)
    assert check(claim, [falling]).status is Status.UNDECIDED
    assert check(claim, [falling, there]).status is Status.UNDECIDED
    still = Run(steps, {"x": np.full(1001, 0.5)}, None, Outcome.FINISHED)
    assert check(claim, [falling, still]).status is Status.FAILS


def test_a_noisy_curve_measured_densely_is_read_by_its_means():
    """240 points a decade with 20% noise: thinned to 24, the noise of a window is a third of what
    single points would leave.
    """
    from tutelage.claims.trend import slopes, stretch

    draw = np.random.default_rng(0)
    times = np.unique(np.rint(10 ** (np.arange(0, 5 * 240) / 240)))
    curve = np.exp(0.2 * draw.standard_normal(len(times))) / times
    windows = [slopes(stretch(times[::k], curve[::k], 100.0, 0.5)) for k in (1, 10)]
    dense, sparse = (one.error(np.eye(len(one.mean))[-1]) for one in windows)
    assert dense < 0.5 * sparse


def test_the_window_that_figures_shade_is_the_one_that_the_verdict_names():
    run, claim = run_of(1.0 / STEPS), Rate("excess_risk", -1.0, plateau=1.0)
    first, last = window_of(claim, [run])
    assert f"steps {first:,.0f} to {last:,.0f}" in check(claim, run).sentence
    assert (round(first), round(last)) == (10_000, 1_000_000)  # four windows of half a decade
    assert window_of(Rate("excess_risk", -1.0, plateau=1e6), [run]) is None
    short = Run(
        STEPS[STEPS <= 50_000],
        {"excess_risk": run.curves["excess_risk"][STEPS <= 50_000]},
        None,
        Outcome.FINISHED,
    )
    assert windows_of(claim, [run, short]) == [
        pytest.approx((first, last)),
        pytest.approx((short.steps[-1] / 100, short.steps[-1])),
    ]  # each its own
    assert windows_of(Rate("excess_risk", -1.0, plateau=1e6), [run]) == []
    assert window_of(claim, [run_of(1.0 / STEPS, outcome=Outcome.DIVERGED)]) is None
