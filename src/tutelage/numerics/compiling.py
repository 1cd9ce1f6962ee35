"""Options of XLA's compiler: passes that hurt small programs, and what to leave out of programs
that run for less time than they take to compile.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, ParamSpec, TypeVar, cast

import equinox as eqx
import jax

P, R = ParamSpec("P"), TypeVar("R")

# The older way of emitting code for fused operations compiles in half the time, and steps of heads
# then take up to twice as long. Later versions no longer have it.
OLDER: dict[str, Any] = (
    {"xla_cpu_use_fusion_emitters": False} if jax.__version_info__ < (0, 11) else {}
)
# Level 1 compiles in a third of the time of the highest: for what is drawn once, and for few steps.
SOON: dict[str, Any] = {"xla_backend_optimization_level": 1} | OLDER
# Sums are not handed to XLA's library for small matrices, which takes as long to call as they take;
# nor is the code of one program cut into parts that are compiled side by side, which costs half as
# much again where the cores are busy.
SMALL: dict[str, Any] = {
    "xla_cpu_experimental_ynn_fusion_type": "LIBRARY_FUSION_TYPE_INDIVIDUAL_DOT",
    "xla_cpu_parallel_codegen_split_count": 1,
}

# The pass that takes optimization barriers away before operations are fused. Left out, barriers say
# which arrays are stored. (Later versions cannot emit code for a barrier.)
BARRIERS = ("cse_barrier_expander",) if jax.__version_info__ < (0, 11) else ()
# The pass that makes one function of a very small loop, which no barrier survives.
SMALL_LOOPS = "small-while-loop-hoisting"
# The pass that splits every operation over threads.
THREADS = "cpu-parallel-task-assigner"


def compiled_with(options: Mapping[str, Any]) -> Callable[[Callable[P, R]], Callable[P, R]]:
    """Compiles a function with these options; its arguments may be modules."""

    def compiled(function: Callable[P, R]) -> Callable[P, R]:
        given: dict[str, Any] = {"compiler_options": dict(options)}
        return cast(Callable[P, R], eqx.filter_jit(function, **given))

    return compiled


soon = compiled_with(SOON)
