"""Risks: the expectation itself, fresh batches, a fixed sample."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

from tutelage.problem.options import Option
from tutelage.problem.parts.estimates import size_online, size_population
from tutelage.problem.parts.vocabulary import (
    BATCH,
    HELD_OUT,
    SAMPLES,
)
from tutelage.problem.registry import register
from tutelage.refuse import whole

if TYPE_CHECKING:
    from tutelage.inputs.base import Inputs
    from tutelage.objectives.base import Objective
    from tutelage.teachers.base import Teacher


@register(
    "objective",
    "population",
    label="population risk",
    sentence="The expectation itself: no sample is drawn.",
    goes_with={"inputs": ("gaussian",), "student": ("position_attention", "known_selection")},
    estimate=size_population,
)
def _population(
    teacher: Teacher,
    inputs: Inputs,
    seed: int,
    *,
    largest_std: Annotated[
        float | None,
        Option("largest standard deviation of a pre-activation", "", 0.1, 100, log=True),
    ] = None,
) -> Objective:
    from tutelage.objectives import PopulationRisk

    return PopulationRisk(teacher, inputs, largest_std=largest_std)


@register(
    "objective",
    "online",
    label="online",
    sentence="A fresh batch at every step.",
    estimate=size_online,
)
def _online(
    teacher: Teacher,
    inputs: Inputs,
    seed: int,
    *,
    batch: Annotated[int, BATCH] = 100,
    held_out: Annotated[int, HELD_OUT] = 0,
) -> Objective:
    from tutelage.numerics.streams import stream
    from tutelage.objectives import OnlineRisk
    from tutelage.objectives.sample import judge

    return OnlineRisk(
        teacher, inputs, judge(teacher, inputs, held_out, key=stream(seed, "held out")), batch=batch
    )


@register(
    "objective",
    "empirical",
    label="a fixed sample",
    sentence="The mean over n samples.",
    begin={"samples": 256, "held_out": 1000},
)
def _empirical(
    teacher: Teacher,
    inputs: Inputs,
    seed: int,
    *,
    samples: Annotated[int, SAMPLES],
    held_out: Annotated[int, HELD_OUT] = 0,
) -> Objective:
    from tutelage.numerics.streams import stream
    from tutelage.objectives import EmpiricalRisk
    from tutelage.objectives.sample import fixed_sample, judge

    samples = whole("samples", samples, least=1, reason="the risk is a mean over them")
    noisy = teacher.noisy
    sample = fixed_sample(teacher, inputs, samples, key=stream(seed, "samples"), noisy=noisy)
    return EmpiricalRisk(
        teacher, sample, judge(teacher, inputs, held_out, key=stream(seed, "held out"))
    )
