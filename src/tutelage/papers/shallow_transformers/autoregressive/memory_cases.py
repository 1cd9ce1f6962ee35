"""The cases about memory: the exponents of the compiler's plan in the lag, and bytes a token of
what is really resident.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from tutelage.claims import Claim, Exponent, Number
from tutelage.claims.claim import NotYet
from tutelage.papers.shallow_transformers.autoregressive.memory import (
    BACKWARD,
    FORWARD,
    INFERENCE,
    REPEATS,
    Taken,
    taken,
)
from tutelage.papers.shallow_transformers.autoregressive.settings import (
    HERE,
    LETTERS,
    NAME,
    SIZES,
    Size,
    lag_of,
    setting_at,
)
from tutelage.papers.shallow_transformers.setup import refuse_swept
from tutelage.papers.shallow_transformers.theory.approximation import SOURCE
from tutelage.papers.shallow_transformers.theory.autoregressive import option
from tutelage.run import Run
from tutelage.settings import Part, Setting
from tutelage.studies.study import Case, Plan, changed

WINDOWS = 8  # that one gradient is taken over
STATED = f"{SOURCE}, stated"
NUMBER = 8  # bytes, in double precision


def settings_at(plan: Plan) -> tuple[Setting, ...]:
    """The two students. What is measured has no chance in it, so one seed; the run itself is one
    step and is not looked at.
    """
    size = SIZES[plan.preset]
    made = []
    for name in ("indrnn", "shallow_transformer"):
        refuse_swept(plan.changes, "lag")
        setting = changed(
            setting_at(Part(name, heads=64), size.lags[0], size, measures=("label_power",)),
            plan.changes,
            LETTERS,
        )
        made.append(replace(setting, steps=1, objective=Part("squared_loss", samples=1)))
    return tuple(made)


def _asked(setting: Setting, program: str, size: Size) -> list[Setting]:
    """The setting at every lag at which this program is measured."""
    lags, windows = (size.inference, 1) if program == INFERENCE else (size.training, WINDOWS)
    return [setting.change(**{"teacher.lag": lag, "objective.samples": windows}) for lag in lags]


def measured(settings: tuple[Setting, ...], size: Size) -> Callable[[Run], dict[str, Any]]:
    """Curves `lags_…`, `planned_…` (a number a lag) and `resident_…` (as many again for every time
    it was measured) of each program.
    """
    every = [
        (at, program)
        for setting in settings
        for program in _programs(setting)
        for at in _asked(setting, program, size)
    ]

    def curves(run: Run) -> dict[str, Any]:
        assert run.setting is not None
        bytes_, found = taken(tuple(every)), {}
        for program in _programs(run.setting):
            own = [bytes_[at, program] for at in _asked(run.setting, program, size)]
            found[f"lags_{program}"] = np.tile(
                [lag_of(at) for at in _asked(run.setting, program, size)], (len(run.steps), 1)
            )
            found[f"planned_{program}"] = np.tile([one.planned for one in own], (len(run.steps), 1))
            found[f"resident_{program}"] = np.tile(
                [_filled(one) for one in own], (len(run.steps), 1, 1)
            )
        return found

    return curves


def _programs(setting: Setting) -> tuple[str, ...]:
    return (
        (BACKWARD, FORWARD, INFERENCE)
        if setting.student.name == "indrnn"
        else (BACKWARD, INFERENCE)
    )


def _filled(bytes_: Taken) -> list[float]:
    return list(bytes_.resident) or [math.nan] * REPEATS


def of_student(runs: Sequence[Run], student: str) -> Run:
    return next(
        run for run in runs if run.setting is not None and run.setting.student.name == student
    )


def exponent(
    student: str,
    program: str,
    size: Size,
    expected: float,
    words: str,
    source: str,
    case: str = "memory",
) -> Claim:
    lags = size.inference if program == INFERENCE else size.training

    def points(runs: Sequence[Run]) -> list[tuple[float, float, int]]:
        return [
            (float(lag), float(y), 0)
            for lag, y in zip(
                lags, of_student(runs, student).curves[f"planned_{program}"][0], strict=True
            )
        ]

    return Exponent(
        points=points, exponent=expected, of="memory as planned in L", tolerance=0.05,
        id=f"{NAME}/{case}/{student}-{program}-planned", statement=f"{words}: ∝ L^{expected:g}, "
"as the "
"compiler plans it", source=source,
    )  # fmt: skip


def a_token(
    student: str, program: str, size: Size, value: float, side: str, words: str, source: str
) -> Claim:
    """(Peak at the largest lag − peak at the smallest)/(difference of the lags), one a
    repetition.
    """
    lags = size.inference if program == INFERENCE else size.training

    def values(runs: Sequence[Run]) -> list[float]:
        seen = of_student(runs, student).curves[f"resident_{program}"][0]
        if np.isnan(seen).any():
            raise NotYet(
                "The peak of resident memory can be read on Linux alone. A run there would decide."
            )
        return [float(x) for x in (seen[-1] - seen[0]) / (lags[-1] - lags[0])]

    return Number(
        values=values, value=value, of="resident memory, in "
"bytes a token,", tolerance=0.0, side=side,
        id=f"{NAME}/memory/{student}-{program}-resident", statement=words, source=source,
    )  # fmt: skip


def memory_cases() -> tuple[Callable[[Plan], Case], ...]:
    return (_memory, _memory_control)


def _memory(plan: Plan) -> Case:
    settings, size = settings_at(plan), SIZES[plan.preset]
    states = float(NUMBER * WINDOWS * int(settings[0].student.options["heads"]))
    kept = float(NUMBER * (1 + int(option(settings[0].teacher, "teacher", "channels"))))
    rnn, transformer = "indrnn", "shallow_transformer"
    claims = (
        exponent(transformer, BACKWARD, size, 1.0, "transformer, training", STATED),
        exponent(
            rnn,
            BACKWARD,
            size,
            1.0,
            "IndRNN, training by backpropagation, which keeps every h_t",
            HERE,
        ),
        exponent(rnn, FORWARD, size, 0.0, "IndRNN, training forwards in time", HERE),
        exponent(
            transformer,
            INFERENCE,
            size,
            1.0,
            "transformer, inference, its query the last token",
            STATED,
        ),
        exponent(
            rnn,
            INFERENCE,
            size,
            0.0,
            "IndRNN, inference from tokens that come one at a time",
            STATED,
        ),
        a_token(
            transformer,
            BACKWARD,
            size,
            states,
            "at least",
            "transformer, training: at least 8nm bytes a token, the weights",
            HERE,
        ),
        a_token(
            rnn,
            BACKWARD,
            size,
            states,
            "at least",
            "IndRNN, backpropagation: at least 8nm bytes a token, the states",
            HERE,
        ),
        a_token(
            rnn,
            FORWARD,
            size,
            float(NUMBER * WINDOWS),
            "at most",
            "IndRNN, forwards: less than a number a window and token",
            HERE,
        ),
        a_token(
            transformer,
            INFERENCE,
            size,
            kept,
            "at least",
            "transformer, inference: at least 8d bytes a token, the tokens",
            STATED,
        ),
        a_token(
            rnn,
            INFERENCE,
            size,
            float(NUMBER),
            "at most",
            "IndRNN, inference: less than one number a token",
            STATED,
        ),
    )
    return Case(
        "memory",
        "memory, training and inference",
        settings,
        claims,
        derived=measured(settings, size),
    )


def _memory_control(plan: Plan) -> Case:
    settings, size = settings_at(plan), SIZES[plan.preset]
    claim = exponent(
        "indrnn",
        BACKWARD,
        size,
        0.0,
        "IndRNN, training by backpropagation",
        STATED,
        "memory-control",
    )
    broken = (
        "inference: O(1) is what the recurrence keeps between tokens, and backpropagation "
        "keeps every state"
    )
    return Case(
        "memory-control",
        "O(1), claimed of training",
        settings,
        (claim,),
        broken,
        derived=measured(settings, size),
    )
