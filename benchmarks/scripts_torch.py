"""What a PyTorch user would write: modules and autograd, `torch.optim.SGD`, `torch.func`. The
fastest form and number of threads counts.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
import torch

from benchmarks.problems import BATCH, CORES, DIM, NOISE, RADIUS, RATE, STEP, M, cnn, heads
from benchmarks.processes import Work, fastest

THREADS = (1,) if CORES == 1 else (1, CORES)


def _on_threads(
    steps: Callable[[float], int], seconds: float, threads: tuple[int, ...] = THREADS
) -> Work:
    def run(count: int) -> int:
        torch.set_num_threads(count)
        return steps(seconds)

    return fastest({f"{count} thread{'s' * (count > 1)}": partial(run, count) for count in threads})


def _until(step: Callable[[], Any]) -> Callable[[float], int]:
    def steps(seconds: float) -> int:
        end, done = time.perf_counter() + seconds, 0
        while not done or time.perf_counter() < end:
            step()
            done += 1
        return done

    return steps


def online_loss(teacher: Any, parameters: Any, x: Any, e: Any) -> Any:
    """½ mean ‖Y − relu(W_V X S)‖² of a batch; x is d × N·D, so that all samples go through W_V and
    then S in one product each.
    """
    (target, selection), (value, scores), tokens = teacher, parameters, parameters[1].shape[-1]
    shape = *x.shape[:-2], -1, tokens
    with torch.no_grad():
        labels = torch.relu((target @ x).view(shape) @ selection).add_(e, alpha=NOISE)
    output = torch.relu((value @ x).view(shape) @ torch.softmax(scores / math.sqrt(tokens), -2))
    return 0.5 / BATCH * torch.nn.functional.mse_loss(output, labels, reduction="sum")


def online(
    *,
    tokens: int,
    dtype: str,
    seconds: float,
    compiled: bool = False,
    seeds: int = 0,
    alone: bool = True,
) -> Work:
    """Online descent of the position-only student on the CNN teacher; of several seeds together, by
    products with a leading axis.

    Not `alone`, one thread is not tried: where a step takes seconds, all threads are faster.
    """
    teacher, start = ([torch.tensor(x) for x in pair] for pair in cnn(tokens, dtype, seeds))
    parameters = [torch.nn.Parameter(x) for x in start]
    optimiser = torch.optim.SGD(parameters, lr=RATE)
    loss = torch.compile(online_loss) if compiled else online_loss
    kind, lead = teacher[0].dtype, (seeds,) if seeds else ()

    def step() -> None:
        optimiser.zero_grad()
        x, e = (
            torch.randn(*lead, DIM, BATCH * tokens, dtype=kind),
            torch.randn(*lead, M * BATCH, tokens, dtype=kind),
        )
        loss(teacher, parameters, x, e).backward()
        optimiser.step()

    work = _on_threads(_until(step), seconds, THREADS if alone else THREADS[-1:])
    per = max(1, seeds)
    return Work(lambda: per * work.run(), f"{dtype}, {work.note}{', compiled' * compiled}")


class Shallow(torch.nn.Module):
    """f(X) = m^{-1/2} Σ_i c_i tanh(U_iᵀ X softmax(XᵀW_i q))."""

    def __init__(self, weights: Any) -> None:
        super().__init__()
        self.W, self.U, self.c = (torch.nn.Parameter(torch.tensor(x)) for x in weights)

    def forward(self, X: Any, q: Any) -> Any:
        scores = torch.einsum("ikl,...l->...ik", self.W, q) @ X
        attended = torch.softmax(scores, -1) @ X.transpose(-2, -1)
        return torch.tanh((attended * self.U).sum(-1)) @ self.c / math.sqrt(len(self.c))


def projected_steps(
    n: int, m: int, dtype: str, *, compiled: bool = False, radius: float = RADIUS, tokens: int = 16
) -> Callable[[], Any]:
    """One more step of full-batch descent each time it is called, each head then moved back to its
    ball; gives the weights.
    """
    weights, data = heads(n, m, dtype, tokens)
    model = Shallow(weights)
    start = [p.detach().clone() for p in model.parameters()]
    optimiser = torch.optim.SGD(model.parameters(), lr=STEP)
    X, q, y = (torch.tensor(x) for x in data)

    def loss() -> Any:
        return ((model(X, q) - y) ** 2).mean()

    function = torch.compile(loss) if compiled else loss

    def step() -> Any:
        optimiser.zero_grad()
        function().backward()
        optimiser.step()
        with torch.no_grad():
            for p, p0 in zip(model.parameters(), start, strict=True):
                moved = (p - p0).view(m, -1)
                length = moved.norm(dim=1, keepdim=True).clamp_min(1e-30)
                p.copy_(p0 + (moved * (radius / math.sqrt(m) / length).clamp_max(1)).view_as(p0))
        return [p.detach().numpy() for p in model.parameters()]

    return step


def heads_step(*, n: int, m: int, tokens: int, seconds: float, compiled: bool = False) -> Work:
    work = _on_threads(
        _until(projected_steps(n, m, "float32", compiled=compiled, tokens=tokens)), seconds
    )
    return Work(work.run, f"{work.note}{', compiled' * compiled}")


def gram_of(n: int, m: int, dtype: str) -> Callable[[], Any]:
    """JJᵀ from the gradients of all samples; chunks of 250 cost about as much as all 1000 at once,
    chunks of 50 and 100 more.
    """
    weights, (X, q, _) = heads(n, m, dtype)
    model = Shallow(weights)
    parameters, samples = (
        {name: p.detach() for name, p in model.named_parameters()},
        (torch.tensor(X), torch.tensor(q)),
    )

    def value(parameters: Any, x: Any, query: Any) -> Any:
        return torch.func.functional_call(model, parameters, (x, query))

    def work() -> Any:
        rows = torch.func.vmap(torch.func.grad(value), in_dims=(None, 0, 0), chunk_size=250)(
            parameters, *samples
        )
        return sum(j.reshape(n, -1) @ j.reshape(n, -1).T for j in rows.values())

    return work


def gram(*, n: int, m: int) -> Work:
    return _on_threads(_until(gram_of(n, m, "float32")), 0.0, threads=THREADS[-1:])


def first_curve(*, steps: int) -> None:
    """For a cold start: so many online steps, the loss of each kept."""
    teacher, start = ([torch.tensor(x) for x in pair] for pair in cnn(36, np.float64))
    parameters = [torch.nn.Parameter(x) for x in start]
    optimiser, curve = torch.optim.SGD(parameters, lr=RATE), []
    for _ in range(steps):
        optimiser.zero_grad()
        x, e = (
            torch.randn(DIM, BATCH * 36, dtype=torch.float64),
            torch.randn(M * BATCH, 36, dtype=torch.float64),
        )
        loss = online_loss(teacher, parameters, x, e)
        loss.backward()
        optimiser.step()
        curve.append(loss.item())
    print(curve[-1])
