"""What a step costs: tutelage's exact population step against the sampled steps that a script would take.

All rows train the position-only student σ(W_V X softmax(W_KQ/√D)) on the CNN teacher with D=36, K=4, d=10, M=8, ReLU.

- tutelage, alone: `tutelage.train` on the exact population risk, double precision, measures included; second call of its shape.
- tutelage, 64 together: 64 seeds by `tutelage.execute`, building and threads included; time per step and run.
- JAX sampled: a fresh batch of 100 Gaussian inputs and label noise each step, `jax.grad` in `jit` and `lax.scan`, double precision.
- PyTorch double, single: the same step by autograd and `torch.optim.SGD`. Inputs are d × N·D, so that all samples go through W_V and
  then through S in one matrix product each, the fastest form found; threads and `torch.compile` as named, the fastest counts.
- tutelage, watched and unwatched: a run of 300,000 steps with a `watch` that does nothing, and one without.

Rounds visit all rows in turn, so that a busy moment falls on all of them; the table has medians, and a ratio is the median of the
ratios within a round. Cpu is the processor time of the whole process. First, the rivals are checked to compute the same thing.
"""

from __future__ import annotations

import argparse
import itertools
import json
import math
import os
import platform
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np

import tutelage

try:
    import torch
except ImportError:
    torch = None  # type: ignore[assignment]

D, K, DIM, M, N, SEEDS, NOISE, RATE = 36, 4, 10, 8, 100, 64, 0.1, 0.01
TEACHER = tutelage.Part("convolution", tokens=D, support=K, outputs=M, dim=DIM, activation="relu", noise=NOISE)
SETTING = tutelage.Setting(TEACHER, rate=RATE, steps=1, student=tutelage.Part("position_attention", start=0.1))
PROBLEM = tutelage.build(SETTING)
START, RISK = PROBLEM.student, PROBLEM.objective
RATIOS = (
    ("PyTorch double", "tutelage, alone", "at least 100"),
    ("PyTorch single", "tutelage, alone", ""),
    ("JAX sampled", "tutelage, alone", ""),
    ("tutelage, 64 together", "tutelage, alone", "at most 1"),
    ("tutelage, watched", "tutelage, unwatched", "at most 1.02"),
)
Timed = Callable[[], int]  # does some steps, says how many


def once(work: Timed) -> tuple[float, float]:  # µs a step: wall, cpu
    wall, cpu = time.perf_counter(), time.process_time()
    steps = work()
    return 1e6 * (time.perf_counter() - wall) / steps, 1e6 * (time.process_time() - cpu) / steps


def in_turn(rows: dict[str, Timed], rounds: int) -> dict[str, Any]:
    """Costs of each row, one a round; every row is run once before, unmeasured."""
    for work in rows.values():
        work()
    costs = [[once(work) for work in rows.values()] for _ in range(rounds)]
    return dict(zip(rows, np.swapaxes(costs, 0, 1), strict=True))


def alone(steps: int, watch: Any = None) -> Timed:
    return lambda: int(tutelage.train(START, RISK, rate=RATE, steps=steps, watch=watch).steps[-1])


def together(steps: int) -> Timed:
    settings = [SETTING.change(seed=seed, steps=steps) for seed in range(SEEDS)]
    return lambda: sum(int(run.steps[-1]) for run in tutelage.execute(settings))


def torch_parameters(student: Any, dtype: Any) -> Any:
    return [torch.nn.Parameter(torch.tensor(np.array(x), dtype=dtype)) for x in (student.value, student.key_query)]


def torch_loss(value: Any, scores: Any) -> Callable[[Any, Any], Any]:
    target, selection = (torch.tensor(np.array(x), dtype=value.dtype) for x in (RISK.teacher.value, RISK.teacher.selection))

    def loss(x: Any, e: Any) -> Any:
        with torch.no_grad():
            labels = torch.relu((target @ x).view(M * N, D) @ selection).add_(e, alpha=NOISE)
        output = torch.relu((value @ x).view(M * N, D) @ torch.softmax(scores / math.sqrt(D), 0))
        return 0.5 / N * torch.nn.functional.mse_loss(output, labels, reduction="sum")

    return loss


def torch_script(dtype: Any, threads: int, compiled: bool) -> Timed:
    parameters = torch_parameters(START, dtype)
    optimiser = torch.optim.SGD(parameters, lr=RATE)
    loss = torch.compile(torch_loss(*parameters)) if compiled else torch_loss(*parameters)

    def work() -> int:
        torch.set_num_threads(threads)
        end, steps = time.perf_counter() + 1.0, 0
        while time.perf_counter() < end:
            optimiser.zero_grad()
            loss(torch.randn(DIM, N * D, dtype=dtype), torch.randn(M * N, D, dtype=dtype)).backward()
            optimiser.step()
            steps += 1
        return steps

    work()  # here, so that a compilation that fails is left out
    return work


def torch_rows() -> dict[str, Timed]:
    rows, types = {}, {"double": torch.float64, "single": torch.float32}
    for kind, threads, how in itertools.product(types, (1, 2), ("eager", "compiled")):
        name = f"PyTorch {kind}, {threads} thread{'s' * (threads > 1)}, {how}"
        try:
            rows[name] = torch_script(types[kind], threads, how == "compiled")
        except Exception as error:  # torch.compile needs a C++ compiler, and fails in many ways
            print(f"{name}: left out ({type(error).__name__})")
    return rows


def jax_loss(parameters: Any, x: Any, e: Any) -> Any:
    value, scores = parameters
    labels = jax.nn.relu((RISK.teacher.value @ x).reshape(M * N, D) @ RISK.teacher.selection) + e
    output = jax.nn.relu((value @ x).reshape(M * N, D) @ jax.nn.softmax(scores / math.sqrt(D), 0))
    return 0.5 / N * jnp.sum((output - labels) ** 2)


def jax_script(steps: int) -> Timed:
    def step(parameters: Any, key: Any) -> Any:
        inputs, noise = jax.random.split(key)
        x, e = jax.random.normal(inputs, (DIM, N * D)), NOISE * jax.random.normal(noise, (M * N, D))
        return jax.tree.map(lambda p, g: p - RATE * g, parameters, jax.grad(jax_loss)(parameters, x, e)), None

    run = jax.jit(lambda parameters, key: jax.lax.scan(step, parameters, jax.random.split(key, steps))[0])
    return lambda: jax.block_until_ready(run((START.value, START.key_query), jax.random.key(0))) and steps


def checked(batches: int = 1000) -> str:
    """That the rivals' loss is one, and its gradient the exact one on average; at a student whose attention is far from uniform."""
    student = tutelage.PositionAttention.random(RISK.teacher, scale=1.0, key=tutelage.stream(0, "check"))
    student = eqx.tree_at(lambda s: s.key_query, student, math.sqrt(D) * student.key_query)
    parameters, ours = torch_parameters(student, torch.float64), (student.value, student.key_query)
    loss, flat = torch_loss(*parameters), lambda pair: np.concatenate([np.ravel(part) for part in pair])
    torch.manual_seed(0)
    x, e = torch.randn(DIM, N * D, dtype=torch.float64), torch.randn(M * N, D, dtype=torch.float64)
    apart = abs(loss(x, e).item() / float(jax_loss(ours, x.numpy(), NOISE * e.numpy())) - 1)
    sampled = np.stack([flat(torch.autograd.grad(loss(torch.randn_like(x), 0 * e), parameters)) for _ in range(batches)])
    gradient, error = jax.grad(RISK)(student), sampled.std(0, ddof=1) / math.sqrt(batches)
    exact = flat((gradient.value, gradient.key_query))
    z = (sampled.mean(0) - exact) / error
    worst, spread, power = np.abs(z).max(), np.sqrt(np.mean(z**2)), np.sqrt(np.mean((exact / error) ** 2))
    said = (
        f"PyTorch and JAX losses on one batch differ by {apart:.0e} of themselves; PyTorch's gradient over {batches * N:,} samples less "
        f"the exact one has z-scores of root mean square {spread:.2f}, largest of {z.size:,} {worst:.1f} (less zero: {power:.0f})"
    )
    if not (apart < 1e-12 and worst < 5 and spread < 1.3 and power > 10):
        raise SystemExit(f"NOT the same: {said}")
    return f"checked: {said}"


def machine() -> str:
    info = Path("/proc/cpuinfo").read_text() if Path("/proc/cpuinfo").exists() else ""
    cpu = info.partition("model name")[2].partition("\n")[0].strip("\t :") or platform.processor()
    load = f", load {os.getloadavg()[0]:.1f}" if hasattr(os, "getloadavg") else ""
    versions = f"Python {platform.python_version()}, jax {jax.__version__}, torch {torch.__version__ if torch else 'absent'}"
    return f"{cpu}, {os.cpu_count()} cores{load}; {versions}, tutelage {tutelage.__version__}"


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--out", type=Path, help="write the numbers to this file as JSON")
    out = parser.parse_args().out
    print(head := machine())
    first = once(alone(1))[0] / 1e6
    print(checked() if torch else 'PyTorch is not installed: "pip install torch==2.13.0" gives a CPU build and adds its rows.')
    rows = {"tutelage, alone": alone(100_000), "tutelage, 64 together": together(5_000), "JAX sampled": jax_script(500)}
    costs = in_turn(rows | (torch_rows() if torch else {}), rounds=3)
    costs |= in_turn({"tutelage, unwatched": alone(300_000), "tutelage, watched": alone(300_000, lambda *_: None)}, rounds=5)
    medians, ratios = {name: np.median(cost, axis=0).tolist() for name, cost in costs.items()}, {}
    line = "{:<48}{:>10.4g}{:>10.4g}  {}".format
    print(f"\n{'µs a step':<48}{'wall':>10}{'cpu':>10}")
    for name, median in medians.items():
        print(line(name, *median, ""))
    print(f"\n{'ratio':<48}{'wall':>10}{'cpu':>10}  promise")
    for above, below, promise in RATIOS if torch else RATIOS[2:]:
        fastest = min((name for name in costs if name.startswith(above)), key=medians.__getitem__)
        ratios[f"{above} / {below}"] = np.median(costs[fastest] / costs[below], axis=0).tolist()
        print(line(f"{above} / {below}", *ratios[f"{above} / {below}"], promise))
    print(f"\nfirst call of a shape, compilation included: {first:.2f} s")
    if out:
        out.write_text(json.dumps({"machine": head, "wall_cpu_us": medians, "wall_cpu_ratios": ratios, "first_call_s": first}, indent=1))


if __name__ == "__main__":
    main()
