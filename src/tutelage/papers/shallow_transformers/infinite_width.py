"""Descent at infinite width: the loss that τ steps leave when f is linear in its parameters and its kernel is the expected one.

With K = K_c + K_u + K_w over the sample, a step of descent on (1/n)Σ(f−y)² takes f to f − (2η/n)K(f−y). In the eigenvectors of K a
residual shrinks by 1 − 2ηλ/n a step, from f = 0. The expectation over heads is a mean over many, none of which the teacher's pool has.
"""

from __future__ import annotations

from functools import cache, partial

import jax
import numpy as np
from jaxtyping import Array, Float

from tutelage.activations import Activation
from tutelage.claims.claim import NoPrediction
from tutelage.heads import Heads, draw_heads, features
from tutelage.settings import Setting

HEADS = 4096  # that stand for the expectation
BLOCK = 128  # of them at a time


def losses(setting: Setting) -> tuple[float, float]:
    """The loss after τ steps, and that of the averaged iterate (1/τ)Σ_{t<τ}θ_t, each over (1/n)Σy²."""
    if setting.objective.name != "squared_loss" or setting.student.options.get("query") is not None:
        raise NoPrediction("Descent at infinite width is computed for the whole batch and the last token as query.")
    plain = setting.change(**{"student.heads": 2, "rate": 1.0, "steps": 1, "measures": ()})
    values, begun = _spectrum(plain)
    speed = 2 * setting.rate * values / len(values)
    if speed.max() >= 2:
        raise NoPrediction(f"At infinite width descent is unstable above a step of {2 / (speed.max() / setting.rate):.3g}.")
    last = (1 - speed) ** setting.steps
    # The mean of a geometric series; where nothing moves it is 1, and 1 − last would be rounding.
    averaged = np.where(speed > 1e-9, (1 - last) / (np.maximum(speed, 1e-9) * setting.steps), 1.0)
    return float(np.sum((begun * last) ** 2)), float(np.sum((begun * averaged) ** 2))


@cache
def _spectrum(setting: Setting) -> tuple[Float[np.ndarray, "n"], Float[np.ndarray, "n"]]:
    """Eigenvalues of K, and the labels, brought to length 1, in its eigenvectors."""
    from tutelage.registry import build
    from tutelage.streams import stream

    problem = build(setting)
    objective = problem.objective
    y = np.asarray(objective.labels)
    heads = draw_heads(HEADS, objective.tokens.shape[1], key=stream(setting.seed, "infinite width"))
    values, vectors = np.linalg.eigh(kernel(heads, objective.tokens, problem.student.activation))
    return np.maximum(values, 0.0), vectors.T @ y / np.linalg.norm(y)


def kernel(heads: Heads, tokens: Float[Array, "n d T"], activation: Activation) -> Float[np.ndarray, "n n"]:
    """The mean over heads of φ_cφ_c′ + ⟨φ_u,φ_u′⟩ + ⟨φ_w,φ_w′⟩, where the query is the last token."""
    count = len(heads.output)
    parts = [jax.tree.map(lambda leaf, at=at: leaf[at : at + BLOCK], heads) for at in range(0, count, BLOCK)]
    return np.asarray(sum(_summed(part, tokens, activation) for part in parts)) / count


@partial(jax.jit, static_argnames="activation")
def _summed(heads: Heads, tokens: Float[Array, "n d T"], activation: Activation) -> Float[Array, "n n"]:
    seen = jax.vmap(lambda x: features(heads, x, x[:, -1], activation))(tokens)
    rows = len(tokens)
    read, spread = seen.read.reshape(rows, -1), seen.spread.reshape(rows, -1)
    asked = tokens[:, :, -1] @ tokens[:, :, -1].T
    return seen.value @ seen.value.T + read @ read.T + asked * (spread @ spread.T)
