"""The target class of Arda et al. 2026: functions in the space of the tangent kernel, made from
random heads and anchors.

f̃(X; v) = E_{W,U}[φ_c v_c + ⟨φ_u, v_u⟩ + ⟨φ_w, v_w⟩], where v gives each head (W, U) a direction to
be transported along, of norms at most ν = (ν_c, ν_u, ν_w). Their v averages the features of R
anchor inputs; a pool of heads stands for the expectation.
"""

from __future__ import annotations

import os
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float

from tutelage.activations import Activation, activation
from tutelage.numerics.compiling import BARRIERS, compiled_with
from tutelage.numerics.heads import Heads, features
from tutelage.numerics.softmax import exponential
from tutelage.numerics.threads import in_threads
from tutelage.refuse import Refused, one_of, positive
from tutelage.teachers.base import Labels, Shape, Teacher

ALONE = 1024  # inputs: up to here, threads cost more than they bring
SCORES = ("full", "diagonal")
BLOCK = 512  # heads of the pool at a time: what one input makes of them stays in the cache
# Inputs × heads of the pool, from which on labels are made in single precision, in a third of the
# time: 1e-7 of a label is rounded off, where such a pool leaves it a thousand times as uncertain.
MANY = 5_000_000
# Products by XLA's library for small matrices, and one exponential where it would make several.
COMPILER: dict[str, Any] = {
    "xla_disable_hlo_passes": ",".join(BARRIERS),
    "xla_cpu_experimental_ynn_fusion_type": "LIBRARY_FUSION_TYPE_INDIVIDUAL_DOT",
}


class TransportedTeacher(Teacher):
    r"""f̃(X; v) as a mean over a pool of heads, v(W, U) = mean_r w_r·(ν_c φ_c/σ₀, ν_u φ_u/σ₁,
    clip(φ_w, ν_w)) over the anchors X_r.

    σ₀ = sup|σ| and σ₁ = sup|σ′| are 1 for tanh, the activation of the paper. With |w_r| ≤ 1 the
    norms of v stay within ν. With `scores` = "diagonal" every head reads only the diagonal of its
    W, as the authors' published code does; the text has "full".
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
                "Anchors must be an array (R, d, T) with one weight each, at least one, since v "
                "averages over them. "
                f"Got shapes {anchors.shape} and {weights.shape}."
            )
        if np.abs(np.asarray(weights)).max() > 1:
            raise Refused(
                "Weights of anchors must be within [−1, 1], since v would leave its radii "
                "otherwise. "
                "Got larger ones."
            )
        if query is not None and (
            query.shape != anchors.shape[1:2] or not bool(jnp.isfinite(query).all())
        ):
            raise Refused(
                f"`query` must be {anchors.shape[1]} finite numbers, since it meets tokens of "
                f"that many. Got {query!r}."
            )
        self.anchors, self.weights, self.pool, self.query = anchors, weights, pool, query
        self.radii = jnp.asarray(
            [
                positive(f"nu_{letter}", r, reason="it is a radius", zero=True)
                for letter, r in zip("cuw", radii, strict=True)
            ]
        )
        self.scores = one_of("kind of scores", scores, SCORES)
        self.activation = activation(activation_name)
        if self.activation.name != "tanh":
            raise Refused(
                "The transported teacher is scaled by sup|σ| and sup|σ′|, known here for tanh. "
                f"Got {self.activation.name!r}."
            )

    @property
    def output_activation(self) -> Activation:
        return self.activation

    @property
    def shape(self) -> Shape:
        """(1, d, T, 1), as every teacher says how large its inputs and outputs are."""
        _, dim, tokens = self.anchors.shape
        return Shape(1, dim, tokens, 1)

    def __call__(self, tokens: Float[Array, "d T"]) -> Float[Array, ""]:
        """The label of one input, by the pool."""
        return self.labels(tokens[None]).values[0]

    def ask(self, tokens: Float[Array, "d T"]) -> Float[Array, "d"]:
        return tokens[:, -1] if self.query is None else self.query

    def _seen(self, heads: Heads) -> Heads:
        """The heads as this teacher reads them."""
        if self.scores == "full":
            return heads
        diagonal = jnp.eye(heads.attention.shape[-1], dtype=heads.attention.dtype)
        return eqx.tree_at(lambda h: h.attention, heads, heads.attention * diagonal[None])

    def directions(self, heads: Heads) -> Heads:
        """v at every head: v_w (m×d×d), v_u (m×d), v_c (m)."""
        seen = self._seen(heads)
        nu_c, nu_u, nu_w = self.radii

        def one(anchor: Float[Array, "d T"], weight: Float[Array, ""]) -> Heads:
            query = self.ask(anchor)
            phi = features(seen, anchor, query, self.activation)
            length = jnp.linalg.norm(phi.spread, axis=1) * jnp.linalg.norm(
                query
            )  # ‖φ_w‖_F = σ′‖MU‖‖q‖
            kept = jnp.minimum(1.0, nu_w / jnp.where(length > 0, length, 1.0))
            return Heads(
                weight * (kept[:, None] * phi.spread)[:, :, None] * query[None, None],
                weight * nu_u * phi.read,
                weight * nu_c * phi.value,
            )

        # Anchor by anchor, since R directions of every head of a pool would not fit the cache.
        zero = jax.tree.map(jnp.zeros_like, heads)
        total, _ = jax.lax.scan(
            lambda sum_, a: (jax.tree.map(jnp.add, sum_, one(*a)), None),
            zero,
            (self.anchors, self.weights),
        )
        return jax.tree.map(lambda leaf: leaf / len(self.weights), total)

    def transport(self, start: Heads) -> Heads:
        """c̃ = c + v_c/√m, Ũ = U + c v_u/√m, W̃ = W + c v_w/√m: where in a student's ball the
        teacher's function lies.
        """
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
        """f̃ by the pool, with the Monte Carlo error of each label; a part of the inputs per core,
        since one label knows of no other. Many are made in single precision.
        """
        if len(tokens) * len(self.pool.output) >= MANY:
            teacher, rounded = jax.tree.map(_single, (self, tokens))
            found = teacher._labels_side_by_side(rounded)
            return Labels(*(leaf.astype(tokens.dtype) for leaf in found))
        if len(tokens) > ALONE:
            return self._labels_side_by_side(tokens)
        # Filled up with zeros to a power of two, so that few compiled programs serve all small
        # samples of a sweep.
        missing = max(128, 1 << (len(tokens) - 1).bit_length()) - len(tokens)
        filled = jnp.pad(tokens, ((0, missing), (0, 0), (0, 0)))
        return Labels(*(leaf[: len(tokens)] for leaf in _through(self, self.pool, filled)))

    def _labels_side_by_side(self, tokens: Float[Array, "n d T"]) -> Labels:
        """The same by as many threads as there are cores."""
        shares = jnp.array_split(tokens, os.cpu_count() or 1)
        parts = in_threads(lambda some: _through_many(self, self.pool, some), shares)
        return Labels(*(jnp.concatenate(leaves) for leaves in zip(*parts, strict=True)))


def _single(leaf: Float[Array, "..."]) -> Float[Array, "..."]:
    return leaf.astype(jnp.float32)


def _mean_over(teacher: TransportedTeacher, heads: Heads, tokens: Float[Array, "n d T"]) -> Labels:
    """The mean over heads of φ_c v_c + ⟨φ_u, v_u⟩ + ⟨φ_w, v_w⟩ at every input, and its standard
    error.

    Only four numbers of a token enter: its score x·Wq, u = x·U, p = x·v_u and z = x·v_w q. With
    α-means marked by a bar the terms are σ(ū)v_c, σ′(ū)p̄ and σ′(ū)·mean((u − ū)z), so that no
    vector of a head is formed. Heads run along the last axis, which is the one that a processor
    takes several of at a time.
    """
    count, (dim, length) = len(heads.output), tokens.shape[1:]
    block = BLOCK if count % BLOCK == 0 else count
    chunk = max(
        1, BLOCK // block
    )  # inputs at a time: as many numbers as one input makes of a whole block of heads
    padding = -len(tokens) % chunk
    inputs = jnp.pad(tokens, ((0, padding), (0, 0), (0, 0))).reshape(-1, chunk, dim, length)
    parts = jax.tree.map(lambda leaf: leaf.reshape(-1, block, *leaf.shape[1:]), heads)

    def one(total: tuple[Array, Array], part: Heads) -> tuple[tuple[Array, Array], None]:
        v, seen = teacher.directions(part), teacher._seen(part)
        # E × (d, W and v_w of each head).
        asked = jnp.concatenate([seen.attention, v.attention]).transpose(2, 1, 0).reshape(dim, -1)
        plain = jnp.concatenate([seen.reading, v.reading]).T

        def terms(some: Float[Array, "k d T"]) -> tuple[Array, Array]:
            x = some.transpose(0, 2, 1)
            score, z = jnp.split(
                x @ (jax.vmap(teacher.ask)(some) @ asked).reshape(chunk, dim, -1), 2, axis=-1
            )
            u, p = jnp.split((x.reshape(-1, dim) @ plain).reshape(chunk, length, -1), 2, axis=-1)
            weights = jax.lax.optimization_barrier(
                exponential(score - jnp.max(score, axis=1, keepdims=True))
            )
            mass = jnp.sum(weights, axis=1)
            mean = jnp.sum(weights * u, axis=1) / mass
            value, slope = jax.jvp(teacher.activation, (mean,), (jnp.ones_like(mean),))
            moved = jnp.sum(weights * (p + (u - mean[:, None]) * z), axis=1) / mass
            each = value * v.output[None] + slope * moved
            return jnp.sum(each, axis=1), jnp.sum(each**2, axis=1)

        first, second = jax.lax.map(terms, inputs)
        return (total[0] + first.ravel(), total[1] + second.ravel()), None

    zero = jnp.zeros(len(tokens) + padding, tokens.dtype)
    (first, second), _ = jax.lax.scan(one, (zero, zero), parts)
    mean, square = first[: len(tokens)] / count, second[: len(tokens)] / count
    variance = jnp.maximum(square - mean**2, 0.0) * (count / max(count - 1, 1))
    return Labels(mean, jnp.sqrt(variance / count))


_through = eqx.filter_jit(_mean_over)  # also within other compiled functions
_through_many = compiled_with(COMPILER)(_mean_over)
