"""What a step of a shallow multi-head transformer costs, and its tangent kernel, against what a PyTorch script would do.

f(X) = m^{-1/2} Σ_i c_i tanh(U_iᵀ X softmax(XᵀW_i q)) with d=8, T=16, q the last token; single precision.

- Step: full-batch gradient descent on (1/n)Σ(f − y)², n=4000, then the projection of each head onto balls around its start.
  PyTorch: a module with autograd and `torch.optim.SGD`, two threads, plain and by `torch.compile`.
  tutelage: `loss_and_gradient` in one compiled loop on one device; `sharded_loss_and_gradient` with the samples over one device a core.
- Kernel: the matrix ⟨∇f(X), ∇f(X′)⟩ of 1000 samples at m=1024. PyTorch: gradients of all samples by `torch.func.vmap(grad)`, then JJᵀ.
  tutelage: `tangent_kernel.gram`.

Rounds visit all rows in turn, so that a busy moment falls on all of them; the table has medians, and a ratio is the median of the ratios
within a round. Cpu is the processor time of the whole process. First, both are checked to compute the same thing in double precision.
"""

from __future__ import annotations

import argparse
import json
import math
import os
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

CORES = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
# Read when JAX is first imported: one device a core.
os.environ["XLA_FLAGS"] = f"{os.environ.get('XLA_FLAGS', '')} --xla_force_host_platform_device_count={CORES}"

import jax  # noqa: E402
import jax.numpy as jnp  # noqa: E402
import numpy as np  # noqa: E402
from benchmarks.exact_step import in_turn, machine, torch  # noqa: E402

from tutelage.objectives.heads_gradient import COMPILER, laid_out, loss_and_gradient, sharded_loss_and_gradient  # noqa: E402
from tutelage.objectives.tangent_kernel import gram  # noqa: E402

N, DIM, TOKENS, WIDTHS, RATE, RADIUS = 4000, 8, 16, (8, 64, 256), 0.03, 3.0
SAMPLES, HEADS = 1000, 1024  # of the kernel
ONE, ALL = "tutelage, 1 device", f"tutelage, {CORES} devices"
Timed = Callable[[], int]


def case(n: int, m: int, dtype: Any) -> tuple[list[Any], list[Any]]:
    """W, U, c at the symmetric start, and X, q, y."""
    draw = np.random.default_rng(0)
    half = draw.normal(size=(m // 2, DIM, DIM)), draw.normal(size=(m // 2, DIM)), draw.choice([-1.0, 1.0], size=m // 2)
    weights = [np.concatenate([half[0]] * 2), np.concatenate([half[1]] * 2), np.concatenate([half[2], -half[2]])]
    X = draw.normal(size=(n, DIM, TOKENS))
    X /= np.maximum(1, np.linalg.norm(X, axis=1, keepdims=True))
    return [x.astype(dtype) for x in weights], [x.astype(dtype) for x in (X, X[:, :, -1], 0.1 * draw.normal(size=n))]


def projected(now: Any, start: Any, radius: float) -> Any:
    """Each head moved back to within radius/√m of its start, if it left."""
    m = start.shape[0]
    moved = (now - start).reshape(m, -1)
    length = jnp.sqrt((moved**2).sum(1, keepdims=True))
    return start + (moved * jnp.minimum(1, radius / math.sqrt(m) / jnp.maximum(length, 1e-30))).reshape(start.shape)


def ours(n: int, m: int, steps: int, *, devices: int, dtype: Any = np.float32, radius: float = RADIUS) -> Callable[[], Any]:
    """Weights after some steps from the start."""
    weights, data = case(n, m, dtype)
    data.append(np.ascontiguousarray(laid_out(data[0])))
    gradient: Any = loss_and_gradient
    if devices > 1:
        mesh = jax.make_mesh((devices,), ("samples",), axis_types=(jax.sharding.AxisType.Auto,), devices=jax.devices()[:devices])
        split, everywhere = (jax.sharding.NamedSharding(mesh, spec) for spec in (jax.P("samples"), jax.P()))
        last = jax.sharding.NamedSharding(mesh, jax.P(None, None, "samples"))  # of what is laid out with the samples last
        weights, data = jax.device_put(weights, everywhere), jax.device_put(data, [split, split, split, last])
        gradient = partial(sharded_loss_and_gradient, mesh)

    def descended(start: Any, data: Any) -> Any:
        def step(_: Any, weights: Any) -> Any:
            _, slopes = gradient(*weights, *data[:3], activation=jnp.tanh, laid=data[3])
            return [projected(p - RATE * g, p0, radius) for p, g, p0 in zip(weights, slopes, start, strict=True)]

        return jax.lax.fori_loop(0, steps, step, start)

    run = jax.jit(descended, compiler_options=COMPILER["cpu"]).lower(weights, data).compile()
    return lambda: jax.block_until_ready(run(weights, data))


def torch_module(weights: Any) -> Any:
    class Shallow(torch.nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.W, self.U, self.c = (torch.nn.Parameter(torch.tensor(x)) for x in weights)

        def forward(self, X: Any, q: Any) -> Any:
            scores = torch.einsum("ikl,...l->...ik", self.W, q) @ X
            attended = torch.softmax(scores, -1) @ X.transpose(-2, -1)
            return torch.tanh((attended * self.U).sum(-1)) @ self.c / math.sqrt(len(self.c))

    return Shallow()


def torch_steps(n: int, m: int, *, compiled: bool, dtype: Any = np.float32, radius: float = RADIUS) -> Callable[[int], Any]:
    """Some more steps each time it is called; gives the weights."""
    weights, data = case(n, m, dtype)
    model = torch_module(weights)
    start = [p.detach().clone() for p in model.parameters()]
    optimiser = torch.optim.SGD(model.parameters(), lr=RATE)
    X, q, y = (torch.tensor(x) for x in data)

    def loss() -> Any:
        return ((model(X, q) - y) ** 2).mean()

    function = torch.compile(loss) if compiled else loss

    def work(steps: int) -> Any:
        torch.set_num_threads(2)
        for _ in range(steps):
            optimiser.zero_grad()
            function().backward()
            optimiser.step()
            with torch.no_grad():
                for p, p0 in zip(model.parameters(), start, strict=True):
                    moved = (p - p0).view(m, -1)
                    length = moved.norm(dim=1, keepdim=True).clamp_min(1e-30)
                    p.copy_(p0 + (moved * (radius / math.sqrt(m) / length).clamp_max(1)).view_as(p0))
        return [p.detach().numpy() for p in model.parameters()]

    work(1)  # here, so that a compilation that fails is left out
    return work


def torch_gram(n: int, m: int, dtype: Any) -> Callable[[], Any]:
    weights, (X, q, _) = case(n, m, dtype)
    model = torch_module(weights)
    parameters, samples = {name: p.detach() for name, p in model.named_parameters()}, (torch.tensor(X), torch.tensor(q))

    def value(parameters: Any, x: Any, query: Any) -> Any:
        return torch.func.functional_call(model, parameters, (x, query))

    def work() -> Any:
        torch.set_num_threads(2)
        # Chunks of 250 samples cost about as much as all 1000 at once, chunks of 50 and 100 more.
        rows = torch.func.vmap(torch.func.grad(value), in_dims=(None, 0, 0), chunk_size=250)(parameters, *samples)
        return sum(j.reshape(n, -1) @ j.reshape(n, -1).T for j in rows.values())

    return work


def our_gram(n: int, m: int, dtype: Any) -> Callable[[], Any]:
    (W, U, _), (X, q, _) = case(n, m, dtype)
    arrays = [jnp.asarray(x) for x in (W, U, X, q)]
    return lambda: jax.block_until_ready(gram(*arrays, activation=jnp.tanh))


def checked(m: int = 8, steps: int = 5, radius: float = 0.001) -> str:
    """That both take the same steps, the projection binding in some heads and not in others, and give the same kernel."""
    n, start = 60 * CORES, case(1, m, np.float64)[0]
    theirs = torch_steps(n, m, compiled=False, dtype=np.float64, radius=radius)(steps - 1)
    moved = np.concatenate([np.linalg.norm((p - p0).reshape(m, -1), axis=1) for p, p0 in zip(theirs, start, strict=True)])
    bound = np.mean(moved > 0.999 * radius / math.sqrt(m))
    apart = max(
        np.linalg.norm(p - np.asarray(q)) / np.linalg.norm(p - p0)
        for devices in {1, CORES}
        for p, q, p0 in zip(theirs, ours(n, m, steps, devices=devices, dtype=np.float64, radius=radius)(), start, strict=True)
    )
    kernel = torch_gram(n, m, np.float64)().numpy()
    off = np.linalg.norm(kernel - np.asarray(our_gram(n, m, np.float64)())) / np.linalg.norm(kernel)
    said = (
        f"after {steps} steps from the same start, {bound:.0%} of the blocks at their bound, the displacements differ by {apart:.0e} of "
        f"themselves, the kernels by {off:.0e}"
    )
    if not (apart < 1e-10 and off < 1e-12 and 0.1 < bound < 0.9):
        raise SystemExit(f"NOT the same: {said}")
    return f"checked: {said}"


def timed(work: Callable[[], Any], steps: int) -> Timed:
    def counted() -> int:
        work()
        return steps

    return counted


def step_rows(m: int) -> dict[str, Timed]:
    steps = max(2, 1024 // m)
    rows = {ONE: timed(ours(N, m, steps, devices=1), steps)}
    if CORES > 1:
        rows[ALL] = timed(ours(N, m, steps, devices=CORES), steps)
    for name, compiled in (("PyTorch", False), ("PyTorch, compiled", True)) if torch else ():
        try:
            rows[name] = timed(partial(torch_steps(N, m, compiled=compiled), steps // 2), steps // 2)
        except Exception as error:  # torch.compile needs a C++ compiler, and fails in many ways
            print(f"{name}: left out ({type(error).__name__})")
    return rows


def kernel_rows() -> dict[str, Timed]:
    rows = {"tutelage": timed(our_gram(SAMPLES, HEADS, np.float32), 1)}
    return rows | ({"PyTorch": timed(torch_gram(SAMPLES, HEADS, np.float32), 1)} if torch else {})


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--out", type=Path, help="write the numbers to this file as JSON")
    out = parser.parse_args().out
    print(head := machine())
    print(checked() if torch else 'PyTorch is not installed: "pip install torch==2.13.0" gives a CPU build and adds its rows.')
    tables = {f"step, m={m}": (in_turn(step_rows(m), rounds=7), "at least 4") for m in WIDTHS}
    tables[f"kernel, n={SAMPLES}, m={HEADS}"] = in_turn(kernel_rows(), rounds=5), "at least 5"
    medians = {name: {row: (np.median(cost, axis=0) / 1e3).tolist() for row, cost in costs.items()} for name, (costs, _) in tables.items()}
    line, ratios = "{:<48}{:>10.4g}{:>10.4g}  {}".format, {}
    print(f"\n{'ms':<48}{'wall':>10}{'cpu':>10}")
    for name, rows in medians.items():
        for row, median in rows.items():
            print(line(f"{name}: {row}", *median, ""))
    if torch:
        print(f"\n{'ratio':<48}{'wall':>10}{'cpu':>10}  promise")
    for name, (costs, promise) in tables.items():
        fastest = min((row for row in costs if row.startswith("tutelage")), key=medians[name].__getitem__)
        for row in (row for row in costs if row.startswith("PyTorch")):
            ratios[f"{name}: {row} / {fastest}"] = np.median(costs[row] / costs[fastest], axis=0).tolist()
            print(line(f"{name}: {row} / tutelage", *ratios[f"{name}: {row} / {fastest}"], promise if row == "PyTorch" else ""))
    if out:
        out.write_text(json.dumps({"machine": head, "wall_cpu_ms": medians, "wall_cpu_ratios": ratios}, indent=1))


if __name__ == "__main__":
    main()
