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
import math
import os
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float, PyTree

from tutelage.calculations.base import Calculated, Calculation, Ingredients
from tutelage.numerics.compiling import SOON
from tutelage.objectives.squared_loss import SquaredLoss
from tutelage.problem.build import Parts
from tutelage.refuse import Refused
from tutelage.settings import Setting
from tutelage.students.base import Student
from tutelage.students.indrnn import IndRNN, Units
from tutelage.students.shallow_transformer import ShallowTransformer

BACKWARD, FORWARD, INFERENCE = "backward", "forward", "inference"
REPEATS = 3  # executions whose peak is read, after a first one that also pays for what is set up
READINGS_AT_REST = 5  # of resident memory in a row, each after 10 ms, that must agree
MOST_READINGS = 500  # after which the last one counts, agreed or not
# Freed memory goes back to the system at once (glibc).
ENVIRONMENT = {"MALLOC_MMAP_THRESHOLD_": "65536", "MALLOC_TRIM_THRESHOLD_": "0"}
PEAK_RESET = Path("/proc/self/clear_refs")  # Linux alone has it

Asked = tuple[Setting, str]  # a setting, and the program to measure there
Window = Float[np.ndarray, "d T"]


@dataclass(frozen=True)
class Taken:
    """Bytes that a program takes beside its parameters and, in training, the windows: as planned,
    and each time it was measured.
    """

    planned: float
    resident: tuple[float, ...]  # empty where the system does not tell; that takes Linux


class MemoryOfPrograms(Calculation):
    """For each program of a setting's student, `lags_…`, `planned_…` (one number per lag) and
    `resident_…` (as many again for every time it was measured).

    All are compiled and measured in one fresh process. What the system does not tell is nan.
    """

    def __init__(
        self,
        training_lags: Float[np.ndarray, "training"],
        inference_lags: Float[np.ndarray, "inference"],
    ) -> None:
        self.training_lags = _checked_lags("training_lags", training_lags)
        self.inference_lags = _checked_lags("inference_lags", inference_lags)

    def __call__(self, given: Ingredients) -> Calculated:
        programs = programs_of(given.setting)
        asked = {name: self._settings(given.setting, name) for name in programs}
        every = [(setting, name) for name in programs for setting in asked[name]]
        taken = measure_memory(every)
        curves: dict[str, Float[np.ndarray, "lags ..."]] = {}
        for name in programs:
            own = [taken[setting, name] for setting in asked[name]]
            curves[f"lags_{name}"] = np.array([s.teacher.options["lag"] for s in asked[name]])
            curves[f"planned_{name}"] = np.array([one.planned for one in own])
            curves[f"resident_{name}"] = np.array(
                [one.resident or (math.nan,) * REPEATS for one in own]
            )
        return Calculated.numbers(**curves)

    def _settings(self, setting: Setting, program: str) -> list[Setting]:
        """The setting at every lag at which this program is measured; inference has one window."""
        plain = replace(setting, calculation=None)
        if program == INFERENCE:
            one = plain.change(**{"objective.samples": 1})
            return [one.change(**{"teacher.lag": lag}) for lag in self.inference_lags]
        return [plain.change(**{"teacher.lag": lag}) for lag in self.training_lags]


def _checked_lags(name: str, lags: Float[np.ndarray, "lags"]) -> list[int]:
    if lags.ndim != 1 or not len(lags) or (lags % 1 != 0).any() or (lags < 1).any():
        raise Refused(
            f"`{name}` must be whole numbers of at least 1, since the next value depends on the "
            f"one that many steps back. Got {lags}."
        )
    return [int(lag) for lag in lags]


def programs_of(setting: Setting) -> tuple[str, ...]:
    """The programs that the setting's student has."""
    recurrent = setting.student.name == "indrnn"
    return (BACKWARD, FORWARD, INFERENCE) if recurrent else (BACKWARD, INFERENCE)


def measure_memory(asked: Sequence[Asked]) -> dict[Asked, Taken]:
    """What each program takes at each setting, in one fresh process."""
    return dict(zip(asked, _read_answers(_start_process(asked)), strict=True))


def _start_process(asked: Sequence[Asked]) -> subprocess.Popen[str]:
    command = [sys.executable, "-c", f"from {__name__} import answer_parent; answer_parent()"]
    process = subprocess.Popen(
        command,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        env=os.environ | ENVIRONMENT,
    )
    assert process.stdin is not None
    process.stdin.write(json.dumps([(setting.plain(), program) for setting, program in asked]))
    process.stdin.close()
    return process


def _read_answers(process: subprocess.Popen[str]) -> list[Taken]:
    with process:
        assert process.stdout is not None
        told = process.stdout.read()
    if process.returncode:
        raise RuntimeError(
            f"The process that measures memory ended with code {process.returncode}; its "
            "message is above."
        )
    return [Taken(planned, tuple(resident)) for planned, resident in json.loads(told)]


def answer_parent() -> None:
    """What a fresh process does: reads (setting, program) from its input, and writes what each
    takes.
    """
    answers = []
    for plain, name in json.load(sys.stdin):
        setting = Setting.from_plain(plain)
        program = compile_program(setting, name)
        window = first_window(setting) if name == INFERENCE else np.empty((0, 0))
        answers.append((program.planned, program.measure_peaks(window)))
    print(json.dumps(answers))


@dataclass(frozen=True)
class Program:
    """A compiled program, what it is called with, and how it is executed as in use."""

    compiled: jax.stages.Compiled
    given: tuple[PyTree[Array], ...]
    execute: Callable[[Window], None]  # training has its windows already
    kept: int = 0  # bytes of the input that inference keeps: h, or all tokens

    @property
    def planned(self) -> float:
        """By the compiler's own account: what it works with and gives back, and what is kept of the
        input.
        """
        plan = self.compiled.memory_analysis()
        assert plan is not None
        return float(plan.temp_size_in_bytes + plan.output_size_in_bytes + self.kept)

    def measure_peaks(self, window: Window) -> list[float]:
        """The peak of this process's resident memory during one execution, over what was resident
        before it; a few executions. Inference is given the window token by token.
        """
        if not PEAK_RESET.exists():
            return []
        found = []
        gc.collect()
        gc.freeze()  # what is there already is not gone through again
        for _ in range(REPEATS + 1):
            gc.collect()
            before = _read_at_rest()
            PEAK_RESET.write_text("5")  # the peak is counted from here
            self.execute(window)
            found.append(float(_read_status("VmHWM") - before))
        return found[1:]


def compile_program(setting: Setting, name: str) -> Program:
    """A program of the setting's student on its windows; for inference by the IndRNN, the step from
    one token to the next.
    """
    parts = Parts(setting)
    assert isinstance(parts.objective, SquaredLoss)
    if isinstance(parts.student, IndRNN):
        return _of_recurrence(parts.student, parts.objective, name)
    assert isinstance(parts.student, ShallowTransformer)
    return _of_attention(parts.student, parts.objective, name)


def first_window(setting: Setting) -> Window:
    """The first window of the setting's sample, drawn anew.

    How the heap lies enters what is measured. Where the window was read off the sample that a
    program had been compiled with, or drawn before a program of training was measured, the same
    steps of inference took up to a megabyte more.
    """
    sample = Parts(setting).objective
    assert isinstance(sample, SquaredLoss)
    return np.array(sample.tokens[0])


def _of_recurrence(student: IndRNN, sample: SquaredLoss, name: str) -> Program:
    def with_units(units: Units) -> IndRNN:
        moved: IndRNN = eqx.tree_at(lambda s: s.units, student, units)
        return moved

    def forwards(units: Units, x: Float[Array, "T n d"], y: Float[Array, "n"]) -> Units:
        def one(window: Float[Array, "T d"], label: Float[Array, ""]) -> Units:
            slope = with_units(units).gradient(window.T)
            error = 2 * (units.output @ slope.output - label)  # f = Σ c ∂f/∂c
            return Units(error * slope.reading, error * slope.recurrence, error * slope.output)

        each: Units = jax.vmap(one, in_axes=(1, 0))(x, y)
        return Units(*(jnp.mean(part, axis=0) for part in jax.tree.leaves(each)))

    def advance(
        units: Units, hidden: Float[Array, "m"], token: Float[Array, "d"]
    ) -> Float[Array, "m"]:
        return with_units(units).advance(hidden, token)

    if name == BACKWARD:
        return _of_training(_loss_gradient(with_units), student.units, sample.tokens, sample.labels)
    if name == FORWARD:
        in_time = jnp.transpose(sample.tokens, (2, 0, 1))  # time first, as they come
        return _of_training(forwards, student.units, in_time, sample.labels)
    hidden = jnp.zeros(len(student.units.output))
    given = (student.units, hidden, sample.tokens[0, :, 0])
    compiled = _compile(advance, given)

    def execute(window: Window) -> None:
        now = hidden
        for token in _stream(window):
            now = compiled(student.units, now, token)
        _wait(now)

    return Program(compiled, given, execute, kept=hidden.nbytes)


def _of_attention(student: ShallowTransformer, sample: SquaredLoss, name: str) -> Program:
    def with_heads(heads: PyTree[Array]) -> ShallowTransformer:
        moved: ShallowTransformer = eqx.tree_at(lambda s: s.heads, student, heads)
        return moved

    if name == BACKWARD:
        return _of_training(_loss_gradient(with_heads), student.heads, sample.tokens, sample.labels)
    given = (student.heads, sample.tokens[0])
    compiled = _compile(lambda heads, x: with_heads(heads)(x), given)

    def execute(window: Window) -> None:
        seen = np.stack(list(_stream(window)), axis=1)  # all must be there before the query is
        _wait(compiled(student.heads, seen))

    return Program(compiled, given, execute, kept=given[1].nbytes)


def _loss_gradient(
    rebuild: Callable[[PyTree[Array]], Student],
) -> Callable[..., PyTree[Array]]:
    """The gradient of the mean squared error by automatic differentiation."""

    def loss(
        parameters: PyTree[Array], x: Float[Array, "n d T"], y: Float[Array, "n"]
    ) -> Float[Array, ""]:
        return jnp.mean((jax.vmap(rebuild(parameters))(x) - y) ** 2)

    return jax.grad(loss)


def _of_training(function: Callable[..., PyTree[Array]], *given: PyTree[Array]) -> Program:
    compiled = _compile(function, given)
    return Program(compiled, given, lambda _: _wait(compiled(*given)))


def _wait(found: PyTree[Array]) -> None:
    for leaf in jax.tree.leaves(found):
        leaf.block_until_ready()


def _compile(
    function: Callable[..., PyTree[Array]], given: tuple[PyTree[Array], ...]
) -> jax.stages.Compiled:
    # The plan of memory is the same without these options.
    return jax.jit(function, compiler_options=SOON).lower(*given).compile()


def _stream(tokens: Window) -> Iterator[Float[np.ndarray, "d"]]:
    """The tokens one at a time, each an array of its own."""
    for t in range(tokens.shape[1]):
        yield tokens[:, t].copy()


def _read_at_rest() -> int:
    """The resident memory once it no longer falls: a result of the last execution is given back by
    another thread, some time later.
    """
    found: list[int] = []
    while len(found) < READINGS_AT_REST or (
        len(set(found[-READINGS_AT_REST:])) > 1 and len(found) < MOST_READINGS
    ):
        ctypes.CDLL(None).malloc_trim(0)
        time.sleep(0.01)
        found.append(_read_status("VmRSS"))
    return found[-1]


def _read_status(name: str) -> int:
    """A number of bytes that Linux keeps of this process."""
    lines = Path("/proc/self/status").read_text().splitlines()
    return 1024 * next(int(line.split()[1]) for line in lines if line.startswith(f"{name}:"))
