"""Where the time goes: the exact step and the step of heads in parts, and a cold start in stages.

The exact step is built up from the library's own functions, one more in each program; a part is the
difference of two programs. Each ends with one pass over the scores, which is counted with the
softmax. In the step of heads a part is what is saved where it is taken out.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

LINKS = 20
BEGIN = time.perf_counter()  # before anything is imported


def exact(*, tries: int = 20) -> dict[str, Any]:
    """µs of each part of the exact step at the CNN setting, and the kernels that XLA makes of
    it.
    """
    import jax
    import jax.numpy as jnp

    import tutelage
    from benchmarks import ours
    from benchmarks.limits import _loop, _seconds
    from benchmarks.problems import D
    from tutelage.numerics.angle import angle
    from tutelage.numerics.closed_forms import leaky
    from tutelage.numerics.geometry import pairs_of, parts
    from tutelage.numerics.softmax import softmax
    from tutelage.training.literal import COMPILER

    problem = tutelage.build(ours.setting(D))
    risk, student, form = problem.objective, problem.student, leaky(0.0)
    start, given = (student.value, student.key_query), (risk, student.attention_scale)

    def joined(carry: Any, *seen: Any) -> Any:
        """The carry, with a trace of all that was computed, so that none of it can be left out."""
        value, scores = carry
        for each in seen:
            tiny = 1e-30 * each
            if each.shape == scores.shape:
                scores = scores + tiny
            elif each.shape[0] == value.shape[0]:
                value = value + (tiny if each.shape == value.shape else tiny[:, :1])
            else:
                scores = scores + tiny
        return value, scores

    def attended(carry: Any, risk: Any, scale: Any) -> Any:
        return joined(carry, softmax(scale * carry[1]))

    def paired(carry: Any, risk: Any, scale: Any) -> Any:
        s = softmax(scale * carry[1])
        p, w_off, _ = pairs_of(
            carry[0], carry[0] - risk.teacher.value, s - risk.selection, risk.value, risk.selection
        )
        return joined(carry, w_off, p.row_off, p.row_along, p.delta, p.column_off)

    def sloped(carry: Any, risk: Any, scale: Any) -> Any:
        s = softmax(scale * carry[1])
        p, w_off, _ = pairs_of(
            carry[0], carry[0] - risk.teacher.value, s - risk.selection, risk.value, risk.selection
        )
        return joined(carry, w_off, *parts(form, p))

    def whole(carry: Any, risk: Any, scale: Any) -> Any:
        slopes = jax.grad(lambda pair: risk(_student(student, *pair)))(carry)
        return tuple(p - 0.01 * g for p, g in zip(carry, slopes, strict=True))

    def chain(x: Any) -> Any:
        """LINKS kernels of eight numbers each, which the barriers keep apart."""
        for _ in range(LINKS):
            x = jax.lax.optimization_barrier(0.5 * x + 1.0)
        return x

    y, x = (jnp.abs(jax.random.normal(jax.random.key(i), (8, D))) for i in (0, 1))
    programs: dict[str, Callable[[int], None]] = {
        "chain": _loop(chain, jnp.zeros(8)),
        "softmax": _loop(attended, start, *given),
        "geometry": _loop(paired, start, *given),
        "slopes": _loop(sloped, start, *given),
        "whole": _loop(whole, start, *given),
        "angle": _loop(lambda z, y, x: y + 1e-9 * angle(z, x), y, y, x),
    }
    seen = {name: 1e6 * _seconds(run, 0.01 * tries, tries) for name, run in programs.items()}
    text = jax.jit(
        lambda c: jax.lax.fori_loop(0, 10, lambda _, c: whole(c, *given), c),
        compiler_options=COMPILER["cpu"],
    )
    body = text.lower(start).compile().as_text()
    return {
        "parts_us": {
            "softmax": seen["softmax"],
            "geometry": seen["geometry"] - seen["softmax"],
            "angle": seen["angle"],
            "slopes and their sums": seen["slopes"] - seen["geometry"] - seen["angle"],
            "gradient and step": seen["whole"] - seen["slopes"],
        },
        "whole_us": seen["whole"],
        "kernel_us": seen["chain"] / LINKS,
        "kernels": max(part.count(" fusion(") for part in body.split("\n\n")),
    }


def _student(like: Any, value: Any, scores: Any) -> Any:
    import equinox as eqx

    return eqx.tree_at(lambda s: (s.value, s.key_query), like, (value, scores))


def heads(*, n: int, m: int, tokens: int = 16, steps: int = 16, tries: int = 5) -> dict[str, Any]:
    """ms of the parts of a step of heads on one device: what is saved without the exponential, the
    tanh or the projection.
    """
    from benchmarks import ours
    from benchmarks.processes import once
    from tutelage.numerics import few_tokens

    def seconds(**how: Any) -> float:
        run = ours.heads_descended(n, m, steps, "float32", devices=1, tokens=tokens, **how)
        run()
        return min(
            once(lambda: run() and steps)[1] for _ in range(tries)
        )  # processor time: one device is one thread

    whole, seen = seconds(), {}
    seen["tanh and its slope"] = whole - seconds(activation=lambda x: x)
    real, few_tokens.exponential = few_tokens.exponential, lambda x: x
    seen["exponentials"] = whole - seconds()
    few_tokens.exponential = real
    kept, ours.projected = ours.projected, lambda now, start, radius: now
    seen["projection"] = whole - seconds()
    ours.projected = kept
    return {
        "parts_ms": {
            **{k: 1e3 * v for k, v in seen.items()},
            "products and sums": 1e3 * (whole - sum(seen.values())),
        },
        "whole_ms": 1e3 * whole,
    }


def cold(*, steps: int = 1000) -> dict[str, Any]:
    """Seconds of the stages of a first curve in a new process, after Python itself has started."""
    stages, last = {}, BEGIN

    def lap(name: str) -> None:
        nonlocal last
        now = time.perf_counter()
        stages[name], last = now - last, now

    import jax

    lap("import jax")
    import tutelage

    tutelage.train, tutelage.build, tutelage.Setting  # noqa: B018  names are loaded when first used
    lap("import tutelage and what it needs")
    from benchmarks.problems import RATE, START, D, K

    jax.devices()
    lap("JAX's backend")
    teacher = tutelage.Part(
        "convolution", tokens=D, support=K, outputs=8, dim=10, activation="relu"
    )
    problem = tutelage.build(
        tutelage.Setting(
            teacher,
            rate=RATE,
            steps=steps,
            student=tutelage.Part("position_attention", start=START),
        )
    )
    lap("teacher, start and checks")
    compiling = 0.0

    def heard(event: str, duration: float, **_: Any) -> None:
        nonlocal compiling
        if event.startswith("/jax/core/compile/"):
            compiling += duration

    jax.monitoring.register_event_duration_secs_listener(heard)
    tutelage.train(problem.student, problem.objective, rate=RATE, steps=steps)
    lap("training")
    stages["training"] -= compiling
    stages["of it tracing and compiling"] = compiling
    begin = time.perf_counter()
    tutelage.train(problem.student, problem.objective, rate=RATE, steps=steps)
    stages["a second run of the shape"] = time.perf_counter() - begin
    return {"stages_s": stages}
