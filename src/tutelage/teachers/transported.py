"""The target class of Arda et al. 2026: functions in the space of the tangent kernel, made from random heads and anchors.

f̃(X; v) = E_{W,U}[φ_c v_c + ⟨φ_u, v_u⟩ + ⟨φ_w, v_w⟩], where v gives each head (W, U) a direction to be transported along, of
norms at most ν = (ν_c, ν_u, ν_w). Their v averages the features of R anchor inputs; a pool of heads stands for the expectation.
"""

from __future__ import annotations

from typing import NamedTuple

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float

from tutelage.activations import Activation, activation
from tutelage.heads import Heads, features
from tutelage.refuse import Refused, one_of, positive

SCORES = ("full", "diagonal")
BLOCK = 512  # heads of the pool at a time: what one input makes of them stays in the cache


class Labels(NamedTuple):
    """Labels of n inputs, and the standard error that the finite pool leaves in each."""

    values: Float[Array, "n"]
    errors: Float[Array, "n"]


class TransportedTeacher(eqx.Module):
    r"""f̃(X; v) as a mean over a pool of heads, v(W, U) = mean_r w_r·(ν_c φ_c/σ₀, ν_u φ_u/σ₁, clip(φ_w, ν_w)) over the anchors X_r.

    σ₀ = sup|σ| and σ₁ = sup|σ′| are 1 for tanh, the activation of the paper. With |w_r| ≤ 1 the norms of v stay within ν. With
    `scores` = "diagonal" every head reads only the diagonal of its W, as the authors' published code does; the text has "full".
    """

    anchors: Float[Array, "R d T"]
    weights: Float[Array, "R"]
    radii: Float[Array, "3"]  # ν_c, ν_u, ν_w
    pool: Heads
    query: Float[Array, "d"] | None
    activation: Activation = eqx.field(static=True)
    scores: str = eqx.field(static=True)

    def __init__(
        self,
        anchors: Float[Array, "R d T"],
        weights: Float[Array, "R"],
        pool: Heads,
        *,
        radii: tuple[float, float, float] = (3.0, 3.0, 3.0),
        scores: str = "full",
        activation_name: str | Activation = "tanh",
        query: Float[Array, "d"] | None = None,
    ) -> None:
        if anchors.ndim != 3 or weights.shape != anchors.shape[:1] or not len(weights):
            raise Refused(
                "Anchors must be an array (R, d, T) with one weight each, at least one, since v averages over them. "
                f"Got shapes {anchors.shape} and {weights.shape}."
            )
        if np.abs(np.asarray(weights)).max() > 1:
            raise Refused("Weights of anchors must be within [−1, 1], since else v would leave its radii. Got larger ones.")
        self.anchors, self.weights, self.pool, self.query = anchors, weights, pool, query
        self.radii = jnp.asarray(
            [positive(f"nu_{letter}", r, reason="it is a radius", zero=True) for letter, r in zip("cuw", radii, strict=True)]
        )
        self.scores = one_of("kind of scores", scores, SCORES)
        self.activation = activation(activation_name)
        if self.activation.name != "tanh":
            raise Refused(f"The transported teacher is scaled by sup|σ| and sup|σ′|, known here for tanh. Got {self.activation.name!r}.")

    @property
    def shape(self) -> tuple[int, int, int, int]:
        """(1, d, T, 1), as every teacher says how large its inputs and outputs are."""
        return (1, *self.anchors.shape[1:], 1)  # type: ignore[return-value]

    def ask(self, tokens: Float[Array, "d T"]) -> Float[Array, "d"]:
        return tokens[:, -1] if self.query is None else self.query

    def _seen(self, heads: Heads) -> Heads:
        """The heads as this teacher reads them."""
        if self.scores == "full":
            return heads
        return eqx.tree_at(lambda h: h.attention, heads, heads.attention * jnp.eye(heads.attention.shape[-1]))

    def directions(self, heads: Heads) -> Heads:
        """v at every head: v_w (m×d×d), v_u (m×d), v_c (m)."""
        seen = self._seen(heads)
        nu_c, nu_u, nu_w = self.radii

        def one(anchor: Float[Array, "d T"], weight: Float[Array, ""]) -> Heads:
            query = self.ask(anchor)
            phi = features(seen, anchor, query, self.activation)
            length = jnp.linalg.norm(phi.spread, axis=1) * jnp.linalg.norm(query)  # ‖φ_w‖_F = σ′‖MU‖‖q‖
            kept = jnp.minimum(1.0, nu_w / jnp.where(length > 0, length, 1.0))
            return Heads(weight * (kept[:, None] * phi.spread)[:, :, None] * query, weight * nu_u * phi.read, weight * nu_c * phi.value)

        # Anchor by anchor, since R directions of every head of a pool would not fit the cache.
        zero = jax.tree.map(jnp.zeros_like, heads)
        total, _ = jax.lax.scan(lambda sum_, a: (jax.tree.map(jnp.add, sum_, one(*a)), None), zero, (self.anchors, self.weights))
        return jax.tree.map(lambda leaf: leaf / len(self.weights), total)

    def transport(self, start: Heads) -> Heads:
        """c̃ = c + v_c/√m, Ũ = U + c v_u/√m, W̃ = W + c v_w/√m: where in a student's ball the teacher's function lies."""
        v, root = self.directions(start), jnp.sqrt(float(len(start.output)))
        signed = start.output / root
        return Heads(
            start.attention + signed[:, None, None] * v.attention,
            start.reading + signed[:, None] * v.reading,
            start.output + v.output / root,
        )

    def through(self, heads: Heads, tokens: Float[Array, "n d T"]) -> Labels:
        """f̃ with the expectation taken as the mean over these heads."""
        return _through(self, heads, tokens)

    def labels(self, tokens: Float[Array, "n d T"]) -> Labels:
        """f̃ by the pool, with the Monte Carlo error of each label."""
        return _through(self, self.pool, tokens)


@eqx.filter_jit
def _through(teacher: TransportedTeacher, heads: Heads, tokens: Float[Array, "n d T"]) -> Labels:
    count = len(heads.output)
    block = BLOCK if count % BLOCK == 0 else count
    parts = jax.tree.map(lambda leaf: leaf.reshape(-1, block, *leaf.shape[1:]), heads)

    def one(total: tuple[Array, Array], part: Heads) -> tuple[tuple[Array, Array], None]:
        v, seen = teacher.directions(part), teacher._seen(part)

        def terms(x: Float[Array, "d T"]) -> tuple[Array, Array]:
            query = teacher.ask(x)
            phi = features(seen, x, query, teacher.activation)
            each = phi.value * v.output + jnp.sum(phi.read * v.reading, 1) + jnp.einsum("md,mde,e->m", phi.spread, v.attention, query)
            return jnp.sum(each), jnp.sum(each**2)

        first, second = jax.lax.map(terms, tokens)
        return (total[0] + first, total[1] + second), None

    zero = jnp.zeros(len(tokens))
    (first, second), _ = jax.lax.scan(one, (zero, zero), parts)
    mean = first / count
    variance = jnp.maximum(second / count - mean**2, 0.0) * (count / max(count - 1, 1))
    return Labels(mean, jnp.sqrt(variance / count))
