"""One layer of attention whose scores depend on positions only: the student of Zhang et al. 2026,
eq. (2.4).
"""

from __future__ import annotations

import math

import equinox as eqx
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float, Key
from numpy.typing import ArrayLike

from tutelage.activations import Activation
from tutelage.numerics.softmax import softmax
from tutelage.refuse import Refused, matrix, positive
from tutelage.students.base import BilinearStudent
from tutelage.students.starts import draw_normals
from tutelage.teachers.base import Teacher, shape_of


class PositionAttention(BilinearStudent):
    r"""TF(X) = σ(W_V X S), S = softmax by columns of (P_kᵀ W_KQ P_q · scale).

    `value` is W_V (M×d) and `key_query` is W_KQ; both are trained, the scale is not, the codes only
    where `learned`. P_k (p×D) and P_q (r×Q) are the position codes of tokens and queries; a query
    that is a token has the token's code, and `query_codes` is then None. With no codes given they
    are orthonormal: gradient descent commutes with a rotation of W_KQ, so `key_query` is then held
    in the basis of the codes, P_kᵀ W_KQ P_q (D×Q) itself, and the codes drop out of the arithmetic.
    """

    value: Float[Array, "M d"]
    key_query: Float[Array, "p r"]
    key_codes: Float[Array, "p D"] | None
    query_codes: Float[Array, "r Q"] | None
    attention_scale: Float[Array, ""]
    activation: Activation = eqx.field(static=True)
    learned: bool = eqx.field(static=True, default=False)

    @property
    def fixed(self) -> tuple[str, ...]:
        return (
            ("attention_scale",)
            if self.learned
            else ("key_codes", "query_codes", "attention_scale")
        )

    @property
    def columns_apart(self) -> tuple[str, ...]:
        """Fields whose columns each belong to one query: given the rest, a loss that is a sum over
        queries is a sum over them.
        """
        return ("key_query",) if self.key_codes is None else ()

    @classmethod
    def zeros(
        cls,
        teacher: Teacher,
        *,
        key_codes: ArrayLike | None = None,
        query_codes: ArrayLike | None = None,
        attention_scale: float | None = None,
        learned: bool = False,
    ) -> PositionAttention:
        """W_V = 0 and W_KQ = 0: uniform attention and zero output, the start of the theorem."""
        outputs, dim, tokens, queries = shape_of(teacher)
        keys, asks = _codes(key_codes, query_codes, tokens, queries)
        if learned and keys is None:
            raise Refused(
                "Learned codes need codes to start from, since zeros would never move. Got "
                "learned=True and no `key_codes`."
            )
        if attention_scale is None:
            attention_scale = 1.0 / math.sqrt(tokens)
        return cls(
            value=jnp.asarray(np.zeros((outputs, dim))),
            key_query=jnp.asarray(
                np.zeros(
                    (tokens, queries)
                    if keys is None
                    else (len(keys), len(keys if asks is None else asks))
                )
            ),
            key_codes=keys,
            query_codes=asks,
            attention_scale=jnp.asarray(
                positive("attention_scale", attention_scale, reason="scores are multiplied by it")
            ),
            activation=teacher.output_activation,
            learned=learned,
        )

    @classmethod
    def random(
        cls,
        teacher: Teacher,
        *,
        scale: float = 0.1,
        key: Key[Array, ""],
        key_codes: ArrayLike | None = None,
        query_codes: ArrayLike | None = None,
        attention_scale: float | None = None,
        learned: bool = False,
    ) -> PositionAttention:
        """W_V and W_KQ with iid N(0, scale²) entries; the law is the same in any orthonormal basis
        of codes.
        """
        zeros = cls.zeros(
            teacher,
            key_codes=key_codes,
            query_codes=query_codes,
            attention_scale=attention_scale,
            learned=learned,
        )
        spread = positive(
            "scale", scale, reason="it is the standard deviation of the start", zero=True
        )
        return eqx.tree_at(
            lambda s: (s.value, s.key_query),
            zeros,
            draw_normals((zeros.value.shape, zeros.key_query.shape), spread, key),
        )

    def scores(self) -> Float[Array, "D Q"]:
        """P_kᵀ W_KQ P_q, before the scale and the softmax."""
        scores = self.key_query
        if self.key_codes is not None:
            asked = self.key_codes if self.query_codes is None else self.query_codes
            scores = self.key_codes.T @ scores @ asked
        return scores

    def attention(self) -> Float[Array, "D Q"]:
        """S: column i is how much each token counts for query i."""
        return softmax(self.attention_scale * self.scores())

    def __call__(self, tokens: Float[Array, "d D"]) -> Float[Array, "M Q"]:
        outputs, dim = self.value.shape
        # The product with S costs the most, so it takes the thinner of W_V X and X.
        if dim < outputs:
            return self.activation(self.value @ (tokens @ self.attention()))
        return self.activation(self.value @ tokens @ self.attention())


def _codes(
    key_codes: ArrayLike | None, query_codes: ArrayLike | None, tokens: int, queries: int
) -> tuple[Float[Array, "p D"] | None, Float[Array, "r Q"] | None]:
    if key_codes is None:
        if query_codes is not None:
            raise Refused(
                "`query_codes` need `key_codes` beside them, since scores pair the two. Got "
                "query codes alone."
            )
        return None, None
    keys = matrix("key_codes", key_codes, reason="it holds a code (column) for each token")
    if keys.shape[1] != tokens:
        raise Refused(
            f"`key_codes` must have {tokens} columns, one for each token. Got shape {keys.shape}."
        )
    if query_codes is None:
        if queries != tokens:
            raise Refused(
                "`query_codes` must be given when there are not as many queries as tokens, "
                f"since a token's code then says nothing about a query. Got {queries} queries, "
                f"{tokens} tokens."
            )
        return jnp.asarray(keys), None
    asks = matrix("query_codes", query_codes, reason="it holds a code (column) for each query")
    if asks.shape[1] != queries:
        raise Refused(
            f"`query_codes` must have {queries} columns, one for each query. Got shape "
            f"{asks.shape}."
        )
    return jnp.asarray(keys), jnp.asarray(asks)
