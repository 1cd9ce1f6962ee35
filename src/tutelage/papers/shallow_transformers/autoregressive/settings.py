"""What the parts of `shallow-transformers/autoregressive` share: sizes, settings, and how a number
is read off a run.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from tutelage.papers.shallow_transformers.setup import refuse_swept
from tutelage.run import Run
from tutelage.settings import Part, Setting
from tutelage.studies.study import Plan, changed

NAME = "shallow-transformers/autoregressive"
HERE = "derived here (docs/autoregressive.md)"
LETTERS: Mapping[str, str] = {
    "n": "objective.samples",
    "m": "student.heads",
    "P": "teacher.channels",
    "tau": "steps",
    "eta": "rate",
}
RATE = 0.3
RECURRENCE = 1  # the place of u among the blocks of an IndRNN
ALL = 3
GRADIENTS = ("function_gradient_sup", "function_gradient_square")


@dataclass(frozen=True)
class Size:
    """The sizes of a preset."""

    lags: tuple[int, ...]
    recurrent: tuple[
        float, ...
    ]  # |u| at the start of the IndRNNs that are trained; 1.5 is the authors'
    samples: int
    validation: int
    heads: int
    steps: int
    seeds: int
    wide: int  # units where only the start is looked at
    # the standard deviation of W_in at which |u| = 1.5 saturates nothing up to the largest lag
    tiny: float
    training: tuple[int, ...]  # lags at which memory is measured
    inference: tuple[int, ...]


SIZES = {
    "quick": Size(
        (4, 12, 32),
        (0.5, 1.5),
        256,
        512,
        16,
        200,
        4,
        128,
        1e-10,
        (128, 512, 2048),
        (512, 2048, 8192),
    ),
    "full": Size(
        (4, 16, 72, 96),
        (0.5, 0.9, 1.0, 1.5),
        5000,
        2000,
        64,
        2000,
        20,
        512,
        1e-22,
        (256, 1024, 4096, 16384),
        (1024, 4096, 16384, 65536),
    ),
}


def setting_at(student: Part, lag: int, size: Size, *, norms: str = "free", **more: Any) -> Setting:
    """The paper's second experiment at a lag."""
    return Setting(
        Part("autoregression", lag=lag, norms=norms),
        rate=RATE,
        steps=size.steps,
        inputs=Part("series"),
        student=student,
        objective=Part("squared_loss", samples=size.samples, validation=size.validation),
        optimiser=Part("gradient_descent"),
        **more,
    )


def lag_of(setting: Setting) -> float:
    return float(setting.teacher.options["lag"])


def least(run: Run) -> float:
    """The least held-out loss of the measured steps, which is what the paper reports."""
    return float(np.min(run.curves["validation_loss"]))


def gradient_in_u(run: Run) -> float:
    """The root mean square of ‖∂f/∂u‖ over the held-out inputs, at the start."""
    return math.sqrt(float(run.curves["function_gradient_square"][0, RECURRENCE]))


def by_seed(runs: Sequence[Run], number: Callable[[list[Run]], float]) -> list[float]:
    """One number a seed, from all its runs in the order of their lags."""
    settings = [run.setting for run in runs if run.setting is not None]
    seeds = sorted({setting.seed for setting in settings})
    own = [
        [run for run, setting in zip(runs, settings, strict=True) if setting.seed == seed]
        for seed in seeds
    ]
    return [number(sorted(group, key=lambda run: lag_of(run.setting))) for group in own]  # type: ignore[arg-type]


def settings_of(
    plan: Plan,
    students: Sequence[Part],
    lags: Sequence[int],
    seeds: int,
    *,
    start: bool,
    **more: Any,
) -> tuple[Setting, ...]:
    """Every student at every lag from every seed, with the plan's changes; a look at the start
    alone takes one step whatever they say.
    """
    size = SIZES[plan.preset]
    made = []
    # A look at the start is a statement about one |u| and one size of W_in.
    refuse_swept(plan.changes, "lag", *(("recurrent", "scale") if start else ()))
    for student in students:
        for lag in lags:
            setting = changed(setting_at(student, lag, size, **more), plan.changes, LETTERS)
            if start:
                # One sample to train on and next to no step, since neither is looked at.
                setting = replace(
                    setting, steps=1, rate=1e-12, objective=setting.objective.change(samples=1)
                )
            elif plan.steps:
                setting = replace(setting, steps=plan.steps)
            made += [replace(setting, seed=setting.seed + i) for i in range(plan.seeds or seeds)]
    return tuple(made)
