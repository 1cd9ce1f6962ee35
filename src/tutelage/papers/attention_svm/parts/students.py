"""The students: the attention matrix W itself, and its factors K and Q with W = KQᵀ."""

from __future__ import annotations

import abc

import jax
import jax.numpy as jnp
from jaxtyping import Array, Float

from tutelage.students.base import Student


class FixedHead(Student):
    """f(X, z) = vᵀX softmax(XᵀWz); the last column of what is given is the query z.

    The head v is not trained.
    """

    @property
    @abc.abstractmethod
    def attention_matrix(self) -> Float[Array, "d d"]:
        """W."""

    @property
    @abc.abstractmethod
    def fixed_head(self) -> Float[Array, "d"]:
        """v."""

    @property
    @abc.abstractmethod
    def factors(self) -> tuple[Float[Array, "d d"], ...]:
        """What is trained: W, or K and Q."""

    def __call__(self, tokens: Float[Array, "d T"]) -> Float[Array, ""]:
        context, query = tokens[:, :-1], tokens[:, -1]
        weights = jax.nn.softmax(context.T @ (self.attention_matrix @ query))
        return self.fixed_head @ (context @ weights)

    @property
    def fixed(self) -> tuple[str, ...]:
        return ("head",)


class MatrixAttention(FixedHead):
    """Attention whose W is trained itself."""

    matrix: Float[Array, "d d"]
    head: Float[Array, "d"]

    @property
    def attention_matrix(self) -> Float[Array, "d d"]:
        return self.matrix

    @property
    def fixed_head(self) -> Float[Array, "d"]:
        return self.head

    @property
    def factors(self) -> tuple[Float[Array, "d d"], ...]:
        return (self.matrix,)


class FactoredAttention(FixedHead):
    """Attention with W = KQᵀ, of which K and Q are trained."""

    keys: Float[Array, "d m"]
    queries: Float[Array, "d m"]
    head: Float[Array, "d"]

    @property
    def attention_matrix(self) -> Float[Array, "d d"]:
        return jnp.matmul(self.keys, self.queries.T)

    @property
    def fixed_head(self) -> Float[Array, "d"]:
        return self.head

    @property
    def factors(self) -> tuple[Float[Array, "d d"], ...]:
        return (self.keys, self.queries)
