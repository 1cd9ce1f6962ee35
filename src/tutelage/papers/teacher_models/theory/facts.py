"""The numbers of a setting that the predictions of Zhang et al. 2026 are made of.

Notation: D tokens, Q queries, M outputs, K_i the support of column i of S*, t = ηT, λ = (1+k²)/2
for leaky slope k (identity 1, ReLU ½).
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from jaxtyping import Bool, Float, Int

from tutelage.activations import Identity, LeakyReLU
from tutelage.claims.claim import NoPrediction
from tutelage.inputs import Gaussian
from tutelage.problem.build import build
from tutelage.settings import Setting
from tutelage.students.collapsed_attention import CollapsedAttention
from tutelage.students.position_attention import PositionAttention
from tutelage.teachers.bilinear import BilinearTeacher
from tutelage.teachers.collapsed import CollapsedTeacher, counts_of


@dataclass(frozen=True)
class Facts:
    """The numbers of a setting that predictions are made of."""

    tokens: int
    queries: int
    outputs: int
    dim: int
    supports: Int[np.ndarray, "Q"]
    selection: Float[np.ndarray, "G C"]  # S*, or the distinct weights of a collapsed one
    collapsed: bool
    column_sums: Float[np.ndarray, "C"]
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
    if not isinstance(teacher, BilinearTeacher | CollapsedTeacher):
        raise NoPrediction(
            f"The theory is for teachers σ(V* X S*). Got the teacher {setting.teacher.name!r}."
        )
    if not isinstance(student, PositionAttention | CollapsedAttention):
        raise NoPrediction(
            "The theory is for attention whose scores depend on positions alone. Got the student "
            f"{setting.student.name!r}."
        )
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


def of_the_class(f: Facts) -> Facts:
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


def lam(f: Facts) -> float:
    if f.lam is None:
        raise NoPrediction(
            "The sharp constants are known for identity, ReLU and leaky ReLU only. Got "
            f"activation {f.activation}."
        )
    return f.lam


def scale_square(f: Facts) -> float:
    return f.attention_scale**2 * f.tokens
