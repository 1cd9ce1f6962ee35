r"""What optimisers other than plain descent must do on the teacher-models risk. Predictions only
(docs/derivations.md, section 12).

C = Σ_i K_i(D−K_i)/4 is the counting law, h = λ‖S*‖_F² the curvature along W_V at the teacher, the
largest that a run from zero meets.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace
from functools import lru_cache

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float, Int
from scipy.integrate import solve_ivp

from tutelage.claims.claim import NoPrediction
from tutelage.papers.teacher_models import theory
from tutelage.papers.teacher_models.theory.bilinear import build_bilinear
from tutelage.papers.teacher_models.theory.recursion import reducible
from tutelage.settings import Setting

DESCENTS = ("gradient_descent", "momentum")  # those whose time is known before they run

Numbers = Float[Array, "..."] | Float[np.ndarray, "..."] | float
Risk = Callable[[Numbers, Numbers], Float[Array, "..."]]
States = Callable[[Float[np.ndarray, "points"]], Float[np.ndarray, "2 points"]]


def velocity(setting: Setting) -> float:
    """β, which is 0 without momentum."""
    return float(setting.optimiser.options.get("decay", 0.0))


def time(setting: Setting, steps: Int[np.ndarray, "points"]) -> Float[np.ndarray, "points"]:
    """The time of gradient flow after some steps: Σ_{t<T} η_t/(1−β), η_t = η/(1 + t/t₀)^a."""
    if setting.optimiser.name not in DESCENTS:
        raise NoPrediction(f"The time of {setting.optimiser.name} depends on its own gradients.")
    power = float(setting.optimiser.options.get("power", 0.0))
    onset = float(setting.optimiser.options.get("onset", 100.0))
    sizes = setting.rate * (1 + np.arange(int(np.max(steps))) / onset) ** -power
    return np.concatenate([[0.0], np.cumsum(sizes)])[np.asarray(steps)] / (1 - velocity(setting))


def plateau(setting: Setting) -> float:
    """`theory.plateau` in steps of this optimiser, those that take it to the same time; or the
    steps in which W_V stops ringing, where these are more.
    """
    return max(steps_to_plateau(setting), ringing(setting))


def ringing(setting: Setting) -> float:
    r"""The steps in which ringing along W_V falls by a factor $e$: $-1/\log\rho$, with $\rho$ the
    largest modulus of a root of $z^2-(1+\beta-\eta h)z+\beta$, for Nesterov of
    $z^2-(1+\beta)(1-\eta h)z+\beta(1-\eta h)$. 0 where it does not fall: nothing waits for that.
    """
    b, kept = velocity(setting), 1 - setting.rate * curvature(setting)
    if setting.optimiser.options.get("nesterov"):
        middle, last = (1 + b) * kept, b * kept
    else:
        middle, last = b + kept, b
    largest = float(np.abs(np.roots([1.0, -middle, last])).max())
    return -1 / math.log(largest) if 0 < largest < 1 else 0.0


def steps_to_plateau(setting: Setting) -> float:
    wanted = setting.rate * theory.plateau(setting)
    steps = 2
    while time(setting, np.array([steps]))[0] < wanted:
        steps *= 2
    reached = time(setting, np.arange(steps + 1))
    return float(np.interp(wanted, reached, np.arange(steps + 1)))


def with_momentum(law: theory.Law) -> Callable[[Setting], float]:
    """curve·(ηT)^a → (1−β)^a times the law's constant, a = −exponent: a velocity sums gradients to
    g/(1−β), so that time runs that much faster.
    """
    return lambda setting: float((1 - velocity(setting)) ** -law.exponent * law.constant(setting))


def curvature(setting: Setting) -> float:
    """h = λ‖S*‖_F²."""
    f = theory.facts(setting)
    if f.lam is None:
        raise NoPrediction(
            "The curvature at the teacher is known for identity, ReLU and leaky ReLU. Got "
            f"{f.activation}."
        )
    return float(f.lam * np.sum(f.weights**2))


def edge(setting: Setting) -> float:
    """The largest stable step from zero: 2/h, with momentum 2(1+β)/h, with Nesterov's
    (2+2β)/((1+2β)h).
    """
    b = velocity(setting)
    if setting.optimiser.name not in DESCENTS:
        raise NoPrediction("The largest stable step is known for plain descent and momentum.")
    return (
        2
        * (1 + b)
        / ((1 + 2 * b) if setting.optimiser.options.get("nesterov") else 1.0)
        / curvature(setting)
    )


def normalised_level(setting: Setting) -> float:
    """Excess of normalised descent at the edge after T steps: hη²/8 + Ch/(2T), W_V to and fro by η,
    and attention at the step 2/h.
    """
    h = curvature(setting)
    return h * setting.rate**2 / 8 + theory.counting_law(setting) * h / (2 * setting.steps)


def normalised_fall(setting: Setting) -> float:
    """d log excess/d(ηT) = −1/√C of normalised descent, before its edge."""
    return -1 / math.sqrt(theory.counting_law(setting))


def normalised_edge_excess(setting: Setting) -> float:
    """The excess √C hη/2 at which η/‖g‖ reaches 2/h: normalised descent is then at its edge."""
    return math.sqrt(theory.counting_law(setting)) * curvature(setting) * setting.rate / 2


def self_tuned_law(setting: Setting) -> float:
    """excess·ηT → Chη/2 for normalised descent whose steps decay like T^-a, ½ < a < 1: its own
    steps are 2/h from the edge on.
    """
    return theory.counting_law(setting) * curvature(setting) * setting.rate / 2


def sign_cosine(setting: Setting) -> float:
    """cos(sgn V*, V*) = ‖V*‖₁/(√(Md)‖V*‖_F): the first step of sign descent, Adam or Lion from zero
    is along the signs of V*.
    """
    value = np.asarray(build_bilinear(setting).value)
    return float(np.abs(value).sum() / math.sqrt(value.size) / np.linalg.norm(value))


def risk_of_two(setting: Setting) -> Risk:
    """The excess as a function of C₁ and the gap z = C₂+C₃, from the variances and the covariance
    of a pair of pre-activations.
    """
    f = reducible(setting)
    assert f.lam is not None
    assert f.slope is not None
    D, K, Q, lam, bend = f.tokens, f.support, f.queries, f.lam, (1 - f.slope) ** 2 / (2 * math.pi)
    n = D - K

    def excess(C: Numbers, z: Numbers) -> Float[Array, "..."]:
        u = jnp.exp(-f.attention_scale * z)
        p = 1 / (K + n * u)
        length = jnp.sqrt(K * p**2 + n * (u * p) ** 2)
        angle = jnp.arctan(math.sqrt(n / K) * u)
        square = C**2 * length**2 - 2 * C * p + 1 / K
        bent = C * bend * length / math.sqrt(K) * (jnp.sin(angle) - angle * jnp.cos(angle))
        return jnp.asarray(Q * f.value_square * (0.5 * lam * square - bent))

    return excess


def flow_field(
    setting: Setting,
) -> Callable[[float, Float[np.ndarray, "2"]], Float[np.ndarray, "2"]]:
    """(Ċ₁, ż) of gradient flow: −∂L/∂C₁/‖V*‖² and −(1/K + 1/n)/Q ∂L/∂z, since each of K (n) scores
    takes its share of a column's gap.
    """
    f = reducible(setting)
    K, n = f.support, f.tokens - f.support
    slopes = jax.jit(jax.grad(risk_of_two(setting), argnums=(0, 1)))
    metric = np.array([1 / f.norm**2, (1 / K + 1 / n) / f.queries])

    def field(_: float, state: Float[np.ndarray, "2"]) -> Float[np.ndarray, "2"]:
        return -metric * np.asarray(slopes(float(state[0]), float(state[1])), float)

    return field


@lru_cache(maxsize=64)
def _flow(setting: Setting, end: float) -> States:
    solved = solve_ivp(
        flow_field(setting),
        (0.0, end),
        [0.0, 0.0],
        method="Radau",
        rtol=1e-9,
        atol=1e-12,
        dense_output=True,
    )
    return solved.sol


def flow(setting: Setting, times: Float[np.ndarray, "points"]) -> Float[np.ndarray, "points"]:
    """The excess of gradient flow from zero at some times, by an implicit method of order 5; no
    step size enters.
    """
    states = _flow(replace(setting, rate=1.0, steps=1), float(np.max(times)))(times)
    return np.asarray(risk_of_two(setting)(*states))
