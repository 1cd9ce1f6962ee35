"""Inputs and the labels that a layer gave them: what `learn` trains a student on."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import numpy as np

from tutelage.problem.options import Matrix, Option
from tutelage.problem.parts.companions import ANY_TEACHER
from tutelage.problem.parts.estimates import size_recorded
from tutelage.problem.parts.requiring import require
from tutelage.problem.parts.vocabulary import ACTIVATION
from tutelage.problem.registry import register
from tutelage.refuse import Refused, whole

if TYPE_CHECKING:
    from tutelage.inputs.base import Inputs
    from tutelage.objectives.base import Objective
    from tutelage.teachers.base import Teacher


@register(
    "teacher",
    "recorded",
    label="recorded labels",
    sentence="Inputs, and the labels that a layer gave them.",
    begin={
        "inputs": np.arange(48.0).reshape(8, 2, 3) % 7 - 3,
        "labels": np.arange(8.0).reshape(8, 1, 1) % 3 - 1,
    },
    goes_with={**ANY_TEACHER, "inputs": ("gaussian",), "objective": ("recorded",)},
    estimate=size_recorded,
)
def _recorded(
    seed: int,
    *,
    inputs: Annotated[Matrix, Option("inputs, one per row", "X", shape=True)],
    labels: Annotated[Matrix, Option("their labels", "Y", shape=True)],
    activation: Annotated[str, ACTIVATION] = "identity",
) -> Teacher:
    import jax.numpy as jnp

    from tutelage.activations import activation as find_activation
    from tutelage.teachers.recorded import Recorded

    if inputs.ndim != 3 or labels.ndim != 3 or len(inputs) != len(labels):
        raise Refused(
            "`inputs` must be n×d×D and `labels` n×M×Q, since every input has one label. Got "
            f"inputs of shape {inputs.shape}, labels of shape {labels.shape}."
        )
    return Recorded(jnp.asarray(inputs), jnp.asarray(labels), find_activation(activation))


@register(
    "objective",
    "recorded",
    label="recorded labels",
    sentence="The mean over the recorded inputs but the first few, by which it is judged.",
    begin={"held_out": 2},
    goes_with={"teacher": ("recorded",)},
)
def _recorded_loss(
    teacher: Teacher,
    inputs: Inputs,
    seed: int,
    *,
    held_out: Annotated[int, Option("inputs held out", "", 1, 10_000, shape=True, log=True)],
) -> Objective:
    from tutelage.objectives import EmpiricalRisk
    from tutelage.objectives.sample import Sample
    from tutelage.teachers.recorded import Recorded

    given = require(
        teacher,
        Recorded,
        part="recorded",
        needed="the teacher 'recorded'",
        reason="it is the mean over the labels that it holds",
    )
    whole("held_out", held_out, least=1, reason="a student is judged by inputs it has not seen")
    if held_out >= len(given.known_inputs):
        raise Refused(
            "`held_out` must be below the number of recorded inputs, since the others are trained "
            f"on. Got held_out={held_out}, {len(given.known_inputs)} inputs."
        )
    learn, judge = (
        Sample(given.known_inputs[part], given.known_labels[part])
        for part in (slice(held_out, None), slice(0, held_out))
    )
    return EmpiricalRisk(teacher, learn, judge)
