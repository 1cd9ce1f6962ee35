"""That rivals compute the same thing, before anything is timed. A check that fails ends the
bench.
"""

from __future__ import annotations

import importlib.util
import math
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np

import tutelage
from benchmarks import ours, scripts_jax
from benchmarks.problems import BATCH, CORES, DIM, NOISE, D, K, M, cnn, heads

TORCH = importlib.util.find_spec("torch") is not None


def _flat(pair: Any) -> np.ndarray:
    return np.concatenate([np.ravel(np.asarray(part)) for part in pair])


def _sound(said: str, right: bool) -> dict[str, str]:
    if not right:
        raise AssertionError(f"NOT the same: {said}")
    return {"said": said}


def online(*, batches: int = 1000) -> dict[str, str]:
    """One batch: PyTorch's loss and gradient are JAX's, and so is the loss that ours draws. Many:
    their mean gradient is the exact one.

    At a student whose attention is far from uniform. The z-scores of the mean have root mean square
    1 if it is right.
    """
    (target, selection), start = cnn(D, np.float64, scale=1.0)
    start[1] *= math.sqrt(D)
    teacher = tutelage.BilinearTeacher(
        target, tutelage.pooling(D, K), activation="relu", noise=NOISE
    )
    risk = tutelage.PopulationRisk(teacher)
    student = eqx.tree_at(
        lambda s: (s.value, s.key_query),
        tutelage.PositionAttention.zeros(teacher),
        tuple(jnp.asarray(x) for x in start),
    )
    x, e = (
        np.random.default_rng(1).normal(size=shape) for shape in ((DIM, BATCH * D), (M * BATCH, D))
    )
    value_and_slopes = jax.jit(jax.value_and_grad(scripts_jax.online_loss, argnums=1))
    pair = (jnp.asarray(target), jnp.asarray(selection))
    loss, slopes = value_and_slopes(pair, tuple(start), x, NOISE * e)
    said, right = [], True
    if TORCH:
        import torch

        from benchmarks import scripts_torch

        parameters = [torch.nn.Parameter(torch.tensor(p)) for p in start]
        theirs = scripts_torch.online_loss(
            [torch.tensor(t) for t in (target, selection)],
            parameters,
            torch.tensor(x),
            torch.tensor(e),
        )
        apart = abs(theirs.item() / float(loss) - 1)
        steep = _flat(torch.autograd.grad(theirs, parameters))
        turned = float(np.linalg.norm(steep - _flat(slopes)) / np.linalg.norm(steep))
        said.append(
            f"PyTorch's and JAX's loss of one batch differ by {apart:.0e} of themselves, their "
            f"gradients by {turned:.0e}"
        )
        right &= apart < 1e-12 and turned < 1e-12
    # Our batch is n × d × D; the scripts' is d × (n·D), and its labels (M·n) × D.
    sample = tutelage.Sample(
        jnp.asarray(x.reshape(DIM, BATCH, D).transpose(1, 0, 2)),
        jax.vmap(teacher)(jnp.asarray(x.reshape(DIM, BATCH, D).transpose(1, 0, 2)))
        + NOISE * e.reshape(M, BATCH, D).transpose(1, 0, 2),
    )
    drawn = abs(float(sample(student)) / float(loss) - 1)

    @jax.jit
    def sampled(key: Any) -> Any:
        inputs = jax.random.normal(key, (DIM, BATCH * D))
        return jax.grad(scripts_jax.online_loss, argnums=1)(
            pair, tuple(start), inputs, jnp.zeros((M * BATCH, D))
        )

    many = np.stack([_flat(sampled(key)) for key in jax.random.split(jax.random.key(2), batches)])
    gradient, error = jax.grad(risk)(student), many.std(0, ddof=1) / math.sqrt(batches)
    exact = _flat((gradient.value, gradient.key_query))
    z = (many.mean(0) - exact) / error
    worst, spread, power = (
        np.abs(z).max(),
        np.sqrt(np.mean(z**2)),
        np.sqrt(np.mean((exact / error) ** 2)),
    )
    said.append(f"ours of that batch by {drawn:.0e}")
    said.append(
        f"the sampled gradient over {batches * BATCH:,} inputs less the exact one has z-scores "
        f"of root mean square {spread:.2f}, largest "
        f"of {z.size:,} {worst:.1f} (less zero: {power:.0f})"
    )
    return _sound(
        "; ".join(said), right and drawn < 1e-12 and worst < 5 and 0.7 < spread < 1.3 and power > 10
    )


def shallow(*, m: int = 8, steps: int = 5, radius: float = 0.001) -> dict[str, str]:
    """All take the same steps, the projection binding in some heads and not in others, and give the
    same kernel; double precision.
    """
    n, start = 60 * CORES, heads(1, m, np.float64)[0]
    plain = [
        np.asarray(p) for p in scripts_jax.heads_descended(n, m, steps, "float64", radius=radius)()
    ]
    moved = np.concatenate(
        [
            np.linalg.norm((p - p0).reshape(m, -1), axis=1)
            for p, p0 in zip(plain, start, strict=True)
        ]
    )
    bound = float(np.mean(moved > 0.999 * radius / math.sqrt(m)))
    others = [
        ours.heads_descended(n, m, steps, "float64", devices=count, radius=radius)()
        for count in sorted({1, CORES})
    ]
    kernels = [np.asarray(ours.gram_of(n, m, "float64")())]
    names = "ours and JAX's"
    if TORCH:
        from benchmarks import scripts_torch

        names = "ours, PyTorch's and JAX's"
        step = scripts_torch.projected_steps(n, m, "float64", radius=radius)
        others.append([step() for _ in range(steps)][-1])
        kernels.append(scripts_torch.gram_of(n, m, "float64")().numpy())
    apart = max(
        float(np.linalg.norm(p - np.asarray(other)) / np.linalg.norm(p - p0))
        for weights in others
        for p, other, p0 in zip(plain, weights, start, strict=True)
    )
    kernel = np.asarray(scripts_jax.gram_of(n, m, "float64")())
    off = max(float(np.linalg.norm(kernel - other) / np.linalg.norm(kernel)) for other in kernels)
    said = (
        f"after {steps} steps of heads, {bound:.0%} of the blocks at their bound, the "
        f"displacements ({names}) differ by at most "
        f"{apart:.0e} of themselves, the kernels by {off:.0e}"
    )
    return _sound(said, apart < 1e-10 and off < 1e-12 and 0.1 < bound < 0.9)
