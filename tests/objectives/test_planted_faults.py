"""Faults planted one at a time in a fresh copy of the package: the checks of the other files must
see each of them.

A test that cannot fail is a defect. Here every check is shown to fail, and to pass when nothing is
planted. For each fault the copy is imported anew with one expression of one module changed, so no
compiled program, cache or closure of the sound package is met. Expressions are compared after
parsing, so layout and comments do not matter; if one is gone, the fault must be planted somewhere
else.
"""

from __future__ import annotations

import importlib
import sys
from collections.abc import Callable

import heads_twin
import pytest
import shallow_checks
import twins
from planting import Copy, Fault, fresh_package

CHECKS: dict[str, Callable[[], None]] = {
    "identity excess": lambda: twins.check_excess("identity", twins.cases()["square"]),
    "relu excess": lambda: twins.check_excess("relu", twins.cases()["square"]),
    "leaky excess": lambda: twins.check_excess("leaky_relu(0.5)", twins.cases()["square"]),
    "relu excess of opposites": lambda: twins.check_excess("relu", twins.cases()["opposite value"]),
    "relu excess nearby": lambda: twins.check_excess("relu", twins.at_distance(0.3)),
    "relu excess very near": lambda: twins.check_excess("relu", twins.at_distance(1e-8)),
    "erf excess": lambda: twins.check_excess("erf", twins.cases()["square"]),
    "erf excess very near": lambda: twins.check_excess("erf", twins.at_distance(1e-8)),
    "correlated excess": lambda: twins.check_excess(
        "identity", twins.cases()["covariance and correlation"]
    ),
    "identity gradient": lambda: twins.check_gradient("identity", twins.cases()["square"]),
    "relu gradient": lambda: twins.check_gradient("relu", twins.cases()["square"]),
    "leaky gradient": lambda: twins.check_gradient("leaky_relu(0.1)", twins.cases()["square"]),
    "relu gradient very near": lambda: twins.check_gradient("relu", twins.at_distance(1e-6)),
    "erf gradient": lambda: twins.check_gradient("erf", twins.at_distance(1.0)),
    "erf gradient very near": lambda: twins.check_gradient("erf", twins.at_distance(1e-6)),
    "relu zero start": lambda: twins.check_zero_start("relu", 0.25),
    "attention": lambda: twins.check_attention(twins.attending("identity", 1.0)[0]),
    "attention with codes": lambda: twins.check_attention(
        twins.attending("identity", 1.0, codes=True, scale=0.3)[0]
    ),
    "default scale": twins.check_default_scale,
    "relu scores": lambda: twins.check_key_query_gradient("relu", *twins.attending("relu", 1.0)),
    "correlated descent of scores": twins.check_correlated_scores,
    "noise floor": twins.check_noise_floor,
    "angle": twins.check_angle,
    "measures": twins.check_measures,
    "identity recursion": lambda: twins.check_recursion("identity"),
    "relu recursion": lambda: twins.check_recursion("relu"),
    "quadrature": twins.check_quadrature,
    "sampled moments": twins.check_sampled_moments,
    "sampled risk": lambda: twins.check_sampled_risk("relu"),
    "leaky derivative": lambda: twins.check_leaky_derivative(0.25),
    "streams": twins.check_streams,
    "descent": twins.check_descent,
    "divergence": twins.check_divergence_step,
    "convergence": twins.check_convergence_step,
    "heads": heads_twin.check_heads,
    "transported teacher": heads_twin.check_teacher,
    "projected descent": heads_twin.check_descent,
    "loss of heads": shallow_checks.check_loss_gradient,
    "loss of few tokens": shallow_checks.check_loss_of_few_tokens,
    "tangent kernel": shallow_checks.check_tangent_kernel,
    "kernel descent": shallow_checks.check_kernel_descent,
    "limit kernel": shallow_checks.check_limit_kernel,
    "spread of one head": shallow_checks.check_head_spread,
    "recurrent rival": shallow_checks.check_recurrent,
    "lagged series": shallow_checks.check_series,
    "infinite width": shallow_checks.check_infinite_width,
    "constants of the bounds": shallow_checks.check_theory,
    "explicit bound": shallow_checks.check_bounds,
}

FORMS, SHAPE, RISK = "numerics.closed_forms", "numerics.geometry", "objectives.population"
RECURSION = "papers.teacher_models.theory.recursion"
RULE, STUDENT, INPUTS = "numerics.quadrature", "students.position_attention", "inputs.gaussian"
SOFTMAX, THROUGH = "numerics.softmax", "numerics.softmax_excess"
LOSS, TANGENT, DESCENT, LIMIT = (
    f"numerics.{name}"
    for name in ("heads_gradient", "tangent_kernel", "kernel_descent", "limit_kernel")
)
WIDE, THEORY, BOUNDS = (
    f"papers.shallow_transformers.theory.{name}"
    for name in ("infinite_width", "approximation", "bounds")
)

FAULTS: dict[str, Fault] = {
    "the identity's half is a millionth off": Fault(
        FORMS, "0.5 * p.distance", "0.5000005 * p.distance", "identity excess"
    ),
    "λ is a millionth off": Fault(
        FORMS, "0.25 * (1 + slope**2)", "0.25000025 * (1 + slope**2)", "relu excess"
    ),
    "λ of the gradient is a millionth off": Fault(
        FORMS,
        "jnp.full_like(theta, 0.5 * (1 + slope**2))",
        "jnp.full_like(theta, 0.5000005 * (1 + slope**2))",
        "relu gradient",
    ),
    "λ has k for k²": Fault(FORMS, "0.25 * (1 + slope**2)", "0.25 * (1 + slope)", "leaky excess"),
    "the mix has 1−k for (1−k)²": Fault(
        FORMS,
        "c = (1 - slope) ** 2 / (2 * math.pi)",
        "c = (1 - slope) / (2 * math.pi)",
        "leaky gradient",
    ),
    "the θ⁵ coefficient is a millionth off": Fault(
        FORMS,
        "(-1) ** (n + 1) * 2 * n / math.factorial(2 * n + 1)",
        "(-1) ** (n + 1) * 2 * n / math.factorial(2 * n + 1) * (1 + 1e-6 * (n == 2))",
        "relu excess nearby",
    ),
    "no series near θ = 0": Fault(
        FORMS, "jnp.where(theta < 0.5, near, direct)", "direct", "relu excess very near"
    ),
    "the kink at a = 0 takes one side": Fault(FORMS, "0.5 * math.pi", "0.0", "relu zero start"),
    "κ of the student has the wrong sign": Fault(FORMS, "c * ratio", "-c * ratio", "relu gradient"),
    "a sign in the erf slopes": Fault(
        FORMS,
        "2 * (1 + r) * spread + e * f - 4 * e * (1 + r)",
        "2 * (1 + r) * spread - e * f - 4 * e * (1 + r)",
        "erf gradient",
    ),
    "a small coefficient in the erf slopes": Fault(
        FORMS, "e**2 * (5 + 2 * r + 2 * e)", "e**2 * (5 + 2 * r + 2.000001 * e)", "erf gradient"
    ),
    "erf slopes not made rational": Fault(
        FORMS,
        "jnp.where(e > -1, numerator / below, 1 / a - (1 + e) / root)",
        "1 / a - (1 + e) / root",
        "erf gradient very near",
    ),
    "erf has the student twice": Fault(
        FORMS,
        "4 * P * q * (spread + 4 * area**2)",
        "4 * P * P * (spread + 4 * area**2)",
        "erf excess",
    ),
    "erf not made rational": Fault(
        FORMS,
        "jnp.where(r > 0, rational, root * less_one - r * (a + b))",
        "root * less_one - r * (a + b)",
        "erf excess very near",
    ),
    "1+δ is 1 in the gap of columns": Fault(
        SHAPE, "(1 + self.delta) * self.stretch", "self.stretch", "identity gradient"
    ),
    "the gap of columns is a plain difference": Fault(
        SHAPE,
        "(1 + self.delta) * self.stretch * self.column + self.row_along * self.column_off",
        "self.row_along * self.student_column - (1 + self.delta) * self.column",
        "relu gradient very near",
    ),
    "αδ is left out of ε": Fault(
        SHAPE,
        "self.alpha + self.delta + self.alpha * self.delta",
        "self.alpha + self.delta",
        "identity excess",
    ),
    "the off-teacher part meets the wrong norm": Fault(
        SHAPE,
        "off_s = (mu - kappa_student) * p.student_row",
        "off_s = (mu - kappa_student) * p.row",
        "identity gradient",
    ),
    "the area forgets the columns": Fault(
        SHAPE, "jnp.sqrt(by_row + by_column)", "jnp.sqrt(by_row)", "relu excess"
    ),
    "an angle coefficient is 1e-9 off": Fault(
        "numerics.angle",
        "_POLYNOMIAL = _coefficients()",
        "_POLYNOMIAL = [c + 1e-9 * (i == 3) for i, c in enumerate(_coefficients())]",
        "angle",
    ),
    "obtuse angles are not turned back": Fault(
        "numerics.angle",
        "jnp.where(x < 0, math.pi - quarter, quarter)",
        "quarter",
        "relu excess of opposites",
    ),
    "the noise floor lacks its half": Fault(
        RISK,
        "0.5 * outputs * queries * self.teacher.noise**2",
        "outputs * queries * self.teacher.noise**2",
        "noise floor",
    ),
    "the noise floor lacks its queries": Fault(
        RISK,
        "0.5 * outputs * queries * self.teacher.noise**2",
        "0.5 * outputs * self.teacher.noise**2",
        "sampled risk",
    ),
    "the student's columns are not whitened": Fault(
        RISK,
        "self._columns(jax.lax.stop_gradient(attention - self.teacher.selection))",
        "jax.lax.stop_gradient(attention - self.teacher.selection)",
        "correlated excess",
    ),
    "the covariance for its root": Fault(
        INPUTS, "np.sqrt(np.maximum(values, 0.0))", "np.maximum(values, 0.0)", "correlated excess"
    ),
    "positions are sampled independent": Fault(
        INPUTS,
        "draw.astype(self.position_root.dtype) @ self.position_root",
        "draw",
        "sampled moments",
    ),
    "softmax over the wrong axis": Fault(
        SOFTMAX, "column_sum(weights)", "column_sum(weights.T).T", "attention"
    ),
    "a coefficient of the exponential is 1e-9 off": Fault(
        SOFTMAX,
        "_coefficients(kind.degree)",
        "[c + 1e-9 * (i == 3) for i, c in enumerate(_coefficients(kind.degree))]",
        "attention",
    ),
    "ln 2 is in one part": Fault(
        SOFTMAX, "(x - n * kind.ln2[0]) - n * kind.ln2[1]", "x - n * kind.ln2[0]", "attention"
    ),
    "the softmax's tangent keeps its mean": Fault(
        SOFTMAX, "change - column_sum(attention * change)", "change", "correlated descent of scores"
    ),
    "no attention scale": Fault(
        STUDENT, "self.attention_scale * self.scores()", "self.scores()", "attention"
    ),
    "no attention scale in the risk": Fault(
        RISK, "student.attention_scale * student.scores()", "student.scores()", "relu scores"
    ),
    "the gradient in the scores keeps its mean": Fault(
        THROUGH, "off_s * attention_off - mean", "off_s * attention_off", "relu scores"
    ),
    "the mean of a column forgets s⊥": Fault(
        THROUGH,
        "on_s * (1 + p.delta) * p.column + off_s * p.column_off",
        "on_s * (1 + p.delta) * p.column",
        "relu scores",
    ),
    "the mean of a column has 1 for 1+δ": Fault(
        THROUGH, "on_s * (1 + p.delta) * p.column", "on_s * p.column", "relu scores"
    ),
    "the attention scale is of the wrong size": Fault(
        STUDENT, "1.0 / math.sqrt(tokens)", "1.0 / tokens", "default scale"
    ),
    "codes change places": Fault(
        STUDENT,
        "self.key_codes.T @ scores @ asked",
        "(self.key_codes.T @ scores @ asked)[::-1]",
        "attention with codes",
    ),
    "the quadrature weight is a millionth off": Fault(
        RULE,
        "weight = jnp.exp(-0.5 * grid**2)",
        "weight = jnp.exp(-0.5000005 * grid**2)",
        "quadrature",
    ),
    "the quadrature's stretch is the row's alone": Fault(
        RULE, "with_x = p.stretch * sigma", "with_x = p.alpha * sigma", "quadrature"
    ),
    "a sign in Price's theorem": Fault(
        RULE, "first * (first - slope_b) + bend", "first * (first - slope_b) - bend", "quadrature"
    ),
    "the cosine has the wrong sign": Fault(
        "measures.bilinear",
        "1.0 - 0.5 * jnp.sum(gap**2)",
        "0.5 * jnp.sum(gap**2) - 1.0",
        "measures",
    ),
    "the entropy has the wrong sign": Fault(
        "measures.bilinear",
        "ours * jnp.log(jnp.where(ours > 0, ours, 1.0))",
        "-ours * jnp.log(jnp.where(ours > 0, ours, 1.0))",
        "measures",
    ),
    "the score gap forgets the other tokens": Fault(
        "measures.bilinear",
        "jnp.sum(off * scores, axis=0) / jnp.maximum(others, 1.0)",
        "0.0 * others",
        "measures",
    ),
    "the recursion's force on C is a billionth off": Fault(
        RECURSION,
        "p * (C - 1) - C * n * q * (p - q)",
        "p * (C - 1) - 1.000000001 * C * n * q * (p - q)",
        "identity recursion",
    ),
    "the recursion's force on z has D for n": Fault(
        RECURSION, "lam * (C - 1 - C * D * q)", "lam * (C - 1 - C * n * q)", "identity recursion"
    ),
    "the recursion's angle has the wrong sign": Fault(
        RECURSION,
        "ratio * K * q * (p - q) / square - theta",
        "ratio * K * q * (p - q) / square + theta",
        "relu recursion",
    ),
    "the recursion starts at one side of the kink": Fault(
        RECURSION, "((1 + k) / 2) ** 2", "(1 + k) / 2", "relu recursion"
    ),
    "labels have the variance for the deviation": Fault(
        "teachers.bilinear",
        "self.noise * jax.random.normal(key, clean.shape)",
        "self.noise**2 * jax.random.normal(key, clean.shape)",
        "sampled risk",
    ),
    "the leaky derivative at 0 is that of one side": Fault(
        "activations", "0.5 * (1.0 + slope)", "slope", "leaky derivative"
    ),
    "a step too many before each measurement": Fault(
        "training.literal", "np.diff([here, *targets])", "np.diff([here, *targets]) + 1", "descent"
    ),
    "the rate is a millionth off": Fault(
        "training.literal",
        "transformation = optax.with_extra_args_support(_transformation(optimiser, rate))",
        "transformation = optax.with_extra_args_support(_transformation(optimiser, rate * "
        "1.000001))",
        "descent",
    ),
    "the step of divergence is not narrowed down": Fault(
        "training.record", "high - low > 1", "high - low > 3", "divergence"
    ),
    "the rounding floor is too high": Fault(
        "training.record", "ROUNDING = 64", "ROUNDING = 128", "convergence"
    ),
    "the mean is left in MU": Fault(
        "numerics.heads", "weights * (along - mean[:, None])", "weights * along", "heads"
    ),
    "∂W lacks c": Fault(
        "numerics.heads",
        "(signed * seen.spread)[:, :, None] * query",
        "(seen.spread / root)[:, :, None] * query",
        "heads",
    ),
    "∂c is over m": Fault("numerics.heads", "seen.value / root", "seen.value / root**2", "heads"),
    "the linearisation is of the iterate": Fault(
        "students.shallow_transformer",
        "features(self.start, tokens, query, self.activation)",
        "features(self.heads, tokens, query, self.activation)",
        "heads",
    ),
    "v_w is unclipped": Fault(
        "teachers.transported",
        "jnp.minimum(1.0, nu_w / jnp.where(length > 0, length, 1.0))",
        "jnp.ones_like(length)",
        "transported teacher",
    ),
    "v_u has the radius of v_c": Fault(
        "teachers.transported",
        "weight * nu_u * phi.read",
        "weight * nu_c * phi.read",
        "transported teacher",
    ),
    "the labels' error is that of one head": Fault(
        "teachers.transported",
        "jnp.sqrt(variance / count)",
        "jnp.sqrt(variance)",
        "transported teacher",
    ),
    "the ball is √m too large": Fault(
        "optimisers.projected",
        "radii[path[-1].name] / jnp.sqrt(float(len(leaf)))",
        "radii[path[-1].name]",
        "projected descent",
    ),
    "all heads share one ball": Fault(
        "optimisers.projected",
        "tuple(range(1, leaf.ndim))",
        "tuple(range(leaf.ndim))",
        "projected descent",
    ),
    "the averaged iterate counts one too many": Fault(
        "optimisers.projected", "(p - m) / taken", "(p - m) / (taken + 1.0)", "projected descent"
    ),
    "streams ignore their name": Fault(
        "numerics.streams",
        "checksum = zlib.crc32(name.encode())",
        "checksum = 0",
        "streams",
    ),
    "samples beyond the count are summed": Fault(
        LOSS,
        "(sample >= number * size) & (sample < count)",
        "sample >= number * size",
        "loss of heads",
    ),
    "samples of a ragged block are summed twice": Fault(
        LOSS, "(sample >= number * size) & (sample < count)", "sample < count", "loss of heads"
    ),
    "∂c of the loss lacks its 2": Fault(LOSS, "2 * in_c / root", "in_c / root", "loss of heads"),
    "the mean is left in MU of the loss": Fault(LOSS, "u - mean[:, None]", "u", "loss of heads"),
    "the mean is left in MU of few tokens": Fault(
        "numerics.few_tokens", "u - mean[:, None]", "u", "loss of few tokens"
    ),
    "φ of few tokens lacks its scale": Fault(
        "numerics.few_tokens",
        "(r[None] * slope * scale)[:, None]",
        "(r[None] * slope)[:, None]",
        "loss of few tokens",
    ),
    "a token is read twice": Fault(
        "numerics.few_tokens",
        "apart[:, None, t] * tokens[None, :, t]",
        "apart[:, None, t] * tokens[None, :, t // 2]",
        "loss of few tokens",
    ),
    "K_u lacks c²": Fault(
        TANGENT,
        "factors = once[None], scale[None, None], scale[None, None]",
        "factors = once[None], once[None, None], scale[None, None]",
        "tangent kernel",
    ),
    "K_w lacks ⟨q, q′⟩": Fault(TANGENT, "qq * k_w", "k_w", "tangent kernel"),
    "heads of a ragged group count twice": Fault(
        TANGENT,
        "start + jnp.arange(size) >= number * size",
        "start + jnp.arange(size) >= 0",
        "tangent kernel",
    ),
    "a step in the kernel lacks its 2": Fault(
        DESCENT,
        "base = 1 - 2 * self.rate * self.eigenvalues / len(self.labels)",
        "base = 1 - self.rate * self.eigenvalues / len(self.labels)",
        "kernel descent",
    ),
    "α lacks its 2": Fault(
        DESCENT,
        "2 * self.rate / len(self.labels) * self._summed(steps)",
        "self.rate / len(self.labels) * self._summed(steps)",
        "kernel descent",
    ),
    "the ridge lacks n": Fault(
        DESCENT, "values + len(labels) * penalty", "values + penalty", "kernel descent"
    ),
    "the response lacks its 2": Fault(
        DESCENT, "-2 * self.rate / n * quotient", "-self.rate / n * quotient", "kernel descent"
    ),
    "the error is that of one block": Fault(
        LIMIT,
        "jnp.sqrt(square / (blocks - 1) / blocks)",
        "jnp.sqrt(square / (blocks - 1))",
        "limit kernel",
    ),
    "the spread is about the old mean": Fault(
        LIMIT,
        "(_sum(new) - _sum(mean)) * (_sum(new) - _sum(moved))",
        "(_sum(new) - _sum(mean)) ** 2",
        "limit kernel",
    ),
    "the blocks are one and the same": Fault(
        LIMIT, "jax.random.fold_in(key, number)", "key", "limit kernel"
    ),
    "‖k − K‖² lacks a 2": Fault(
        LIMIT,
        "2 * jnp.sum(rows * (kernel @ rows))",
        "jnp.sum(rows * (kernel @ rows))",
        "spread of one head",
    ),
    "the response meets rows of the basis": Fault(
        LIMIT, "turned = basis.T @ rows", "turned = basis @ rows", "spread of one head"
    ),
    "∂h/∂u forgets u": Fault(
        "students.indrnn", "s * (h + u * in_u)", "s * (h + in_u)", "recurrent rival"
    ),
    "∂h/∂W_in forgets the past": Fault(
        "students.indrnn",
        "s[:, None] * (x[None] + u[:, None] * in_w)",
        "s[:, None] * (x[None] + 0.0 * in_w)",
        "recurrent rival",
    ),
    "no gap before the windows held out": Fault(
        "inputs.series",
        "end + self.gap + self.stride * np.arange(validation)",
        "end + self.stride * np.arange(validation)",
        "lagged series",
    ),
    "the gap may be shorter than a window": Fault(
        "inputs.series",
        "max(lags * self.teacher.lag, self.teacher.tokens + 1)",
        "lags * self.teacher.lag",
        "lagged series",
    ),
    "the noise of the series has 1−φ²": Fault(
        "inputs.series", "math.sqrt(1 - phi**2)", "(1 - phi**2)", "lagged series"
    ),
    "descent at infinite width takes another's step": Fault(
        WIDE, "descent.loss(last)[0]", "descent.at(0.05).loss(last)[0]", "infinite width"
    ),
    "losses at infinite width are over Σ|y|": Fault(
        WIDE, "np.mean(descent.labels**2)", "np.mean(abs(descent.labels))", "infinite width"
    ),
    "the averaged residual counts one too many": Fault(
        "numerics.kernel_descent",
        "self._summed(steps) / np.asarray(steps, float)[:, None]",
        "self._summed(steps) / (np.asarray(steps, float)[:, None] + 1)",
        "kernel descent",
    ),
    "another step size forgets itself": Fault(
        "numerics.kernel_descent", "replace(self, rate=rate)", "replace(self)", "kernel descent"
    ),
    "L₂ has 4 for 8": Fault(
        THEORY,
        "8 * first * math.sqrt(square)",
        "4 * first * math.sqrt(square)",
        "constants of the bounds",
    ),
    "B_U has m for m/2": Fault(
        THEORY, "s.m / (2 * DELTA)", "s.m / DELTA", "constants of the bounds"
    ),
    "the approximation bound has n for 2n": Fault(
        THEORY, "2 * s.n / DELTA", "s.n / DELTA", "constants of the bounds"
    ),
    "the linearisation bound has ρ_c for L₁ρ_c": Fault(
        THEORY,
        "one * rho_c * math.hypot(rho_w, rho_u)",
        "rho_c * math.hypot(rho_w, rho_u)",
        "constants of the bounds",
    ),
    "D²/(4ητ) has 2 for 4": Fault(BOUNDS, "4 * rate * s.tau", "2 * rate * s.tau", "explicit bound"),
    "the tangent of two points has the radius of one": Fault(
        BOUNDS, "4 * rho_c * one * far", "2 * rho_c * one * far", "explicit bound"
    ),
    "the averaged iterate pays the gap once": Fault(
        BOUNDS, "2 * linearisation_bound(s)", "linearisation_bound(s)", "explicit bound"
    ),
}


SOUND: Copy = {}  # the checks share a sound copy and its programs


@pytest.mark.brief(4)
@pytest.mark.parametrize("check", CHECKS)
def test_the_sound_package_passes(check: str) -> None:
    changes_sizes = CHECKS[check].__module__ == shallow_checks.__name__
    with fresh_package(copy=None if changes_sizes else SOUND):
        CHECKS[check]()


@pytest.mark.brief(9)
@pytest.mark.parametrize("name", FAULTS)
def test_a_planted_fault_is_seen(name: str) -> None:
    fault = FAULTS[name]
    with fresh_package(fault):
        importlib.import_module(f"tutelage.{fault.module}")
        with pytest.raises(AssertionError):
            CHECKS[fault.check]()


def test_every_check_is_shown_to_fail() -> None:
    unseen = set(CHECKS) - {fault.check for fault in FAULTS.values()}
    assert not unseen, f"no planted fault turns these red: {unseen}"


def test_the_old_package_is_back() -> None:
    before = tuple(
        importlib.import_module(name) for name in ("tutelage", "tutelage.numerics.closed_forms")
    )
    with fresh_package(FAULTS["λ is a millionth off"]):
        assert importlib.import_module("tutelage.numerics.closed_forms") is not before[1]
    assert (sys.modules["tutelage"], sys.modules["tutelage.numerics.closed_forms"]) == before
    twins.check_excess("relu", twins.cases()["square"])
