r"""A teacher known up to the order of its tokens and queries: its distinct columns, and in each its
distinct weights.

From zero, for iid tokens and orthonormal codes, nothing tells two columns of S* with the same
weights apart, nor two tokens of a column with the same weight: the run stays in the space of scores
that are equal where S* is (docs/derivations.md, section 18). Convolution with average pooling,
every regular graph, token selection and the group-sparse predictor have one column of two weights,
1/K on K tokens and 0 on D − K, so that a run of D = 10⁶ tokens has two scores.
"""

from __future__ import annotations

from typing import NamedTuple

import equinox as eqx
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float
from numpy.typing import ArrayLike

from tutelage.activations import Activation
from tutelage.activations import activation as _activation
from tutelage.refuse import Refused, matrix, positive, whole
from tutelage.teachers.base import BilinearClass, Shape
from tutelage.teachers.bilinear import ActivationLike, non_negative, support_within


class Pattern(NamedTuple):
    """S* up to the order of its rows and columns: G weights in each of C kinds of columns, how many
    tokens have each, how many queries.
    """

    weights: Float[np.ndarray, "G C"]
    tokens: Float[np.ndarray, "G C"]  # 0 where a kind has fewer than G distinct weights
    queries: Float[np.ndarray, "C"]


def equal_weights(tokens: int, support: int, queries: int | None = None) -> Pattern:
    """Every column has `support` weights 1/K and zeros elsewhere, whichever tokens they are on."""
    tokens, support = support_within(tokens, support)
    queries = (
        tokens
        if queries is None
        else whole("queries", queries, least=1, reason="there must be an output")
    )
    kinds = [(1.0 / support, support), (0.0, tokens - support)][: 1 if support == tokens else 2]
    weights, counts = np.array(kinds, float).T
    return Pattern(weights[:, None], counts[:, None], np.array([float(queries)]))


def pattern_of(selection: ArrayLike) -> Pattern:
    """The pattern of a matrix: columns that are permutations of one another are one kind, equal
    weights in one are one row.
    """
    weights = non_negative("selection", selection)
    kinds, queries = np.unique(np.sort(weights, axis=0), axis=1, return_counts=True)
    found = [np.unique(kind, return_counts=True) for kind in kinds.T]
    most = max(len(values) for values, _ in found)
    padded = np.zeros((2, most, len(found)))
    for i, (values, counts) in enumerate(found):
        padded[:, : len(values), i] = values, counts
    return Pattern(padded[0], padded[1], queries.astype(float))


class CollapsedTeacher(BilinearClass):
    r"""f*(X) = σ(V* X S*) with S* given as a pattern.

    `selection` holds the distinct weights (G×C): its entry (g, c) stands for `token_counts[g, c]`
    tokens in each of `query_counts[c]` columns. It has no inputs of its own: the closed-form risk
    alone can be taken of it.
    """

    value: Float[Array, "M d"]
    selection: Float[Array, "G C"]
    token_counts: Float[Array, "G C"]
    query_counts: Float[Array, "C"]
    noise: Float[Array, ""]
    activation: Activation = eqx.field(static=True)

    def __init__(
        self,
        value: ArrayLike,
        pattern: Pattern,
        activation: ActivationLike = "identity",
        noise: float = 0.0,
        *,
        outside: bool = False,
    ) -> None:
        self.value = jnp.asarray(matrix("value", value, reason="V* maps d features to M outputs"))
        self.selection, self.token_counts, self.query_counts = (
            jnp.asarray(part) for part in pattern
        )
        self.noise = jnp.asarray(
            positive("noise", noise, reason="it is a standard deviation", zero=True)
        )
        self.activation = _activation(activation)
        if self.outside and not outside:
            sums = np.sum(pattern.tokens * pattern.weights, axis=0)
            raise Refused(
                "Columns of S* must sum to 1, since the student's attention is a softmax by "
                "columns. "
                f"Got sums from {sums.min():.12g} to {sums.max():.12g}."
            )

    def __call__(self, tokens: Float[Array, "d D"]) -> Float[Array, "M Q"]:
        raise Refused(
            "A collapsed teacher has no output of its own, since it knows its tokens only up to "
            "their order. Leave the teacher whole to look at its output."
        )

    @property
    def noisy(self) -> bool:
        return float(self.noise) > 0

    @property
    def shape(self) -> Shape:
        """(M, d, D, Q) of the whole teacher: outputs, features, tokens, queries."""
        tokens, queries = self.token_counts[:, 0].sum(), self.query_counts.sum()
        outputs, dim = self.value.shape
        return Shape(outputs, dim, int(tokens), int(queries))

    @property
    def outside(self) -> bool:
        """Whether S* has a column that does not sum to 1, so that no attention is S*."""
        sums = np.sum(np.asarray(self.token_counts) * np.asarray(self.selection), axis=0)
        rounding = 4 * self.shape[2] * float(np.finfo(sums.dtype).eps)  # as of the whole teacher
        return bool(np.abs(sums - 1.0).max() > rounding)


def counts_of(
    teacher: BilinearClass,
) -> tuple[Float[Array, "G C"] | float, Float[Array, "C"] | float]:
    """How many tokens an entry of S* stands for, and how many queries a column: one, but in a
    collapsed teacher.
    """
    return (
        (teacher.token_counts, teacher.query_counts)
        if isinstance(teacher, CollapsedTeacher)
        else (1.0, 1.0)
    )
