"""What a step costs: tutelage's exact population step against the sampled steps that a script would take.

All rows train the position-only student σ(W_V X softmax(W_KQ/√D)) on the CNN teacher with D=36, K=4, d=10, M=8, ReLU.

- tutelage, alone: `tutelage.train` on the exact population risk, double precision, measures included; second call of its shape.
- tutelage, 64 together: 64 seeds by `tutelage.train_batch`, half of them on each of two threads; time per step and run.
- PyTorch double, single: online SGD, a fresh batch of 100 Gaussian inputs and label noise each step, autograd and
  `torch.optim.SGD`. All samples go through two matrix products, the form found fastest; one and two threads, eager and
  `torch.compile` are tried, and the row is the fastest of the four.
- JAX sampled: the same step by `jax.grad` inside `jit` and `lax.scan`, double precision.
- JAX sampled, rbg: the same with JAX's cheaper random generator, since drawing the batch is most of its cost.

Wall is the median of rounds that visit all rows in turn, so that a busy moment of the machine falls on all of them; cpu is the
processor time of the process, which other programs disturb less. Ratios are of wall times. Before any timing, the rivals
are checked to compute the same risk and gradient.
"""

from __future__ import annotations

import argparse
import json
import math
import os
import platform
import statistics
import sys
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

import tutelage

try:
    import torch
except ImportError:
    torch = None  # type: ignore[assignment]

D, K, DIM, M, N = 36, 4, 10, 8, 100
NOISE, RATE, SEEDS = 0.1, 0.05, 64
Timed = Callable[[], int]  # does some steps, says how many


class Cost(NamedTuple):
    """Microseconds a step."""

    wall: float
    cpu: float


def once(work: Timed) -> Cost:
    wall, cpu = time.perf_counter(), time.process_time()
    steps = work()
    return Cost(1e6 * (time.perf_counter() - wall) / steps, 1e6 * (time.process_time() - cpu) / steps)


def in_turn(rows: dict[str, Timed], rounds: int) -> dict[str, Cost]:
    """The median cost of each row; every row is run once before, unmeasured."""
    for work in rows.values():
        work()
    costs = [{name: once(work) for name, work in rows.items()} for _ in range(rounds)]
    return {name: Cost(*(statistics.median(x) for x in zip(*(c[name] for c in costs), strict=True))) for name in rows}


# Ours


def problem() -> tuple[Any, Callable[[int], Any]]:
    value = np.random.default_rng(0).normal(size=(M, DIM)) / math.sqrt(DIM)
    teacher = tutelage.BilinearTeacher(value, tutelage.pooling(D, K), "relu", NOISE)
    start = lambda seed: tutelage.PositionAttention.random(teacher, key=tutelage.stream(seed, "start"))  # noqa: E731
    return tutelage.PopulationRisk(teacher), start


def alone(steps: int, watch: Any = None) -> Timed:
    risk, start = problem()
    student = start(0)
    return lambda: int(tutelage.train(student, risk, rate=RATE, steps=steps, watch=watch).steps[-1])


def together(steps: int) -> Timed:
    risk, start = problem()
    halves = [[start(seed) for seed in range(first, SEEDS, 2)] for first in (0, 1)]

    def train(students: list[Any]) -> int:
        runs = tutelage.train_batch(students, [risk] * len(students), rates=[RATE] * len(students), steps=steps)
        return sum(int(run.steps[-1]) for run in runs)

    def work() -> int:
        with ThreadPoolExecutor(2) as pool:
            return sum(pool.map(train, halves))

    return work


# The rivals. Inputs are d × N·D, so that all samples go through W_V, and then through S, in one matrix product each.


def torch_loss(value: Any, scores: Any, risk: Any, noise: float) -> Callable[[Any, Any], Any]:
    their_value, selection = (torch.tensor(np.array(x), dtype=value.dtype) for x in (risk.teacher.value, risk.teacher.selection))

    def loss(x: Any, e: Any) -> Any:
        with torch.no_grad():
            labels = torch.relu((their_value @ x).view(M * N, D) @ selection).add_(e, alpha=noise)
        output = torch.relu((value @ x).view(M * N, D) @ torch.softmax(scores / math.sqrt(D), 0))
        return 0.5 / N * torch.nn.functional.mse_loss(output, labels, reduction="sum")

    return loss


def torch_parameters(student: Any, dtype: Any) -> tuple[Any, Any]:
    return tuple(torch.nn.Parameter(torch.tensor(np.array(x), dtype=dtype)) for x in (student.value, student.key_query))


def torch_draw(dtype: Any) -> tuple[Any, Any]:
    return torch.randn(DIM, N * D, dtype=dtype), torch.randn(M * N, D, dtype=dtype)


def torch_script(dtype: Any, threads: int, compiled: bool, seconds: float) -> Timed:
    risk, start = problem()
    torch.set_num_threads(threads)
    parameters = torch_parameters(start(0), dtype)
    optimiser = torch.optim.SGD(parameters, lr=RATE)
    loss = torch_loss(*parameters, risk, NOISE)
    loss = torch.compile(loss) if compiled else loss

    def work() -> int:
        torch.set_num_threads(threads)
        end, steps = time.perf_counter() + seconds, 0
        while time.perf_counter() < end:
            for _ in range(10):
                optimiser.zero_grad()
                loss(*torch_draw(dtype)).backward()
                optimiser.step()
            steps += 10
        return steps

    work()
    return work


def torch_rows(seconds: float) -> dict[str, Timed]:
    rows = {}
    for kind, dtype in (("double", torch.float64), ("single", torch.float32)):
        for threads in (1, 2):
            for how in ("eager", "compiled"):
                try:
                    rows[f"PyTorch {kind}, {threads} thread, {how}"] = torch_script(dtype, threads, how == "compiled", seconds)
                except Exception as error:  # torch.compile needs a C++ compiler and fails in many ways without one
                    print(f"PyTorch {kind}, {threads} thread, {how}: left out ({type(error).__name__})", file=sys.stderr)
    return rows


def jax_loss(parameters: Any, risk: Any, x: Any, e: Any) -> Any:
    value, scores = parameters
    labels = jax.nn.relu((risk.teacher.value @ x).reshape(M * N, D) @ risk.teacher.selection) + e
    output = jax.nn.relu((value @ x).reshape(M * N, D) @ jax.nn.softmax(scores / math.sqrt(D), 0))
    return 0.5 / N * jnp.sum((output - labels) ** 2)


def jax_script(generator: str, steps: int) -> Timed:
    risk, start = problem()

    def step(parameters: Any, key: Any) -> Any:
        inputs, noise = jax.random.split(key)
        x, e = jax.random.normal(inputs, (DIM, N * D)), NOISE * jax.random.normal(noise, (M * N, D))
        gradient = jax.grad(jax_loss)(parameters, risk, x, e)
        return jax.tree.map(lambda p, g: p - RATE * g, parameters, gradient), None

    run = jax.jit(lambda parameters, key: jax.lax.scan(step, parameters, jax.random.split(key, steps))[0])
    parameters, key = (start(0).value, start(0).key_query), jax.random.key(0, impl=generator)
    return lambda: jax.block_until_ready(run(parameters, key)) and steps


# Do they compute the same thing?


def checked(batches: int = 1000) -> str:
    risk, _ = problem()
    student = tutelage.PositionAttention.random(risk.teacher, scale=1.0, key=tutelage.stream(0, "check"))
    parameters = torch_parameters(student, torch.float64)
    torch.manual_seed(0)
    x, e = torch_draw(torch.float64)
    ours = float(jax_loss((student.value, student.key_query), risk, jnp.asarray(x.numpy()), NOISE * jnp.asarray(e.numpy())))
    apart = abs(float(torch_loss(*parameters, risk, NOISE)(x, e)) / ours - 1)
    loss = torch_loss(*parameters, risk, 0.0)
    flat = lambda pair: np.concatenate([np.ravel(part) for part in pair])  # noqa: E731
    sampled = np.stack([flat(torch.autograd.grad(loss(*torch_draw(torch.float64)), parameters)) for _ in range(batches)])
    gradient = jax.grad(risk)(student)
    exact, error = flat((gradient.value, gradient.key_query)), sampled.std(0, ddof=1) / math.sqrt(batches)
    z, power = (sampled.mean(0) - exact) / error, math.sqrt(np.mean((exact / error) ** 2))
    worst, spread = float(np.max(np.abs(z))), math.sqrt(np.mean(z**2))
    said = (
        f"checked: PyTorch and JAX losses on one batch differ by {apart:.1e} of themselves; PyTorch's gradient over {batches * N:,} "
        f"samples is the exact one: z-scores of {z.size:,} entries have root mean square {spread:.2f} and largest {worst:.1f} "
        f"(a gradient of zero would have {power:.0f})"
    )
    if not (apart < 1e-12 and worst < 5 and spread < 1.3 and power > 10):
        raise SystemExit(f"NOT the same: {said}")
    return said


# The report


def machine() -> str:
    models = [line for line in Path("/proc/cpuinfo").read_text().splitlines() if "model name" in line] if sys.platform == "linux" else []
    cpu = models[0].split(":")[1].strip() if models else platform.processor()
    load = f", load {os.getloadavg()[0]:.1f}" if hasattr(os, "getloadavg") else ""
    versions = f"Python {platform.python_version()}, jax {jax.__version__}, " + (f"torch {torch.__version__}" if torch else "no torch")
    return f"{cpu}, {os.cpu_count()} cores{load}; {versions}; tutelage {tutelage.__version__}"


def best(costs: dict[str, Cost], start: str) -> tuple[str, Cost]:
    return min(((name, cost) for name, cost in costs.items() if name.startswith(start)), key=lambda row: row[1].wall)


def table(costs: dict[str, Cost]) -> None:
    print(f"\n{'µs a step':<42}{'wall':>10}{'cpu':>10}")
    for name, cost in costs.items():
        print(f"{name:<42}{cost.wall:>10.1f}{cost.cpu:>10.1f}")


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--out", type=Path, help="write the numbers as JSON")
    parser.add_argument("--rounds", type=int, default=3, help="measurements a row; the median is reported")
    given = parser.parse_args()
    print(head := machine())
    began = time.perf_counter()
    alone(1)()
    first = time.perf_counter() - began
    said = checked() if torch else ""
    print(said or 'PyTorch is not installed, so its rows are left out: "pip install torch==2.13.0" gives a CPU build.')
    rows = {"tutelage, alone": alone(100_000), "tutelage, 64 together": together(5_000)}
    rows |= {"JAX sampled": jax_script("threefry2x32", 500), "JAX sampled, rbg": jax_script("rbg", 500)}
    costs = in_turn(rows | (torch_rows(1.0) if torch else {}), given.rounds)
    table(costs)
    watched = in_turn({"silent": alone(300_000), "watched": alone(300_000, lambda *_: None)}, given.rounds)
    ours = costs["tutelage, alone"].wall
    ratios = {
        "64 together, per run / alone (at most 1)": costs["tutelage, 64 together"].wall / ours,
        "JAX sampled / alone": best(costs, "JAX sampled")[1].wall / ours,
        "watched / silent (at most 1.02)": watched["watched"].wall / watched["silent"].wall,
    }
    for kind, promise in (("double", " (at least 100)"), ("single", "")) if torch else ():
        name, cost = best(costs, f"PyTorch {kind}")
        ratios[f"{name} / alone{promise}"] = cost.wall / ours
    print(f"\nfirst call of a shape (compiles): {first:.2f} s")
    for name, ratio in ratios.items():
        print(f"{name:<58}{ratio:>8.3g}")
    if given.out:
        numbers = {name: cost._asdict() for name, cost in (costs | watched).items()}
        given.out.write_text(json.dumps({"machine": head, "first_call_s": first, "us_a_step": numbers, "ratios": ratios}, indent=1))


if __name__ == "__main__":
    main()
