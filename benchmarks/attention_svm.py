"""Normalised descent on attention as a PyTorch user would write it, beside ours: processor time per
step, and whether the curves are the same. Needs PyTorch beside tutelage.

python -m benchmarks.attention_svm
"""

from __future__ import annotations

import time

import jax.numpy as jnp
import numpy as np
import torch

from tutelage.papers.attention_svm.parts.descent import EPSILON, Data, take_steps
from tutelage.papers.attention_svm.parts.sample import Sample, draw_sample
from tutelage.papers.attention_svm.readings import miss
from tutelage.papers.attention_svm.theory.programmes import max_margin

RATE, STEPS, EVERY = 0.1, 1000, 50
COMPARED = {"W": 1000, "K and Q": 100}  # steps, until the softmax is near one rounding of 1
ROUNDS = 5  # the fastest counts


def torch_path(sample: Sample, start: list[np.ndarray]) -> tuple[list[np.ndarray], float]:
    """W every few steps, and seconds per step: modules, autograd, one step at a time."""
    torch.set_num_threads(1)
    tokens, queries = torch.tensor(sample.tokens), torch.tensor(sample.queries)
    labels, head = torch.tensor(sample.labels), torch.tensor(sample.head)
    factors = [torch.nn.Parameter(torch.tensor(one)) for one in start]

    def matrix() -> torch.Tensor:
        return factors[0] if len(factors) == 1 else factors[0] @ factors[1].T

    path, taken = [matrix().detach().numpy().copy()], 0.0
    for step in range(1, STEPS + 1):
        since = time.process_time()
        scores = torch.einsum("ntd,de,ne->nt", tokens, matrix(), queries)
        pooled = torch.einsum("nt,ntd->nd", torch.softmax(scores, 1), tokens)
        loss = torch.log(1 + torch.exp(-labels * (pooled @ head))).mean()
        loss.backward()
        with torch.no_grad():
            for factor in factors:
                factor -= RATE * factor.grad / (torch.linalg.norm(factor.grad) + EPSILON)
                factor.grad = None
        taken += time.process_time() - since
        if step % EVERY == 0:
            path.append(matrix().detach().numpy().copy())
    return path, taken / STEPS


def our_path(
    sample: Sample, start: list[np.ndarray], plain: bool
) -> tuple[list[np.ndarray], float]:
    """The same by compiled steps."""
    data = Data(jnp.asarray(sample.tokens), jnp.asarray(sample.queries), jnp.asarray(sample.scores))
    now = tuple(jnp.asarray(one) for one in start)
    take_steps(now, data, RATE, 0.0, 1, plain=plain)[0].block_until_ready()
    path, taken = [now], 0.0
    for _ in range(STEPS // EVERY):
        since = time.process_time()
        now = take_steps(now, data, RATE, 0.0, EVERY, plain=plain)
        now[0].block_until_ready()
        taken += time.process_time() - since
        path.append(now)
    matrices = [np.asarray(one[0] if len(one) == 1 else one[0] @ one[1].T) for one in path]
    return matrices, taken / STEPS


def main() -> None:
    sample = draw_sample(0, 6, 8, 10, "sphere")
    target = max_margin(sample, sample.best).matrix
    drawn = np.random.default_rng(0).uniform(-1, 1, (2, 10, 10)) / np.sqrt(10)
    for name, start in (("W", [drawn[0]]), ("K and Q", list(drawn))):
        times = {"PyTorch": np.inf, "ours, plain": np.inf, "ours, log domain": np.inf}
        found: dict[str, list[np.ndarray]] = {}
        rival: list[np.ndarray] = []
        for _ in range(ROUNDS):
            rival, taken = torch_path(sample, start)
            times["PyTorch"] = min(times["PyTorch"], taken)
            for label, plain in (("ours, plain", True), ("ours, log domain", False)):
                found[label], taken = our_path(sample, start, plain)
                times[label] = min(times[label], taken)
        theirs = miss(np.array(rival), target)
        for label, seconds in times.items():
            said = f"{name}: {label} {1e6 * seconds:.1f} µs per step"
            if label in found:
                apart = np.abs(miss(np.array(found[label]), target) - theirs)
                first = apart[: COMPARED[name] // EVERY + 1].max()
                said += f", {times['PyTorch'] / seconds:.0f} times faster; 1 − corr differs by "
                said += f"{first:.1g} at most over {COMPARED[name]} steps"
            print(said)


if __name__ == "__main__":
    main()
