"""The two-scalar recursion and the elementary curve against independent twins: full matrices,
autodiff, fifty digits, a stiff solver.
"""

import math

import jax
import jax.numpy as jnp
import mpmath
import numpy as np
import pytest
import twins
from scipy.integrate import solve_ivp

import tutelage as tt
from tutelage.papers.teacher_models import theory
from tutelage.papers.teacher_models.phases.setup import MEASURES
from tutelage.papers.teacher_models.theory import recursion, slow_manifold

SLOPES = {"identity": 1.0, "relu": 0.0, "leaky_relu(0.3)": 0.3}


def pooled(activation="identity", norm=2.0, rate=0.1, steps=10, **student):
    part = tt.Part(
        "convolution", tokens=12, support=3, outputs=2, dim=4, norm=norm, activation=activation
    )
    return tt.Setting(
        part, rate, steps, measures=MEASURES, student=tt.Part("position_attention", **student)
    )


@pytest.mark.brief(1)
@pytest.mark.parametrize("activation", SLOPES)
def test_the_recursion_is_gradient_descent_on_full_matrices(activation):
    twins.check_recursion(activation)


@pytest.mark.brief(1)
@pytest.mark.parametrize(
    "setting",
    [
        tt.Setting(
            tt.Part("token_selection", tokens=9, support=2, dim=3, queries=4, scale=2.0),
            0.1,
            3000,
            measures=MEASURES,
        ),
        tt.Setting(
            tt.Part("group_sparse", tokens=8, dim=3, norm=2.0, activation="relu"),
            0.05,
            3000,
            measures=MEASURES,
        ),
        pooled("relu", steps=3000, attention_scale=0.7),
        pooled("relu", steps=3000).change(**{"inputs.covariance": 0.5 * np.eye(4)}),
    ],
    ids=["fewer queries", "one token", "another scale", "another variance"],
)
def test_also_for_other_shapes_scales_and_variances(setting):
    (run,) = tt.execute([setting])
    predicted = recursion.along(setting, run.steps)
    for curve in MEASURES:
        measured = run.curves[curve].reshape(len(run.steps), -1)
        # 3000 steps that round by 1.1e-16 each.
        np.testing.assert_allclose(
            measured,
            np.broadcast_to(predicted[curve][:, None], measured.shape),
            rtol=3e-12,
            atol=1e-14,
        )


@pytest.mark.parametrize("slope", SLOPES.values())
def test_its_steps_are_the_gradient_of_the_reduced_risk(slope):
    """Autodiff of the risk of two vectors w = Cv and s(z), written down from the covariances alone,
    against one step of the recursion.
    """
    D, K, norm, rate = 12, 3, 2.0, 0.1
    activation = {v: k for k, v in SLOPES.items()}[slope]
    setting = pooled(activation, norm, rate)

    def risk(C, z):
        on = jnp.exp(z / math.sqrt(D))
        total = K * on + D - K
        p, q = on / total, 1 / total
        A, B, cov = C**2 * (K * p**2 + (D - K) * q**2), 1 / K, C * p
        theta = jnp.arccos(cov / jnp.sqrt(A * B))
        relu = (
            jnp.sqrt(A * B)
            * (jnp.sin(theta) + (math.pi - theta) * cov / jnp.sqrt(A * B))
            / (2 * math.pi)
        )
        # E σ(a)σ(b) = k² cov + 2k(1−k) E a·relu(b) + (1−k)² E relu·relu, and E a·relu(b) = ½ cov.
        product = slope * cov + (1 - slope) ** 2 * relu
        return D * norm**2 * (0.25 * (1 + slope**2) * (A + B) - product)

    states = recursion.states(setting)
    path = [next(states) for _ in range(400)]
    for now, then in zip(path[5:-1:50], path[6::50], strict=False):
        value, (by_C, by_z) = jax.value_and_grad(risk, argnums=(0, 1))(
            now.value_scale, now.score_gap
        )
        assert now.excess_risk == pytest.approx(float(value), rel=1e-12)
        assert then.value_scale == pytest.approx(
            now.value_scale - rate * float(by_C) / norm**2, rel=1e-12
        )
        # One of D equal columns; its gap moves by (1/K + 1/(D−K)) times the force on it.
        assert then.score_gap == pytest.approx(
            now.score_gap - rate * float(by_z) / D * (1 / K + 1 / (D - K)), rel=1e-11
        )


@pytest.mark.parametrize("activation", SLOPES)
def test_the_best_scale_is_where_the_reduced_risk_is_least(activation):
    f = theory.facts(pooled(activation))
    states = recursion.states(pooled(activation, rate=0.5))
    last = [next(states) for _ in range(300)][-1]
    Kp = last.support_mass
    omega = (1 - Kp) / Kp
    assert slow_manifold.manifold(f, omega).scale == pytest.approx(last.best_scale * Kp, rel=1e-12)
    # The excess there is what is left of the first: λQ‖V*‖²/(2K).
    left = slow_manifold.manifold(f, omega).left * f.lam * 12 * 4.0 / (2 * 3)
    assert left == pytest.approx(last.excess_risk, rel=5e-2)
    assert left < last.excess_risk


def test_the_elementary_time_is_the_integral_at_thirty_digits():
    setting = pooled(norm=2.0)
    K, n = 3, 9
    with mpmath.workdps(30):
        for omega in (2.5, 1.0, 0.1, 1e-3):
            exact = mpmath.quad(
                lambda w: K * (n + K * w**2) ** 2 / w**3,
                [omega, min(1, n / K), n / K] if omega < 1 else [omega, n / K],
            )
            assert slow_manifold.time_to(setting, omega) == pytest.approx(
                float(exact / 4), rel=1e-12
            )


def test_the_elementary_curve_is_the_flow_on_the_slow_manifold():
    """A stiff solver on the gap, with C at its optimum found by hand from the risk: other
    variables, other integrator.
    """
    norm, D, K = 2.0, 12, 3
    n, setting = D - K, pooled(norm=2.0, rate=0.01)

    def split(z):
        p = 1 / (K + n * math.exp(-z / math.sqrt(D)))
        q = (1 - K * p) / n
        square = K * p * p + n * q * q
        return p, q, square

    def force(time, y):
        p, q, square = split(y[0])
        C = p / square
        # dL/dz of ½‖V*‖²(C²‖s‖² − 2C p + 1/K), with dp/dz = n p q/√D and dq/dz = −K p q/√D.
        by_z = (
            norm**2
            * (C**2 * (K * n * p * p * q - n * K * p * q * q) - C * n * p * q)
            / math.sqrt(D)
        )
        return [-by_z * (1 / K + 1 / n)]

    steps = np.unique(np.geomspace(10, 1e6, 25).astype(int))
    solved = solve_ivp(
        force, (0, 1e4), [0.0], method="LSODA", t_eval=0.01 * steps, rtol=1e-12, atol=1e-13
    )
    wanted = [
        D * norm**2 / 2 * (1 / K - p * p / square) for p, _, square in map(split, solved.y[0])
    ]
    np.testing.assert_allclose(slow_manifold.excess_curve(setting, steps), wanted, rtol=1e-7)


def test_the_elementary_gap_is_the_integral_at_thirty_digits():
    """The time to a gap z by quadrature of 1/ż, ż from the risk with C at its optimum, in p and q:
    no ω in it.
    """
    norm, D, K = 2.0, 12, 3
    n = D - K

    def pace(z):
        q = 1 / (K * mpmath.exp(z / mpmath.sqrt(D)) + n)
        p = (1 - n * q) / K
        square = K * p * p + n * q * q
        C = p / square
        by_z = norm**2 * (C**2 * K * n * p * q * (p - q) - C * n * p * q) / mpmath.sqrt(D)
        return -1 / (by_z * (mpmath.mpf(1) / K + mpmath.mpf(1) / n))

    with mpmath.workdps(30):
        for gap in (0.3, 4.0, 15.0, 40.0):
            time = mpmath.quad(pace, mpmath.linspace(0, gap, 9))
            setting = pooled(norm=2.0, rate=float(time))  # so that one step is this time
            (found,) = slow_manifold.gap_curve(setting, np.array([1]))
            assert found == pytest.approx(gap, rel=1e-12)
            # And the equation of its docstring.
            u = gap / math.sqrt(D)
            left = math.exp(2 * u) + 4 * n / K * u + (n / K) ** 2 * -math.expm1(-2 * u) - 1
            assert left == pytest.approx(2 * norm**2 * float(time) / K**3, rel=1e-12)


def test_the_elementary_gap_ends_at_its_law():
    setting = pooled(norm=2.0, rate=0.01)
    step = 10**15
    (gap,) = slow_manifold.gap_curve(setting, np.array([step]))
    growth = math.exp(2 * gap / math.sqrt(12)) / 4.0
    # What is left is (4n/K)u + n²/K² beside e^{2u}, which is 3e12.
    assert growth / (0.01 * step) == pytest.approx(theory.gap_constant(setting), rel=1e-9)


@pytest.mark.parametrize("activation", ["relu", "leaky_relu(0.3)"])
def test_the_quadrature_time_is_the_flow_too(activation):
    """The recursion with a V* so short that C follows its optimum."""
    setting = pooled(activation, norm=0.2, rate=0.5)
    times = recursion.times(setting)
    assert slow_manifold.halving_time(setting) == pytest.approx(times.halving, rel=2e-3)
    assert slow_manifold.attention_time(setting) == pytest.approx(times.attention, rel=2e-3)


def test_for_the_identity_attention_takes_twice_as_long_as_halving_and_the_formula_says_when():
    for D, K in ((12, 3), (36, 4), (64, 1)):
        part = tt.Part(
            "convolution", tokens=D, support=K, outputs=2, dim=4, norm=2.0, activation="identity"
        )
        setting, n = tt.Setting(part, 0.1, 10), D - K
        halving = slow_manifold.halving_time(setting)
        assert halving == pytest.approx(
            (K * n**2 - K**3 + 2 * K**2 * n * math.log(n / K)) / (2 * 0.1 * 4.0), rel=1e-12
        )
        assert slow_manifold.attention_time(setting) == pytest.approx(2 * halving, rel=1e-12)


def far(activation, tokens):
    """Facts of a teacher too large to build."""
    f = theory.facts(pooled(activation))
    return f.__class__(**{**f.__dict__, "tokens": tokens, "attention_scale": tokens**-0.5})


def test_with_many_tokens_relu_halves_sooner_than_the_printed_time_but_attends_at_it(monkeypatch):
    """D ≫ K: Kp = ½ at K D²/(η‖V*‖²) for both; ReLU's excess halves after 4π(KD)^3/2 times a
    number, one power of √D sooner.
    """
    times = {}
    for activation in ("identity", "relu"):
        for tokens in (10**6, 10**8):
            f = far(activation, tokens)
            monkeypatch.setattr(slow_manifold, "reducible", lambda _, f=f: f)
            unit = f.support * tokens**2 / (f.rate * f.value_square)
            times[activation, tokens] = (
                slow_manifold.halving_time(None) / unit,
                slow_manifold.attention_time(None) / unit,
            )
    assert times["identity", 10**8] == pytest.approx((0.5, 1.0), rel=1e-5)
    assert times["relu", 10**8][1] == pytest.approx(1.0, rel=5e-3)
    slope = math.log(times["relu", 10**8][0] / times["relu", 10**6][0]) / math.log(100)
    assert slope == pytest.approx(-0.5, abs=5e-3)


def test_no_prediction_where_two_scalars_cannot_follow():
    with pytest.raises(tt.Refused, match="identity, ReLU and leaky ReLU"):
        next(recursion.states(pooled("erf")))
    with pytest.raises(tt.Refused, match="K < D"):
        next(recursion.states(pooled().change(**{"teacher.support": 12})))
    with pytest.raises(tt.Refused, match="identity only"):
        slow_manifold.excess_curve(pooled("relu"), np.array([10]))
    with pytest.raises(tt.Refused, match="identity only"):
        slow_manifold.gap_curve(pooled("relu"), np.array([10]))


def test_times_are_those_of_the_states():
    setting = pooled("relu", norm=1.0, rate=0.3)
    times = recursion.times(setting)
    curves = recursion.along(setting, np.arange(math.ceil(times.attention) + 2))
    first = math.floor(times.halving)
    assert (
        curves["excess_risk"][first]
        > 0.5 * curves["excess_risk"][0]
        >= curves["excess_risk"][first + 1]
    )
    first = math.floor(times.attention)
    assert curves["support_mass"][first] < 0.5 <= curves["support_mass"][first + 1]
