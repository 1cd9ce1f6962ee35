"""Lemma 2: how steep one head is and how fast its gradient turns, by exact derivatives, beside L₁
and L₂.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float

from tutelage.activations import Activation
from tutelage.claims import Claim, Number
from tutelage.claims.claim import no_ceiling
from tutelage.claims.labels import ClaimedBy, SourceText
from tutelage.numerics.streams import stream
from tutelage.papers.shallow_transformers.readings import setting_of
from tutelage.papers.shallow_transformers.theory import approximation as theory
from tutelage.papers.shallow_transformers.theory.start import build_start, trained_form
from tutelage.run import Run
from tutelage.studies.study import Curves

LEMMA = f"{theory.SOURCE}, Lemma 2"
INPUTS = 8  # of the sample, at which each head is looked at


def head(
    given: Float[Array, "p"],
    tokens: Float[Array, "d T"],
    query: Float[Array, "d"],
    activation: Activation,
) -> Float[Array, ""]:
    """h = σ(Uᵀ X softmax(Xᵀ W q)) of one head; `given` is U and then W, row after row."""
    d = len(query)
    reading, attention = given[:d], given[d:].reshape(d, d)
    weights = jax.nn.softmax((attention @ query) @ tokens)
    return activation(reading @ (tokens @ weights))


def steepness(
    given: Float[Array, "p"],
    tokens: Float[Array, "d T"],
    query: Float[Array, "d"],
    activation: Activation,
) -> Float[Array, "2"]:
    """‖∇h‖ and the largest ‖∇²h‖ of one head at one input, in U and W together."""
    slope = jax.grad(head)(given, tokens, query, activation)
    bend = jax.hessian(head)(given, tokens, query, activation)
    return jnp.stack([jnp.linalg.norm(slope), jnp.abs(jnp.linalg.eigvalsh(bend)).max()])


def look_at_heads(run: Run) -> Curves:
    """The largest ‖∇h‖ and ‖∇²h‖ over heads and inputs, at the start and at a random point of the
    boundary of the ball.
    """
    setting = setting_of(run)
    start, s = build_start(trained_form(setting)), theory.sizes(setting)
    heads, sample = start.student.start, start.sample.tokens[:INPUTS]
    flat = jnp.concatenate([heads.reading, heads.attention.reshape(len(heads.reading), -1)], axis=1)
    step = jax.random.normal(stream(setting.seed, "boundary"), flat.shape)
    moved = _to_sphere(step, s.d, s.rho[1:]) / jnp.sqrt(float(s.m))
    points = jnp.concatenate([flat, flat + moved])
    largest = np.asarray(_largest(points, sample, activation=start.student.activation))
    return {"steepest_head": largest[None, 0], "most_bent_head": largest[None, 1]}


@partial(jax.jit, static_argnames="activation")
def _largest(
    points: Float[Array, "m p"], sample: Float[Array, "n d T"], *, activation: Activation
) -> Float[Array, "2"]:
    """The largest of both over all heads and inputs."""

    def at(given: Float[Array, "p"], tokens: Float[Array, "d T"]) -> Float[Array, "2"]:
        return steepness(given, tokens, tokens[:, -1], activation)

    return jax.vmap(jax.vmap(at, in_axes=(None, 0)), in_axes=(0, None))(points, sample).max((0, 1))


def _to_sphere(step: Float[Array, "m p"], d: int, radii: Sequence[float]) -> Float[Array, "m p"]:
    """The step of each head with ‖ΔU‖ = ρ_u and ‖ΔW‖_F = ρ_w."""
    blocks = (step[:, :d], step[:, d:])
    return jnp.concatenate(
        [
            rho * block / jnp.linalg.norm(block, axis=1, keepdims=True)
            for rho, block in zip(radii, blocks, strict=True)
        ],
        axis=1,
    )


def smoothness_claims() -> tuple[Claim, ...]:
    """Both constants of the lemma, each against the largest that any head has."""
    return (
        _claim("steepest_head", 0, "L1", "‖∇h‖ of a head in U and W", "L₁ = σ₁√(1+B_U²)"),
        _claim(
            "most_bent_head",
            1,
            "L2",
            "‖∇²h‖ of a head in U and W",
            "L₂ = σ₂(1+B_U²) + 8σ₁√(1+B_U²)",
        ),
    )


def _claim(curve: str, which: int, name: str, words: str, constant: str) -> Claim:
    def over_constant(run: Run) -> float:
        return float(run.curves[curve][0]) / theory.lipschitz(theory.sizes(setting_of(run)))[which]

    return Number(
        values=lambda runs: [max(map(over_constant, runs))],
        value=1.0,
        of=f"the largest {words} over {name}",
        tolerance=0.0,
        side="at most",
        certain=True,
        id=name,
        statement=f"{words} is at most {constant}, every head, at the start and on the boundary",
        source=LEMMA,
        claimed_by=ClaimedBy.PAPER,
        source_text=SourceText.PARTLY_READ,
        ceiling=no_ceiling,
        hypotheses=theory.start_hypotheses,
    )
