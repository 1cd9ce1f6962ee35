r"""The excess risk of one bilinear predictor against another, and its gradient, without
cancellation.

For row w of W_V with its teacher's row v, and column s of S with its teacher's column s*, the two
pre-activations are jointly Gaussian, and in the tensor space of rows and columns they are the
vectors a = w⊗s and b = v⊗s*:

    A = ‖a‖² = ‖w‖²‖s‖²,   B = ‖b‖² = ‖v‖²‖s*‖²,   C = ⟨a, b⟩ = ⟨w,v⟩⟨s,s*⟩.

The excess ½E(σ(a) − σ(b))² is a function of these three numbers. Formed from them directly it is
lost near the teacher, where A, B and C agree in almost every digit. So each side is split along its
teacher first,

    w = (1+α) v + w⊥,   s = (1+δ) s* + s⊥,

with α, δ, w⊥, s⊥ taken from the differences w−v and s−s*. Every quantity below is then a sum of
terms of one sign, or is small because its factors are:

    Δ = ‖a−b‖²       = ‖w⊥‖²‖s‖² + ‖v‖²(ε²‖s*‖² + (1+α)²‖s⊥‖²),     ε = α + δ + αδ
    G = AB − C²      = ‖w⊥‖²‖v‖²‖s‖²‖s*‖² + (1+α)²‖v‖⁴‖s⊥‖²‖s*‖²    (the squared area spanned by a
    and b)

**Gradient.** By the chain rule ∇_a = 2∂_A a + ∂_C b. An activation hands it over as 2∂_A = μ − κ_a
and ∂_C = −μ + κ_b, with κ_a and κ_b of the order of the distance to the teacher, so that the large
part μ multiplies only differences.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import NamedTuple

import jax
import jax.numpy as jnp
from jaxtyping import Array, Float

from tutelage.numerics.columns import column_sum


class Pairs(NamedTuple):
    """What an activation needs to know of every (row, column) pair; fields broadcast to (M, Q)."""

    alpha: Float[Array, "M 1"]
    row_along: Float[
        Array, "M 1"
    ]  # 1 + α = ⟨w,v⟩/‖v‖², taken from w itself: exactly 0 at the zero start, where α rounds
    row_off: Float[Array, "M 1"]  # ‖w⊥‖²
    row: Float[Array, "M 1"]  # ‖v‖²
    delta: Float[Array, "1 Q"]
    column_off: Float[Array, "1 Q"]  # ‖s⊥‖²
    column: Float[Array, "1 Q"]  # ‖s*‖²

    @property
    def student_row(self) -> Float[Array, "M 1"]:
        """‖w‖²."""
        return self.row_along**2 * self.row + self.row_off

    @property
    def student_column(self) -> Float[Array, "1 Q"]:
        """‖s‖²."""
        return (1 + self.delta) ** 2 * self.column + self.column_off

    @property
    def student(self) -> Float[Array, "M Q"]:
        """A, the variance of the student's pre-activation."""
        return self.student_row * self.student_column

    @property
    def teacher(self) -> Float[Array, "M Q"]:
        """B, the variance of the teacher's pre-activation."""
        return self.row * self.column

    @property
    def covariance(self) -> Float[Array, "M Q"]:
        """C."""
        return self.row_along * (1 + self.delta) * self.teacher

    @property
    def stretch(self) -> Float[Array, "M Q"]:
        """ε = (1+α)(1+δ) − 1."""
        return self.alpha + self.delta + self.alpha * self.delta

    @property
    def distance(self) -> Float[Array, "M Q"]:
        """Δ = E(a − b)²."""
        along = self.stretch**2 * self.column + self.row_along**2 * self.column_off
        return self.row_off * self.student_column + self.row * along

    @property
    def area(self) -> Float[Array, "M Q"]:
        """√G = √(AB − C²) = σ_a σ_b sin θ."""
        by_row = self.row_off * self.row * self.student_column * self.column
        by_column = self.row_along**2 * self.row**2 * self.column_off * self.column
        return jnp.sqrt(by_row + by_column)

    @property
    def column_gap(self) -> Float[Array, "M Q"]:
        """(1+α)‖s‖² − (1+δ)‖s*‖²."""
        return (1 + self.delta) * self.stretch * self.column + self.row_along * self.column_off

    @property
    def row_gap(self) -> Float[Array, "M Q"]:
        """(1+δ)‖w‖² − (1+α)‖v‖²."""
        return self.row_along * self.stretch * self.row + (1 + self.delta) * self.row_off


class Slopes(NamedTuple):
    """Derivatives of the excess of each pair: 2∂_A = mu − kappa_student, ∂_C = −mu +
    kappa_teacher.
    """

    mu: Float[Array, "M Q"]
    kappa_student: Float[Array, "M Q"]
    kappa_teacher: Float[Array, "M Q"]


class Form(NamedTuple):
    """The Gaussian expectations of one activation: the excess of each pair, and its slopes."""

    excess: Callable[[Pairs], Float[Array, "M Q"]]
    slopes: Callable[[Pairs], Slopes]


def split(
    difference: Float[Array, "n k"], teacher: Float[Array, "n k"], axis: int
) -> tuple[Float[Array, "..."], Float[Array, "n k"], Float[Array, "..."]]:
    """x − t = a t + x⊥ along `axis`: a, x⊥ and ‖t‖²; a zero t has a = 0."""
    total = column_sum if axis == 0 else partial(jnp.sum, axis=axis, keepdims=True)
    square = total(teacher**2)
    along = total(difference * teacher) / jnp.where(square > 0, square, 1.0)
    return along, difference - along * teacher, square


def pairs_of(
    value: Float[Array, "M d"],
    value_gap: Float[Array, "M d"],
    attention_gap: Float[Array, "D Q"],
    teacher_value: Float[Array, "M d"],
    selection: Float[Array, "D Q"],
) -> tuple[Pairs, Float[Array, "M d"], Float[Array, "D Q"]]:
    """The pairs of a student with its teacher, from W_V, W_V − V* and S − S*; and the parts w⊥, s⊥
    that the gradient needs.
    """
    alpha, value_off, row = split(value_gap, teacher_value, 1)
    row_along = jnp.sum(value * teacher_value, 1, keepdims=True) / jnp.where(row > 0, row, 1.0)
    # Nearer to zero than to the teacher, w⊥ is small beside v but not beside w: there it is taken
    # from w itself.
    value_off = jnp.where(row_along < 0.5, value - row_along * teacher_value, value_off)
    delta, attention_off, column = split(attention_gap, selection, 0)
    pairs = Pairs(
        alpha,
        row_along,
        jnp.sum(value_off**2, 1, keepdims=True),
        row,
        delta,
        column_sum(attention_off**2),
        column,
    )
    return pairs, value_off, attention_off


def bilinear_gradient(
    form: Form,
    value: Float[Array, "M d"],
    value_gap: Float[Array, "M d"],
    attention_gap: Float[Array, "D Q"],
    teacher_value: Float[Array, "M d"],
    selection: Float[Array, "D Q"],
    many: Float[Array, "Q"] | None = None,
) -> tuple[Float[Array, "M d"], Float[Array, "D Q"]]:
    """∇ of `bilinear_excess` in W_V and S. Plain arithmetic of its operands, gaps included: its own
    derivatives are the Hessian.
    """
    p, value_off, attention_off = pairs_of(
        value, value_gap, attention_gap, teacher_value, selection
    )
    on_v, off_v, on_s, off_s = parts(form, p, many)
    return on_v * teacher_value + off_v * value_off, on_s * selection + off_s * attention_off


def parts(
    form: Form, p: Pairs, many: Float[Array, "Q"] | None = None
) -> tuple[Float[Array, "M 1"], Float[Array, "M 1"], Float[Array, "1 Q"], Float[Array, "1 Q"]]:
    """The gradient on its four directions: v and w⊥ for each row, s* and s⊥ for each column; `many`
    queries a column.
    """
    slopes = form.slopes(p)
    if many is not None:  # every term below is linear in these three
        slopes = Slopes(*(many[None] * slope for slope in slopes))
    mu, kappa_student, kappa_teacher = slopes
    # ∇_w = Σ_q 2∂_A ‖s‖² w + ∂_C ⟨s,s*⟩ v, written on v and w⊥; ∇_s likewise, with rows and columns
    # exchanged.
    on_v = (
        mu * p.column_gap
        + kappa_teacher * (1 + p.delta) * p.column
        - kappa_student * p.row_along * p.student_column
    )
    on_s = (
        mu * p.row_gap
        + kappa_teacher * p.row_along * p.row
        - kappa_student * (1 + p.delta) * p.student_row
    )
    off_v = (mu - kappa_student) * p.student_column
    off_s = (mu - kappa_student) * p.student_row
    by_row, by_column = (
        partial(jnp.sum, axis=1, keepdims=True),
        partial(jnp.sum, axis=0, keepdims=True),
    )
    return by_row(on_v), by_row(off_v), by_column(on_s), by_column(off_s)


@partial(jax.custom_vjp, nondiff_argnums=(0,))
def bilinear_excess(
    form: Form,
    value: Float[Array, "M d"],
    attention: Float[Array, "D Q"],
    value_gap: Float[Array, "M d"],
    attention_gap: Float[Array, "D Q"],
    teacher_value: Float[Array, "M d"],
    selection: Float[Array, "D Q"],
    many: Float[Array, "Q"] | None = None,
) -> Float[Array, ""]:
    """Σ over rows and columns of ½E(σ(w X s) − σ(v X s*))² for X with iid N(0, 1) entries; column q
    counts `many`[q] times.

    The gaps W_V − V* and S − S* are given beside the student, since the caller knows them more
    exactly than a subtraction here could (other inputs than iid ones are seen through square roots,
    which round). Differentiable in `value` and `attention`: their cotangents are the whole
    gradient, those of the gaps and of the teacher are zero.
    """
    excess = form.excess(pairs_of(value, value_gap, attention_gap, teacher_value, selection)[0])
    return jnp.sum(excess if many is None else many[None] * excess)


# W_V, the two gaps, V*, S*, and how many queries each column stands for.
Operands = tuple[
    Float[Array, "M d"],
    Float[Array, "M d"],
    Float[Array, "D Q"],
    Float[Array, "M d"],
    Float[Array, "D Q"],
    Float[Array, "Q"] | None,
]


def _forward(
    form: Form,
    value: Float[Array, "M d"],
    attention: Float[Array, "D Q"],
    value_gap: Float[Array, "M d"],
    attention_gap: Float[Array, "D Q"],
    teacher_value: Float[Array, "M d"],
    selection: Float[Array, "D Q"],
    many: Float[Array, "Q"] | None,
) -> tuple[Float[Array, ""], Operands]:
    constants = value_gap, attention_gap, teacher_value, selection, many
    return bilinear_excess(form, value, attention, *constants), (value, *constants)


def _backward(
    form: Form, operands: Operands, cotangent: Float[Array, ""]
) -> tuple[Float[Array, "..."] | None, ...]:
    to_value, to_attention = bilinear_gradient(form, *operands)
    zeros = [None if constant is None else jnp.zeros_like(constant) for constant in operands[1:]]
    return cotangent * to_value, cotangent * to_attention, *zeros


bilinear_excess.defvjp(_forward, _backward)
