"""The shallow transformer: its teacher, inputs, student, losses and projected descent."""

from __future__ import annotations

import hashlib
from collections import OrderedDict
from typing import Any

from tutelage.problem.registry import register
from tutelage.refuse import Refused, one_of, whole


@register("teacher", "transported")
def _transported(
    seed: int,
    *,
    dim: int = 8,
    tokens: int = 16,
    anchors: int = 16,
    signs: str = "plain",
    scores: str = "full",
    nu_c: float = 3.0,
    nu_u: float = 3.0,
    nu_w: float = 3.0,
    pool: int = 8192,
    token_scale: float = 1.0,
    token_radius: float = 1.0,
    query: Any = None,
) -> Any:
    """Anchors are clipped Gaussian inputs; `signs` = "random" weighs each by ±1, as the authors'
    code does; the text averages them.
    """
    import jax
    import jax.numpy as jnp

    from tutelage.inputs.clipped import ClippedGaussian, draw_inputs
    from tutelage.numerics.heads import draw_heads
    from tutelage.numerics.streams import stream
    from tutelage.teachers.transported import TransportedTeacher

    dim = whole("dim", dim, least=1, reason="tokens have at least one feature")
    tokens = whole("tokens", tokens, least=1, reason="there must be a token to attend to")
    anchors = whole(
        "anchors", anchors, least=1, reason="v averages the features of that many inputs"
    )
    pool = whole(
        "pool",
        pool,
        least=2,
        reason="that many heads stand for an expectation, and their spread for its error",
    )
    inputs = draw_inputs(
        ClippedGaussian(token_scale, token_radius),
        anchors,
        tokens,
        dim,
        key=stream(seed, "anchors"),
    )
    one_of("kind of signs", signs, ("plain", "random"))
    weights = (
        jnp.ones(anchors)
        if signs == "plain"
        else jax.random.rademacher(stream(seed, "signs"), (anchors,), jnp.float64)
    )
    heads = draw_heads(pool, dim, key=stream(seed, "pool"))
    radii = (nu_c, nu_u, nu_w)
    return TransportedTeacher(
        inputs,
        weights,
        heads,
        radii=radii,
        scores=scores,
        query=None if query is None else jnp.asarray(query),
    )


@register("inputs", "clipped_gaussian")
def _clipped_gaussian(teacher: Any, *, scale: float = 1.0, radius: float = 1.0) -> Any:
    from tutelage.inputs.clipped import ClippedGaussian

    return ClippedGaussian(scale, radius)


@register("teacher", "autoregression")
def _autoregression(
    seed: int,
    *,
    lag: int,
    tokens: Any = None,
    channels: int = 8,
    coefficient: float = 0.9,
    norms: str = "free",
) -> Any:
    """The window has `lag` + 1 tokens unless `tokens` says otherwise; the seed draws the series,
    not the teacher.
    """
    from tutelage.teachers.autoregression import Autoregression

    return Autoregression(
        lag, tokens=tokens, channels=channels, coefficient=coefficient, norms=norms
    )


@register("inputs", "series")
def _series(teacher: Any, *, stride: Any = None) -> Any:
    from tutelage.inputs.series import Series

    return Series(teacher, stride=stride)


@register("student", "shallow_transformer")
def _shallow_transformer(
    teacher: Any, seed: int, *, heads: int, activation: str = "tanh", query: Any = None
) -> Any:
    """The query is the last token unless a vector is given."""
    from tutelage.numerics.streams import stream
    from tutelage.students.shallow_transformer import ShallowTransformer

    return ShallowTransformer.symmetric(
        heads, teacher.shape[1], key=stream(seed, "heads"), activation_name=activation, query=query
    )


@register("student", "indrnn")
def _indrnn(
    teacher: Any,
    seed: int,
    *,
    heads: int,
    recurrent: float = 1.5,
    signs: str = "random",
    scale: float = 1.0,
    activation: str = "tanh",
) -> Any:
    """`heads` counts the units, so that a sweep may set the width of both students alike; 1.5 is
    the authors' |u|.
    """
    from tutelage.numerics.streams import stream
    from tutelage.students.indrnn import IndRNN

    key = stream(seed, "units")
    return IndRNN.symmetric(
        heads,
        teacher.shape[1],
        recurrent=recurrent,
        key=key,
        signs=signs,
        scale=scale,
        activation_name=activation,
    )


@register("objective", "squared_loss")
def _squared_loss(
    teacher: Any, inputs: Any, seed: int, *, samples: int, validation: int = 0, labels: str = "own"
) -> Any:
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


@register("objective", "single_sample")
def _single_sample(
    teacher: Any, inputs: Any, seed: int, *, samples: int, validation: int = 0
) -> Any:
    from tutelage.objectives.squared_loss import SingleSampleLoss

    return SingleSampleLoss(teacher, *_drawn(teacher, inputs, seed, samples, validation))


_SAMPLES: OrderedDict[str, tuple[Any, ...]] = OrderedDict()
# samples: the labels of one cost more than many steps, and a sweep over widths asks for it again
# and again
REMEMBERED = 64


def _drawn(
    teacher: Any, inputs: Any, seed: int, samples: int, validation: int, labelled: str = "own"
) -> tuple[Any, ...]:
    import jax
    import numpy as np

    from tutelage.inputs.clipped import draw_inputs
    from tutelage.numerics.streams import stream

    samples = whole("samples", samples, least=1, reason="the loss is a mean over them")
    validation = whole("validation", validation, least=0, reason="it counts the inputs held out")
    if hasattr(inputs, "windows"):
        return inputs.windows(samples, validation, seed)
    if not hasattr(teacher, "labels"):
        raise Refused(
            "This loss needs a teacher with one label an input, such as 'transported'. Got another."
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


@register("optimiser", "projected_descent")
def _projected_descent(*, rho_c: float = 3.0, rho_u: float = 3.0, rho_w: float = 3.0) -> Any:
    from functools import partial

    from tutelage.optimisers.projected import projected_descent
    from tutelage.refuse import positive

    for name, radius in (("rho_c", rho_c), ("rho_u", rho_u), ("rho_w", rho_w)):
        positive(name, radius, reason="a head may go that far, over √m, from its start")
    return partial(projected_descent, radii={"output": rho_c, "reading": rho_u, "attention": rho_w})
