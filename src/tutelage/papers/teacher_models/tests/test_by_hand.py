"""Numbers of the theory that studies use and no other test asks for alone, worked out by hand."""

import math
from dataclasses import replace

import numpy as np
import pytest

from tutelage.claims.claim import NoPrediction
from tutelage.papers.teacher_models import theory
from tutelage.papers.teacher_models.theory import (
    foreign,
    max_margin,
    outside,
    printed,
    slow_weights,
    worst_case,
)
from tutelage.papers.teacher_models.theory import linear_baselines as linear
from tutelage.papers.teacher_models.theory.facts import facts
from tutelage.papers.teacher_models.theory.mean_support import AT_MEAN_SUPPORT
from tutelage.papers.teacher_models.theory.theorem import theorem_3_1, theorem_rate
from tutelage.problem.build import build_teacher
from tutelage.settings import Part, Setting

# D = Q = 6 tokens and queries, K = 2, M = 2, d = 3 and ‖V*‖ = 5.
SMALL = Setting(
    Part("convolution", tokens=6, support=2, outputs=2, dim=3, norm=5.0, activation="identity"),
    0.1,
    300,
)
# Two queries of five tokens: one reads one of them, one reads three.
UNEQUAL = np.array([[1.0, 0.0], [0.0, 1 / 3], [0.0, 1 / 3], [0.0, 1 / 3], [0.0, 0.0]])
# Two nodes that know five others: columns of S* have other sums than 1.
GRAPH = np.zeros((7, 7))
GRAPH[:2, 2:] = GRAPH[2:, :2] = 1.0
OUTSIDE = SMALL.change(
    teacher=Part(
        "graph_convolution",
        tokens=7,
        outputs=2,
        dim=3,
        graph=GRAPH,
        normalisation="symmetric",
        activation="identity",
    )
)


def of_weights(weights, **more):
    given = {"outputs": 2, "dim": 3, "norm": 4.0, "activation": "leaky_relu(0.3)"}
    return SMALL.change(teacher=Part("bilinear", selection=weights, **given | more))


@pytest.mark.parametrize(
    ("law", "expected"),
    [
        (printed.printed_excess, 2 * 6**4),
        (printed.printed_value_error, 36 * math.sqrt(2)),
        (printed.printed_attention_error, 36 * math.sqrt(6) / 5),
        (printed.printed_gap, 1 / (8 * 36)),
        (printed.printed_plateau, 2 * 36 / (0.1 * 25)),
        (worst_case.printed_tolerance_time, 2 * 6**6 * 25),
        (theorem_rate, 1 / (2 * 36 * math.sqrt(6))),
        (theory.plateau, 2 * 36 / (2 * 0.1 * 25)),
        (theory.counting_law, 6 * 2 * 4 / 4),
        (theory.value_constant, 4.0),
        (theory.attention_constant, math.sqrt(6 * 6 * 4 / 2) / 5),
        (theory.gap_constant, 2 / 8),
        (theory.invariance_exponent, -1 - 4 / 6),
    ],
)
def test_constants_of_equal_supports(law, expected):
    assert law(SMALL) == pytest.approx(expected, rel=1e-12)


def test_constants_with_another_activation_scale_and_covariance():
    """λ = 0.545 for a leaky slope of 0.3; c²D is 0.49·6; tr(V*ΣV*ᵀ) takes the place of ‖V*‖²."""
    covariance = np.diag([1.0, 2.0, 0.5])
    setting = SMALL.change(
        **{
            "teacher.activation": "leaky_relu(0.3)",
            "student": Part("position_attention", attention_scale=0.7),
            "inputs": Part("gaussian", covariance=covariance),
        }
    )
    V = np.asarray(build_teacher(setting).value)
    spread, scale = np.trace(V @ covariance @ V.T), 0.49 * 6
    root = math.sqrt(2 * 0.545 * spread * scale)
    assert theory.plateau(setting) == pytest.approx(
        2 * 36 / (2 * 0.1 * spread) * 0.545 ** -math.log2(3), rel=1e-12
    )
    assert theory.counting_law(setting) == pytest.approx(12 / scale, rel=1e-12)
    assert theory.limit_error(setting)[1] == pytest.approx(1 / root, rel=1e-12)
    (codes,) = [h for h in theorem_3_1(setting) if "codes" in h.text]
    assert codes.met is False
    # ρ = (D−K)√K, and off the supports x = √K.
    assert theory.value_constant(setting) == pytest.approx(4 * math.sqrt(2) * 5 / root, rel=1e-12)
    assert theory.attention_constant(setting) == pytest.approx(math.sqrt(6 * 6 * 4) / root)
    assert theory.gap_constant(setting) == pytest.approx(
        2 * 0.545 * scale / 8 * spread / 25, rel=1e-12
    )


# One query reads all three tokens, and one a single one.
ALL_AND_ONE = np.array([[1 / 3, 1.0], [1 / 3, 0.0], [1 / 3, 0.0]])


@pytest.mark.parametrize("weights", [UNEQUAL, ALL_AND_ONE])
def test_the_limit_error_of_unequal_supports_solves_its_equations(weights):
    r"""Off the support of column i it is x_i, on it (ρ − (D−K_i)x_i)/K_i, with Dx² − ρx − K_i² = 0
    and Σ_i (ρ − (D−K_i)x_i)/K_i = 0.
    """
    setting = of_weights(weights)
    direction, c = theory.limit_error(setting)
    assert c == pytest.approx(1 / math.sqrt(2 * 0.545 * 16), rel=1e-12)
    D, rho = len(weights), theory.value_constant(setting) / (4 * c)
    balance = 0.0
    for column, read in zip(direction.T, (weights > 0).T, strict=True):
        K = read.sum()
        x = (rho + math.sqrt(rho**2 + 4 * D * K**2)) / (2 * D)
        on = (rho - (D - K) * x) / K
        balance += on
        np.testing.assert_allclose(column, np.where(read, on, x), rtol=1e-12)
    assert balance == pytest.approx(0.0, abs=1e-12)
    assert theory.attention_constant(setting) == pytest.approx(
        c * np.linalg.norm(direction - rho * weights), rel=1e-12
    )


def test_the_attention_constant_of_unequal_weights():
    """Σ D(D−K)x²/K + ρ²(‖S*‖² − Σ 1/K), and x as for equal weights."""
    weights = np.array([[0.7, 0.0], [0.3, 0.5], [0.0, 0.5], [0.0, 0.0]])
    setting, c = of_weights(weights), 1 / math.sqrt(2 * 0.545 * 16)
    rho = theory.value_constant(setting) / (4 * c)
    assert rho == pytest.approx(2 * math.sqrt(2), rel=1e-12)  # (D−K)√K, and x = √K
    square = 2 * 4 * 2 * 2 / 2 + rho**2 * (0.49 + 0.09 + 0.5 - 1)
    assert theory.attention_constant(setting) == pytest.approx(c * math.sqrt(square), rel=1e-12)
    f = facts(setting)
    assert f.supports.tolist() == [2, 2]
    assert not f.uniform


def test_what_the_constants_are_not_known_for_is_refused():
    for law in (theory.counting_law, theory.gap_constant, theory.value_constant):
        with pytest.raises(NoPrediction, match="sum to 1"):
            law(OUTSIDE)
    codes = np.eye(6) + 0.1
    with pytest.raises(NoPrediction, match="orthonormal"):
        theory.counting_law(SMALL.change(student=Part("position_attention", key_codes=codes)))
    for law in (theory.gap_constant, theory.invariance_exponent):
        with pytest.raises(NoPrediction, match=r"equal|one number"):
            law(of_weights(UNEQUAL))
    with pytest.raises(NoPrediction, match="one number"):
        theory.gap_constant(SMALL.change(**{"teacher.support": 6}))
    assert theory.value_constant(SMALL.change(**{"teacher.support": 6})) == 0.0
    for change in ({"outputs": 2}, {"outputs": 1, "support": 6}):
        options = {f"teacher.{name}": value for name, value in change.items()}
        with pytest.raises(NoPrediction, match="one output"):
            worst_case.worst_excess(SMALL.change(**options))
    with pytest.raises(NoPrediction, match="one output"):
        worst_case.worst_excess(of_weights(UNEQUAL, outputs=1))


def test_the_constants_at_the_mean_support():
    """K̄ = 2 of D = 5: QK̄(D−K̄)/4, (D−K̄)√(K̄/2λ) and √(QD(D−K̄)/2λ)/‖V*‖ with λ = 0.545."""
    found = {name: law(of_weights(UNEQUAL)) for name, law in AT_MEAN_SUPPORT.items()}
    value, attention = 3 * math.sqrt(2 / 1.09), math.sqrt(30 / 1.09) / 4
    expected = {"excess": 3.0, "value": value, "attention": attention}
    assert found == pytest.approx(expected, rel=1e-12)


def test_facts_of_unequal_supports():
    f = facts(of_weights(UNEQUAL, noise=0.2))
    assert (f.tokens, f.queries, f.outputs, f.dim, f.support) == (5, 2, 2, 3, 3)
    assert f.supports.tolist() == [1, 3]
    np.testing.assert_allclose(f.column_sums, 1.0, rtol=1e-12)
    numbers = (f.selection_square, f.value_square, f.norm, f.noise, f.lam, f.slope, f.rate)
    assert numbers == pytest.approx((4 / 3, 16.0, 4.0, 0.2, 0.545, 0.3, 0.1), rel=1e-12)
    assert f.attention_scale == pytest.approx(1 / math.sqrt(5), rel=1e-12)
    assert f.realisable
    assert not f.uniform
    assert facts(SMALL).uniform


def test_facts_of_a_collapsed_teacher_are_those_of_the_whole_one():
    whole, f = facts(SMALL), facts(SMALL.change(**{"teacher.collapse": True}))
    assert (f.tokens, f.queries, f.supports.tolist()) == (6, 6, [2] * 6)
    assert f.selection_square == pytest.approx(3.0, rel=1e-12)
    assert whole.selection_square == pytest.approx(3.0, rel=1e-12)
    assert f.realisable
    assert f.uniform


def test_codes_are_orthonormal_in_any_basis_and_of_length_one():
    turned = np.linalg.qr(np.vander(np.arange(1.0, 7.0)))[0]
    for codes, answer in ((turned, True), (1.2 * np.eye(6), False)):
        student = Part("position_attention", key_codes=codes)
        assert facts(SMALL.change(student=student)).orthonormal_codes is answer


def test_the_laws_have_their_powers_of_time():
    found = {law.name: law.exponent for law in (*theory.LAWS, theory.GAP)}
    assert found == {"excess": -1.0, "value": -0.5, "attention": -0.5, "gap": 1.0}
    assert theory.APPROACH == 0.5


@pytest.mark.parametrize(
    ("change", "fact"),
    [
        ({"inputs": Part("gaussian", covariance=np.diag([1.0, 2.0, 0.5]))}, "standard"),
        ({"inputs": Part("gaussian", correlation=np.eye(6) + 0.1)}, "iid_positions"),
        ({"student": Part("position_attention", key_codes=np.eye(6) + 0.1)}, "orthonormal_codes"),
        ({"optimiser": Part("averaged")}, None),
        ({"optimiser": Part("momentum", decay=0.5)}, "plain_descent"),
        ({"optimiser": Part("gradient_descent", power=0.6)}, "plain_descent"),
        ({"objective": Part("online", batch=10)}, "exact"),
    ],
)
def test_each_change_is_against_one_fact(change, fact):
    f = facts(SMALL.change(**change))
    values = {
        "standard": f.standard,
        "iid_positions": f.iid_positions,
        "orthonormal_codes": f.orthonormal_codes,
        "zero_start": f.zero_start,
        "plain_descent": f.plain_descent,
        "exact": f.exact,
    }
    assert [name for name, value in values.items() if not value] == ([fact] if fact else [])


def test_the_step_condition_ends_where_descent_is_unstable():
    """2/(λ‖S*‖²) = 2/3 for the identity, and D = 6 is (MK)^1.29."""

    def find(rate):
        *_, power, step = theorem_3_1(replace(SMALL, rate=rate))
        return power, step

    power, step = find(2 / 3)
    assert step.met is None
    assert "is 118 times 1/(M D^5/2) = 0.00567" in step.detail
    assert power.detail.endswith("D = (MK)^1.29")
    _, step = find(0.67)
    assert step.met is False
    assert "unstable above 2/(λ‖S*‖²) = 0.667" in step.detail
    *_, step = theorem_3_1(replace(SMALL, rate=0.7).change(**{"teacher.activation": "relu"}))
    assert step.met is None
    single = SMALL.change(**{"teacher.outputs": 1, "teacher.support": 1})
    *_, power, _ = theorem_3_1(single)
    assert power.detail.endswith("D ≥ (MK)^a for every a")


def with_samples(n, **options):
    changed = {f"teacher.{name}": value for name, value in options.items()}
    return SMALL.change(objective=Part("empirical", samples=n), **changed)


def test_the_gap_of_relu_to_every_linear_map():
    assert linear.gap_of_slope(0.5, 8.0) == pytest.approx(0.25 - 1 / (2 * math.pi), rel=1e-12)


def test_the_expectation_of_the_best_ridge():
    """m(−λ) solves γλm² + (1 − γ + λ)m = 1; p = 18 inputs, γ = 18/39, and every column of S* has
    the square ½.
    """
    setting = with_samples(40, noise=0.4)
    rows = np.sum(np.asarray(build_teacher(setting).value) ** 2, 1)
    gamma, slopes = 18 / 39, 0.0
    for row in rows:
        penalty = gamma * 0.16 / (row / 2)
        _, m = np.sort(np.roots([gamma * penalty, 1 - gamma + penalty, -1.0]))
        slopes += 6 * 0.16 * gamma * m
    by_hand = 0.5 * ((1 + 1 / 40) * slopes + 12 * 0.16 / 40)
    assert linear.ridge_excess(setting) == pytest.approx(by_hand, rel=1e-10)


def test_least_squares_is_infinite_between_two_forms():
    """p = 18: Σ‖β̂−β‖² is MQτ²p/(n−p−2) above n = 20, and ‖V*‖²‖S*‖²(1−(n−1)/p) + MQτ²(n−1)/(p−n)
    below 18, where ‖V*‖²‖S*‖² = 75.
    """
    found = [linear.least_squares_excess(with_samples(n, noise=0.4)) for n in (17, 18, 20, 21)]
    few = 75 * (1 - 16 / 18) + 1.92 * 16
    assert found[0] == pytest.approx(0.5 * (18 / 17 * few + 1.92 / 17), rel=1e-12)
    assert found[1:3] == [math.inf, math.inf]
    assert found[3] == pytest.approx(0.5 * (22 / 21 * 1.92 * 18 + 1.92 / 21), rel=1e-12)


def test_a_student_that_says_zero():
    """½λ‖V*‖²‖S*‖² = ½·25·3, and without noise there is no best ridge."""
    assert linear.zero_excess(SMALL) == pytest.approx(37.5, rel=1e-12)
    with pytest.raises(NoPrediction, match="no penalty"):
        linear.ridge_excess(with_samples(40))


@pytest.mark.parametrize(
    ("weights", "samples", "expected"),
    [
        ([[0.5], [0.5], [0.0]], (4, 5, 9), (math.inf, 0.48, 0.096)),
        ([[1.0, 0.0], [0.0, 1.0], [0.0, 0.0]], (2, 3, 7), (math.inf, 0.48, 0.096)),
    ],
)
def test_the_oracle_is_finite_from_the_first_sample_that_is_enough(weights, samples, expected):
    """½Mτ²dR/(nR−d−1) with M = 2, τ = 0.4, d = 3, and R = 1 or 2 orthogonal columns."""
    teacher = Part(
        "bilinear",
        selection=np.array(weights),
        outputs=2,
        dim=3,
        noise=0.4,
        activation="identity",
    )
    found = [
        linear.oracle_excess(SMALL.change(teacher=teacher, objective=Part("empirical", samples=n)))
        for n in samples
    ]
    assert found == pytest.approx(expected, rel=1e-12)


def test_off_the_supports_weights_are_even():
    """A column of one free token, one of two and one of none."""
    selection = np.array([[0.5, 1.0, 1 / 3], [0.5, 0.0, 1 / 3], [0.0, 0.0, 1 / 3]])
    expected = np.array([[0.0, 0.0, 0.0], [0.0, 0.5, 0.0], [1.0, 0.5, 0.0]])
    np.testing.assert_array_equal(foreign.off_support(selection), expected)


def test_a_quarter_of_the_rate_outside_the_class():
    """Where the best student reads all of some columns, and two or more tokens of the others."""
    reads = outside.best(OUTSIDE).read.sum(0)
    assert len(set(reads.tolist())) > 1
    by_hand = sum(n * (7 - n) for n in reads)
    assert outside.rate_constant(OUTSIDE) == pytest.approx(by_hand, rel=1e-12)
    assert outside.quarter_constant(OUTSIDE) == pytest.approx(by_hand / 4, rel=1e-12)
    # A scale of the scores other than 1/√D divides by c²D.
    scaled = OUTSIDE.change(student=Part("position_attention", attention_scale=0.7))
    assert outside.rate_constant(scaled) == pytest.approx(by_hand / (0.49 * 7), rel=1e-12)


def test_the_best_student_is_known_for_standard_tokens_alone():
    shape = facts(OUTSIDE)
    features, positions = np.eye(shape.dim), np.eye(shape.tokens)
    features[0, 0], positions[0, 1], positions[1, 0] = 2.0, 0.5, 0.5
    for change in (
        {"inputs": Part("gaussian", covariance=features)},
        {"inputs": Part("gaussian", correlation=positions)},
        {"teacher.activation": "erf"},
    ):
        with pytest.raises(NoPrediction, match="The best student is known"):
            outside.best(OUTSIDE.change(**change))


SAMPLE = Part("empirical", samples=30, held_out=10)


@pytest.mark.parametrize(
    ("changes", "broken"),
    [
        ({}, set()),
        ({"teacher.noise": 0.5}, set()),  # on the population labels have no noise
        ({"objective": SAMPLE}, {"descent on the population risk"}),
        (
            {"objective": SAMPLE, "teacher.noise": 0.5},
            {"descent on the population risk", "no label noise on a fixed sample"},
        ),
        (
            {"objective": SAMPLE, "teacher.noise": 1.0},
            {"descent on the population risk", "no label noise on a fixed sample"},
        ),
        (  # one input has three rows, and S* six: what S* may do hides V* too
            {"objective": SAMPLE.change(samples=1)},
            {
                "descent on the population risk",
                "the inputs identify S*",
                "the inputs identify V*",
            },
        ),
        ({"teacher.activation": "leaky_relu(0.3)"}, set()),
    ],
)
def test_each_change_breaks_its_own_hypotheses_of_slow_weights(changes, broken):
    found = slow_weights.hypotheses(SMALL.change(**changes))
    assert {one.text for one in found if not one.met} == broken


@pytest.mark.parametrize(
    ("setting", "broken"),
    [
        (SMALL, set()),
        (OUTSIDE, {"columns of S* sum to 1"}),
        (SMALL.change(**{"teacher.support": 6}), {"zeros in every column of S* (K < D)"}),
        (SMALL.change(**{"teacher.activation": "tanh"}), {"σ is identity, ReLU or leaky ReLU"}),
        (SMALL.change(optimiser=Part("momentum", decay=0.5)), {"plain gradient descent"}),
    ],
)
def test_each_setting_breaks_its_own_hypotheses_of_the_max_margin_law(setting, broken):
    found = max_margin.svm_law(setting)
    assert {one.text for one in found if one.met is False} == broken


def test_the_condition_of_codes_is_that_of_their_squares():
    codes = np.diag([1.0, 2.0, 3.0, 4.0, 5.0, 6.0])
    setting = SMALL.change(student=Part("position_attention", key_codes=codes))
    assert max_margin.condition(setting) == pytest.approx(36.0, rel=1e-12)
    # Of two tokens that point the same way, one is read: ‖V*‖²s²/4 with s = ½ is left.
    alike = np.eye(6)
    alike[:, 1] = alike[:, 2]
    setting = SMALL.change(student=Part("position_attention", key_codes=alike))
    assert max_margin.floor(setting) == pytest.approx(25 / 16, rel=1e-12)
    # With unequal weights it is the least one that may be lost: ‖V*‖² = 4 and s = ¼.
    selection = np.zeros((6, 6))
    selection[0], selection[1] = 0.75, 0.25
    teacher = Part(
        "bilinear", value=np.array([[2.0, 0.0]]), selection=selection, activation="identity"
    )
    uneven = replace(setting, teacher=teacher)
    assert max_margin.floor(uneven) == pytest.approx(4 / 64, rel=1e-12)


@pytest.mark.parametrize("scale", [1.0, 0.5])
def test_the_max_margin_matrix_of_one_query_on_paper(scale):
    """Two of three orthonormal tokens are read: W has ½·(⅓, ⅓, −⅔)/c, whose margin is ½."""
    on = np.array([[True], [True], [False]])
    found = max_margin.max_margin(np.eye(3), np.ones((1, 1)), on, scale)
    np.testing.assert_allclose(found, np.array([[1], [1], [-2]]) / (6 * scale), atol=1e-12)
    with pytest.raises(NoPrediction, match="nothing to separate"):
        max_margin.max_margin(np.eye(3), np.ones((1, 1)), np.ones((3, 1), bool), scale)
    with pytest.raises(max_margin.NotSeparable):
        max_margin.max_margin(np.eye(3)[:, [0, 1, 1]], np.ones((1, 1)), on, scale)
