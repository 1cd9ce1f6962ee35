r"""The excess risk of a student whose attention is a softmax, with its gradient in the scores.

What `bilinear_excess` and automatic differentiation of the softmax give, with one pass over D×Q
numbers less: through S = softmax(z) the gradient of a column is ∇_z = s ∘ (∇_s − ⟨∇_s, s⟩), and ∇_s
= x s* + y s⊥ with two numbers a column. Since s = (1+δ)s* + s⊥,

    ⟨∇_s, s⟩ = x(1+δ)‖s*‖² + y‖s⊥‖²,

which is known and need not be summed over tokens.
"""

from __future__ import annotations

from functools import partial

import jax
import jax.numpy as jnp
from jaxtyping import Array, Float

from tutelage.numerics.geometry import Form, bilinear_excess, pairs_of, parts
from tutelage.numerics.softmax import softmax


@partial(jax.custom_vjp, nondiff_argnums=(0,))
def softmax_excess(
    form: Form,
    value: Float[Array, "M d"],
    scores: Float[Array, "D Q"],
    value_gap: Float[Array, "M d"],
    teacher_value: Float[Array, "M d"],
    selection: Float[Array, "D Q"],
) -> Float[Array, ""]:
    """`bilinear_excess` of S = softmax(scores) for uncorrelated tokens, differentiable in `value`
    and `scores` alone.
    """
    attention = softmax(scores)
    return bilinear_excess(
        form, value, attention, value_gap, attention - selection, teacher_value, selection
    )


Operands = tuple[Float[Array, "..."], ...]


def _forward(
    form: Form,
    value: Float[Array, "M d"],
    scores: Float[Array, "D Q"],
    *constants: Float[Array, "..."],
) -> tuple[Float[Array, ""], Operands]:
    return softmax_excess(form, value, scores, *constants), (value, softmax(scores), *constants)


def _backward(form: Form, operands: Operands, cotangent: Float[Array, ""]) -> Operands:
    value, attention, value_gap, teacher_value, selection = operands
    p, value_off, attention_off = pairs_of(
        value, value_gap, attention - selection, teacher_value, selection
    )
    on_v, off_v, on_s, off_s = parts(form, p)
    # A barrier, so that the mean of a column is computed once and not for each token
    # (`training.COMPILER`).
    mean = jax.lax.optimization_barrier(on_s * (1 + p.delta) * p.column + off_s * p.column_off)
    to_value = on_v * teacher_value + off_v * value_off
    to_scores = attention * (on_s * selection + off_s * attention_off - mean)
    zeros = [jnp.zeros_like(constant) for constant in (value_gap, teacher_value, selection)]
    return cotangent * to_value, cotangent * to_scores, *zeros


softmax_excess.defvjp(_forward, _backward)
