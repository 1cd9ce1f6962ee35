"""The cases about memory: the exponents of the compiler's plan in the lag, and bytes a token of what is really resident."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from tutelage.claims import Claim, Exponent, Number
from tutelage.claims.claim import NotYet
from tutelage.papers.shallow_transformers.autoregressive_memory import BACKWARD, FORWARD, INFERENCE, REPEATS, Taken, taken
from tutelage.papers.shallow_transformers.autoregressive_settings import HERE, LETTERS, NAME, SIZES, lag_of, setting_at
from tutelage.papers.shallow_transformers.theory import SOURCE
from tutelage.run import Run
from tutelage.settings import Part, Setting
from tutelage.study import Case, Plan, changed

WINDOWS = 8  # that one gradient is taken over
STATED = f"{SOURCE}, stated"
NUMBER = 8  # bytes, in double precision


def settings_at(plan: Plan, lags: Sequence[int], windows: int, students: Sequence[str]) -> tuple[Setting, ...]:
    """Students at lags; what is measured has no chance in it, so one seed each. The run itself is one step and is not looked at."""
    size = SIZES[plan.preset]
    made = []
    for name in students:
        for lag in lags:
            setting = changed(setting_at(Part(name, heads=64), lag, size, measures=("label_power",)), plan.changes, LETTERS)
            made.append(replace(setting, steps=1, objective=Part("squared_loss", samples=windows)))
    return tuple(made)


def measured(settings: tuple[Setting, ...], wanted: tuple[str, ...]) -> Callable[[Run], dict[str, Any]]:
    """Curves `planned_…` and `resident_…` of each program: constants of a setting, the latter once for every time it was measured."""

    def curves(run: Run) -> dict[str, Any]:
        found: dict[str, Any] = {}
        for (setting, program), bytes_ in taken(settings, wanted).items():
            if setting == run.setting:
                found[f"planned_{program}"] = np.full(len(run.steps), bytes_.planned)
                found[f"resident_{program}"] = np.tile(_filled(bytes_), (len(run.steps), 1))
        return found

    return curves


def _filled(bytes_: Taken) -> np.ndarray:
    return np.array(bytes_.resident) if bytes_.resident else np.full(REPEATS, np.nan)


def of_student(runs: Sequence[Run], student: str) -> list[Run]:
    """The runs of a student, by their lags."""
    own = [run for run in runs if run.setting is not None and run.setting.student.name == student]
    return sorted(own, key=lambda run: lag_of(run.setting))  # type: ignore[arg-type]


def exponent(case: str, student: str, program: str, expected: float, words: str, source: str) -> Claim:
    def points(runs: Sequence[Run]) -> list[tuple[float, float, int]]:
        return [
            (lag_of(r.setting), float(r.curves[f"planned_{program}"][0]), 0) for r in of_student(runs, student) if r.setting is not None
        ]

    return Exponent(
        points=points, exponent=expected, of="memory as planned in L", tolerance=0.05,
        id=f"{NAME}/{case}/{student}-{program}-planned", statement=f"{words}: ∝ L^{expected:g}, as the compiler plans it", source=source,
    )  # fmt: skip


def a_token(case: str, student: str, program: str, value: float, side: str, words: str, source: str) -> Claim:
    """(Peak at the largest lag − peak at the smallest)/(difference of the lags), one a repetition."""

    def values(runs: Sequence[Run]) -> list[float]:
        first, *_, last = of_student(runs, student)
        assert first.setting is not None
        assert last.setting is not None
        rise = last.curves[f"resident_{program}"][0] - first.curves[f"resident_{program}"][0]
        if np.isnan(rise).any():
            raise NotYet("The peak of resident memory can be read on Linux alone. A run there would decide.")
        return [float(x) for x in rise / (lag_of(last.setting) - lag_of(first.setting))]

    return Number(
        values=values, value=value, of="resident memory, in bytes a token,", tolerance=0.0, side=side,
        id=f"{NAME}/{case}/{student}-{program}-resident", statement=words, source=source,
    )  # fmt: skip


def memory_cases() -> tuple[Callable[[Plan], Case], ...]:
    return (_memory_training, _memory_inference, _memory_control)


def _memory_training(plan: Plan) -> Case:
    name, lags = "memory-training", SIZES[plan.preset].training
    settings = settings_at(plan, lags, WINDOWS, ("indrnn", "shallow_transformer"))
    m = int(settings[0].student.options["heads"])
    states = float(NUMBER * WINDOWS * m)
    claims = (
        exponent(name, "shallow_transformer", BACKWARD, 1.0, "transformer, training", STATED),
        exponent(name, "indrnn", BACKWARD, 1.0, "IndRNN, training by backpropagation, which keeps every h_t", HERE),
        exponent(name, "indrnn", FORWARD, 0.0, "IndRNN, training forwards in time", HERE),
        a_token(name, "indrnn", BACKWARD, states, "at least", "IndRNN, backpropagation: at least 8nm bytes a token, the states", HERE),
        a_token(
            name, "indrnn", FORWARD, float(NUMBER * WINDOWS), "at most", "IndRNN, forwards: less than a number a window and token", HERE
        ),
        a_token(
            name,
            "shallow_transformer",
            BACKWARD,
            states,
            "at least",
            "transformer: at least 8nm bytes a token, the attention weights",
            HERE,
        ),
    )
    return Case(name, f"memory of a gradient over {WINDOWS} windows", settings, claims, derived=measured(settings, (BACKWARD, FORWARD)))


def _memory_inference(plan: Plan) -> Case:
    name, lags = "memory-inference", SIZES[plan.preset].inference
    settings = settings_at(plan, lags, 1, ("indrnn", "shallow_transformer"))
    kept = float(NUMBER * (1 + int(settings[0].teacher.options.get("channels", 8))))
    claims = (
        exponent(name, "indrnn", INFERENCE, 0.0, "IndRNN, inference from tokens that come one at a time", STATED),
        exponent(name, "shallow_transformer", INFERENCE, 1.0, "transformer, inference, its query the last token", STATED),
        a_token(name, "indrnn", INFERENCE, float(NUMBER), "at most", "IndRNN, inference: less than one number a token", STATED),
        a_token(
            name,
            "shallow_transformer",
            INFERENCE,
            kept,
            "at least",
            "transformer, inference: at least 8d bytes a token, the tokens",
            STATED,
        ),
    )
    return Case(name, "memory of one prediction", settings, claims, derived=measured(settings, (INFERENCE,)))


def _memory_control(plan: Plan) -> Case:
    name, lags = "memory-control", SIZES[plan.preset].training
    both = settings_at(plan, lags, WINDOWS, ("indrnn", "shallow_transformer"))
    settings = tuple(setting for setting in both if setting.student.name == "indrnn")
    claim = exponent(name, "indrnn", BACKWARD, 0.0, "IndRNN, training by backpropagation", STATED)
    broken = "inference: O(1) is what the recurrence keeps between tokens, and backpropagation keeps every state"
    return Case(name, "O(1), claimed of training", settings, (claim,), broken, derived=measured(both, (BACKWARD, FORWARD)))
