"""Our rows: the library as a user calls it, after its first call of a shape."""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from functools import partial
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import optax

import tutelage
from benchmarks.problems import (
    BATCH,
    CORES,
    DIM,
    NOISE,
    RADIUS,
    RATE,
    SEEDS,
    START,
    STEP,
    K,
    M,
    heads,
)
from benchmarks.processes import Work, fastest, peak_mb
from benchmarks.scripts_jax import projected
from tutelage.measures import STANDARD, as_measure
from tutelage.numerics.heads_gradient import (
    COMPILER,
    laid_out,
    loss_and_gradient,
    sharded_loss_and_gradient,
)
from tutelage.numerics.tangent_kernel import gram as tangent_kernel
from tutelage.papers.teacher_models.rates.study import RUNS
from tutelage.papers.teacher_models.theory import counting_law
from tutelage.training import literal as training


def setting(tokens: int, **changes: Any) -> tutelage.Setting:
    """The CNN teacher with this many tokens, from a small random start; collapsed from zero, the
    one start that has the symmetry.
    """
    given: dict[str, Any] = {
        "support": K,
        "outputs": M,
        "dim": DIM,
        "activation": "relu",
        "noise": NOISE,
    } | changes
    teacher, start = (
        tutelage.Part("convolution", tokens=tokens, **given),
        0.0 if changes.get("collapse") else START,
    )
    return tutelage.Setting(
        teacher, rate=RATE, steps=1, student=tutelage.Part("position_attention", start=start)
    )


def exact(*, tokens: int, steps: int, **changes: Any) -> Work:
    """`tutelage.train` on the exact population risk, measures included."""
    problem = tutelage.build(setting(tokens, **changes))
    return Work(
        lambda: int(
            tutelage.train(problem.student, problem.objective, rate=RATE, steps=steps).steps[-1]
        ),
        "float64",
    )


def watched(*, tokens: int, steps: int) -> Work:
    """The same with a `watch` that does nothing."""
    problem = tutelage.build(setting(tokens))
    run = partial(
        tutelage.train,
        problem.student,
        problem.objective,
        rate=RATE,
        steps=steps,
        watch=lambda *_: None,
    )
    return Work(lambda: int(run().steps[-1]), "float64")


def together(
    *, tokens: int, steps: int, seeds: int = SEEDS, threads: int | None = None, **changes: Any
) -> Work:
    """Seeds by `tutelage.execute`, building and threads included."""
    settings = [setting(tokens, **changes).change(seed=seed, steps=steps) for seed in range(seeds)]

    def work() -> int:
        return sum(int(run.steps[-1]) for run in tutelage.execute(settings, threads=threads))

    return Work(work, "float64")


def online(*, tokens: int, steps: int, precision: str = "float64") -> Work:
    """Our own sampled step: a fresh batch with label noise, measures by the exact risk included."""
    problem = tutelage.build(setting(tokens).change(objective=tutelage.Part("online", batch=BATCH)))
    run = partial(
        tutelage.train,
        problem.student,
        problem.objective,
        rate=RATE,
        steps=steps,
        key=problem.key,
        method=tutelage.Method(precision=precision),
    )
    return Work(lambda: int(run().steps[-1]), precision)


def online_together(
    *, tokens: int, steps: int, seeds: int = SEEDS, precision: str = "float64"
) -> Work:
    """The same of several seeds by `tutelage.execute`, one run per core at a time."""
    asked = setting(tokens).change(objective=tutelage.Part("online", batch=BATCH), steps=steps)
    settings = [asked.change(seed=seed) for seed in range(seeds)]
    method = tutelage.Method(precision=precision)
    return Work(
        lambda: sum(int(run.steps[-1]) for run in tutelage.execute(settings, method=method)),
        precision,
    )


def heads_descended(
    n: int,
    m: int,
    steps: int,
    dtype: str,
    *,
    devices: int,
    radius: float = RADIUS,
    tokens: int = 16,
    activation: Any = jnp.tanh,
) -> Callable[[], Any]:
    """Weights after some steps of full-batch descent with projection, from the start; samples over
    so many devices.
    """
    weights, data = heads(n, m, dtype, tokens)
    data.append(np.ascontiguousarray(laid_out(data[0])))
    gradient: Any = loss_and_gradient
    if devices > 1:
        mesh = jax.make_mesh(
            (devices,),
            ("samples",),
            axis_types=(jax.sharding.AxisType.Auto,),
            devices=jax.devices()[:devices],
        )
        split, everywhere = (
            jax.sharding.NamedSharding(mesh, spec) for spec in (jax.P("samples"), jax.P())
        )
        last = (
            jax.sharding.NamedSharding(mesh, jax.P(None, None, "samples"))
            if tokens <= 16
            else split
        )  # as `laid_out` lays them
        weights, data = (
            jax.device_put(weights, everywhere),
            jax.device_put(data, [split, split, split, last]),
        )
        gradient = partial(sharded_loss_and_gradient, mesh)

    def descended(start: Any, data: Any) -> Any:
        def step(_: Any, weights: Any) -> Any:
            _, slopes = gradient(*weights, *data[:3], activation=activation, laid=data[3])
            return [
                projected(p - STEP * g, p0, radius)
                for p, g, p0 in zip(weights, slopes, start, strict=True)
            ]

        return jax.lax.fori_loop(0, steps, step, start)

    run = jax.jit(descended, compiler_options=COMPILER["cpu"]).lower(weights, data).compile()
    return lambda: jax.block_until_ready(run(weights, data))


def heads_step(
    *, n: int, m: int, tokens: int, steps: int, devices_tried: tuple[int, ...] = (1, CORES)
) -> Work:
    variants = {}
    for count in sorted({*devices_tried}):
        run = heads_descended(n, m, steps, "float32", devices=count, tokens=tokens)
        variants[f"{count} device{'s' * (count > 1)}"] = lambda run=run: run() and steps
    return fastest(variants)


def gram_of(n: int, m: int, dtype: str) -> Callable[[], Any]:
    (W, U, _), (X, q, _) = heads(n, m, dtype)
    arrays = [jnp.asarray(x) for x in (W, U, X, q)]
    return lambda: jax.block_until_ready(tangent_kernel(*arrays, activation=jnp.tanh))


def gram(*, n: int, m: int) -> Work:
    run = gram_of(n, m, "float32")

    def work() -> int:
        run()
        return 1

    return Work(work, "float32")


def wide(*, tokens: int, steps: int) -> Work:
    """Whole matrices of very many tokens. The peak is that of a short run by `execute`, measures
    included; the time that of its loop.
    """
    before, asked = peak_mb(), setting(tokens).change(steps=2)
    list(tutelage.execute([asked]))
    peak = peak_mb()
    problem = tutelage.build(asked)
    options = problem.objective.compiler_options(problem.student, steps, "cpu")
    student, risk = training.stack([(problem.student, problem.objective)])
    rates = jnp.asarray([RATE])
    state = training.first_states(student, rates, optax.sgd)
    loop = partial(
        training.compile_steps("cpu", False, tuple(options.items())),
        objectives=risk,
        rates=rates,
        keys=None,
        optimiser=optax.sgd,
        measures=(as_measure(STANDARD[0]),),
    )
    gaps = training.gaps_between(0, [steps])

    def work() -> int:
        jax.block_until_ready(loop(student, state, jnp.asarray(0, jnp.int64), gaps=gaps))
        return steps

    logits = 8 * tokens**2 / 1e6
    return Work(
        work,
        "float64",
        {"peak_mb": peak, "beside_mb": peak - before, "logits_mb": logits, "budget_mb": 6 * logits},
    )


def collapsed(*, tokens: int, support: int, steps: int) -> Work:
    """The same run on its distinct scores alone: pooling with so many tokens, from zero."""
    teacher = tutelage.Part(
        "convolution",
        tokens=tokens,
        support=support,
        outputs=M,
        dim=DIM,
        norm=20.0 * tokens,
        activation="relu",
        collapse=True,
    )
    asked = tutelage.Setting(teacher, rate=1e-3, steps=steps)
    return Work(lambda: int(next(iter(tutelage.execute([asked]))).steps[-1]), "float64")


def horizon(*, steps: float) -> dict[str, Any]:
    """The paper's CNN run, collapsed, to a horizon that no loop can reach, compilation included;
    how near it ends to its constant.
    """
    paper = RUNS["cnn-relu"]
    asked = tutelage.Setting(paper.teacher.change(collapse=True), paper.rate, steps=int(steps))
    wall, cpu = time.perf_counter(), time.process_time()
    (run,) = tutelage.execute([asked])
    found = {
        "wall": time.perf_counter() - wall,
        "cpu": time.process_time() - cpu,
        "peak_mb": peak_mb(),
    }
    assert run.continued is not None
    ratio = float(run.curves["excess_risk"][-1] * run.time[-1] / counting_law(asked))
    assert math.isfinite(ratio)
    return found | {
        "ratio": ratio,
        "solver": run.continued.solver,
        "stepping": run.continued.stepping,
        "literal": run.continued.literal,
    }
