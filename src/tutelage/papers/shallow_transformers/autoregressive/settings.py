"""What the cases of this study share: the sizes of a preset, and the paper's second experiment as
settings.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from tutelage.papers.shallow_transformers.setup import look_at_start, refuse_swept
from tutelage.settings import Part, Setting
from tutelage.studies.changes import changed
from tutelage.studies.study import Plan, Preset, over_seeds

LETTERS = {
    "n": "objective.samples",
    "m": "student.heads",
    "P": "teacher.channels",
    "tau": "steps",
    "eta": "rate",
}
HERE = "derived here (docs/autoregressive.md)"
RATE = 0.3
LEAST_SEEDS = 4  # of what is looked at at the start
GRADIENTS = ("function_gradient_sup", "function_gradient_square")


@dataclass(frozen=True, kw_only=True)
class AutoregressivePreset(Preset):
    lags: tuple[int, ...]
    # |u| at the start of the IndRNNs that are trained; 1.5 is the authors'.
    recurrent: tuple[float, ...]
    samples: int
    validation: int
    heads: int
    steps: int
    wide: int  # units where only the start is looked at
    # The standard deviation of W_in at which |u| = 1.5 saturates nothing up to the largest lag.
    tiny: float
    training_lags: tuple[int, ...]  # at which the memory of training is measured
    inference_lags: tuple[int, ...]
    longer_seeds: int | None = None  # at all lags but the least; None: as many as there

    def seeds_at(self, lag: int) -> int:
        """How many seeds train at a lag."""
        if self.longer_seeds is None or lag == min(self.lags):
            return self.seeds
        return self.longer_seeds


def setting_at(
    student: Part,
    lag: int,
    preset: AutoregressivePreset,
    *,
    norms: str = "free",
    measures: tuple[str, ...] = (),
) -> Setting:
    """The paper's second experiment at a lag."""
    return Setting(
        Part("autoregression", lag=lag, norms=norms),
        rate=RATE,
        steps=preset.steps,
        inputs=Part("series"),
        student=student,
        objective=Part("squared_loss", samples=preset.samples, validation=preset.validation),
        optimiser=Part("gradient_descent"),
        measures=measures,
    )


def settings_of_training(
    plan: Plan, preset: AutoregressivePreset, students: Sequence[Part], measures: tuple[str, ...]
) -> tuple[Setting, ...]:
    """Every student at every lag from every seed, with the plan's changes."""
    refuse_swept(plan.changes, "lag")
    settings: list[Setting] = []
    for student in students:
        for lag in preset.lags:
            base = setting_at(student, lag, preset, measures=measures)
            setting = changed(base, plan.changes, LETTERS)
            if plan.steps:
                setting = replace(setting, steps=plan.steps)
            settings += over_seeds(setting, plan.seeds or preset.seeds_at(lag))
    return tuple(settings)


def settings_at_start(
    plan: Plan,
    preset: AutoregressivePreset,
    student: Part,
    measures: tuple[str, ...],
    *,
    norms: str = "free",
) -> tuple[Setting, ...]:
    """The student's start at every lag from every seed: a statement about one |u| and one size of
    W_in, and so no plan changes these.
    """
    refuse_swept(plan.changes, "lag", "recurrent", "scale")
    settings: list[Setting] = []
    for lag in preset.lags:
        base = setting_at(student, lag, preset, norms=norms)
        setting = changed(base, plan.changes, LETTERS)
        # The held-out windows are looked at; one to train on is the least there can be.
        one = replace(setting, objective=setting.objective.change(samples=1))
        seeds = plan.seeds or max(LEAST_SEEDS, preset.seeds)
        settings += over_seeds(look_at_start(one, measures), seeds)
    return tuple(settings)
