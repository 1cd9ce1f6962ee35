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
from typing import Any

import numpy as np
from jaxtyping import Float

from tutelage.claims.claim import NoPrediction
from tutelage.problem.build import build_teacher
from tutelage.settings import Setting
from tutelage.teachers.bilinear import BilinearTeacher
from tutelage.teachers.composed import ComposedTeacher
from tutelage.teachers.content_selection import ContentSelection
from tutelage.teachers.max_pooling import MaxPooling

HEADS = {
    "position_attention": 1,
    "multi_head_position": 2,
}  # students by position, and how many heads they have where none is given
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


def outer(value: Any, selection: Any) -> Float[np.ndarray, "Md DQ"]:
    """The map X ↦ V X S as a rank-one matrix."""
    return np.outer(np.asarray(value).ravel(), np.asarray(selection).ravel())


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
    alone, squared = (
        fall @ weight,
        (fall * np.exp(2 * np.minimum(inner, 300.0))) @ weight,
    )  # t² taken into the exponential
    return float(tokens * np.sum(squared * alone ** (tokens - 1)) * step)


def moments(teacher: Any) -> Moments:
    """Exactly, for tokens iid N(0, I)."""
    outputs, dim, tokens, queries = teacher.shape
    if isinstance(teacher, ContentSelection):
        # V u = 0: the values are independent of the weights a, so E[Y] = 0, E‖Y‖² = Q‖V‖²E‖a‖² and
        # E[Y x_jᵀ] = V E[a_j] = V/D.
        V, u = np.asarray(teacher.value), np.asarray(teacher.direction)
        if np.abs(V @ u).max() > 1e-12 * np.abs(V).max():
            raise NoPrediction(
                "The moments of selection by content are known where V* u = 0, so that values "
                "and scores are independent."
            )
        spent = (
            1 / teacher.support
            if teacher.support is not None
            else softmax_square(float(teacher.sharpness), tokens)
        )  # type: ignore[arg-type]
        return Moments(
            queries * float(np.sum(V**2)) * spent,
            0.0,
            outer(V, np.full((tokens, queries), 1 / tokens)),
        )
    if isinstance(teacher, ComposedTeacher) and teacher.join == "heads":
        linear = sum(outer(v, s) for v, s in zip(teacher.values, teacher.selections, strict=True))
        return Moments(float(np.sum(linear**2)), 0.0, np.asarray(linear))
    if isinstance(teacher, ComposedTeacher) and teacher.join == "products":
        # E[(ab)²] = E[a²]E[b²] + 2E[ab]² and E[ab·X] = 0, a and b being jointly Gaussian and
        # centred.
        (v, w), (s, r) = (
            [np.asarray(part) for part in pair] for pair in (teacher.values, teacher.selections)
        )
        both = np.outer(np.sum(v * w, 1), np.sum(s * r, 0)) ** 2
        apart = np.outer(np.sum(v**2, 1) * np.sum(w**2, 1), np.sum(s**2, 0) * np.sum(r**2, 0))
        return Moments(
            float(np.sum(apart + 2 * both)),
            float(np.sum(both)),
            np.zeros((outputs * dim, tokens * queries)),
        )
    if isinstance(teacher, ComposedTeacher) and teacher.join == "layers":
        (V, U), (S, R) = (
            [np.asarray(part) for part in pair] for pair in (teacher.values, teacher.selections)
        )
        mixed = np.kron(U, R.T)  # (output, query) × (hidden row, hidden column)
        kernel = relu_products(np.kron(V @ V.T, S.T @ S))
        mean = (
            mixed
            @ np.kron(np.linalg.norm(V, axis=1), np.linalg.norm(S, axis=0))
            / math.sqrt(2 * math.pi)
        )
        return Moments(
            float(np.sum((mixed @ kernel) * mixed)),
            float(np.sum(mean**2)),
            outer(0.5 * U @ V, S @ R),
        )
    if isinstance(teacher, MaxPooling):
        if teacher.support != 2:
            raise NoPrediction(
                "The moments of max pooling are known in closed form for pairs, K = 2."
            )
        # Y = r·y(φ) in polar coordinates of the pair; E r = √(π/2), E r² = 2.
        size = tokens * float(np.sum(np.asarray(teacher.value) ** 2))
        linear = outer(teacher.value, 3 / 8 * np.kron(np.eye(tokens // 2), np.ones((2, 2))))
        return Moments(
            size * (3 / 4 + 1 / (2 * math.pi)),
            size * (1 + math.sqrt(0.5)) ** 2 / (2 * math.pi),
            linear,
        )
    if isinstance(teacher, BilinearTeacher) and getattr(teacher.activation, "slope", None) == 0:
        size = float(
            np.sum(np.asarray(teacher.value) ** 2) * np.sum(np.asarray(teacher.selection) ** 2)
        )
        return Moments(
            size / 2,
            size / (2 * math.pi),
            outer(0.5 * np.asarray(teacher.value), teacher.selection),
        )
    raise NoPrediction(f"No moments are known of a {type(teacher).__name__}.")


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
        # relu(ρ z), z of unit variance, leaves E[Y²] − 2(E[Y relu(z)])² at its best ρ; no z has E[Y
        # relu(z)] > ‖v‖(½ + 1/π)/√2.
        size = teacher.shape[2] * float(np.sum(np.asarray(teacher.value) ** 2))
        return (known.square - size * (0.5 + 1 / math.pi) ** 2) / known.variance
    lost = known.square - float(
        np.sum(np.linalg.svd(known.linear, compute_uv=False)[: int(heads)] ** 2)
    )
    return lost / known.variance if lost > TINY * known.square else 0.0
