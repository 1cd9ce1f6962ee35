"""Measures of what flows back through a student: gradients of its function and of its loss, each by
name, and saturation.

The *function gradient* ∇f(X) belongs to one input and knows no label; the *loss gradient* is that
of the mean squared error over the training sample. One may vanish where the other does not. Blocks
come in the order of the student's parameters, and last all together: W_in, u, c, all for a
recurrent student; W, U, c, all for a transformer.
"""

from __future__ import annotations

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Float, PyTree

from tutelage.objectives.squared_loss import SquaredLoss
from tutelage.students.indrnn import IndRNN
from tutelage.students.shallow_transformer import ShallowTransformer

SATURATED = 0.95  # of a unit that ranges over (−1, 1): its slope there is below 0.1

WithGradient = IndRNN | ShallowTransformer


def _held_out(objective: SquaredLoss) -> Float[Array, "k d T"]:
    return objective.tokens if objective.validation_tokens is None else objective.validation_tokens


def _squares(tree: PyTree) -> Float[Array, "4"]:
    """‖·‖² of each block, then of all."""
    each = jnp.stack([jnp.sum(leaf**2) for leaf in jax.tree.leaves(tree)])
    return jnp.concatenate([each, jnp.sum(each)[None]])


def _function_squares(student: WithGradient, objective: SquaredLoss) -> Float[Array, "k 4"]:
    # Input by input: the gradients of a whole sample would fill memory.
    return jax.lax.map(lambda x: _squares(student.gradient(x)), _held_out(objective), batch_size=64)


def function_gradient_sup(student: WithGradient, objective: SquaredLoss) -> Float[Array, "4"]:
    """max_j ‖∇f(X_j)‖ over the held-out inputs, block by block, then of all."""
    return jnp.sqrt(jnp.max(_function_squares(student, objective), axis=0))


def function_gradient_square(student: WithGradient, objective: SquaredLoss) -> Float[Array, "4"]:
    """The mean of ‖∇f(X_j)‖² over the held-out inputs, block by block, then of all."""
    return jnp.mean(_function_squares(student, objective), axis=0)


def loss_gradient(student: WithGradient, objective: SquaredLoss) -> Float[Array, "4"]:
    """‖∇L‖ of the training loss, block by block, then of all: what a step of descent moves
    along.
    """
    slope = eqx.filter_grad(lambda now: objective(now))(student)
    return jnp.sqrt(_squares(slope.units if isinstance(student, IndRNN) else slope.heads))


def saturation(student: IndRNN, objective: SquaredLoss) -> Float[Array, "3"]:
    """Over units, steps and held-out inputs: the share with |h| > 0.95, the mean slope σ′, and the
    mean of log|u|σ′.

    A product of T factors u·σ′ grows or dies like e^{T·(the last)}: it is log(σ₁|u|) where nothing
    is saturated.
    """

    def one(x: Float[Array, "d T"]) -> Float[Array, "3"]:
        states, slopes = student.states(x)
        # tanh′ underflows to 0 from |z| = 19 on; the smallest number stands for it, so that one
        # such unit is not minus infinity.
        gain = jnp.log(
            jnp.maximum(
                jnp.abs(student.units.recurrence)[None] * slopes, jnp.finfo(slopes.dtype).tiny
            )
        )
        return jnp.stack(
            [
                jnp.mean(jnp.where(jnp.abs(states) > SATURATED, 1.0, 0.0)),
                jnp.mean(slopes),
                jnp.mean(gain),
            ]
        )

    return jnp.mean(jax.vmap(one)(_held_out(objective)), axis=0)


def reference_loss(student: WithGradient, objective: SquaredLoss) -> Float[Array, "2"]:
    """The held-out loss of the zero function and of the teacher's own prediction: what nobody
    should fall behind, and nobody beats.
    """
    tokens = _held_out(objective)
    labels = (
        objective.labels if objective.validation_labels is None else objective.validation_labels
    )
    return jnp.stack(
        [jnp.mean(labels**2), jnp.mean((jax.vmap(objective.teacher)(tokens) - labels) ** 2)]
    )


RECURRENT = (
    function_gradient_sup,
    function_gradient_square,
    loss_gradient,
    saturation,
    reference_loss,
)
