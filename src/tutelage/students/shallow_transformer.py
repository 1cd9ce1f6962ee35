"""One layer of m independent heads with a fixed query: the student of Arda et al. 2026."""

from __future__ import annotations

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Float, Key
from numpy.typing import ArrayLike

from tutelage.activations import Activation, activation
from tutelage.numerics.heads import Heads, draw_heads, features, gradient_of, mirrored, output_of
from tutelage.refuse import Refused, whole
from tutelage.students.base import Student


class ShallowTransformer(Student):
    r"""f(X) = m^(−½) Σ_i c_i σ(U_iᵀ X softmax(Xᵀ W_i q)), with W, U and c all trained.

    `heads` are the parameters now and `start` those it began with, which training leaves alone:
    around them it is linearised, and onto balls around them it is projected. The query q is the
    last token, or the vector `query` where one is given.
    """

    heads: Heads
    start: Heads
    query: Float[Array, "d"] | None
    activation: Activation = eqx.field(static=True)

    @property
    def fixed(self) -> tuple[str, ...]:
        return ("start", "query")

    @classmethod
    def symmetric(
        cls,
        heads: int,
        dim: int,
        *,
        key: Key[Array, ""],
        activation_name: str | Activation = "tanh",
        query: ArrayLike | None = None,
    ) -> ShallowTransformer:
        """W and U standard normal and c = ±1 for half of the heads; the other half copies them with
        c negated, so that f = 0.
        """
        heads = whole(
            "heads", heads, least=2, reason="each head of the symmetric start has a mirror image"
        )
        if heads % 2:
            raise Refused(
                "`heads` must be even, since each head of the symmetric start has a mirror "
                f"image. Got heads={heads}."
            )
        asked = None if query is None else jnp.asarray(query)
        if asked is not None and (asked.shape != (dim,) or not bool(jnp.isfinite(asked).all())):
            raise Refused(
                f"`query` must be {dim} finite numbers, since it meets tokens of that many. "
                f"Got {asked!r}."
            )
        first = mirrored(draw_heads(heads // 2, dim, key=key))
        return cls(first, first, asked, activation(activation_name))

    def ask(self, tokens: Float[Array, "d T"]) -> Float[Array, "d"]:
        """The query q of an input."""
        return tokens[:, -1] if self.query is None else self.query

    def __call__(self, tokens: Float[Array, "d T"]) -> Float[Array, ""]:
        return output_of(self.heads, tokens, self.ask(tokens), self.activation)

    def gradient(self, tokens: Float[Array, "d T"]) -> Heads:
        """∇f(X) in all parameters, in closed form."""
        return gradient_of(self.heads, tokens, self.ask(tokens), self.activation)

    def linearised(self, tokens: Float[Array, "d T"]) -> Float[Array, ""]:
        """f_lin(X) = f₀(X) + ⟨∇f₀(X), θ − θ₀⟩: what f would be if it were linear in its parameters
        around the start.
        """
        query = self.ask(tokens)
        seen = features(self.start, tokens, query, self.activation)
        gone = jax.tree.map(jnp.subtract, self.heads, self.start)
        # ⟨φ_w, ΔW⟩ = spread·(ΔW q): no gradient in W is formed, which is d times as large.
        along = jnp.sum(
            gone.reading * seen.read + jnp.einsum("mde,e->md", gone.attention, query) * seen.spread,
            axis=1,
        )
        total = self.start.output @ (seen.value + along) + gone.output @ seen.value
        return total / jnp.sqrt(float(len(seen.value)))
