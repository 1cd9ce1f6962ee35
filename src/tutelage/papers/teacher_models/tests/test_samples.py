"""teacher-models/samples: the tangent cone and the linear baselines against independent twins, and
the study's verdicts.
"""

import math

import jax.numpy as jnp
import numpy as np
import pytest
from scipy.integrate import quad
from scipy.optimize import minimize, nnls

import tutelage as tt
from tutelage.claims import Status
from tutelage.claims.claim import NoPrediction
from tutelage.numerics.streams import stream
from tutelage.objectives.empirical import EmpiricalRisk
from tutelage.objectives.sample import draw_sample
from tutelage.papers.teacher_models import paper
from tutelage.papers.teacher_models.samples import fits, needs, readings
from tutelage.papers.teacher_models.samples.claims import dimension_law
from tutelage.papers.teacher_models.samples.controls import controls
from tutelage.papers.teacher_models.samples.fits import LinearMap, fit_all
from tutelage.papers.teacher_models.samples.methods import (
    LEAST_SQUARES,
    ORACLE,
    RIDGE,
    STUDENT,
    count_parameters,
    expected_need,
    find_crossing,
)
from tutelage.papers.teacher_models.samples.settings import (
    setting_at,
    several_queries,
    with_samples,
)
from tutelage.papers.teacher_models.samples.study import study
from tutelage.papers.teacher_models.theory import linear_baselines as linear
from tutelage.papers.teacher_models.theory import tangent_cone as cone
from tutelage.problem.build import build, build_teacher
from tutelage.refuse import Refused
from tutelage.settings import Part
from tutelage.studies.answering import run_cases
from tutelage.studies.study import Plan

RNG = np.random.default_rng
pytestmark = pytest.mark.usefixtures("adam_allowed")


def small(**options):
    """D = 5, d = 3, K = 2, one query: everything can be summed or solved by hand."""
    return setting_at(5, 3, support=2, **options)


# --- the tangent cone


def test_the_projection_is_that_of_a_general_solver():
    """All entries at once, by sequential quadratic programming, with equal sums of the columns as
    its only structure.
    """
    on = np.asarray(build_teacher(several_queries()).selection) > 0
    D, Q = on.shape
    rows = np.kron(np.ones(D), np.eye(Q))  # column sums of what is laid row by row
    for seed in range(3):
        given = RNG(seed).standard_normal((D, Q))
        solved = minimize(
            lambda t, g=given: 0.5 * np.sum((t - g.ravel()) ** 2),
            np.zeros(D * Q),
            jac=lambda t, g=given: t - g.ravel(),
            bounds=[(None, None) if free else (0, None) for free in on.ravel()],
            constraints=[
                {
                    "type": "eq",
                    "fun": lambda t: (rows[1:] - rows[:-1]) @ t,
                    "jac": lambda t: rows[1:] - rows[:-1],
                }
            ],
            method="SLSQP",
            options={"ftol": 1e-16, "maxiter": 300},
        )
        np.testing.assert_allclose(cone.project(given, on).ravel(), solved.x, atol=1e-6)


def test_the_projection_satisfies_the_conditions_of_a_minimum_to_the_last_digit():
    on = np.asarray(build_teacher(several_queries()).selection) > 0
    given = RNG(7).standard_normal((50, *on.shape))
    found = cone.project(given, on)
    assert np.ptp(found.sum(-2), axis=-1).max() < 1e-12  # feasible
    assert found[:, ~on].min() >= 0
    shift = found - given
    for q in range(on.shape[1]):
        multiplier = shift[:, on[:, q], q]
        assert np.ptp(multiplier, axis=-1).max() < 1e-12  # one ν a column where nothing is cut
        assert (
            shift[..., ~on[:, q], q] >= multiplier[:, :1] - 1e-12
        ).all()  # and no less where it is
    assert (
        np.abs(sum(shift[:, np.argmax(on[:, q]), q] for q in range(on.shape[1]))).max() < 1e-12
    )  # Σν = 0: the sum is free


def test_the_statistical_dimension_of_one_query_is_the_sum_over_its_faces():
    """The cone R^K × R₊^(D−K): its face with k free entries off the support has probability C(D−K,
    k) 2^−(D−K).
    """
    setting = setting_at(16, 8)
    faces = sum(math.comb(12, k) * 2.0**-12 * (4 + k) for k in range(13))
    assert cone.statistical_dimension(setting) == pytest.approx(8 - 1 + faces, rel=1e-12)
    assert cone.statistical_dimension(setting_at(16, 8, activation="relu")) == 17.0
    assert cone.free_weights(setting) == 23.0


def test_the_length_in_the_cone_is_that_of_nonnegative_least_squares():
    """‖Π_C N‖² from the cone's own generators, of either sign where a direction is free: no
    structure used.
    """
    setting = small()
    value, selection = (
        np.asarray(a) for a in (build_teacher(setting).value, build_teacher(setting).selection)
    )
    free = [np.einsum("me,jq->mqej", unit.reshape(1, 3), selection).ravel() for unit in np.eye(3)]
    moves = [
        np.einsum("me,jq->mqej", value, unit[:, None] - selection[:, :1]).ravel()
        for unit in np.eye(5)
    ]
    generators = np.stack([*free, *(-g for g in free), *moves, -moves[0], -moves[1]], axis=1)
    for seed in range(4):
        noise = RNG(seed).standard_normal((1, 1, 3, 5))
        weights, _ = nnls(generators, noise.ravel())
        assert cone.length_square(noise, value, selection) == pytest.approx(
            np.sum((generators @ weights) ** 2), rel=1e-10
        )


def test_the_dimension_of_several_queries_is_the_mean_over_the_cone():
    """Another draw than the one it is made of, by the length of the whole cone: within five
    standard errors.
    """
    setting = several_queries()
    value, selection = (
        np.asarray(a) for a in (build_teacher(setting).value, build_teacher(setting).selection)
    )
    drawn = [
        cone.length_square(n, value, selection)
        for n in RNG(11).standard_normal((1500, 3, 4, 6, 12))
    ]
    error = np.std(drawn) / math.sqrt(len(drawn))
    assert abs(np.mean(drawn) - cone.statistical_dimension(setting)) < 5 * error
    assert cone.statistical_dimension(setting) < cone.free_weights(setting) - 5 * error


# --- the linear baselines


@pytest.mark.parametrize("activation", ["identity", "relu", "leaky_relu(0.1)"])
def test_the_excess_of_a_linear_map_is_that_of_quadrature(activation):
    """½E(βx + b − σ(u))² over u and the part of βx across it, by Gauss–Hermite on each side of the
    kink.
    """
    setting = small(activation=activation)
    teacher = build_teacher(setting)
    own = np.einsum("me,jq->mqej", teacher.value, teacher.selection).ravel()
    beta, b = RNG(1).standard_normal(15), 0.3
    size = np.linalg.norm(own)
    along = float(beta @ own / size)
    across = float(beta @ beta - along**2)

    def squared(z):
        bent = float(teacher.activation(jnp.asarray(size * z)))
        return (
            ((along * z + b - bent) ** 2 + across) * math.exp(-z * z / 2) / math.sqrt(2 * math.pi)
        )

    exact = 0.5 * (quad(squared, -12, 0, epsabs=1e-13)[0] + quad(squared, 0, 12, epsabs=1e-13)[0])
    assert fits.linear_excess(LinearMap(beta[None], np.array([b])), teacher) == pytest.approx(
        exact, rel=1e-11
    )
    nothing = LinearMap(np.zeros((1, 15)), np.zeros(1))
    assert fits.linear_excess(nothing, teacher) == pytest.approx(
        linear.zero_excess(setting), rel=1e-12
    )


def test_the_expectation_of_least_squares_is_steins_formula_and_its_gap_that_of_relu():
    setting = with_samples(small(), 40)
    n, p, tau = 40, 15, 0.5
    stein = tau**2 * (
        (n + 1) * (n - 2) / (n * (n - p - 2)) - 1
    )  # with an intercept, Gaussian random design
    assert linear.least_squares_excess(setting) == pytest.approx(stein / 2, rel=1e-12)
    assert linear.least_squares_excess(with_samples(small(), 16)) == math.inf
    relu = small(activation="relu")
    assert linear.linear_gap(relu) / linear.zero_excess(relu) == pytest.approx(
        0.5 - 1 / math.pi, rel=1e-12
    )
    with pytest.raises(NoPrediction, match="misspecified"):
        linear.least_squares_excess(relu)


def test_expectations_of_the_fits_are_their_means_over_samples():
    """By z-score over 400 samples: least squares above and below p rows, the oracle."""
    teacher = build_teacher(small())
    value, selection = np.asarray(teacher.value), np.asarray(teacher.selection)
    for n in (8, 40):
        rng, squares, oracles = RNG(n), [], []
        for _ in range(400):
            tokens = rng.standard_normal((n, 3, 5))
            labels = value @ tokens @ selection + 0.5 * rng.standard_normal((n, 1, 1))
            squares.append(
                fits.linear_excess(
                    fits.fit_least_squares(tokens.reshape(n, -1), labels.reshape(n, -1)), teacher
                )
            )
            oracles.append(
                0.5
                * np.sum((fits.fit_oracle(tokens, labels, selection) - value) ** 2)
                * np.sum(selection**2)
            )
        for found, expected in (
            (squares, linear.least_squares_excess),
            (oracles, linear.oracle_excess),
        ):
            error = np.std(found) / 20
            assert abs(np.mean(found) - expected(with_samples(small(), n))) < 4 * error


def test_ridge_chooses_by_leaving_each_row_out_in_truth():
    """The penalty and the map by refitting without each row."""
    rng = RNG(2)
    for n, p in ((12, 5), (6, 9)):
        x, y = rng.standard_normal((n, p)), rng.standard_normal((n, 1))

        def fitted(x, y, penalty):
            a, b = x - x.mean(0), y - y.mean(0)
            slopes = np.linalg.solve(a.T @ a + penalty * np.eye(x.shape[1]), a.T @ b)
            return slopes, y.mean(0) - x.mean(0) @ slopes

        errors = []
        for penalty in n * fits.PENALTIES:
            left = [fitted(np.delete(x, i, 0), np.delete(y, i, 0), penalty) for i in range(n)]
            errors.append(
                np.mean([(y[i, 0] - x[i] @ s[:, 0] - b[0]) ** 2 for i, (s, b) in enumerate(left)])
            )
        slopes, shift = fitted(x, y, n * fits.PENALTIES[int(np.argmin(errors))])
        found = fits.fit_ridge(x, y)
        np.testing.assert_allclose(found.slopes[0], slopes[:, 0], atol=1e-10)
        np.testing.assert_allclose(found.intercepts, shift, atol=1e-10)


@pytest.mark.parametrize(("penalty", "ratio"), [(0.3, 0.5), (0.7, 2.0)])
def test_the_resolvent_is_the_integral_over_marchenko_and_pastur(penalty, ratio):
    low, high = (1 - math.sqrt(ratio)) ** 2, (1 + math.sqrt(ratio)) ** 2
    # x = mid + half·sin θ takes the two square-root edges out of the integrand.
    mid, half = (low + high) / 2, (high - low) / 2

    def inside(theta):
        x = mid + half * math.sin(theta)
        return (half * math.cos(theta)) ** 2 / (2 * math.pi * ratio * x) / (x + penalty)

    mass = max(0.0, 1 - 1 / ratio) / penalty  # of the zero eigenvalues
    assert linear.resolvent(penalty, ratio) == pytest.approx(
        quad(inside, -math.pi / 2, math.pi / 2, epsabs=1e-14)[0] + mass, rel=1e-12
    )


# --- students and objectives


@pytest.mark.depth
def test_the_two_layer_network_can_be_the_relu_teacher_and_counts_its_numbers():
    teacher = build_teacher(small(activation="relu"))
    network = tt.build(
        small(activation="relu").change(
            student=Part("two_layer", hidden=1), **{"objective.held_out": 8}
        )
    ).student
    own = jnp.einsum("me,jq->mqej", teacher.value, teacher.selection).reshape(1, -1)
    exact = type(network)(own, jnp.zeros(1), jnp.ones((1, 1)), jnp.zeros(1), (1, 1))
    tokens = jnp.asarray(RNG(0).standard_normal((3, 5)))
    np.testing.assert_allclose(exact(tokens), teacher(tokens), rtol=1e-12)
    assert network.size == 15 + 1 + 1 + 1
    with pytest.raises(Refused, match="at least one hidden unit"):
        build(small().change(student=Part("two_layer", hidden=0), **{"objective.held_out": 8}))


def test_the_oracle_learns_the_value_alone_and_ends_at_least_squares():
    setting = small().change(student=Part("known_selection"), steps=1500)
    (run,) = tt.execute([setting])
    np.testing.assert_array_equal(run.student.attention(), build_teacher(setting).selection)
    assert readings.last_excess(run) == pytest.approx(fit_all(setting).oracle, rel=1e-6)


def test_a_sample_drawn_as_one_program_is_the_one_drawn_in_pieces():
    problem = build(small())
    pieces = draw_sample(problem.teacher, problem.inputs, 100, key=stream(0, "samples"))
    np.testing.assert_allclose(problem.objective.sample.tokens, pieces.tokens, rtol=1e-12)
    np.testing.assert_allclose(
        problem.objective.sample.labels, pieces.labels, rtol=1e-12, atol=1e-14
    )
    assert isinstance(problem.objective, EmpiricalRisk)


def test_trained_to_the_minimum_that_alternating_least_squares_finds():
    """W by least squares, then S ≥ 0 by non-negative least squares, and again: another way to the
    same student.
    """
    setting = with_samples(small(), 60).change(steps=1500)
    (run,) = tt.execute([setting])
    sample = build(setting).objective.sample
    tokens, labels = np.asarray(sample.tokens), np.asarray(sample.labels)[:, 0, 0]
    s = np.full(5, 0.2)
    for _ in range(500):
        w = np.linalg.lstsq(tokens @ s, labels, rcond=None)[0]
        s, _ = nnls(np.einsum("e,nej->nj", w, tokens), labels)
    np.testing.assert_allclose(np.asarray(run.student.value)[0], w * s.sum(), atol=2e-3)
    np.testing.assert_allclose(np.asarray(run.student.attention())[:, 0], s / s.sum(), atol=2e-3)


# --- the study


def planned(plan):
    return study.cases(plan, study.preset(plan))


@pytest.fixture(scope="module")
def answered(adam_allowed):
    cases, _ = study.plan(Plan(seeds=4, only=("identity", "identity-noiseless")))
    keep = {"identity": (100, 400), "identity-noiseless": (13,)}
    cut = []
    for case in cases:
        settings = tuple(
            s for s in case.settings if s.objective.options["samples"] in keep[case.name]
        )
        short = tuple(c for c in case.claims if c.id in ("below-13", "least-squares"))
        cut.append(type(case)(case.name, case.label, settings, short))
    return {a.case.name: a for a in run_cases("teacher-models/samples", cut)}


@pytest.mark.depth
def test_the_law_is_near_and_the_count_of_free_weights_is_not(answered):
    runs = answered["identity"].runs
    found = np.mean(dimension_law(answered["identity"].case.settings).values(runs))
    assert found == pytest.approx(
        17, abs=3
    )  # four samples, each ± 2; 23 with weights of either sign
    oracle = [
        count_parameters(ORACLE, run.setting, fit_all(run.setting).oracle)
        for run in readings.with_count(runs, 400)
    ]
    assert np.mean(oracle) == pytest.approx(8 * 400 / (400 - 9), abs=1)


@pytest.mark.depth
def test_without_noise_too_few_samples_do_not_show_the_teacher_and_enough_rows_are_exact(answered):
    below, exact = answered["identity-noiseless"].verdicts
    # None is found, which a few samples do not tell from one in ten.
    assert (below.status, below.measured) == (Status.UNDECIDED, 0.0)
    assert exact.status is Status.HOLDS


@pytest.mark.depth
def test_controls_fail(answered):
    settings, runs = answered["identity"].case.settings, answered["identity"].runs
    claims = {case.name: case.claims[0] for case in controls(_with_50(settings), settings)}
    assert tt.check(claims["too-few-rows"], runs, control="n > Dd").status is Status.FAILS
    two = readings.with_count(runs, 100)[:2]
    assert (
        min(claims["no-more-than-the-oracle"].values(two)) > 5
    )  # and the claim is that it is at most 1


def _with_50(settings):
    """The study's own list begins at 50, and its second n is 100."""
    return (with_samples(settings[0], 50), *settings)


def test_the_n_that_is_needed_is_read_between_its_neighbours():
    assert find_crossing([(80, 0.025), (125, 0.016)], 0.02) == pytest.approx(
        100, rel=1e-12
    )  # excess = 2/n
    assert find_crossing([(80, 0.030), (125, 0.016)], 0.02) == pytest.approx(
        (120 + 100) / 2, rel=1e-12
    )
    base = setting_at()
    assert expected_need(STUDENT, base) == pytest.approx(17 * 0.25 / 0.02, rel=1e-12)
    assert expected_need(ORACLE, base) == pytest.approx(9 + 8 * 0.25 / 0.02, abs=1)
    assert expected_need(LEAST_SQUARES, base) == pytest.approx(130 + 128 * 0.25 / 0.02, rel=0.01)
    assert 0.8 < expected_need(RIDGE, base) / expected_need(LEAST_SQUARES, base) < 1


def test_a_reading_of_the_needed_n_below_zero_leaves_its_exponent_open(monkeypatch):
    settings = [setting_at(16, dim) for dim in (4, 8, 16)]
    claim = needs.sweep_claims("d", settings)[0]
    expected = [
        (size, expected_need(STUDENT, s)) for size, s in zip((4, 8, 16), settings, strict=True)
    ]
    found = [(size, n, seed) for seed in range(4) for size, n in expected]
    monkeypatch.setattr(needs, "read_needs", lambda axis, method, runs: found)
    assert claim.answer(()).measured == pytest.approx(claim.exponent((4, 8, 16)), rel=1e-12)
    found[3] = (4, -7.0, 1)
    answer = claim.answer(())
    assert answer.status is Status.UNDECIDED
    assert "1 are negative" in answer.sentence


@pytest.mark.depth
def test_the_figure_draws_what_was_measured(answered, tmp_path):
    paths = study.figures(list(answered.values()), tmp_path)
    assert [p.name for p in paths] == [
        "finite-samples-curves.png",
        "finite-samples-curves.csv",
    ]
    assert "identity, least_squares: mean" in paths[1].read_text().splitlines()[0]


def test_a_question_runs_by_its_name_and_changes_leave_the_controls_out():
    assert paper.studies["samples"].beyond
    assert not paper.studies["samples"].reproduce
    changed = planned(Plan(changes={"tau": 0.25}, seeds=1))
    assert not any(case.control for case in changed)
    assert {
        s.teacher.options["noise"]
        for case in changed
        for s in case.settings
        if "noiseless" not in case.name
    } == {0.25}
    assert sum(bool(case.control) for case in planned(Plan(seeds=1))) == 4


def test_needs_of_several_samples_are_pooled_before_they_are_read(monkeypatch):
    points = [(4.0, 1.0, 0), (4.0, 3.0, 1), (4.0, 9.0, 2), (8.0, -2.0, 0), (8.0, 6.0, 1)]
    # The third sample of the first size is one too few for another mean.
    assert needs.pool(points, 2) == [(4.0, 2.0, 0), (8.0, 2.0, 0)]
    assert needs.pool(points, 1) == points
    settings = [setting_at(16, dim).change(seed=s) for dim in (4, 8, 16) for s in range(2)]
    law = {float(d): expected_need(STUDENT, setting_at(16, d)) for d in (4, 8, 16)}
    # Single readings may be negative; their means are as expected.
    found = [(size, n + 5 * n * (-1) ** s, s) for size, n in law.items() for s in range(40)]
    monkeypatch.setattr(needs, "read_needs", lambda axis, method, runs: found)
    run = tt.Run(np.array([1]), {"x": np.ones(1)}, None, tt.Outcome.FINISHED)
    for pooled, status in ((1, Status.UNDECIDED), (10, Status.HOLDS)):
        exponent, need = needs.sweep_claims("d", settings, pooled)[:2]
        assert tt.check(exponent, [run]).status is status
        assert tt.check(need, [run]).status is status
