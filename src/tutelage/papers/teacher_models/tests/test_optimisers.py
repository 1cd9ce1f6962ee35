"""teacher-models/optimisers: its predictions against independent twins, and the study's
verdicts.
"""

import math

import numpy as np
import pytest

from tutelage.claims import Status
from tutelage.claims.claim import NoPrediction, NotYet
from tutelage.papers.teacher_models import theory
from tutelage.papers.teacher_models.optimisers import readings as reading
from tutelage.papers.teacher_models.optimisers.runs import HEAVY, NESTEROV, RUNS
from tutelage.papers.teacher_models.optimisers.study import study
from tutelage.papers.teacher_models.setup import GCN
from tutelage.papers.teacher_models.theory import optimisers as predictions
from tutelage.papers.teacher_models.theory import recursion
from tutelage.problem.build import build_teacher
from tutelage.run import Outcome, Run
from tutelage.settings import Part, Setting
from tutelage.studies.answering import run_cases
from tutelage.studies.discovery import find_paper
from tutelage.studies.study import Plan

PLAIN = Setting(GCN, 0.2, steps=30_000)
C = 20 * 3 * 17 / 4
H = 0.5 * 20 / 3


def at(part, rate=0.1, **more):
    return Setting(GCN, rate, steps=100_000, optimiser=part, **more)


# --- predictions


@pytest.mark.parametrize(
    "part", [Part("gradient_descent", power=0.5, onset=10.0), HEAVY.change(power=1.0, onset=7.0)]
)
def test_time_is_the_sum_of_the_step_sizes(part):
    setting = at(part)
    sizes = [0.1 / (1 + t / part.options["onset"]) ** part.options["power"] for t in range(50)]
    share = 1 - part.options.get("decay", 0.0)
    np.testing.assert_allclose(
        predictions.time(setting, np.array([0, 1, 50])),
        [0, sizes[0] / share, sum(sizes) / share],
        rtol=1e-12,
    )


def test_the_plateau_is_that_of_the_same_time():
    assert predictions.plateau(PLAIN) == pytest.approx(theory.plateau(PLAIN), rel=1e-12)
    heavy = at(HEAVY)
    same_time = predictions.steps_to_plateau(heavy)
    assert same_time == pytest.approx(0.1 * theory.plateau(heavy), rel=1e-12)
    # The roots of z² − (1+β−ηh)z + β are complex, of modulus √β, and ring for longer than that.
    assert predictions.plateau(heavy) == pytest.approx(-2 / math.log(0.9), rel=1e-12)
    slowed = at(Part("gradient_descent", power=1.0, onset=5.0))
    steps = predictions.plateau(slowed)
    whole = predictions.time(slowed, np.array([math.floor(steps), math.ceil(steps)]))
    assert whole[0] <= 0.1 * theory.plateau(slowed) <= whole[1]


def test_laws_with_momentum_are_those_of_the_paper_times_the_share():
    heavy, plain = at(HEAVY), at(Part("gradient_descent"))
    excess, value, attention = (predictions.with_momentum(law)(heavy) for law in theory.LAWS)
    assert excess == pytest.approx(0.1 * C, rel=1e-12)
    assert theory.counting_law(heavy) == pytest.approx(C, rel=1e-12)
    assert value == pytest.approx(math.sqrt(0.1) * theory.value_constant(plain), rel=1e-12)
    assert attention == pytest.approx(math.sqrt(0.1) * theory.attention_constant(plain), rel=1e-12)


@pytest.mark.parametrize(
    "part", [Part("gradient_descent"), HEAVY, NESTEROV, NESTEROV.change(decay=0.3)]
)
def test_at_the_edge_an_eigenvalue_of_the_step_is_minus_one(part):
    """The linear map of (x, v) on ½hx², as optax writes it: v ← βv + hx, x ← x − η(v or hx +
    βv).
    """
    setting = at(part)
    b, nesterov, eta = (
        predictions.velocity(setting),
        part.options.get("nesterov", False),
        predictions.edge(setting),
    )

    def largest(rate):
        columns = []
        for x, v in ((1.0, 0.0), (0.0, 1.0)):
            v = b * v + H * x
            columns.append((x - rate * (H * x + b * v if nesterov else v), v))
        return np.linalg.eigvals(np.array(columns).T)

    assert min(abs(largest(eta) + 1)) < 1e-12
    assert max(abs(largest(0.99 * eta))) < 1 < max(abs(largest(1.01 * eta)))


def test_only_descents_have_a_time_and_an_edge():
    for function in (predictions.edge, lambda s: predictions.time(s, np.array([1]))):
        with pytest.raises(NoPrediction):
            function(at(Part("adam")))


def test_the_field_of_the_flow_is_that_of_the_recursion():
    """One step of the exact recursion is one step of Euler's method on it; derivatives here by
    autodiff, there by hand.
    """
    for activation in ("identity", "relu", "leaky_relu(0.1)"):
        setting = Setting(GCN.change(activation=activation), 0.2, steps=1)
        states = recursion.states(setting)
        seen = [next(states) for _ in range(40)]
        field = predictions.flow_field(setting)
        excess = predictions.risk_of_two(setting)
        for now, after in ((seen[5], seen[6]), (seen[38], seen[39])):
            moved = np.array([after.value_scale - now.value_scale, after.score_gap - now.score_gap])
            np.testing.assert_allclose(
                0.2 * field(0.0, np.array([now.value_scale, now.score_gap])),
                moved,
                rtol=1e-10,
                atol=1e-14,
            )
            assert float(excess(now.value_scale, now.score_gap)) == pytest.approx(
                now.excess_risk, rel=1e-11
            )


def test_descent_tends_to_the_flow_at_first_order():
    """By the recursion, which no training code has touched."""
    away = []
    for rate in (0.02, 0.01):
        setting = Setting(GCN, rate, steps=1)
        steps = np.array([round(t / rate) for t in (2.0, 5.0, 10.0)])
        away.append(
            np.log(
                recursion.along(setting, steps)["excess_risk"]
                / predictions.flow(setting, rate * steps)
            )
        )
    assert np.abs(away[1]).max() < 0.01
    np.testing.assert_allclose(away[0] / away[1], 2.0, rtol=0.05)


def descend_by_length(setting, steps, power=0.0, onset=100.0):
    """Normalised descent of the two numbers in NumPy: a column of K + n scores each and M·d values
    share one length of gradient.
    """
    f = theory.facts(setting)
    K, n, norm = f.support, f.tokens - f.support, f.norm
    field = predictions.flow_field(setting)
    pace = (
        1 / K + 1 / n
    ) * f.queries  # ‖∇‖² = (‖V*‖ Ċ)² + Q(1/K + 1/n)(∂L/∂z/Q)², and ż = (1/K + 1/n)∂L/∂z/Q
    state, seen = np.array([0.5, 1.0]), []
    excess = predictions.risk_of_two(setting)
    for t in range(steps):
        slope = field(0.0, state)
        length = math.sqrt((norm * slope[0]) ** 2 + slope[1] ** 2 / (1 / K + 1 / n) ** 2 * pace)
        state = state + setting.rate / (1 + t / onset) ** power * slope / length
        seen.append(float(excess(*state)) if t >= steps - 2 else math.nan)
    return np.mean(seen[-2:])


def test_normalised_descent_ends_to_and_fro_by_its_step():
    setting = Setting(GCN, 1.4, steps=3_000, optimiser=Part("normalised"))
    assert predictions.normalised_level(setting) == pytest.approx(
        H * 1.4**2 / 8 + C * H / (2 * 3_000), rel=1e-12
    )
    assert descend_by_length(setting, setting.steps) == pytest.approx(
        predictions.normalised_level(setting), rel=0.05
    )


def test_what_else_is_predicted_of_normalised_descent():
    setting = at(Part("normalised"), rate=0.5)
    assert predictions.normalised_fall(setting) == pytest.approx(-1 / math.sqrt(C), rel=1e-12)
    assert predictions.normalised_edge_excess(setting) == pytest.approx(
        math.sqrt(C) * H / 4, rel=1e-12
    )
    assert predictions.self_tuned_law(setting) == pytest.approx(C * H / 4, rel=1e-12)


def test_the_cosine_with_the_signs_is_that_of_a_step_along_them():
    setting = at(Part("sign"), seed=3)
    value = np.asarray(build_teacher(setting).value).ravel()
    signs = np.sign(value)
    assert predictions.sign_cosine(setting) == pytest.approx(
        signs @ value / np.linalg.norm(signs) / np.linalg.norm(value), rel=1e-12
    )


# --- readings


def made(curve, rate=0.1, seed=0, steps=None, part=RUNS["adam"].optimiser):
    steps = (
        np.unique(np.round(np.geomspace(1, 50_000, 100)).astype(int)) if steps is None else steps
    )
    return Run(
        steps,
        {"excess_risk": curve(steps)},
        None,
        Outcome.FINISHED,
        rate=rate,
        setting=Setting(GCN, rate, 50_000, seed, optimiser=part),
    )


def test_the_level_of_a_curve_that_hovers_and_its_exponent_are_read():
    runs = [
        made(lambda t, e=e, s=s: (3.0 + s) * e**1.5 + 0 * t, e, s)
        for e in (0.1, 0.2, 0.4)
        for s in (0, 1)
    ]
    assert reading.hover_exponents(runs) == pytest.approx([1.5, 1.5], rel=1e-12)
    assert reading.hover_levels(runs) == pytest.approx([3 * 0.2**-0.5, 4 * 0.2**-0.5], rel=1e-12)
    with pytest.raises(NotYet):
        reading.hover(made(lambda t: np.ones(len(t)), steps=np.arange(1, 500)))


def test_an_exponential_fall_is_read_where_it_is_before_the_edge():
    steps = np.arange(0, 50_000, 100)
    run = made(
        lambda t: 1e3 * np.exp(-0.0025 * t / 7.0), 0.0025, steps=steps, part=Part("normalised")
    )
    assert reading.fall(run) == pytest.approx(-1 / 7.0, rel=1e-9)
    with pytest.raises(NotYet):
        reading.fall(made(lambda t: 1e3 + 0 * t, 0.0025, steps=steps, part=Part("normalised")))


# --- the study


@pytest.fixture(scope="module")
def answered():
    only = ("heavy-ball", "heavy-ball-above", "momentum-plain-law")
    cases, _ = study.plan(Plan(seeds=1, steps=20_000, only=only))
    return {a.case.name: a for a in run_cases(study.name, cases)}


def statuses(answered):
    return {v.id.split("/")[-1]: v.status for v in answered.verdicts}


def test_momentum_has_the_laws_of_plain_descent_times_its_share(answered):
    found = statuses(answered["heavy-ball"])
    assert {
        found[name] for name in ("excess-constant", "value-constant", "two-values", "cosine")
    } == {Status.HOLDS}
    assert found["excess-rate"] in (
        Status.HOLDS,
        Status.UNDECIDED,
    )  # a slope settles later than a level
    run = answered["heavy-ball"].runs[0]
    assert run.curves["attention_error"][-1] * run.time[-1] ** 0.5 == pytest.approx(
        predictions.with_momentum(theory.LAW["attention"])(run.setting), rel=0.03
    )


def test_controls_fail(answered):
    assert statuses(answered["momentum-plain-law"]) == {"excess-constant": Status.FAILS}
    assert statuses(answered["heavy-ball-above"])["excess-rate"] is not Status.HOLDS


def test_the_figure_draws_what_was_run(answered, tmp_path):
    paths = study.figures(list(answered.values()), tmp_path)
    assert [p.name for p in paths] == ["optimisers.png", "optimisers.csv"]
    assert "heavy ball, β = 0.9: excess·time over law" in paths[1].read_text().splitlines()[0]


def test_the_study_is_a_question_and_its_cases_share_their_runs():
    assert find_paper("teacher-models").studies["optimisers"].beyond
    cases = {case.name: case for case in study.plan(Plan())[0]}
    assert cases["momentum-plain-law"].settings == cases["heavy-ball"].settings
    assert set(cases["adam-plain-law"].settings) < set(cases["adam"].settings)
    # One batch, and one program, for each optimiser: its edges have the horizon of its run.
    assert {
        s.steps
        for name in ("nesterov", "nesterov-below", "nesterov-above")
        for s in cases[name].settings
    } == {60_000}
    assert [case.name for case in study.plan(Plan(changes={"V": 20.0}))[0]] == list(RUNS)
    asked = [(case.name, claim.id) for case in study.plan(Plan())[0] for claim in case.claims]
    assert len(set(asked)) == len(asked)
