"""The shallow transformer: its teacher, inputs, student, losses and projected descent."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

from tutelage.problem.options import Matrix, Option
from tutelage.problem.parts.estimates import (
    size_autoregression,
    size_indrnn,
    size_series,
    size_shallow_transformer,
    size_transported,
)
from tutelage.problem.parts.requiring import require
from tutelage.problem.parts.vocabulary import (
    ACTIVATION,
    DIM,
    QUERY,
    SCALE,
    TOKENS,
    WIDTH,
)
from tutelage.problem.registry import register
from tutelage.refuse import one_of, whole

if TYPE_CHECKING:
    from tutelage.inputs.base import Inputs
    from tutelage.optimisers.base import Optimiser
    from tutelage.students.base import Student
    from tutelage.teachers.base import Teacher


@register(
    "teacher",
    "transported",
    label="transported features",
    sentence="The target of the shallow-transformer theorems.",
    begin={"pool": 1024},
    goes_with={
        "inputs": ("clipped_gaussian",),
        "student": ("shallow_transformer",),
        "objective": ("squared_loss", "single_sample"),
        "optimiser": (
            "projected_descent",
            "gradient_descent",
            "momentum",
            "adam",
            "normalised",
            "sign",
        ),
    },
    estimate=size_transported,
)
def _transported(
    seed: int,
    *,
    dim: Annotated[int, DIM] = 8,
    tokens: Annotated[int, TOKENS] = 16,
    anchors: Annotated[int, Option("anchors", "R", 1, 256, shape=True)] = 16,
    signs: Annotated[str, Option("signs", choices=("plain", "random"))] = "plain",
    scores: Annotated[
        str, Option("what the teacher reads of W", shape=True, choices=("full", "diagonal"))
    ] = "full",
    nu_c: Annotated[
        float, Option("radius of the target in c", "ν_c", 0.01, 30, log=True, shape=True)
    ] = 3.0,
    nu_u: Annotated[
        float, Option("radius of the target in u", "ν_u", 0.01, 30, log=True, shape=True)
    ] = 3.0,
    nu_w: Annotated[
        float, Option("radius of the target in w", "ν_w", 0.01, 30, log=True, shape=True)
    ] = 3.0,
    pool: Annotated[
        int, Option("heads that stand for an expectation", "", 2, 8192, log=True, shape=True)
    ] = 8192,
    token_scale: Annotated[
        float, Option("scale of the anchors' tokens", "", 0.01, 10, log=True)
    ] = 1.0,
    token_radius: Annotated[
        float, Option("radius of the anchors' tokens", "", 0.01, 10, log=True)
    ] = 1.0,
    query: Annotated[Matrix | None, QUERY] = None,
) -> Teacher:
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


@register(
    "inputs",
    "clipped_gaussian",
    label="clipped normal tokens",
    sentence="Standard normal, clipped to a ball.",
)
def _clipped_gaussian(
    teacher: Teacher,
    *,
    scale: Annotated[float, SCALE] = 1.0,
    radius: Annotated[float, Option("radius", "", 0.01, 10, log=True)] = 1.0,
) -> Inputs:
    from tutelage.inputs.clipped import ClippedGaussian

    return ClippedGaussian(scale, radius)


@register(
    "teacher",
    "autoregression",
    label="autoregression",
    sentence="A series whose next value depends on one long ago.",
    begin={"lag": 12},
    goes_with={
        "inputs": ("series",),
        "student": ("shallow_transformer", "indrnn"),
        "objective": ("squared_loss", "single_sample"),
        "optimiser": ("gradient_descent", "momentum", "adam", "normalised", "sign"),
    },
    estimate=size_autoregression,
)
def _autoregression(
    seed: int,
    *,
    lag: Annotated[int, Option("lag", "L", 1, 256, shape=True)],
    tokens: Annotated[int | None, TOKENS] = None,
    channels: Annotated[int, Option("channels", "P", 1, 64, shape=True)] = 8,
    coefficient: Annotated[float, Option("coefficient", "", -0.999, 0.999, shape=True)] = 0.9,
    norms: Annotated[
        str, Option("norms of the tokens", shape=True, choices=("free", "unit"))
    ] = "free",
) -> Teacher:
    """The window has `lag` + 1 tokens unless `tokens` says otherwise; the seed draws the series,
    not the teacher.
    """
    from tutelage.teachers.autoregression import Autoregression

    return Autoregression(
        lag, tokens=tokens, channels=channels, coefficient=coefficient, norms=norms
    )


@register(
    "inputs",
    "series",
    label="windows of a series",
    sentence="The teacher's own series, cut into windows.",
    estimate=size_series,
)
def _series(
    teacher: Teacher,
    *,
    stride: Annotated[int | None, Option("steps between windows", "", 1, 256, shape=True)] = None,
) -> Inputs:
    from tutelage.inputs.series import Series
    from tutelage.teachers.autoregression import Autoregression

    teacher = require(
        teacher,
        Autoregression,
        part="inputs 'series'",
        needed="the teacher 'autoregression'",
        reason="its windows are cut from the teacher's own series",
    )
    return Series(teacher, stride=stride)


@register(
    "student",
    "shallow_transformer",
    label="shallow transformer",
    sentence="m heads and a linear readout.",
    begin={"heads": 64},
    estimate=size_shallow_transformer,
)
def _shallow_transformer(
    teacher: Teacher,
    seed: int,
    *,
    heads: Annotated[int, WIDTH],
    activation: Annotated[str, ACTIVATION] = "tanh",
    query: Annotated[Matrix | None, QUERY] = None,
) -> Student:
    """The query is the last token unless a vector is given."""
    from tutelage.numerics.streams import stream
    from tutelage.students.shallow_transformer import ShallowTransformer

    return ShallowTransformer.symmetric(
        heads, teacher.shape[1], key=stream(seed, "heads"), activation_name=activation, query=query
    )


@register(
    "student",
    "indrnn",
    label="independent recurrent units",
    sentence="The recurrent network for comparison.",
    begin={"heads": 64},
    estimate=size_indrnn,
)
def _indrnn(
    teacher: Teacher,
    seed: int,
    *,
    heads: Annotated[int, WIDTH],
    recurrent: Annotated[float, Option("|u| at the start", "|u|", 0.01, 3)] = 1.5,
    signs: Annotated[
        str, Option("signs of the recurrent weights", choices=("random", "positive"))
    ] = "random",
    scale: Annotated[float, SCALE] = 1.0,
    activation: Annotated[str, ACTIVATION] = "tanh",
) -> Student:
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


@register(
    "optimiser",
    "projected_descent",
    label="projected descent",
    sentence="Every head is kept in a ball around its start.",
)
def _projected_descent(
    *,
    rho_c: Annotated[float, Option("radius in c", "ρ_c", 0.001, 30, log=True, shape=True)] = 3.0,
    rho_u: Annotated[float, Option("radius in u", "ρ_u", 0.001, 30, log=True, shape=True)] = 3.0,
    rho_w: Annotated[float, Option("radius in w", "ρ_w", 0.001, 30, log=True, shape=True)] = 3.0,
) -> Optimiser:
    from functools import partial

    from tutelage.optimisers.projected import projected_descent
    from tutelage.refuse import positive

    for name, radius in (("rho_c", rho_c), ("rho_u", rho_u), ("rho_w", rho_w)):
        positive(name, radius, reason="a head may go that far, over √m, from its start")
    return partial(projected_descent, radii={"output": rho_c, "reading": rho_u, "attention": rho_w})
