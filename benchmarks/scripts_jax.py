"""What a JAX user would write: a loss, `jax.grad`, `jit` and `lax.scan`; batches drawn at every
step. All cores, as JAX takes them.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from benchmarks.problems import BATCH, DIM, NOISE, RADIUS, RATE, STEP, M, cnn, heads
from benchmarks.processes import Work


def online_loss(teacher: Any, parameters: Any, x: Any, e: Any) -> Any:
    """½ mean ‖Y − relu(W_V X S)‖² of a batch; x is d × N·D, so that all samples go through W_V and
    then S in one product each.
    """
    (target, selection), (value, scores) = teacher, parameters
    shape = -1, scores.shape[-1]
    labels = jax.nn.relu((target @ x).reshape(shape) @ selection) + e
    output = jax.nn.relu(
        (value @ x).reshape(shape) @ jax.nn.softmax(scores / math.sqrt(shape[1]), 0)
    )
    return 0.5 / BATCH * jnp.sum((output - labels) ** 2)


def descended(tokens: int, steps: int) -> Callable[[Any, Any, Any], Any]:
    """So many online steps from a start, and the loss of each."""

    def run(teacher: Any, start: Any, key: Any) -> Any:
        def step(parameters: Any, key: Any) -> Any:
            (inputs, noise), kind = jax.random.split(key), teacher[0].dtype
            x = jax.random.normal(inputs, (DIM, BATCH * tokens), kind)
            e = NOISE * jax.random.normal(noise, (M * BATCH, tokens), kind)
            loss, slopes = jax.value_and_grad(online_loss, argnums=1)(teacher, parameters, x, e)
            return jax.tree.map(lambda p, g: p - RATE * g, parameters, slopes), loss

        return jax.lax.scan(step, start, jax.random.split(key, steps))

    return run


def online(*, tokens: int, dtype: str, steps: int, seeds: int = 0) -> Work:
    jax.config.update("jax_enable_x64", dtype == "float64")
    teacher, start = (tuple(jnp.asarray(x) for x in pair) for pair in cnn(tokens, dtype, seeds))
    function, key = descended(tokens, steps), jax.random.key(0)
    if seeds:
        function, key = jax.vmap(function, in_axes=((0, None), 0, 0)), jax.random.split(key, seeds)
    run = jax.jit(function)

    def work() -> int:
        jax.block_until_ready(run(teacher, start, key))
        return steps * max(1, seeds)

    return Work(work, dtype)


def predicted(weights: Any, X: Any, q: Any) -> Any:
    """f(X) = m^{-1/2} Σ_i c_i tanh(U_iᵀ X softmax(XᵀW_i q)) of one sample."""
    W, U, c = weights
    attended = jax.nn.softmax((W @ q) @ X, -1) @ X.T
    return jnp.tanh((attended * U).sum(-1)) @ c / math.sqrt(len(c))


def projected(now: Any, start: Any, radius: float) -> Any:
    """Each head moved back to within radius/√m of its start, if it left."""
    m = start.shape[0]
    moved = (now - start).reshape(m, -1)
    length = jnp.sqrt((moved**2).sum(1, keepdims=True))
    return start + (
        moved * jnp.minimum(1, radius / math.sqrt(m) / jnp.maximum(length, 1e-30))
    ).reshape(start.shape)


def heads_descended(
    n: int, m: int, steps: int, dtype: str, *, radius: float = RADIUS, tokens: int = 16
) -> Callable[[], Any]:
    """Weights after some steps of full-batch descent with projection, from the start."""
    start, data = ([jnp.asarray(x) for x in part] for part in heads(n, m, dtype, tokens))

    def loss(weights: Any, X: Any, q: Any, y: Any) -> Any:
        return jnp.mean((jax.vmap(predicted, in_axes=(None, 0, 0))(weights, X, q) - y) ** 2)

    @jax.jit
    def run(start: Any, data: Any) -> Any:
        def step(weights: Any, _: Any) -> Any:
            slopes = jax.grad(loss)(weights, *data)
            return [
                projected(p - STEP * g, p0, radius)
                for p, g, p0 in zip(weights, slopes, start, strict=True)
            ], None

        return jax.lax.scan(step, start, length=steps)[0]

    return lambda: jax.block_until_ready(run(start, data))


def heads_step(*, n: int, m: int, tokens: int, steps: int) -> Work:
    run = heads_descended(n, m, steps, "float32", tokens=tokens)
    return Work(lambda: run() and steps)


def gram_of(n: int, m: int, dtype: str) -> Callable[[], Any]:
    """JJᵀ from the gradients of all samples, 250 at a time as in PyTorch."""
    weights, (X, q, _) = ([jnp.asarray(x) for x in part] for part in heads(n, m, dtype))

    @jax.jit
    def run(weights: Any, X: Any, q: Any) -> Any:
        rows = jax.lax.map(
            lambda sample: jax.grad(predicted)(weights, *sample), (X, q), batch_size=250
        )
        return sum(j.reshape(n, -1) @ j.reshape(n, -1).T for j in rows)

    return lambda: jax.block_until_ready(run(weights, X, q))


def gram(*, n: int, m: int) -> Work:
    run = gram_of(n, m, "float32")

    def work() -> int:
        run()
        return 1

    return Work(work)


def first_curve(*, steps: int) -> None:
    """For a cold start: so many online steps, the loss of each kept."""
    jax.config.update("jax_enable_x64", True)
    teacher, start = (tuple(jnp.asarray(x) for x in pair) for pair in cnn(36, np.float64))
    print(float(jax.jit(descended(36, steps))(teacher, start, jax.random.key(0))[1][-1]))
