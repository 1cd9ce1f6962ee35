r"""What position codes decide: the max-margin matrix W_svm, and what follows from it. Predictions
only: nothing here sees a run.

W_svm is the least-norm W with c(p_on − p_off)ᵀW p_i ≥ ½ and c(p_on − p_on′)ᵀW p_i = 0 for every
query i, on and on′ in its support and off outside it. With t = ηT, W_KQ/log t → W_svm and excess·t
→ ‖W_svm‖_F² wherever such a W exists; where none does, no W_KQ reads S* and the excess keeps a
floor. Derived in docs/derivations.md by a slow-manifold argument; the direction is that of
Tarzanagh et al. 2023, "Transformers as support vector machines" (arXiv 2308.16898).
"""

from __future__ import annotations

from functools import lru_cache

import numpy as np
from jaxtyping import Bool, Float

from tutelage.claims.claim import NoPrediction
from tutelage.claims.verdict import Hypothesis
from tutelage.numerics.least_norm import Infeasible, least_norm
from tutelage.papers.teacher_models import theory
from tutelage.problem.build import build_student
from tutelage.settings import Setting
from tutelage.students.position_attention import PositionAttention

MARGIN = 0.5  # off-support weights fall like e^(−margin·log t), and the excess is their square


class NotSeparable(NoPrediction):
    """No matrix separates the supports by these codes."""


def max_margin(
    key_codes: Float[np.ndarray, "p D"],
    query_codes: Float[np.ndarray, "r Q"],
    on: Bool[np.ndarray, "D Q"],
    scale: float,
) -> Float[np.ndarray, "p r"]:
    """W_svm. One token of each support stands for all in the inequalities, since the equalities tie
    them to it.
    """
    apart, together = [], []
    for column, code in zip(on.T, query_codes.T, strict=True):
        first, *others = np.flatnonzero(column)
        apart += [
            _row(key_codes[:, first] - key_codes[:, off], code, scale)
            for off in np.flatnonzero(~column)
        ]
        together += [
            _row(key_codes[:, first] - key_codes[:, other], code, scale) for other in others
        ]
    if not apart:
        raise NoPrediction(
            "Without zeros in S* there is nothing to separate: the softmax reaches S* at finite "
            "scores."
        )
    size = len(key_codes) * len(query_codes)
    try:
        solved = least_norm(
            np.array(apart), np.full(len(apart), MARGIN), np.array(together).reshape(-1, size)
        )
    except Infeasible as reason:
        raise NotSeparable(
            "These codes cannot separate the supports: no W_KQ, however large, gives every query "
            "its own tokens."
        ) from reason
    return solved.w.reshape(len(key_codes), len(query_codes))


def separable(
    key_codes: Float[np.ndarray, "p D"],
    query_codes: Float[np.ndarray, "r Q"],
    on: Bool[np.ndarray, "D Q"],
) -> bool:
    """Whether some W scores every on-support token of every query above every other; that they tie
    is not asked.
    """
    pairs = [
        _row(key_codes[:, a] - key_codes[:, b], code, 1.0)
        for column, code in zip(on.T, query_codes.T, strict=True)
        for a in np.flatnonzero(column)
        for b in np.flatnonzero(~column)
    ]
    try:
        least_norm(np.array(pairs), np.full(len(pairs), MARGIN))
    except Infeasible:
        return False
    return True


def _row(
    difference: Float[np.ndarray, "p"], code: Float[np.ndarray, "r"], scale: float
) -> Float[np.ndarray, "pr"]:
    return scale * np.outer(difference, code).ravel()


def _build_student(setting: Setting) -> PositionAttention:
    student = build_student(setting)
    if not isinstance(student, PositionAttention):
        raise NoPrediction(
            "The law is for attention whose scores depend on positions only. Got the student "
            f"{setting.student.name!r}."
        )
    return student


@lru_cache(maxsize=4096)
def codes_of(setting: Setting) -> tuple[Float[np.ndarray, "p D"], Float[np.ndarray, "r Q"]]:
    """The codes of tokens and queries; unit vectors where they are held in their own basis."""
    student, f = _build_student(setting), theory.facts(setting)
    if student.key_codes is None:
        return np.eye(f.tokens), np.eye(f.queries)
    keys = np.asarray(student.key_codes)
    return keys, keys if student.query_codes is None else np.asarray(student.query_codes)


@lru_cache(maxsize=4096)
def matrix(setting: Setting) -> Float[np.ndarray, "p r"]:
    """W_svm at a setting, in the basis of its `key_query`."""
    f = theory.facts(setting)
    return max_margin(*codes_of(setting), f.on, f.attention_scale)


def excess_constant(setting: Setting) -> float:
    """excess·t → ‖W_svm‖_F²; Σ_i K_i(D−K_i)/4 for orthonormal codes, and that over α⁴ for α times
    orthonormal ones.
    """
    return float(np.sum(matrix(setting) ** 2))


def plateau(setting: Setting) -> float:
    """Steps until the excess has about halved: that of orthonormal codes, stretched as the constant
    is.

    Long codes would make it shorter than W_V needs to relax, 1/(ηλ‖S*‖²) steps; then it is that.
    """
    f = theory.facts(setting)
    relaxed = 1 / (f.rate * (1.0 if f.lam is None else f.lam) * float(np.sum(f.weights**2)))
    return max(
        relaxed,
        theory.plateau(setting)
        * excess_constant(setting)
        / theory.counted_pairs(theory.facts(setting)),
    )


def floor(setting: Setting) -> float:
    """The excess below which no student goes whose codes cannot separate the supports:
    tr(V*ΣV*ᵀ)·s²/4, s the least weight in S*.

    Then S_off ≥ S_on for some query and pair. The best W_V is αV* with α ≥ 0, and α²S_off² + (αS_on
    − s)² ≥ s²/2. For the identity.
    """
    f = theory.facts(setting)
    if f.activation != "identity" or not f.iid_positions:
        raise NoPrediction(
            "The floor is known for the identity and iid positions only. Got activation "
            f"{f.activation}."
        )
    if separable(*codes_of(setting), f.on):
        raise NoPrediction("These codes separate the supports, so there is no such floor.")
    return float(f.value_square * f.weights[f.on].min() ** 2 / 4)


def condition(setting: Setting) -> float:
    """The largest over the smallest squared singular value of the codes, of a Gram matrix of rank
    min(p, D).
    """
    values = np.linalg.svd(codes_of(setting)[0], compute_uv=False)
    return float((values[0] / values[-1]) ** 2)


def svm_law(setting: Setting) -> tuple[Hypothesis, ...]:
    """What the law assumes, evaluated at a setting."""
    f = theory.facts(setting)
    separated: bool | None
    try:
        separated, norm = (
            True,
            f"‖W_svm‖² = {excess_constant(setting):.4g}, condition of the codes "
            f"{condition(setting):.3g}",
        )
    except NotSeparable:
        separated, norm = False, "no such W"
    except NoPrediction as reason:
        separated, norm = None, str(reason)
    return (
        Hypothesis("some W gives every query its own tokens, equally", separated, norm),
        Hypothesis("codes are not trained", not _build_student(setting).learned),
        Hypothesis("centred Gaussian tokens", True),
        Hypothesis("columns of S* sum to 1", f.realisable),
        Hypothesis(
            "zeros in every column of S* (K < D)",
            bool((f.supports < f.tokens).all()),
            f"K = {f.support}, D = {f.tokens}",
        ),
        Hypothesis("σ is identity, ReLU or leaky ReLU", f.lam is not None, f.activation),
        Hypothesis("plain gradient descent", f.plain_descent),
    )
