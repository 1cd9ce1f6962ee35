"""The cases about memory: the exponents of the compiler's plan in the lag, and bytes per token of
what is really resident.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import replace

import numpy as np

from tutelage.claims import Claim, Exponent, Number
from tutelage.claims.claim import NotYet
from tutelage.papers.shallow_transformers.autoregressive.memory import (
    BACKWARD,
    FORWARD,
    INFERENCE,
    REPEATS,
    Taken,
    measure_memory,
    programs_of,
)
from tutelage.papers.shallow_transformers.autoregressive.settings import (
    HERE,
    LETTERS,
    AutoregressivePreset,
    setting_at,
)
from tutelage.papers.shallow_transformers.readings import setting_of
from tutelage.papers.shallow_transformers.setup import refuse_swept
from tutelage.papers.shallow_transformers.theory.approximation import SOURCE
from tutelage.papers.shallow_transformers.theory.options import read_number
from tutelage.run import Run
from tutelage.settings import Part, Setting
from tutelage.studies.changes import changed
from tutelage.studies.study import Case, Curves, Plan

WINDOWS = 8  # that one gradient is taken over
STATED = f"{SOURCE}, stated"
BYTES_PER_NUMBER = 8  # in double precision
RNN, TRANSFORMER = "indrnn", "shallow_transformer"


def memory_case(plan: Plan, preset: AutoregressivePreset) -> Case:
    settings = settings_at(plan, preset)
    states = float(BYTES_PER_NUMBER * WINDOWS * int(settings[0].student.options["heads"]))
    token = BYTES_PER_NUMBER * (1 + read_number(settings[0], "teacher", "channels"))
    return Case(
        "memory",
        "memory, training and inference",
        settings,
        (*planned_claims(), *resident_claims(states, token)),
        derived=measured(settings, preset),
    )


def memory_control_case(plan: Plan, preset: AutoregressivePreset) -> Case:
    settings = settings_at(plan, preset)
    broken = (
        "inference: O(1) is what the recurrence keeps between tokens, and backpropagation "
        "keeps every state"
    )
    return Case(
        "memory-control",
        "O(1), claimed of training",
        settings,
        (planned_claim(RNN, BACKWARD, 0.0, "IndRNN, training by backpropagation", STATED),),
        broken,
        derived=measured(settings, preset),
    )


def settings_at(plan: Plan, preset: AutoregressivePreset) -> tuple[Setting, ...]:
    """The two students. What is measured has no chance in it, so one seed; the run itself is one
    step and is not looked at.
    """
    refuse_swept(plan.changes, "lag")
    settings = []
    for name in (RNN, TRANSFORMER):
        base = setting_at(Part(name, heads=64), preset.lags[0], preset, measures=("label_power",))
        setting = changed(base, plan.changes, LETTERS)
        settings.append(replace(setting, steps=1, objective=Part("squared_loss", samples=1)))
    return tuple(settings)


def _asked(setting: Setting, program: str, preset: AutoregressivePreset) -> list[Setting]:
    """The setting at every lag at which this program is measured."""
    lags, windows = (
        (preset.inference_lags, 1) if program == INFERENCE else (preset.training_lags, WINDOWS)
    )
    return [setting.change(**{"teacher.lag": lag, "objective.samples": windows}) for lag in lags]


def measured(
    settings: tuple[Setting, ...], preset: AutoregressivePreset
) -> Callable[[Run], Curves]:
    """Curves `lags_…`, `planned_…` (one number per lag) and `resident_…` (as many again for every
    time it was measured) of each program.
    """
    every = tuple(
        (at, program)
        for setting in settings
        for program in programs_of(setting)
        for at in _asked(setting, program, preset)
    )

    def curves(run: Run) -> Curves:
        found = {}
        for program in programs_of(setting_of(run)):
            asked = _asked(setting_of(run), program, preset)
            own = [measure_memory(every)[at, program] for at in asked]
            lags, points = [at.teacher.options["lag"] for at in asked], len(run.steps)
            found[f"lags_{program}"] = np.tile(np.asarray(lags, float), (points, 1))
            found[f"planned_{program}"] = np.tile([one.planned for one in own], (points, 1))
            found[f"resident_{program}"] = np.tile([_filled(one) for one in own], (points, 1, 1))
        return found

    return curves


def _filled(bytes_: Taken) -> list[float]:
    return list(bytes_.resident) or [math.nan] * REPEATS


def of_student(runs: Sequence[Run], student: str) -> Run:
    """The run of a student."""
    return next(run for run in runs if setting_of(run).student.name == student)


def planned_claims() -> tuple[Claim, ...]:
    """How what the compiler plans grows with the lag."""
    return (
        planned_claim(TRANSFORMER, BACKWARD, 1.0, "transformer, training", STATED),
        planned_claim(
            RNN, BACKWARD, 1.0, "IndRNN, training by backpropagation, which keeps every h_t", HERE
        ),
        planned_claim(RNN, FORWARD, 0.0, "IndRNN, training forwards in time", HERE),
        planned_claim(
            TRANSFORMER, INFERENCE, 1.0, "transformer, inference, its query the last token", STATED
        ),
        planned_claim(
            RNN, INFERENCE, 0.0, "IndRNN, inference from tokens that come one at a time", STATED
        ),
    )


def planned_claim(student: str, program: str, expected: float, words: str, source: str) -> Claim:
    def points(runs: Sequence[Run]) -> list[tuple[float, float, int]]:
        curves = of_student(runs, student).curves
        lags, planned = curves[f"lags_{program}"][0], curves[f"planned_{program}"][0]
        return [(float(lag), float(y), 0) for lag, y in zip(lags, planned, strict=True)]

    return Exponent(
        points=points,
        exponent=expected,
        of="memory as planned in L",
        tolerance=0.05,
        id=f"{student}-{program}-planned",
        statement=f"{words}: ∝ L^{expected:g}, as the compiler plans it",
        source=source,
    )


def resident_claims(states: float, token: float) -> tuple[Claim, ...]:
    """What is really resident, in bytes per token: `states` are those of one token's states over
    all windows, `token` those of the token.
    """
    return (
        resident_claim(
            TRANSFORMER,
            BACKWARD,
            states,
            "at least",
            "transformer, training: at least 8nm bytes a token, the weights",
            HERE,
        ),
        resident_claim(
            RNN,
            BACKWARD,
            states,
            "at least",
            "IndRNN, backpropagation: at least 8nm bytes a token, the states",
            HERE,
        ),
        resident_claim(
            RNN,
            FORWARD,
            float(BYTES_PER_NUMBER * WINDOWS),
            "at most",
            "IndRNN, forwards: less than a number a window and token",
            HERE,
        ),
        resident_claim(
            TRANSFORMER,
            INFERENCE,
            token,
            "at least",
            "transformer, inference: at least 8d bytes a token, the tokens",
            STATED,
        ),
        resident_claim(
            RNN,
            INFERENCE,
            float(BYTES_PER_NUMBER),
            "at most",
            "IndRNN, inference: less than one number a token",
            STATED,
        ),
    )


def resident_claim(
    student: str, program: str, value: float, side: str, words: str, source: str
) -> Claim:
    """(Peak at the largest lag − peak at the smallest)/(difference of the lags), one per
    repetition.
    """

    def values(runs: Sequence[Run]) -> list[float]:
        curves = of_student(runs, student).curves
        lags, seen = curves[f"lags_{program}"][0], curves[f"resident_{program}"][0]
        if np.isnan(seen).any():
            raise NotYet(
                "The peak of resident memory can be read on Linux alone. A run there would decide."
            )
        return [float(x) for x in (seen[-1] - seen[0]) / (lags[-1] - lags[0])]

    return Number(
        values=values,
        value=value,
        of="resident memory, in bytes a token,",
        tolerance=0.0,
        side=side,
        id=f"{student}-{program}-resident",
        statement=words,
        source=source,
    )
