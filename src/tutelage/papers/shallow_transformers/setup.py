"""What the studies of this paper share: settings by the paper's letters, how a plan changes them,
and the choices that all of them make.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TypeVar

from tutelage.papers.shallow_transformers import paper
from tutelage.problem.options import Value
from tutelage.settings import Part, Setting
from tutelage.studies.changes import NoSuchOption, changed
from tutelage.studies.study import Case, Plan, Preset

LETTERS = paper.letters
WITHOUT_WIDTH = {letter: path for letter, path in LETTERS.items() if letter != "m"}  # m is swept
CHOICES = (
    "Tokens are standard normal, clipped to norm at most 1. The teacher averages R = 16 anchors "
    "with weight +1 (the text's form; the authors' code gives them random signs) and uses the "
    "whole W of its heads (their code keeps only its diagonal).",
    "All n samples are trained on (their code: 80%); the step is 1/√τ as in the theorem (their "
    "code: 1.75/√τ). Of the linearisation error both sup and mean are given, at random and at bad "
    "points (their code logs the mean at a bad one).",
    "Losses are divided by (1/n)Σy², which differs severalfold between draws of the anchors; δ = "
    "δ′ = 0.05 in the bounds.",
)
# What is measured of a student that is trained by projected descent.
TRAINED = ("least_loss", "averaged_loss", "label_power", "label_error", "displacement")


@dataclass(frozen=True, kw_only=True)
class SamplePreset(Preset):
    """A preset with a sample to train on, and a teacher whose pool of heads makes its labels."""

    samples: int
    pool: int


P = TypeVar("P", bound=Preset)


def make_cases(
    makers: Mapping[str, Callable[[Plan, P], Case]], plan: Plan, preset: P
) -> list[Case]:
    """The case that each function makes of a plan; it is left out where its settings have no such
    thing as what was changed.
    """
    made = []
    for name, make in makers.items():
        try:
            made.append(make(plan, preset))
        except NoSuchOption as reason:
            made.append(Case(name, "", (), (), left_out=str(reason)))
    return made


def refuse_swept(changes: Mapping[str, Value], *options: str) -> None:
    """A study that sets an option itself cannot be asked for another value of it."""
    for key in changes:
        if LETTERS.get(key, key).rpartition(".")[2] in options:
            raise NoSuchOption(
                f"`{key}` is what this study varies or sets itself, so that it cannot be "
                "changed. Change another option."
            )


def setting_at(
    *,
    heads: int,
    samples: int,
    steps: int,
    measures: tuple[str, ...],
    dim: int = 8,
    tokens: int = 16,
    pool: int = 8192,
    seed: int = 0,
    radii: tuple[float, float, float] = (3.0, 3.0, 3.0),
    teacher: Mapping[str, Value] | None = None,
) -> Setting:
    """The paper's first experiment at a size: projected descent with step 1/√τ on n samples of the
    transported teacher.
    """
    rho_c, rho_u, rho_w = radii
    return Setting(
        Part("transported", dim=dim, tokens=tokens, pool=pool, **dict(teacher or {})),
        rate=steps**-0.5,
        steps=steps,
        seed=seed,
        inputs=Part("clipped_gaussian"),
        student=Part("shallow_transformer", heads=heads),
        objective=Part("squared_loss", samples=samples),
        optimiser=Part("projected_descent", rho_c=rho_c, rho_u=rho_u, rho_w=rho_w),
        measures=measures,
    )


def change_at_horizon(setting: Setting, tau: int, plan: Plan, times: float = 1.0) -> Setting:
    """The setting with a plan's changes and a horizon; the step is `times`/√τ unless one was asked
    for.
    """
    refuse_swept(plan.changes, "heads")
    changes = {key: value for key, value in plan.changes.items() if key not in ("tau", "steps")}
    at_tau = replace(setting, steps=tau, rate=times / math.sqrt(tau))
    return changed(at_tau, changes, WITHOUT_WIDTH)


def choose_horizons(plan: Plan, horizons: Sequence[int]) -> tuple[int, ...]:
    """The preset's horizons, or the one that was asked for."""
    asked = plan.steps or plan.changes.get("tau", plan.changes.get("steps"))
    return tuple(horizons) if asked is None else (int(asked),)


def settings_of_training(
    plan: Plan,
    preset: SamplePreset,
    widths: Sequence[int],
    horizons: Sequence[int],
    *,
    times: float = 1.0,
    radii: tuple[float, float, float] = (3.0, 3.0, 3.0),
    teacher: Mapping[str, Value] | None = None,
    objective: Callable[[int], Part] | None = None,
) -> tuple[Setting, ...]:
    """Runs to train: every width, horizon and seed. `objective` makes another one of the number of
    samples.
    """
    settings = []
    for tau in horizons:
        for heads in widths:
            base = setting_at(
                heads=heads,
                steps=tau,
                measures=TRAINED,
                samples=preset.samples,
                pool=preset.pool,
                radii=radii,
                teacher=teacher,
            )
            setting = change_at_horizon(base, tau, plan, times)
            if objective is not None:
                samples = int(setting.objective.options["samples"])
                setting = replace(setting, objective=objective(samples))
            settings += [replace(setting, seed=seed) for seed in range(plan.seeds or preset.seeds)]
    return tuple(settings)


def settings_at_start(
    plan: Plan,
    preset: SamplePreset,
    widths: Sequence[int],
    measures: tuple[str, ...],
    *,
    seeds: int | None = None,
    samples: int | None = None,
    teacher: Mapping[str, Value] | None = None,
) -> tuple[Setting, ...]:
    """Settings of which only the start is looked at: every width and seed."""
    settings = []
    for heads in widths:
        base = setting_at(
            heads=heads,
            samples=samples or preset.samples,
            steps=1,
            measures=(),
            pool=preset.pool,
            teacher=teacher,
        )
        setting = look_at_start(change_at_horizon(base, 1, plan), measures)
        count = plan.seeds or seeds or preset.seeds
        settings += [replace(setting, seed=seed) for seed in range(count)]
    return tuple(settings)


def look_at_start(setting: Setting, measures: tuple[str, ...]) -> Setting:
    """The setting of which these measures are taken at the start, and nothing is trained."""
    return calculate(setting, Part("measures_at_start", measures=",".join(measures)))


def calculate(setting: Setting, calculation: Part) -> Setting:
    """The setting that is calculated and not trained: without its rate, its steps and its
    measures.

    Its optimiser stays, since that has the radii of the ball that statements about the start are
    made in.
    """
    return Setting.of_calculation(calculation, seed=setting.seed, **setting.parts)
