"""The squared loss of samples drawn once: all of them at every step, or one."""

from __future__ import annotations

import hashlib
from collections import OrderedDict
from typing import TYPE_CHECKING, Annotated, Any

from tutelage.problem.options import Option
from tutelage.problem.parts.estimates import size_squared_loss
from tutelage.problem.parts.vocabulary import (
    HELD_OUT,
    SAMPLES,
)
from tutelage.problem.registry import register
from tutelage.refuse import Refused, one_of, whole

if TYPE_CHECKING:
    from tutelage.inputs.base import Inputs
    from tutelage.objectives.base import Objective
    from tutelage.teachers.base import Teacher


@register(
    "objective",
    "squared_loss",
    label="squared loss on a sample",
    sentence="All n samples at every step.",
    begin={"samples": 200},
    estimate=size_squared_loss,
)
def _squared_loss(
    teacher: Teacher,
    inputs: Inputs,
    seed: int,
    *,
    samples: Annotated[int, SAMPLES],
    validation: Annotated[int, HELD_OUT] = 0,
    labels: Annotated[str, Option("labels", choices=("own", "foreign"))] = "own",
) -> Objective:
    """A sample of a seed begins with every smaller one of that seed.

    With `labels` = "foreign" each input gets the label of another that is never shown: of the same
    law, and independent of it.
    """
    from tutelage.objectives.squared_loss import SquaredLoss

    return SquaredLoss(
        teacher,
        *_drawn(
            teacher,
            inputs,
            seed,
            samples,
            validation,
            one_of("kind of labels", labels, ("own", "foreign")),
        ),
    )


@register(
    "objective",
    "single_sample",
    label="one sample a step",
    sentence="One of the n samples at every step.",
    begin={"samples": 200},
    estimate=size_squared_loss,
)
def _single_sample(
    teacher: Teacher,
    inputs: Inputs,
    seed: int,
    *,
    samples: Annotated[int, SAMPLES],
    validation: Annotated[int, HELD_OUT] = 0,
) -> Objective:
    from tutelage.objectives.squared_loss import SingleSampleLoss

    return SingleSampleLoss(teacher, *_drawn(teacher, inputs, seed, samples, validation))


_SAMPLES: OrderedDict[str, tuple[Any, ...]] = OrderedDict()
# samples: the labels of one cost more than many steps, and a sweep over widths asks for it again
# and again
REMEMBERED = 64


def _drawn(
    teacher: Teacher,
    inputs: Inputs,
    seed: int,
    samples: int,
    validation: int,
    labelled: str = "own",
) -> tuple[Any, ...]:
    import jax
    import numpy as np

    from tutelage.inputs.clipped import draw_inputs
    from tutelage.inputs.series import Series
    from tutelage.numerics.streams import stream

    samples = whole("samples", samples, least=1, reason="the loss is a mean over them")
    validation = whole("validation", validation, least=0, reason="it counts the inputs held out")
    if isinstance(inputs, Series):
        return inputs.windows(samples, validation, seed)
    if teacher.shape.outputs * teacher.shape.queries != 1:
        raise Refused(
            "This loss needs a teacher with one label per input, such as 'transported'. Got one "
            f"with {teacher.shape.outputs} outputs and {teacher.shape.queries} queries."
        )
    leaves = jax.tree.leaves((teacher, inputs))
    words = repr(
        (jax.tree.structure((teacher, inputs)), seed, samples, validation, labelled)
    ).encode()
    name = hashlib.sha256(
        words + b"".join(np.asarray(leaf).tobytes() for leaf in leaves)
    ).hexdigest()
    if name not in _SAMPLES:
        _, dim, tokens, _ = teacher.shape

        trained = draw_inputs(inputs, samples, tokens, dim, key=stream(seed, "samples"))
        held = (
            draw_inputs(inputs, validation, tokens, dim, key=stream(seed, "held out"))
            if validation
            else None
        )
        labels = teacher.labels(
            trained
            if labelled == "own"
            else draw_inputs(inputs, samples, tokens, dim, key=stream(seed, "foreign"))
        )
        _SAMPLES[name] = (
            trained,
            *labels,
            held,
            None if held is None else teacher.labels(held).values,
        )
        while len(_SAMPLES) > REMEMBERED:
            _SAMPLES.popitem(last=False)
    return _SAMPLES[name]
