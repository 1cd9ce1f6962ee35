r"""What the theory of Zhang et al. 2026 predicts at a setting. Predictions only: nothing here sees
a run.

Notation: D tokens, Q queries, M outputs, K_i the support of column i of S*, t = ηT, λ = (1+k²)/2
for leaky slope k (identity 1, ReLU ½). The rates are the paper's; the constants are derived in
docs/derivations.md by a slow-manifold argument and are not in the paper.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from jaxtyping import Bool, Float, Int

from tutelage.activations import Identity, LeakyReLU
from tutelage.claims.claim import NoPrediction
from tutelage.claims.verdict import Hypothesis
from tutelage.inputs import Gaussian
from tutelage.problem.registry import build
from tutelage.settings import Setting
from tutelage.teachers.collapsed import CollapsedTeacher, counts_of


@dataclass(frozen=True)
class Facts:
    """The numbers of a setting that predictions are made of."""

    tokens: int
    queries: int
    outputs: int
    dim: int
    supports: Int[np.ndarray, "Q"]
    selection: Float[np.ndarray, "D Q"]  # S*, or the distinct weights of a collapsed one
    collapsed: bool
    column_sums: Float[np.ndarray, "Q"]
    selection_square: float  # ‖S*‖_F²
    value_square: float  # tr(V* Σ V*ᵀ): ‖V*‖_F² for iid tokens
    norm: float  # ‖V*‖_F
    noise: float
    lam: float | None  # None where the activation has no λ
    slope: float | None  # k: 1 for the identity, 0 for ReLU; None likewise
    attention_scale: float
    rate: float
    zero_start: bool
    standard: bool  # features have covariance I
    iid_positions: bool
    orthonormal_codes: bool
    plain_descent: bool
    exact: bool  # trained on the population risk itself
    activation: str

    @property
    def weights(self) -> Float[np.ndarray, "D Q"]:
        """S* itself, for predictions that look at single tokens."""
        if self.collapsed:
            raise NoPrediction(
                "This prediction looks at S* token by token, and the teacher is collapsed; leave "
                "it whole."
            )
        return self.selection

    @property
    def on(self) -> Bool[np.ndarray, "D Q"]:
        return self.weights > 0

    @property
    def uniform(self) -> bool:
        """Every column has the same number of equal weights."""
        return len(set(self.supports.tolist())) == 1 and bool(
            np.allclose(
                self.selection[self.selection > 0], 1 / self.supports[0], rtol=1e-12, atol=0
            )
        )

    @property
    def realisable(self) -> bool:
        """Every column of S* sums to 1, as a softmax does: the teacher is of the class."""
        return bool(np.allclose(self.column_sums, 1.0, rtol=0, atol=1e-12))

    @property
    def support(self) -> int:
        """K, the largest one where columns differ."""
        return int(self.supports.max())


@lru_cache(maxsize=4096)
def facts(setting: Setting) -> Facts:
    problem = build(setting)
    teacher, inputs, student = problem.teacher, problem.inputs, problem.student
    if not isinstance(inputs, Gaussian):
        raise NoPrediction(f"The theory is for Gaussian tokens. Got {setting.inputs.name} inputs.")
    outputs, dim, tokens, queries = teacher.shape
    weights, collapsed = np.asarray(teacher.selection), isinstance(teacher, CollapsedTeacher)
    each, many = (np.asarray(counts) for counts in counts_of(teacher))
    supports = np.rint(np.sum(each * (weights > 0), axis=0)).astype(int)
    activation = teacher.activation
    slope = (
        1.0
        if isinstance(activation, Identity)
        else activation.slope
        if isinstance(activation, LeakyReLU)
        else None
    )
    covariance = (
        None
        if inputs.feature_root is None
        else np.asarray(inputs.feature_root @ inputs.feature_root)
    )
    return Facts(
        tokens=tokens,
        queries=queries,
        outputs=outputs,
        dim=dim,
        supports=np.repeat(supports, many.astype(int)) if collapsed else supports,
        selection=weights,
        collapsed=collapsed,
        column_sums=np.sum(each * weights, axis=0),
        selection_square=float(np.sum(many * each * weights**2)),
        value_square=float(np.sum(np.asarray(inputs.whiten_rows(teacher.value)) ** 2)),
        norm=float(np.linalg.norm(np.asarray(teacher.value))),
        noise=float(teacher.noise),
        lam=None if slope is None else 0.5 * (1 + slope**2),
        slope=slope,
        attention_scale=float(student.attention_scale),
        rate=setting.rate,
        zero_start=not (np.asarray(student.value).any() or np.asarray(student.key_query).any()),
        standard=covariance is None
        or bool(np.allclose(covariance, np.eye(dim), rtol=1e-12, atol=1e-12)),
        iid_positions=inputs.position_root is None,
        orthonormal_codes=all(
            c is None or _orthonormal(np.asarray(c))
            for c in (student.key_codes, student.query_codes)
        ),
        plain_descent=setting.optimiser.name in ("gradient_descent", "averaged")
        and not setting.optimiser.options.get("power", 0.0),
        exact=setting.objective.name == "population",
        activation=activation.name,
    )


def _orthonormal(codes: Float[np.ndarray, "p D"]) -> bool:
    return bool(np.allclose(codes.T @ codes, np.eye(codes.shape[1]), rtol=0, atol=1e-12))


def _of_the_class(f: Facts) -> Facts:
    if not f.orthonormal_codes:
        raise NoPrediction(
            "The counting law and the constants of the errors are for orthonormal codes; for "
            "others see teacher-models/codes."
        )
    if not f.realisable:
        raise NoPrediction(
            "The counting law and the constants of the errors are for teachers whose columns sum "
            "to 1; see outside.py."
        )
    return f


def _lam(f: Facts) -> float:
    if f.lam is None:
        raise NoPrediction(
            "The sharp constants are known for identity, ReLU and leaky ReLU only. Got "
            f"activation {f.activation}."
        )
    return f.lam


def plateau(setting: Setting) -> float:
    """Steps until the excess has about halved: K D²/(2η‖V*‖²) for the identity, three times that
    for ReLU (λ^-log₂3 between).
    """
    f = facts(setting)
    lam = 1.0 if f.lam is None else f.lam
    return float(f.support * f.tokens**2 / (2 * f.rate * f.value_square) * lam ** -math.log2(3))


def counting_law(setting: Setting) -> float:
    """excess·t → Σ_i K_i(D−K_i)/4 for orthonormal codes; a scale c other than 1/√D divides by
    c²D.
    """
    return counted_pairs(_of_the_class(facts(setting)))


def counted_pairs(f: Facts) -> float:
    """Σ_i K_i(D−K_i)/(4c²D) itself, whatever the codes."""
    return float(np.sum(f.supports * (f.tokens - f.supports)) / 4 / _scale_square(f))


def value_constant(setting: Setting) -> float:
    """‖W_V − V*‖·√t; (D−K)√(K/2)/√λ when all supports are equal."""
    f = facts(setting)
    rho, _ = _slow_manifold(f)
    return float(rho * f.norm / math.sqrt(2 * _lam(f) * f.value_square * _scale_square(f)))


def attention_constant(setting: Setting) -> float:
    """‖S − S*‖_F·√t; √(Q D(D−K)/2)/(√λ‖V*‖) when all supports are equal."""
    f = facts(setting)
    rho, x = _slow_manifold(f)
    D, K = f.tokens, f.supports
    square = np.sum(D * (D - K) * x**2 / K) + rho**2 * (f.selection_square - np.sum(1 / K))
    return float(math.sqrt(square / (2 * _lam(f) * f.value_square * _scale_square(f))))


def limit_error(setting: Setting) -> tuple[Float[np.ndarray, "D Q"], float]:
    r"""(N, c) with TF(X) − f*(X) ≈ c t^-½ σ′(V*XS*) ⊙ (V* X N) once the slow manifold is reached: N
    = ρS* + (S − S*)/u, c = u√t.

    Off the support of column i the weight is x_i u; on it each of the K_i equal weights has lost
    (D−K_i)x_i u/K_i.
    """
    f = facts(setting)
    if not f.iid_positions:
        raise NoPrediction(
            "The limit of the error is known for tokens that are independent between positions "
            "in training."
        )
    if not np.allclose(
        f.weights[f.on] * np.broadcast_to(f.supports, f.weights.shape)[f.on],
        1.0,
        rtol=1e-12,
        atol=0,
    ):
        raise NoPrediction(
            "The limit of the error is known for equal weights within each support only."
        )
    rho, x = _slow_manifold(f)
    moved = np.where(f.on, -(f.tokens - f.supports) * x / f.supports, x)
    return rho * f.weights + moved, 1 / math.sqrt(2 * _lam(f) * f.value_square * _scale_square(f))


def invariance_exponent(setting: Setting) -> float:
    """Of E‖TF(XΠ) − TF(X)‖² in t, for Π inside one support and a random start: −1 − 2K/D
    (docs/derivations.md, section 7).
    """
    f = facts(setting)
    if not f.uniform:
        raise NoPrediction("The exponent is known for equal weights on equal supports only.")
    return -1 - 2 * f.support / f.tokens


def noise_floor(setting: Setting) -> float:
    r"""Where online descent with label noise τ and batches of N ends: ητ²λ/(4N) · [MdQ/K +
    Q(K−1)‖V*‖²/(DK²)], each over 1 − ηH/2.

    At the teacher the Hessian is H = λQ/K for each of the Md entries of W_V and H = λ‖V*‖²/(DK²)
    for each of the K−1 directions in which the scores of a query may differ on its support; label
    noise drives each with variance τ²H/N, so that it keeps a variance of ητ²/(N(2 − ηH)) and an
    excess of ½H times that. Small fluctuations, and noise of the inputs neglected
    (docs/derivations.md).
    """
    tau, N = facts(setting).noise, batch_of(setting)
    eta = setting.rate
    return float(
        sum(
            eta * tau**2 / (4 * N) * many * h / (1 - eta * h / 2) for many, h in curvatures(setting)
        )
    )


def batch_of(setting: Setting) -> int:
    """N, by default the objective's own."""
    return int(setting.objective.options.get("batch", 100))


def curvatures(setting: Setting) -> tuple[tuple[int, float], tuple[int, float]]:
    """(how many, h) of the directions in which the risk is curved at the teacher: entries of W_V,
    differences of scores on a support.
    """
    f = facts(setting)
    if not (
        f.uniform
        and f.standard
        and f.iid_positions
        and f.orthonormal_codes
        and setting.objective.name == "online"
    ):
        raise NoPrediction(
            "The noise floor is known for online descent, tokens N(0, I), orthonormal codes and "
            "equal weights on equal supports."
        )
    K, lam = f.support, _lam(f)
    value = lam * f.queries / K
    scores = lam * f.value_square * f.attention_scale**2 / K**2
    if f.rate * max(value, scores) >= 2:
        raise NoPrediction(
            f"There is no stationary state at a rate of {f.rate:g}: it must be below "
            f"{2 / max(value, scores):.3g}."
        )
    return (f.outputs * f.dim, value), (f.queries * (K - 1), scores)


def _scale_square(f: Facts) -> float:
    return f.attention_scale**2 * f.tokens


def _slow_manifold(f: Facts) -> tuple[float, Float[np.ndarray, "Q"]]:
    r"""ρ and x_i with W_V − V* = ρuV* and off-support weights x_i u/…: x_i = (ρ + √(ρ² +
    4DK_i²))/(2D), ρΣ1/K_i = Σ(D−K_i)x_i/K_i.
    """
    from scipy.optimize import brentq

    _of_the_class(f)
    D, K = f.tokens, f.supports.astype(float)
    if (K == D).all():
        return 0.0, np.zeros_like(K)

    def x(rho: float) -> Float[np.ndarray, "Q"]:
        return (rho + np.sqrt(rho**2 + 4 * D * K**2)) / (2 * D)

    def balance(rho: float) -> float:
        return float(rho * np.sum(1 / K) - np.sum((D - K) * x(rho) / K))

    top = 1.0
    while balance(top) < 0:
        top *= 2
    rho = brentq(balance, 0.0, top, xtol=1e-14, rtol=1e-14)
    return rho, x(rho)


def theorem_rate(setting: Setting) -> float:
    """1/(M D^5/2): the largest step size of Theorem 3.1 but for its unstated constant."""
    f = facts(setting)
    return float(1 / (f.outputs * f.tokens**2.5))


def _power(f: Facts) -> str:
    """D as a power of MK, which is how far D ≥ poly(M, K) can be evaluated without its
    polynomial.
    """
    product = f.outputs * f.support
    return (
        "D ≥ (MK)^a for every a"
        if product == 1
        else f"D = (MK)^{math.log(f.tokens) / math.log(product):.3g}"
    )


def theorem_3_1(setting: Setting) -> tuple[Hypothesis, ...]:
    """The hypotheses of Theorem 3.1, evaluated at a setting."""
    f = facts(setting)
    limit = theorem_rate(setting)
    return (
        Hypothesis("tokens iid N(0, I)", f.standard and f.iid_positions),
        Hypothesis("every column of S* has K "
"equal weights", f.uniform, f"K from {f.supports.min()} to "
f"{f.supports.max()}"),
        Hypothesis("zeros in every column "
"of S* (K < D)", bool((f.supports < f.tokens).all()), f"K = {f.support}, D "
f"= {f.tokens}"),
        Hypothesis("σ is identity, ReLU or leaky ReLU", f.lam is not None, f.activation),
        Hypothesis("orthonormal position codes, "
"scale 1/√D", f.orthonormal_codes and math.isclose(_scale_square(f), 1.0)),
        Hypothesis("W_V(0) = 0, W_KQ(0) = 0", f.zero_start),
        Hypothesis("plain gradient descent on the "
"population risk", f.plain_descent and f.exact, setting.objective.name),
        Hypothesis("D ≥ poly(M, K)", None, f"D = {f.tokens}, M = {f.outputs}, K = {f.support}: "
f"{_power(f)}"),
        Hypothesis(
            "η ≤ O(1/(M D^5/2))",
            None if f.rate <= limit else False,
            f"η = {f.rate:g} is {f.rate / limit:.3g} times 1/(M D^5/2) = {limit:.3g}; the "
"theorem's constant is not stated",
        ),
    )  # fmt: skip
