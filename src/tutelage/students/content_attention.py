"""One layer of attention that sees tokens and positions: Zhang et al. 2026, eq. (2.3) and (2.5),
and the textbook layer.
"""

from __future__ import annotations

from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Float, Key

from tutelage.activations import Activation
from tutelage.refuse import Refused, one_of, positive
from tutelage.students.base import Student
from tutelage.students.starts import draw_normals
from tutelage.teachers.base import Teacher, shape_of

MIXES = ("concatenated", "added", "none")
FORMS = ("merged", "separate")


class ContentAttention(Student):
    r"""TF(X) = σ(W_V Z A), A = softmax by columns of (Zᵀ W_KQ Z · scale), with Z = [X; P], X + P or
    X alone.

    `merged` trains W_KQ itself (2.5), `separate` trains W_K and W_Q with W_KQ = W_KᵀW_Q (2.3), for
    which W_K = W_Q = 0 is a saddle. The codes P are trained where `learned`. Column i of A is how
    much each token counts for query i, as in `PositionAttention`.
    """

    value: Float[Array, "M e"]
    key_query: Float[Array, "e e"] | None
    key: Float[Array, "r e"] | None
    query: Float[Array, "r e"] | None
    codes: Float[Array, "p D"] | None
    attention_scale: Float[Array, ""]
    mix: str = eqx.field(static=True)
    learned: bool = eqx.field(static=True)
    activation: Activation = eqx.field(static=True)

    @property
    def fixed(self) -> tuple[str, ...]:
        return ("attention_scale",) if self.learned else ("attention_scale", "codes")

    @classmethod
    def random(
        cls,
        teacher: Teacher,
        *,
        codes: Float[Any, "p D"] | None,
        mix: str = "concatenated",
        form: str = "merged",
        scale: float = 0.01,
        attention_scale: float,
        learned: bool = False,
        key: Key[Array, ""],
    ) -> ContentAttention:
        """Every trained matrix with iid N(0, scale²) entries."""
        outputs, dim, tokens, queries = shape_of(teacher)
        one_of("way of mixing codes", mix, MIXES)
        one_of("form of the scores", form, FORMS)
        spread = positive(
            "scale",
            scale,
            reason="it is the standard deviation of the start",
            zero=form == "merged",
        )
        if queries != tokens:
            raise Refused(
                "Attention among tokens has a query for each token. Got a teacher with "
                f"{queries} queries, {tokens} tokens."
            )
        if (codes is None) != (mix == "none"):
            raise Refused(
                f"Codes must be given unless mix='none', and not with it. Got mix={mix!r}, "
                f"{'no' if codes is None else 'some'} codes."
            )
        if codes is not None and (
            codes.shape[1] != tokens or (mix == "added" and codes.shape[0] != dim)
        ):
            raise Refused(
                f"Codes must have a column for each of {tokens} tokens, and {dim} rows where "
                "they are added to tokens of that size. "
                f"Got shape {codes.shape}."
            )
        width = dim + (len(codes) if codes is not None and mix == "concatenated" else 0)
        scored = 1 if form == "merged" else 2  # W_KQ, or W_K and W_Q
        shapes = ((outputs, width), *((width, width),) * scored)
        value, *scores = draw_normals(shapes, spread, key)
        return cls(
            value=value,
            key_query=scores[0] if form == "merged" else None,
            key=scores[0] if form == "separate" else None,
            query=scores[1] if form == "separate" else None,
            codes=None if codes is None else jnp.asarray(codes),
            attention_scale=jnp.asarray(
                positive("attention_scale", attention_scale, reason="scores are multiplied by it")
            ),
            mix=mix,
            learned=learned,
            activation=teacher.output_activation,
        )

    def embed(self, tokens: Float[Array, "d D"]) -> Float[Array, "e D"]:
        """Z."""
        if self.codes is None:
            return tokens
        return tokens + self.codes if self.mix == "added" else jnp.concatenate([tokens, self.codes])

    def score_matrix(self) -> Float[Array, "e e"]:
        """W_KQ, or W_KᵀW_Q."""
        if self.key_query is not None:
            return self.key_query
        assert self.key is not None
        assert self.query is not None
        return self.key.T @ self.query

    def weights(self, embedded: Float[Array, "e D"]) -> Float[Array, "D D"]:
        """A, for one embedded input."""
        return jax.nn.softmax(
            self.attention_scale * (embedded.T @ self.score_matrix() @ embedded), axis=0
        )

    def __call__(self, tokens: Float[Array, "d D"]) -> Float[Array, "M D"]:
        embedded = self.embed(tokens)
        return self.activation(self.value @ embedded @ self.weights(embedded))
