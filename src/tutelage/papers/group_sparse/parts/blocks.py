r"""All of W and v trained on fresh batches: which blocks move.

Tokens are $z_j = [x_j; p_j]$, and $f = \sum_j v^\top Z\,\mathrm{softmax}(Z^\top W z_j)$. In the
basis of the codes $p_j = βe_j$, so that scores and gradients are sums over the four blocks of W. On
the population the blocks $W_{12}$, $W_{21}$ and $v_2$ stay 0: with them zero, $f$ is odd in X and
the label too, so that their gradient is the mean of an odd function.

Written out in NumPy with samples along the last axis: several times faster here than compiled
autodiff, beside which the tests have it.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from jaxtyping import Float
from scipy.special import expit

from tutelage.calculations.base import Calculated, Calculation, Ingredients
from tutelage.numerics.grids import log_spaced
from tutelage.numerics.streams import generator
from tutelage.papers.group_sparse.parts.teacher import GroupSigns
from tutelage.refuse import Refused, positive, whole

PER_DECADE = 12
Tokens = Float[np.ndarray, "D d n"]


@dataclass(frozen=True)
class Blocks:
    """v = [v₁; v₂] and the four blocks of W; or a gradient in them."""

    first_value: Float[np.ndarray, "d"]
    second_value: Float[np.ndarray, "D"]
    features: Float[np.ndarray, "d d"]  # W₁₁
    to_codes: Float[np.ndarray, "d D"]  # W₁₂
    to_features: Float[np.ndarray, "D d"]  # W₂₁
    codes: Float[np.ndarray, "D D"]  # W₂₂

    @classmethod
    def zero(cls, groups: int, dim: int) -> Blocks:
        shapes = ((dim,), (groups,), (dim, dim), (dim, groups), (groups, dim), (groups, groups))
        return cls(*(np.zeros(shape) for shape in shapes))

    def move(self, slope: Blocks, rate: float) -> Blocks:
        """One step down."""
        both = zip(vars(self).values(), vars(slope).values(), strict=True)
        return Blocks(*(mine - rate * its for mine, its in both))

    def describe(self) -> dict[str, float]:
        """The curves of `GroupBlocks`, but for `right`."""
        cross = math.hypot(_norm(self.to_codes), _norm(self.to_features))
        rest = self.features.copy()
        rest[0, 0] = 0.0
        return {
            "value_block": _norm(self.features),
            "cross_blocks": cross,
            "code_block": _norm(self.codes),
            "value_part": _norm(self.first_value),
            "code_part": _norm(self.second_value),
            "along": float(self.features[0, 0]),
            "across": _norm(rest),
        }


def _norm(array: Float[np.ndarray, "..."]) -> float:
    return float(np.linalg.norm(array))


class GroupBlocks(Calculation):
    """Norms of the blocks after log-spaced steps: `value_block` (W₁₁), `cross_blocks` (W₁₂ and
    W₂₁), `code_block` (W₂₂), `value_part` and `code_part` of v; `along`, v*ᵀW₁₁v*, and `across`,
    the norm of the rest of W₁₁; `right`, the mean weight of the right group in a batch.
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
        draw = generator(given.seed, "batches of groups")
        blocks, beta = Blocks.zero(groups, dim), math.sqrt(teacher.code_square)
        axis = log_spaced(self.steps, PER_DECADE)[1:]
        wanted, rows = set(axis.tolist()), []
        for step in range(1, self.steps + 1):
            tokens = draw.standard_normal((groups, dim, self.batch))
            slope, right = differentiate(blocks, tokens, beta)
            blocks = blocks.move(slope, self.rate)
            if step in wanted:
                rows.append({**blocks.describe(), "right": right})
        return Calculated(axis, {name: np.array([row[name] for row in rows]) for name in rows[0]})


def differentiate(blocks: Blocks, tokens: Tokens, beta: float) -> tuple[Blocks, float]:
    """The gradient of the mean logistic loss, and the mean weight of the first group."""
    dim, count = tokens.shape[1:]
    weights = attend(blocks, tokens, beta)
    heights = (
        np.einsum("ian,a->in", tokens, blocks.first_value) + beta * blocks.second_value[:, None]
    )
    means = np.einsum("ijn,in->jn", weights, heights)  # one answer per query
    labels = np.where(tokens[0, 0] >= 0, 1.0, -1.0)
    pull = -labels * expit(-labels * means.sum(0)) / count
    totals = pull * weights.sum(1)
    pushed = weights * (heights[:, None] - means)  # of the scores
    pushed *= pull
    by_key = np.stack([(pushed * tokens[:, None, a]).sum(0) for a in range(dim)], 1)
    by_query = np.stack([(pushed * tokens[None, :, a]).sum(1) for a in range(dim)], 1)
    slope = Blocks(
        np.einsum("in,ian->a", totals, tokens),
        beta * totals.sum(1),
        np.einsum("jan,jbn->ab", by_key, tokens),
        beta * by_key.sum(2).T,
        beta * by_query.sum(2),
        beta**2 * pushed.sum(2),
    )
    return slope, float(weights[0].mean())


def attend(blocks: Blocks, tokens: Tokens, beta: float) -> Float[np.ndarray, "D D n"]:
    """S of every sample: keys, then queries."""
    images = np.einsum("ab,jbn->jan", blocks.features, tokens)
    images += beta * blocks.to_codes.T[:, :, None]
    scores = beta * np.einsum("ib,jbn->ijn", blocks.to_features, tokens)
    scores += (beta**2 * blocks.codes)[:, :, None]
    for a in range(tokens.shape[1]):
        scores += tokens[:, None, a] * images[None, :, a]
    scores -= scores.max(0)
    np.exp(scores, out=scores)
    scores /= scores.sum(0)
    return scores
