"""How much memory the two students take against the lag: as the compiler plans it, and as a fresh
process really peaks.

Four programs. Training is one gradient of the mean squared error over n windows, beside which the
windows themselves lie whatever the student: `backward` by automatic differentiation of all windows
at once (the loss that students are trained on here takes heads in blocks, and so less), `forward`
(IndRNN only) by the recursion of `IndRNN.gradient`, which looks at no past state twice. Inference
is one prediction from tokens that come one at a time: the IndRNN keeps h; the transformer's query
is the last token, so that it must keep them all until then.
"""

from __future__ import annotations

import ctypes
import gc
import json
import os
import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tutelage.settings import Setting

if TYPE_CHECKING:
    from jaxtyping import Array, Float

BACKWARD, FORWARD, INFERENCE = "backward", "forward", "inference"
REPEATS = 3
STILL = 5  # readings of resident memory in a row, each after 10 ms, that must agree
RESTLESS = 500  # readings after which the last one counts, agreed or not
RETURNED = {
    "MALLOC_MMAP_THRESHOLD_": "65536",
    "MALLOC_TRIM_THRESHOLD_": "0",
}  # freed memory goes back to the system at once (glibc)


def compiled(setting: Setting, program: str) -> tuple[Any, tuple[Any, ...]]:
    """The compiled program and what it is called with; for inference by the IndRNN, the step from
    one token to the next.
    """
    import equinox as eqx
    import jax
    import jax.numpy as jnp

    from tutelage.numerics.compiling import SOON
    from tutelage.problem.build import build

    problem = build(setting)
    student, tokens, labels = problem.student, problem.objective.tokens, problem.objective.labels
    field = "units" if setting.student.name == "indrnn" else "heads"
    parameters = getattr(student, field)

    def with_(now: Any) -> Any:
        return eqx.tree_at(lambda s: getattr(s, field), student, now)

    def forwards(now: Any, x: Float[Array, "T n d"], y: Float[Array, "n"]) -> Any:
        def one(window: Float[Array, "T d"], label: Float[Array, ""]) -> Any:
            slope = with_(now).gradient(window.T)
            return jax.tree.map(
                lambda g: 2 * (now.output @ slope.output - label) * g, slope
            )  # f = Σ c ∂f/∂c

        return jax.tree.map(lambda g: jnp.mean(g, axis=0), jax.vmap(one, in_axes=(1, 0))(x, y))

    given: tuple[Any, ...]
    function: Callable[..., Any]
    if program == BACKWARD:
        function, given = (
            jax.grad(lambda now, x, y: jnp.mean((jax.vmap(with_(now))(x) - y) ** 2)),
            (parameters, tokens, labels),
        )
    elif program == FORWARD:
        function, given = (
            forwards,
            (parameters, jnp.transpose(tokens, (2, 0, 1)), labels),
        )  # time first, as they come
    elif field == "units":
        function, given = (
            lambda now, h, x: with_(now).advance(h, x),
            (parameters, jnp.zeros(len(parameters.output)), tokens[0, :, 0]),
        )
    else:
        function, given = lambda now, x: with_(now)(x), (parameters, tokens[0])
    return jax.jit(function, compiler_options=SOON).lower(
        *given
    ).compile(), given  # the plan of memory is the same without


@dataclass(frozen=True)
class Taken:
    """Bytes that a program takes beside its parameters and, in training, the windows: as planned,
    and each time it was measured.
    """

    planned: float
    resident: tuple[float, ...]  # empty where the system does not tell; that takes Linux


@cache
def taken(asked: tuple[tuple[Setting, str], ...]) -> dict[tuple[Setting, str], Taken]:
    """What each program takes at each setting; the settings of each student in a fresh process of
    its own.
    """
    started = []
    for student in sorted({setting.student.name for setting, _ in asked}):
        own = [(setting, program) for setting, program in asked if setting.student.name == student]
        command = [sys.executable, "-c", f"from {__name__} import child; child()"]
        process = subprocess.Popen(
            command,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            env=os.environ | RETURNED,
        )
        assert process.stdin is not None
        process.stdin.write(json.dumps([(setting.plain(), program) for setting, program in own]))
        process.stdin.close()
        started.append((own, process))
    found: dict[tuple[Setting, str], Taken] = {}
    for own, process in started:
        with process:
            assert process.stdout is not None
            told = process.stdout.read()
        if process.returncode:
            raise RuntimeError(
                f"The process that measures memory ended with code {process.returncode}; its "
                "message is above."
            )
        answers = json.loads(told)
        found |= {
            key: Taken(plan, tuple(resident))
            for key, (plan, resident) in zip(own, answers, strict=True)
        }
    return found


def planned(made: Any, given: tuple[Any, ...], program: str) -> float:
    """By the compiler's own account: what it works with and gives back; for inference, what is kept
    of the input is added.
    """
    kept = 0 if program != INFERENCE else given[1].nbytes  # h, or all tokens
    return float(
        made.memory_analysis().temp_size_in_bytes
        + made.memory_analysis().output_size_in_bytes
        + kept
    )


def rises(setting: Setting, program: str, made: Any, given: tuple[Any, ...]) -> list[float]:
    """The peak of this process's resident memory during one execution, over what was resident
    before it; a few executions.
    """
    import jax
    import numpy as np

    if not Path("/proc/self/clear_refs").exists():
        return []
    tokens = _tokens(setting) if program == INFERENCE else np.empty((0, 0))
    given = (
        given if program != INFERENCE or setting.student.name == "indrnn" else given[:1]
    )  # the tokens are still to come

    def execute() -> None:
        if program != INFERENCE:
            jax.block_until_ready(made(*given))
        elif setting.student.name == "indrnn":
            hidden = given[1]
            for x in _stream(tokens):
                hidden = made(given[0], hidden, x)
            jax.block_until_ready(hidden)
        else:
            seen = np.stack(list(_stream(tokens)), axis=1)  # all must be there before the query is
            jax.block_until_ready(made(given[0], seen))

    found = []
    gc.collect()
    gc.freeze()  # what is there already is not gone through again
    for _ in range(REPEATS + 1):
        gc.collect()
        before = _at_rest()
        Path("/proc/self/clear_refs").write_text("5")  # the peak is counted from here
        execute()
        found.append(float(_status("VmHWM") - before))
    return found[1:]  # the first also pays for what is set up once


def _tokens(setting: Setting) -> Any:
    import numpy as np

    from tutelage.problem.build import build

    return np.array(build(setting).objective.tokens[0])


def _stream(tokens: Any) -> Any:
    """The tokens one at a time, each a number array of its own."""
    for t in range(tokens.shape[1]):
        yield tokens[:, t].copy()


def _at_rest() -> int:
    """The resident memory once it no longer falls: a result of the last execution is given back by
    another thread, some time later.
    """
    found: list[int] = []
    while len(found) < STILL or (len(set(found[-STILL:])) > 1 and len(found) < RESTLESS):
        ctypes.CDLL(None).malloc_trim(0)
        time.sleep(0.01)
        found.append(_status("VmRSS"))
    return found[-1]


def _status(name: str) -> int:
    lines = Path("/proc/self/status").read_text().splitlines()
    return 1024 * next(int(line.split()[1]) for line in lines if line.startswith(f"{name}:"))


def child() -> None:
    """What a fresh process does: reads (setting, program) from its input, and writes what each
    takes.
    """
    answers = []
    for plain, program in json.load(sys.stdin):
        setting = Setting.from_plain(plain)
        made, given = compiled(setting, program)
        answers.append((planned(made, given, program), rises(setting, program, made, given)))
    print(json.dumps(answers))
