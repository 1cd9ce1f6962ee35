r"""What no training can pass: certified lower bounds on the relative excess of students by
position. Predictions only.

The relative excess is E‖Y − f‖²/E‖Y − EY‖²: the best constant has 1. A student by position
computes, in each output, σ of a linear form of X. Where σ is the identity it is a linear map, and
with H heads the matrix of that map, with rows (output, feature) and columns (token, query), is a
sum of H rank-one terms W_h ⊗ S_h. With B = E[Y ⊗ X] arranged likewise and σ_r(B) its singular
values,

    E‖Y − f‖² = E‖Y‖² − ‖B‖² + ‖B − ΣW_h ⊗ S_h‖² ≥ E‖Y‖² − σ_1(B)² − … − σ_H(B)²
    (Eckart–Young),

for tokens iid N(0, I). Where σ is ReLU, max pooling over pairs has a closed form of its own.
Proofs: docs/derivations.md, section 16.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from jaxtyping import Float

from tutelage.activations import LeakyReLU
from tutelage.claims.claim import NoPrediction
from tutelage.problem.build import build_teacher
from tutelage.settings import Setting
from tutelage.teachers.base import Teacher
from tutelage.teachers.bilinear import BilinearTeacher
from tutelage.teachers.composed import ComposedTeacher
from tutelage.teachers.content_selection import ContentSelection
from tutelage.teachers.max_pooling import MaxPooling

# Students by position, and how many heads they have where none is given.
HEADS = {"position_attention": 1, "multi_head_position": 2}
TINY = 1e-12  # of the bound: a teacher of the student's own class, to rounding


@dataclass(frozen=True)
class Moments:
    """E‖Y‖², ‖EY‖², and E[Y ⊗ X] as a matrix of (output, feature) × (token, query)."""

    square: float
    mean: float
    linear: Float[np.ndarray, "Md DQ"]

    @property
    def variance(self) -> float:
        """E‖Y − EY‖²: the risk of the best constant."""
        return self.square - self.mean


def outer(
    value: Float[np.ndarray, "M d"], selection: Float[np.ndarray, "D Q"]
) -> Float[np.ndarray, "Md DQ"]:
    """The map X ↦ V X S as a rank-one matrix."""
    return np.outer(value.ravel(), selection.ravel())


def relu_products(gram: Float[np.ndarray, "n n"]) -> Float[np.ndarray, "n n"]:
    """E[relu(z_a) relu(z_b)] = σ_aσ_b(sin θ + (π − θ)cos θ)/2π for centred Gaussians with
    covariance `gram`.
    """
    size = np.sqrt(np.diag(gram))
    cos = np.clip(gram / np.outer(size, size), -1, 1)
    theta = np.arccos(cos)
    return np.outer(size, size) * (np.sin(theta) + (math.pi - theta) * cos) / (2 * math.pi)


@lru_cache(maxsize=16)
def softmax_square(sharpness: float, tokens: int) -> float:
    r"""E Σ_j p_j² for p = softmax(β s_1, …, β s_D), s iid N(0, 1): between 1/D (β = 0) and 1.

    With 1/Z² = ∫t e^{−tZ}dt the tokens come apart: D∫t E[e^{2βs −
    te^{βs}}](E[e^{−te^{βs}}])^{D−1}dt. In t = e^y both integrals are of analytic functions that
    vanish fast at both ends, for which equal steps converge exponentially.
    """
    s = np.linspace(-9.5, 9.5, 401)
    weight = np.exp(-(s**2) / 2) * (s[1] - s[0]) / math.sqrt(2 * math.pi)
    reach = 9.5 * sharpness
    y, step = np.linspace(-reach - 45, reach + 5, 1201, retstep=True)
    inner = y[:, None] + sharpness * s
    fall = np.exp(-np.exp(np.minimum(inner, 700.0)))
    alone = fall @ weight
    squared = (fall * np.exp(2 * np.minimum(inner, 300.0))) @ weight  # t² is in the exponential
    return float(tokens * np.sum(squared * alone ** (tokens - 1)) * step)


def moments(teacher: Teacher) -> Moments:
    """Exactly, for tokens iid N(0, I)."""
    if isinstance(teacher, ContentSelection):
        return _content_moments(teacher)
    if isinstance(teacher, ComposedTeacher):
        of = {"heads": _heads_moments, "products": _products_moments, "layers": _layers_moments}
        return of[teacher.join](teacher)
    if isinstance(teacher, MaxPooling):
        return _max_pooling_moments(teacher)
    if isinstance(teacher, BilinearTeacher) and teacher.activation == LeakyReLU(0.0):
        return _relu_moments(teacher)
    raise NoPrediction(f"No moments are known of a {type(teacher).__name__}.")


def _content_moments(teacher: ContentSelection) -> Moments:
    """V u = 0: the values are independent of the weights a, so E[Y] = 0, E‖Y‖² = Q‖V‖²E‖a‖² and
    E[Y x_jᵀ] = V E[a_j] = V/D.
    """
    _, _, tokens, queries = teacher.shape
    V, u = np.asarray(teacher.value), np.asarray(teacher.direction)
    if np.abs(V @ u).max() > 1e-12 * np.abs(V).max():
        raise NoPrediction(
            "The moments of selection by content are known where V* u = 0, so that values and "
            "scores are independent."
        )
    if teacher.support is not None:
        spent = 1 / teacher.support
    else:
        assert teacher.sharpness is not None
        spent = softmax_square(float(teacher.sharpness), tokens)
    uniform = np.full((tokens, queries), 1 / tokens)
    return Moments(queries * float(np.sum(V**2)) * spent, 0.0, outer(V, uniform))


def _matrices(
    teacher: ComposedTeacher,
) -> tuple[tuple[np.ndarray, np.ndarray], tuple[np.ndarray, np.ndarray]]:
    """((V, U), (S, R)): the two value matrices and the two selections."""
    (V, U), (S, R) = teacher.values, teacher.selections
    return (np.asarray(V), np.asarray(U)), (np.asarray(S), np.asarray(R))


def _heads_moments(teacher: ComposedTeacher) -> Moments:
    (V, U), (S, R) = _matrices(teacher)
    linear = outer(V, S) + outer(U, R)
    return Moments(float(np.sum(linear**2)), 0.0, linear)


def _products_moments(teacher: ComposedTeacher) -> Moments:
    """E[(ab)²] = E[a²]E[b²] + 2E[ab]² and E[ab·X] = 0, a and b being jointly Gaussian and
    centred.
    """
    outputs, dim, tokens, queries = teacher.shape
    (V, U), (S, R) = _matrices(teacher)
    both = np.outer(np.sum(V * U, 1), np.sum(S * R, 0)) ** 2
    apart = np.outer(np.sum(V**2, 1) * np.sum(U**2, 1), np.sum(S**2, 0) * np.sum(R**2, 0))
    return Moments(
        float(np.sum(apart + 2 * both)),
        float(np.sum(both)),
        np.zeros((outputs * dim, tokens * queries)),
    )


def _layers_moments(teacher: ComposedTeacher) -> Moments:
    """U relu(V X S) R: every pair of hidden numbers is jointly Gaussian before its ReLU."""
    (V, U), (S, R) = _matrices(teacher)
    mixed = np.kron(U, R.T)  # (output, query) × (hidden row, hidden column)
    kernel = relu_products(np.kron(V @ V.T, S.T @ S))
    lengths = np.kron(np.linalg.norm(V, axis=1), np.linalg.norm(S, axis=0))
    mean = mixed @ lengths / math.sqrt(2 * math.pi)
    return Moments(
        float(np.sum((mixed @ kernel) * mixed)),
        float(np.sum(mean**2)),
        outer(0.5 * U @ V, S @ R),
    )


def _max_pooling_moments(teacher: MaxPooling) -> Moments:
    """Y = r·y(φ) in polar coordinates of the pair; E r = √(π/2), E r² = 2."""
    if teacher.support != 2:
        raise NoPrediction("The moments of max pooling are known in closed form for pairs, K = 2.")
    size = _pooled_size(teacher)
    pairs = np.kron(np.eye(teacher.tokens // 2), np.ones((2, 2)))
    return Moments(
        size * (3 / 4 + 1 / (2 * math.pi)),
        size * (1 + math.sqrt(0.5)) ** 2 / (2 * math.pi),
        outer(np.asarray(teacher.value), 3 / 8 * pairs),
    )


def _pooled_size(teacher: MaxPooling) -> float:
    """D‖V*‖²."""
    return teacher.tokens * float(np.sum(np.asarray(teacher.value) ** 2))


def _relu_moments(teacher: BilinearTeacher) -> Moments:
    V, S = np.asarray(teacher.value), np.asarray(teacher.selection)
    size = float(np.sum(V**2) * np.sum(S**2))
    return Moments(size / 2, size / (2 * math.pi), outer(0.5 * V, S))


def floor(setting: Setting) -> float:
    """The certified lower bound on the relative excess of the setting's student, whatever its
    training.
    """
    heads = setting.student.options.get("heads", HEADS.get(setting.student.name, 0))
    teacher = build_teacher(setting)
    if not heads or setting.inputs.name != "gaussian" or setting.inputs.options:
        raise NoPrediction(
            "A bound is proved for students by position, whose outputs are linear forms, on "
            "tokens iid N(0, I)."
        )
    known = moments(teacher)
    if isinstance(teacher, BilinearTeacher):
        return 0.0  # the student's own class
    if isinstance(teacher, MaxPooling):
        # relu(ρ z), z of unit variance, leaves E[Y²] − 2(E[Y relu(z)])² at its best ρ; no z has
        # E[Y relu(z)] > ‖v‖(½ + 1/π)/√2.
        reached = _pooled_size(teacher) * (0.5 + 1 / math.pi) ** 2
        return (known.square - reached) / known.variance
    singular = np.linalg.svd(known.linear, compute_uv=False)
    lost = known.square - float(np.sum(singular[: int(heads)] ** 2))
    return lost / known.variance if lost > TINY * known.square else 0.0
