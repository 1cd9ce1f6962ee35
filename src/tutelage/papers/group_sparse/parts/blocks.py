r"""All of W and v trained on fresh batches: which blocks move.

Tokens are $z_j = [x_j; p_j]$, and $f = \sum_j v^\top Z\,\mathrm{softmax}(Z^\top W z_j)$. In the
basis of the codes $p_j = βe_j$. On the population the blocks $W_{12}$, $W_{21}$ and $v_2$ stay 0:
with them zero, $f$ is odd in X and the label too, so that their gradient is the mean of an odd
function.
"""

from __future__ import annotations

from functools import partial

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float, Key

from tutelage.calculations.base import Calculated, Calculation, Ingredients
from tutelage.numerics.grids import log_spaced
from tutelage.numerics.streams import stream
from tutelage.papers.group_sparse.parts.teacher import GroupSigns
from tutelage.refuse import Refused, positive, whole

PER_DECADE = 12
Weights = tuple[Float[Array, "m"], Float[Array, "m m"]]  # v and W
Found = dict[str, Float[Array, ""]]


class GroupBlocks(Calculation):
    """Norms of the blocks after log-spaced steps: `value_block` (W_11), `cross_blocks` (W_12 and
    W_21), `code_block` (W_22), `value_part` and `code_part` of v; `along`, v*ᵀW_11v*, and
    `across`, the norm of the rest of W_11; `right`, the mean weight of the right group in a batch.
    """

    def __init__(self, batch: int, rate: float, steps: int) -> None:
        self.batch = whole("batch", batch, least=1, reason="a step is a mean over it")
        self.rate = positive("rate", rate, reason="a step of size 0 goes nowhere")
        self.steps = whole("steps", steps, least=1, reason="descent takes steps")

    def __call__(self, given: Ingredients) -> Calculated:
        teacher = given.teacher
        if not isinstance(teacher, GroupSigns):
            raise Refused(
                "Descent on all blocks needs the teacher 'group_signs', which says how many "
                f"groups there are. Got {given.setting.teacher.name!r}."
            )
        groups, dim = teacher.groups, len(teacher.direction)
        start = jnp.zeros(dim + groups), jnp.zeros((dim + groups, dim + groups))
        axis = log_spaced(self.steps, PER_DECADE)[1:]
        found = _descend(
            start,
            stream(given.seed, "batches of groups"),
            jnp.asarray(self.rate),
            groups=groups,
            code_length=teacher.code_square**0.5,
            batch=self.batch,
            steps=self.steps,
        )
        return Calculated(axis, {k: np.asarray(curve)[axis - 1] for k, curve in found.items()})


@partial(jax.jit, static_argnames=("groups", "code_length", "batch", "steps"))
def _descend(
    start: Weights,
    key: Key[Array, ""],
    rate: Float[Array, ""],
    *,
    groups: int,
    code_length: float,
    batch: int,
    steps: int,
) -> Found:
    dim = len(start[0]) - groups

    def step(weights: Weights, key: Key[Array, ""]) -> tuple[Weights, Found]:
        tokens = jax.random.normal(key, (batch, groups, dim))
        slope, right = jax.grad(batch_loss, has_aux=True)(weights, tokens, code_length)
        moved = jax.tree.map(lambda w, g: w - rate * g, weights, slope)
        return moved, {**describe_blocks(moved, dim), "right": right}

    _, found = jax.lax.scan(step, start, jax.random.split(key, steps))
    return found


def batch_loss(
    weights: Weights, tokens: Float[Array, "n D d"], code_length: float
) -> tuple[Float[Array, ""], Float[Array, ""]]:
    """The mean logistic loss, and the mean weight of the first group."""
    value, matrix = weights
    count, groups, _ = tokens.shape
    codes = jnp.broadcast_to(code_length * jnp.eye(groups), (count, groups, groups))
    z = jnp.concatenate([tokens, codes], axis=2)
    attention = jax.nn.softmax((z @ matrix) @ z.transpose(0, 2, 1), axis=1)  # keys, queries
    scores = jnp.sum((z @ value) * attention.sum(2), axis=1)
    labels = jnp.where(tokens[:, 0, 0] >= 0, 1.0, -1.0)
    return jnp.mean(jax.nn.softplus(-labels * scores)), jnp.mean(attention[:, 0])


def describe_blocks(weights: Weights, dim: int) -> Found:
    """The curves of `GroupBlocks`, but for `right`."""
    value, matrix = weights
    size = jnp.linalg.norm
    first = matrix[:dim, :dim]
    return {
        "value_block": size(first),
        "cross_blocks": jnp.hypot(size(matrix[:dim, dim:]), size(matrix[dim:, :dim])),
        "code_block": size(matrix[dim:, dim:]),
        "value_part": size(value[:dim]),
        "code_part": size(value[dim:]),
        "along": first[0, 0],
        "across": size(first - jnp.zeros_like(first).at[0, 0].set(first[0, 0])),
    }
