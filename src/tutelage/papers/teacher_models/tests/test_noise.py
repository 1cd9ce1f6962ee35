"""teacher-models/noise: the averaged iterate, its noise and its cost against sums and integrals
done another way; how runs are read.
"""

import math
from dataclasses import replace
from math import comb

import equinox as eqx
import jax
import numpy as np
import pytest
from answers import Answers
from scipy.integrate import quad
from scipy.optimize import brentq

import tutelage as tt
from tutelage.claims import Status
from tutelage.claims.claim import NoPrediction
from tutelage.objectives.sample import Sample, draw_sample
from tutelage.optimisers.averaged import averaged_descent
from tutelage.papers.teacher_models import paper, theory
from tutelage.papers.teacher_models.noise.readings import (
    after_crossing,
    around_crossing,
    before_crossing,
    expected_slope_in,
    fit_slope,
    last_decade,
    ratio_in,
    read_crossing,
    read_over_floor,
    slope_in,
)
from tutelage.papers.teacher_models.noise.settings import (
    BASE,
    FLAT,
    LOUD,
    POWERS,
    STRONG,
    with_decaying_steps,
)
from tutelage.papers.teacher_models.noise.study import study
from tutelage.papers.teacher_models.theory import noise as noise_theory
from tutelage.papers.teacher_models.theory.recursion import along
from tutelage.problem.build import build
from tutelage.run import Outcome, Run
from tutelage.settings import Part
from tutelage.studies.study import Plan

STEPS = np.unique(np.rint(np.geomspace(1, BASE.steps, 900)).astype(np.int64))


def weights(steps, k):
    """C(s+k−1, k), normalised: what the running mean gives the s-th iterate, written out."""
    found = np.array([comb(s + k - 1, k) for s in range(1, steps + 1)], float)
    return found / found.sum()


# --- the averaged iterate


@pytest.mark.parametrize("k", [0, 1, 3])
def test_the_average_is_a_weighted_sum_of_the_iterates_and_leaves_them_alone(k):
    method = averaged_descent(0.2, degree=float(k))
    theta = np.array([1.0, -2.0])
    state = method.init(theta)
    seen = []
    for s in range(9):
        gradient = np.array([1.0, 3.0]) * theta + 0.1 * s
        moves, state = method.update(gradient, state, theta)
        np.testing.assert_array_equal(moves, -0.2 * gradient)
        theta = theta + np.asarray(moves)
        seen.append(theta)
    np.testing.assert_allclose(state.mean, weights(9, k) @ np.array(seen), rtol=1e-13)


def test_an_exact_run_and_its_average_are_the_recursion_and_its_average():
    setting = replace(BASE, objective=Part("population"), steps=400)
    problem = build(setting)
    run = tt.train(
        problem.student,
        problem.objective,
        rate=0.1,
        steps=400,
        optimiser=problem.optimiser,
        measures=problem.measures,
    )
    np.testing.assert_allclose(
        run.curves["averaged_excess"], noise_theory.averaged_exact(setting, run.steps), rtol=1e-10
    )
    np.testing.assert_allclose(
        run.curves["excess_risk"], along(setting, run.steps)["excess_risk"], rtol=1e-10
    )
    near = noise_theory.exact(setting, run.steps)[1:]  # between steps it is interpolated
    np.testing.assert_allclose(run.curves["excess_risk"][1:], near, rtol=2e-3)


def test_decaying_steps_follow_the_exact_run_in_their_own_time():
    """Not the same path: steps differ. But near it, since both follow one flow."""
    setting = replace(with_decaying_steps(LOUD, 0.5), objective=Part("population"), steps=2000)
    problem = build(setting)
    run = tt.train(
        problem.student,
        problem.objective,
        rate=0.1,
        steps=2000,
        optimiser=problem.optimiser,
        measures=problem.measures,
    )
    late = run.steps > 100
    np.testing.assert_allclose(
        run.curves["excess_risk"][late], noise_theory.exact(setting, run.steps[late]), rtol=0.02
    )


def test_what_reads_an_average_needs_one():
    with pytest.raises(
        tt.Refused, match="'averaged_excess' is of the iterates that 'averaged' keeps"
    ):
        build(replace(BASE, optimiser=Part("gradient_descent")))
    with pytest.raises(tt.Refused, match="degree=-1"):
        build(replace(BASE, optimiser=Part("averaged", degree=-1)))


# --- predictions, each done twice


@pytest.mark.parametrize("k", [0, 1, 3])
def test_the_cost_of_averaging_is_two_integrals(k):
    setting = replace(BASE, optimiser=Part("averaged", degree=k))
    A = _mean(k, lambda x: x**-0.5)
    B = math.exp(_mean(k, lambda x: -0.5 * math.log(x)))
    n, K = 6, 2
    on_the_path = ((n - n) ** 2 / K + n) / n
    averaged = ((A * n - B * n) ** 2 / K + n * B**2) / n
    assert noise_theory.averaging_cost(setting) == pytest.approx(averaged / on_the_path, rel=1e-12)
    assert noise_theory.averaged_constant(setting) == pytest.approx(24 * averaged, rel=1e-12)


def _mean(k, function):
    """∫(k+1)x^k f(x)dx over [0, 1], in y = √x, where t^-½ has no pole."""
    return quad(
        lambda y: (k + 1) * y ** (2 * k) * function(y * y) * 2 * y, 0, 1, epsabs=1e-13, epsrel=1e-13
    )[0]


@pytest.mark.parametrize(
    "setting", [BASE, with_decaying_steps(LOUD, 0.75)], ids=["averaged", "decaying"]
)
def test_what_noise_keeps_up_is_a_sum_over_all_draws(setting):
    """x_T = Σ_j η_j τ√(h/N) ξ_j Π_{i>j}(1 − η_i h), and its average the same sum with weights."""
    T = 60
    eta = np.array([e for _, e in zip(range(T), noise_theory.step_sizes(setting), strict=False)])
    w = weights(T, int(noise_theory.degree(setting)))
    last = averaged = 0.0
    tau, N = setting.teacher.options["noise"], 25
    for many, h in ((2 * 3, 8 / 2), (8, 100 / (8 * 4))):
        gains = np.array(
            [
                [eta[j] * np.prod(1 - eta[j + 1 : s + 1] * h) if s >= j else 0.0 for j in range(T)]
                for s in range(T)
            ]
        )
        scale = many * h / 2 * tau**2 * h / N
        last += scale * np.sum(gains[-1] ** 2)
        averaged += scale * np.sum((w @ gains) ** 2)
    kept = noise_theory.kept(setting, np.array([0, T]))
    assert kept.last[0] == kept.averaged[0] == 0
    assert kept.last[1] == pytest.approx(last, rel=1e-12)
    assert kept.averaged[1] == pytest.approx(averaged, rel=1e-12)


def test_constant_steps_keep_the_floor_and_their_average_falls_like_one_over_the_steps():
    kept = noise_theory.kept(BASE, np.array([2000, 4000]))
    assert kept.last == pytest.approx([theory.noise_floor(BASE)] * 2, rel=1e-12)
    short = 1 - kept.averaged * [2000, 4000] / noise_theory.averaged_noise(BASE)
    assert short[0] < 0.01
    assert short[0] / short[1] == pytest.approx(2, rel=0.01)  # what is missing is of order 1/(ηhT)


def test_decaying_steps_lower_the_floor_with_the_step_size():
    for a in POWERS:
        setting = with_decaying_steps(LOUD, a)
        now = 0.1 * (1 + 20_000 / 100) ** -a
        expected = theory.noise_floor(replace(LOUD, rate=now))
        assert noise_theory.kept(setting, np.array([20_000])).last[0] == pytest.approx(
            expected, rel=0.02
        )  # it lags a little


@pytest.mark.parametrize("noise", [0.1, 0.01])
def test_the_bias_of_the_average_is_where_the_mean_risk_is_least(noise):
    """E L over Gaussian fluctuations of W_V and of the two scores on a support, minimised over
    W_V's length and the off-support weight.
    """
    setting = STRONG.change(**{"teacher.noise": noise})
    V2, Q, K, D = 100.0, 8, 2, 8
    n = D - K
    drive = 0.1 * noise**2 / 25
    sigma2, v = 6 * drive / (2 - 0.1 * 4), drive / (2 - 0.1 * 3.125)
    x, weight = np.polynomial.hermite_e.hermegauss(40)
    share = 1 / (1 + np.exp(-np.sqrt(2 * v / D) * x))
    squares = np.sum(weight * (share**2 + (1 - share) ** 2)) / np.sum(weight)

    def scale(q):
        P = 1 - n * q
        return P / K / (P**2 * squares + n * q**2 + 0.0)

    def force(q):
        P, g = 1 - n * q, scale(q)
        return 0.5 * (V2 * g**2 + sigma2) * (-2 * n * P * squares + 2 * n * q) + g * V2 * n / K

    q = brentq(force, 0.0, 0.01, xtol=1e-18)
    w = scale(q) - 1
    excess = 0.5 * V2 * Q * ((w * (1 - n * q) - n * q) ** 2 / K + n * ((1 + w) * q) ** 2)
    assert noise_theory.averaged_bias(setting) == pytest.approx(
        excess, rel=2 * noise**2
    )  # the next order


def test_label_noise_is_not_in_the_mean_gradient():
    """∇L is linear in the noise E, so that its mean over E and −E is the noiseless gradient, to
    rounding.
    """
    problem = build(LOUD.change(**{"teacher.activation": "relu", "student.start": 0.3}))
    key = jax.random.key(0)
    noisy, plain = (
        draw_sample(problem.teacher, problem.inputs, 20, key=key, noisy=n) for n in (True, False)
    )
    mirrored = Sample(plain.tokens, 2 * plain.labels - noisy.labels)
    gradient = eqx.filter_jit(eqx.filter_grad(lambda student, data: data(student)))
    slopes = [jax.tree.leaves(gradient(problem.student, data)) for data in (noisy, mirrored, plain)]
    for up, down, none in zip(*slopes, strict=True):
        assert np.abs(up - none).max() > 0.01
        np.testing.assert_allclose((up + down) / 2, none, rtol=1e-11, atol=1e-11)


def test_the_crossing_is_where_both_parts_are_equal():
    step = noise_theory.crossing(BASE)
    assert noise_theory.exact(BASE, np.array([round(step)]))[0] == pytest.approx(
        theory.noise_floor(BASE), rel=1e-3
    )
    assert step == pytest.approx(24 / (0.1 * theory.noise_floor(BASE)), rel=0.05)


def test_theory_is_silent_where_it_knows_nothing():
    relu = BASE.change(**{"teacher.activation": "relu"})
    mixed = replace(
        BASE,
        teacher=Part("graph_convolution", tokens=34, outputs=2, dim=3, graph="karate"),
        steps=5,
    )
    with pytest.raises(NoPrediction, match="identity"):
        noise_theory.averaged_exact(relu, STEPS)
    with pytest.raises(NoPrediction, match="identity"):
        noise_theory.averaged_bias(relu)
    with pytest.raises(NoPrediction, match="equal supports"):
        noise_theory.averaging_cost(mixed)


# --- how runs are read: curves that are the theory's own, then ones that are not


def made(setting, **curves):
    return Run(STEPS, curves, None, Outcome.FINISHED, rate=setting.rate, setting=setting)


def test_readings_of_the_predicted_curve_are_the_predicted_numbers():
    run = made(
        BASE,
        excess_risk=noise_theory.expected(BASE, STEPS),
        averaged_excess=noise_theory.expected_average(BASE, STEPS),
    )
    assert read_crossing(run, BASE) == pytest.approx(1, abs=0.01)
    assert slope_in(before_crossing)(run, BASE) == pytest.approx(
        expected_slope_in(before_crossing)(BASE), abs=1e-3
    )
    assert ratio_in(after_crossing, "excess_risk", noise_theory.expected)(
        run, BASE
    ) == pytest.approx(1, abs=1e-12)
    assert ratio_in(last_decade, "averaged_excess", noise_theory.expected_average)(
        run, BASE
    ) == pytest.approx(1, abs=1e-12)
    assert 1 < read_over_floor(run, BASE) < 2


def test_readings_tell_another_floor():
    floor, exact = theory.noise_floor(BASE), noise_theory.exact(BASE, STEPS)
    run = made(BASE, excess_risk=exact + 2 * floor)
    assert read_crossing(run, BASE) == pytest.approx(0.5, abs=0.02)
    assert ratio_in(after_crossing, "excess_risk", noise_theory.expected)(run, BASE) > 1.5
    assert slope_in(after_crossing)(made(BASE, excess_risk=exact), BASE) == pytest.approx(
        -1, abs=0.02
    )


def test_a_slope_is_of_means_and_not_of_logarithms():
    """A floor that fluctuates more and more has slope 0; its logarithm would fall by 1.3 over these
    three decades.
    """
    steps = np.unique(np.rint(np.geomspace(100, 100_000, 40_000)).astype(np.int64))
    share = np.log10(steps / 100) / 3
    draws = 1 - share + share * np.random.default_rng(0).chisquare(1, len(steps))
    assert fit_slope(steps, draws) == pytest.approx(0, abs=0.06)
    assert fit_slope(steps, 1 / steps**0.5) == pytest.approx(-0.5, abs=0.01)


def test_windows_come_from_theory():
    first, last = before_crossing(BASE)
    assert first == pytest.approx(30 * 6.4)
    assert last < around_crossing(BASE)[0] < after_crossing(BASE)[0]


# --- the study


def planned(plan):
    return study.cases(plan, study.preset(plan))


@pytest.fixture(scope="module")
def answered():
    return Answers(
        "teacher-models/noise", study, lambda case: Plan(seeds=3, steps=2500, only=(case,))
    )


@pytest.mark.depth
def test_the_exact_run_does_not_know_of_noise_and_the_online_run_does(answered):
    assert [v.status for v in answered["exact"].verdicts] == [Status.HOLDS] * 2
    assert [v.status for v in answered["drawn"].verdicts] == [Status.FAILS]


@pytest.mark.depth
def test_a_run_that_ends_before_the_crossing_is_undecided_about_it(answered):
    named = {v.id.split("/")[-1]: v for v in answered["constant"].verdicts}
    assert named["crossing"].status is named["after"].status is Status.UNDECIDED
    assert "Too short to tell" in named["crossing"].sentence
    assert named["rate-before"].measured == pytest.approx(
        expected_slope_in(before_crossing)(BASE), abs=0.05
    )
    assert named["averaged"].measured == pytest.approx(1, abs=0.05)


def test_constant_steps_stay_at_the_floor(answered):
    assert answered["below-floor"].verdicts[0].status is Status.FAILS
    assert answered["below-floor"].verdicts[0].measured == pytest.approx(
        1.1, abs=0.2
    )  # the exact part is still there


def test_it_is_a_question_with_controls_that_break_something():
    assert paper.studies["noise"].beyond
    cases = planned(Plan())
    assert sum(bool(case.control) for case in cases) == 5
    assert all(
        len({s.seed for s in case.settings}) >= 5
        for case in cases
        if case.settings[0].objective.name == "online"
    )
    changed = planned(Plan(changes={"N": 50}))
    assert {s.objective.options["batch"] for case in changed for s in case.settings} == {50}
    assert [case.name for case in planned(Plan(changes={"degree": 1})) if case.left_out] == [
        f"decay-{a:g}" for a in POWERS
    ]
    assert FLAT.teacher.options["tokens"] == FLAT.teacher.options["support"]
