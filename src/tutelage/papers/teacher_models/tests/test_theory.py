"""Predictions of the teacher-models theory against independent twins: simple formulas, and a stiff
flow far beyond any run.
"""

import itertools
import math

import numpy as np
import pytest
from scipy.integrate import solve_ivp

import tutelage as tt
from tutelage.claims.claim import NoPrediction
from tutelage.papers.teacher_models import theory
from tutelage.papers.teacher_models.theory import worst_case

CNN = tt.Setting(
    tt.Part("convolution", tokens=36, support=4, outputs=8, dim=10, norm=5.0), rate=0.1, steps=10
)
MIXED = (1, 2, 5, 5, 7)  # supports of the columns of a 12-token teacher


def mixed(**options):
    selection = np.zeros((12, len(MIXED)))
    for i, k in enumerate(MIXED):
        selection[i : i + k, i] = 1 / k
    part = tt.Part("bilinear", selection=selection, outputs=3, dim=4, norm=2.0, **options)
    return tt.Setting(part, rate=0.01, steps=10)


@pytest.mark.parametrize(
    ("activation", "lam"), [("identity", 1.0), ("relu", 0.5), ("leaky_relu(0.3)", 0.545)]
)
def test_equal_supports_give_the_simple_formulas(activation, lam):
    setting = CNN.change(**{"teacher.activation": activation})
    D = Q = 36
    K = 4
    # The general solver is a root of one scalar equation, found to 1e-14.
    assert theory.counting_law(setting) == pytest.approx(D * K * (D - K) / 4, rel=1e-14)
    assert theory.value_constant(setting) == pytest.approx(
        (D - K) * math.sqrt(K / 2 / lam), rel=1e-12
    )
    assert theory.attention_constant(setting) == pytest.approx(
        math.sqrt(Q * D * (D - K) / 2 / lam) / 5.0, rel=1e-12
    )


def test_a_larger_attention_scale_divides_the_constants():
    twice = CNN.change(**{"student.attention_scale": 2 / 6})
    assert theory.counting_law(twice) == pytest.approx(theory.counting_law(CNN) / 4, rel=1e-14)
    assert theory.value_constant(twice) == pytest.approx(theory.value_constant(CNN) / 2, rel=1e-12)


@pytest.mark.parametrize("activation", ["identity", "relu", "leaky_relu(0.3)"])
@pytest.mark.parametrize("scale", [1 / 6, 0.7])
def test_the_constant_of_the_gap_is_that_of_the_weights(activation, scale):
    """From ‖S−S*‖, whose constant comes from the root of the slow manifold: q² t off the supports,
    and then (p/q)².
    """
    setting = CNN.change(**{"teacher.activation": activation, "student.attention_scale": scale})
    D, K, n, norm = 36, 4, 32, 5.0
    off_square = theory.attention_constant(setting) ** 2 * K / (D * n * D)  # q² t
    assert theory.gap_constant(setting) == pytest.approx(
        (1 / K) ** 2 / off_square / norm**2, rel=1e-12
    )


def test_the_constant_of_the_gap_knows_one_support_smaller_than_all():
    for setting in (mixed(), CNN.change(**{"teacher.support": 36})):
        with pytest.raises(NoPrediction, match="K < D equal weights"):
            theory.gap_constant(setting)


@pytest.mark.parametrize("activation", ["identity", "relu"])
@pytest.mark.parametrize("support", [2, 3])
def test_no_tokens_and_labels_are_worse_than_equal_ones(activation, support):
    """By enumeration: E⟨f*−Ỹ, Δ⟩ to first order, from the limit error. With one output only the
    part of a token along V* counts. In each token the identity's term is convex (N is 0 on the
    supports), so that the worst is a corner; the worst label is against Δ.
    """
    tokens, norm = 6, 1.7
    part = tt.Part(
        "convolution",
        tokens=tokens,
        support=support,
        outputs=1,
        dim=3,
        norm=norm,
        activation=activation,
    )
    setting = tt.Setting(part, rate=0.1, steps=10)
    direction, c = theory.limit_error(setting)
    selection = theory.facts(setting).weights
    slope = theory.facts(setting).slope
    found = {}
    for corner in itertools.product((-1.0, 1.0), repeat=tokens):
        read = norm * np.array(corner)
        labels = np.where(read @ selection > 0, 1.0, slope) * (read @ selection)
        error = c * np.where(read @ selection > 0, 1.0, slope) * (read @ direction)
        found[corner] = np.sum(labels * error + np.abs(error))
    worst = worst_case.worst_excess(setting)
    assert max(found.values()) == pytest.approx(worst, rel=1e-12)
    assert found[(1.0,) * tokens] == pytest.approx(worst, rel=1e-12)
    assert worst_case.tolerance_time(setting) == pytest.approx(
        support * tokens**2 * (tokens - support) ** 2 * (1 + norm) ** 2 / (1 + slope**2), rel=1e-12
    )


def test_the_worst_case_is_known_for_one_output_and_one_support():
    one = CNN.change(**{"teacher.outputs": 1})
    assert worst_case.worst_excess(one) > 0
    for setting in (CNN, one.change(**{"teacher.support": 36}), mixed()):
        with pytest.raises(NoPrediction, match="one output and one K < D"):
            worst_case.worst_excess(setting)


def flow(supports, tokens, norm, end):
    """Gradient flow of the identity's risk in the proof's scalars, by a stiff solver: C₁−1 and one
    score gap a column.

    On the invariant manifold W_V = (1+c)V*, column i has weight q_i on each of D−K_i tokens and
    (1−(D−K_i)q_i)/K_i on the rest, and excess = ½‖V*‖² Σ_i [((c − (1+c)(D−K_i)q_i)²/K_i +
    (D−K_i)(1+c)²q_i²]. A gap z = on − off moves by (1/K + 1/(D−K)) times its force.
    """
    K = np.asarray(supports, float)
    off, scale = tokens - K, 1 / math.sqrt(tokens)

    def parts(y):
        c, z = y[0], y[1:]
        q = 1 / (K * np.exp(scale * z) + off)
        miss = c - (1 + c) * off * q
        return c, q, miss

    def excess(y):
        c, q, miss = parts(y)
        return 0.5 * norm**2 * np.sum(miss**2 / K + off * (1 + c) ** 2 * q**2)

    def force(log_time, y):
        c, q, miss = parts(y)
        by_c = np.sum(miss * (1 - off * q) / K + off * (1 + c) * q**2)
        by_q = norm**2 * (-miss * (1 + c) * off / K + off * (1 + c) ** 2 * q)
        dq_dz = -scale * q * (1 - off * q)
        return math.exp(log_time) * np.concatenate([[-by_c], -by_q * dq_dz * (1 / K + 1 / off)])

    # From W_V = 0: c = −1, so C₁ = 0; uniform attention.
    start = np.concatenate([[-1.0], np.zeros(len(K))])
    solved = solve_ivp(
        force, (math.log(1e-8), math.log(end)), start, method="Radau", rtol=1e-10, atol=1e-12
    )
    assert solved.success
    c, q, _ = parts(solved.y[:, -1])
    value_error = norm * abs(c)
    on = (1 - off * q) / K - 1 / K
    attention_error = math.sqrt(np.sum(K * on**2 + off * q**2))
    growth = np.exp(2 * scale * solved.y[1:, -1]) / norm**2
    return excess(solved.y[:, -1]), value_error, attention_error, growth


@pytest.mark.brief(1)
@pytest.mark.parametrize(("supports", "tokens"), [((4,) * 6, 16), (MIXED, 12)])
def test_constants_are_the_limits_of_a_flow_to_a_far_horizon(supports, tokens):
    end = 1e11
    excess, value_error, attention_error, growth = flow(supports, tokens, 2.0, end)
    if supports == MIXED:
        setting = mixed()
    else:
        queries = tt.pooling(16, 4)[:, :6]
        setting = tt.Setting(
            tt.Part("bilinear", selection=queries, outputs=3, dim=4, norm=2.0), rate=0.01, steps=10
        )
    # The excess approaches its constant like t^-½·log-free terms: at 10¹¹ less than 1e-4 is left,
    # the errors twice that.
    assert excess * end == pytest.approx(theory.counting_law(setting), rel=2e-4)
    assert value_error * math.sqrt(end) == pytest.approx(theory.value_constant(setting), rel=1e-3)
    assert attention_error * math.sqrt(end) == pytest.approx(
        theory.attention_constant(setting), rel=1e-3
    )
    if supports != MIXED:
        np.testing.assert_allclose(growth / end, theory.gap_constant(setting), rtol=1e-6)


def test_the_stable_rate_is_the_formula():
    problem = tt.build(CNN.change(**{"teacher.norm": 1.0}))
    assert problem.objective.stable_rate(problem.student) == pytest.approx(
        2 * 4 / (0.5 * 36), rel=1e-12
    )
    problem = tt.build(CNN.change(**{"teacher.norm": 100.0}))
    assert problem.objective.stable_rate(problem.student) == pytest.approx(
        2 * 36 * 16 / (0.5 * 100**2), rel=1e-12
    )


def test_below_the_stable_rate_it_learns_and_above_it_does_not():
    # A long teacher makes the second bound bind; a perturbed start excites it, which the symmetric
    # start never does.
    base = tt.Setting(
        tt.Part("convolution", tokens=12, support=3, outputs=2, dim=4, norm=40.0),
        rate=1.0,
        steps=3000,
    )
    base = base.change(**{"student.start": 1e-3})
    problem = tt.build(base)
    stable = problem.objective.stable_rate(problem.student)
    below, above = (next(iter(tt.execute([base.change(rate=f * stable)]))) for f in (0.9, 1.2))
    assert below.curves["excess_risk"][-1] < 1e-3 * below.curves["excess_risk"][0]
    late = (
        above.curves["excess_risk"][above.steps > 1000]
        if above.outcome.name == "FINISHED"
        else np.array([np.inf])
    )
    assert late.max() > 10 * below.curves["excess_risk"][-1]


def test_the_counting_law_is_silent_about_other_codes():
    with pytest.raises(NoPrediction, match="orthonormal"):
        theory.counting_law(CNN.change(**{"student.key_codes": 2 * np.eye(36)}))


def test_hypotheses_are_evaluated_at_the_setting():
    def word(setting, text):
        (found,) = [h for h in theory.theorem_3_1(setting) if text in h.text]
        return found.met

    assert word(CNN, "iid N(0, I)") is True
    assert (
        word(CNN.change(**{"inputs.covariance": np.diag(np.arange(1.0, 11.0))}), "iid N(0, I)")
        is False
    )
    assert word(CNN.change(**{"inputs.covariance": 3 * np.eye(10)}), "iid N(0, I)") is False
    assert word(CNN, "η ≤") is None  # 10⁴ times 1/(M D^5/2): the constant is not stated
    assert word(CNN.change(rate=1e-6), "η ≤") is None
    assert word(CNN.change(rate=0.45), "η ≤") is False  # above 2K/(λQ) nothing converges
    assert word(CNN.change(**{"teacher.support": 36}), "K < D") is False
    assert word(mixed(), "K equal weights") is False
    assert word(CNN.change(**{"student.start": 0.1}), "W_V(0) = 0") is False
    assert word(CNN.change(optimiser="adam"), "plain gradient") is False
    assert word(CNN.change(**{"teacher.activation": "tanh"}), "σ is") is False
    assert word(CNN, "poly") is None


def test_constants_for_other_activations_are_refused():
    setting = CNN.change(**{"teacher.activation": "erf"})
    assert theory.counting_law(setting) == 36 * 4 * 32 / 4  # this one knows no activation
    with pytest.raises(tt.Refused, match="identity, ReLU and leaky ReLU"):
        theory.value_constant(setting)
