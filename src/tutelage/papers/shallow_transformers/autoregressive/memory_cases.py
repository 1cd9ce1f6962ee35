"""The cases about memory: the exponents of the compiler's plan in the lag, and bytes per token of
what is really resident.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from tutelage.claims import Claim, Exponent, Measured
from tutelage.claims.claim import NotYet
from tutelage.claims.labels import ClaimedBy
from tutelage.papers.shallow_transformers.autoregressive.settings import (
    HERE,
    LETTERS,
    AutoregressivePreset,
    setting_at,
)
from tutelage.papers.shallow_transformers.parts.memory import BACKWARD, FORWARD, INFERENCE
from tutelage.papers.shallow_transformers.readings import setting_of
from tutelage.papers.shallow_transformers.setup import calculate, refuse_swept
from tutelage.papers.shallow_transformers.theory.approximation import SOURCE
from tutelage.run import Run
from tutelage.settings import Part, Setting
from tutelage.studies.changes import changed
from tutelage.studies.study import Case, Plan

WINDOWS = 8  # that one gradient is taken over
STATED = f"{SOURCE}, stated"
RNN, TRANSFORMER = "indrnn", "shallow_transformer"


def memory_case(plan: Plan, preset: AutoregressivePreset) -> Case:
    settings = settings_at(plan, preset)
    claims = (*planned_claims(), *resident_measures())
    return Case("memory", "memory, training and inference", settings, claims)


def memory_control_case(plan: Plan, preset: AutoregressivePreset) -> Case:
    broken = (
        "inference: O(1) is what the recurrence keeps between tokens, and backpropagation "
        "keeps every state"
    )
    words = "IndRNN, training by backpropagation"
    claims = (planned_claim(RNN, BACKWARD, 0.0, words, STATED),)
    settings = settings_at(plan, preset)
    return Case("memory-control", "O(1), claimed of training", settings, claims, broken)


def settings_at(plan: Plan, preset: AutoregressivePreset) -> tuple[Setting, ...]:
    """The two students. What is measured has no chance in it, so one seed."""
    refuse_swept(plan.changes, "lag")
    calculation = Part(
        "memory_of_programs",
        training_lags=preset.training_lags,
        inference_lags=preset.inference_lags,
    )
    settings = []
    for name in (RNN, TRANSFORMER):
        base = setting_at(Part(name, heads=64), preset.training_lags[0], preset)
        setting = changed(base, plan.changes, LETTERS)
        windows = Part("squared_loss", samples=WINDOWS)
        settings.append(calculate(replace(setting, objective=windows), calculation))
    return tuple(settings)


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
        certain=True,  # the compiler's own account, the same every time
        id=f"{student}-{program}-planned",
        statement=f"{words}: ∝ L^{expected:g}, as the compiler plans it",
        source=source,
        claimed_by=ClaimedBy.PAPER if source == STATED else ClaimedBy.BEYOND,
    )


def resident_measures() -> tuple[Claim, ...]:
    """What is really resident. The operating system decides that, so nothing is claimed of it."""
    return (
        resident_measure(TRANSFORMER, BACKWARD, "transformer, training"),
        resident_measure(RNN, BACKWARD, "IndRNN, training by backpropagation"),
        resident_measure(RNN, FORWARD, "IndRNN, training forwards in time"),
        resident_measure(TRANSFORMER, INFERENCE, "transformer, inference"),
        resident_measure(RNN, INFERENCE, "IndRNN, inference"),
    )


def resident_measure(student: str, program: str, words: str) -> Claim:
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

    return Measured(
        values,
        "resident memory, in bytes per token,",
        id=f"{student}-{program}-resident",
        statement=f"{words}: resident memory in bytes per token",
        source="measured; nothing is claimed",
    )
