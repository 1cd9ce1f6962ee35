"""Teachers outside the bilinear class, richer students, and how they are trained."""

from __future__ import annotations

import hashlib
from collections import OrderedDict
from typing import TYPE_CHECKING, Annotated, Any

import numpy as np

from tutelage.problem.options import Option
from tutelage.problem.parts.attention import start_key
from tutelage.problem.parts.bilinear import random_value
from tutelage.problem.parts.companions import OUTSIDE_CLASS
from tutelage.problem.parts.estimates import (
    size_multi_head,
    size_two_layer_position,
    size_two_selections,
)
from tutelage.problem.parts.vocabulary import (
    BATCH,
    DIM,
    HELD_OUT,
    HIDDEN,
    NORM,
    OUTPUTS,
    RESTART,
    SAMPLES,
    START,
    SUPPORT,
    TOKENS,
)
from tutelage.problem.registry import register
from tutelage.refuse import Refused, whole

if TYPE_CHECKING:
    import optax
    from jaxtyping import Array, Float, Int

    from tutelage.inputs.base import Inputs
    from tutelage.objectives.base import Objective
    from tutelage.optimisers.base import Optimiser, Rate
    from tutelage.students.base import Student
    from tutelage.teachers.base import Teacher


@register(
    "teacher",
    "max_pooling",
    label="max pooling",
    sentence="Outside the class: the largest of K tokens, entry by entry.",
    begin={"tokens": 6, "outputs": 2, "dim": 4, "support": 2},
    goes_with=OUTSIDE_CLASS,
)
def _max_pooling(
    seed: int,
    *,
    tokens: Annotated[int, TOKENS],
    support: Annotated[int, SUPPORT],
    outputs: Annotated[int, OUTPUTS],
    dim: Annotated[int, DIM],
    norm: Annotated[float | None, NORM] = None,
) -> Teacher:
    from tutelage.teachers.max_pooling import MaxPooling

    return MaxPooling(random_value(seed, outputs, dim, norm), tokens=tokens, support=support)


def _apart(seed: int, outputs: int, dim: int, norm: float | None) -> tuple[np.ndarray, np.ndarray]:
    """V* and u with V*u = 0: what is read then says nothing of where to read, and labels have mean
    zero.
    """
    from tutelage.numerics.streams import generator

    whole("dim", dim, least=2, reason="one direction scores and another is read")
    drawn = generator(seed, "direction").standard_normal(dim)
    u = drawn / np.linalg.norm(drawn)
    V = random_value(seed, outputs, dim, None)
    V = V - np.outer(V @ u, u)
    return V * ((np.sqrt(outputs * dim) if norm is None else norm) / np.linalg.norm(V)), u


@register(
    "teacher",
    "top_k",
    label="top-K by content",
    sentence="Outside the class: the K tokens that score highest are averaged.",
    begin={"tokens": 6, "outputs": 2, "dim": 4, "support": 2},
    goes_with=OUTSIDE_CLASS,
)
def _top_k(
    seed: int,
    *,
    tokens: Annotated[int, TOKENS],
    support: Annotated[int, SUPPORT],
    outputs: Annotated[int, OUTPUTS],
    dim: Annotated[int, DIM],
    norm: Annotated[float | None, NORM] = None,
) -> Teacher:
    from tutelage.teachers.content_selection import ContentSelection

    return ContentSelection(*_apart(seed, outputs, dim, norm), tokens=tokens, support=support)


@register(
    "teacher",
    "softmax_selection",
    label="softmax by content",
    sentence="Outside the class: weights depend on the tokens' content.",
    begin={"tokens": 6, "outputs": 2, "dim": 4, "sharpness": 3.0},
    goes_with=OUTSIDE_CLASS,
)
def _softmax_selection(
    seed: int,
    *,
    tokens: Annotated[int, TOKENS],
    sharpness: Annotated[float, Option("sharpness", "", 0.1, 100, log=True)],
    outputs: Annotated[int, OUTPUTS],
    dim: Annotated[int, DIM],
    norm: Annotated[float | None, NORM] = None,
) -> Teacher:
    from tutelage.teachers.content_selection import ContentSelection

    return ContentSelection(*_apart(seed, outputs, dim, norm), tokens=tokens, sharpness=sharpness)


def _subsets(seed: int, stream: str, tokens: int, support: int) -> np.ndarray:
    """S* with a random K-subset, each of weight 1/K, in every column."""
    from tutelage.numerics.streams import generator
    from tutelage.teachers import random_subset

    drawn = generator(seed, stream)
    tokens = whole("tokens", tokens, least=1, reason="there must be a token to attend to")
    selection = np.zeros((tokens, tokens))
    for column in selection.T:
        chosen = random_subset(tokens, support, drawn)  # which refuses a support of none
        column[chosen] = 1 / len(chosen)
    return selection


@register(
    "teacher",
    "two_heads",
    label="two heads",
    sentence="Outside the class: a sum of two heads that read different tokens.",
    begin={"tokens": 6, "outputs": 2, "dim": 4, "support": 2},
    goes_with=OUTSIDE_CLASS,
    estimate=size_two_selections,
)
def _two_heads(
    seed: int,
    *,
    tokens: Annotated[int, TOKENS],
    support: Annotated[int, SUPPORT],
    outputs: Annotated[int, OUTPUTS],
    dim: Annotated[int, DIM],
    norm: Annotated[float | None, NORM] = None,
) -> Teacher:
    """Two heads as unlike as can be: ⟨V₁, V₂⟩ = 0, both of that norm, and for every query two
    K-subsets without a token in common.
    """
    from tutelage.numerics.streams import generator
    from tutelage.teachers import random_subset
    from tutelage.teachers.composed import ComposedTeacher

    tokens = whole(
        "tokens", tokens, least=2, reason="two heads that have no token in common read one each"
    )
    if 2 * whole("support", support, least=1, reason="a head reads at least one token") > tokens:
        raise Refused(
            f"Two heads without a common token need 2·support ≤ tokens. Got support={support}, "
            f"tokens={tokens}."
        )
    first, drawn = random_value(seed, outputs, dim, norm), generator(seed, "subset")
    other = generator(seed, "second value").standard_normal(first.shape)
    other = other - first * (np.sum(first * other) / np.sum(first**2))
    one, two = np.zeros((tokens, tokens)), np.zeros((tokens, tokens))
    for query in range(tokens):
        both = drawn.permutation(random_subset(tokens, 2 * support, drawn))
        one[both[:support], query] = two[both[support:], query] = 1 / support
    return ComposedTeacher(
        "heads", (first, other * (np.linalg.norm(first) / np.linalg.norm(other))), (one, two)
    )


@register(
    "teacher",
    "two_layers",
    label="two layers",
    sentence="Outside the class: one layer after another.",
    begin={"tokens": 6, "outputs": 2, "dim": 4, "support": 2, "hidden": 4},
    goes_with=OUTSIDE_CLASS,
    estimate=size_two_selections,
)
def _two_layers(
    seed: int,
    *,
    tokens: Annotated[int, TOKENS],
    support: Annotated[int, SUPPORT],
    outputs: Annotated[int, OUTPUTS],
    dim: Annotated[int, DIM],
    hidden: Annotated[int, HIDDEN],
    norm: Annotated[float | None, NORM] = None,
) -> Teacher:
    """V₂ is orthogonal to the lengths of V₁'s rows, so that the labels have mean zero; `norm` is
    that of V₁.
    """
    from tutelage.numerics.streams import generator
    from tutelage.teachers.composed import ComposedTeacher

    hidden = whole("hidden", hidden, least=2, reason="labels of mean zero need two hidden rows")
    outputs = whole("outputs", outputs, least=1, reason="V* has at least one row")
    first = random_value(seed, hidden, dim, norm)
    lengths = np.linalg.norm(first, axis=1)
    second = generator(seed, "second value").standard_normal((outputs, hidden))
    second = second - np.outer(second @ lengths, lengths) / (lengths @ lengths)
    return ComposedTeacher(
        "layers",
        (first, second),
        (
            _subsets(seed, "subset", tokens, support),
            _subsets(seed, "second subset", tokens, support),
        ),
    )


@register(
    "teacher",
    "products",
    label="products of tokens",
    sentence="Outside the class: products of projections of two tokens.",
    begin={"tokens": 6, "outputs": 2, "dim": 4},
    goes_with=OUTSIDE_CLASS,
    estimate=size_two_selections,
)
def _products(
    seed: int,
    *,
    tokens: Annotated[int, TOKENS],
    outputs: Annotated[int, OUTPUTS],
    dim: Annotated[int, DIM],
    norm: Annotated[float | None, NORM] = None,
) -> Teacher:
    """Query i multiplies projections of two different tokens, drawn for each query."""
    from tutelage.numerics.streams import generator
    from tutelage.teachers import random_subset
    from tutelage.teachers.composed import ComposedTeacher

    tokens = whole("tokens", tokens, least=2, reason="a product is of two different tokens")
    first = random_value(seed, outputs, dim, norm)
    other = generator(seed, "second value").standard_normal(first.shape)
    drawn, one, two = (
        generator(seed, "subset"),
        np.zeros((tokens, tokens)),
        np.zeros((tokens, tokens)),
    )
    for query in range(tokens):
        pair = drawn.permutation(random_subset(tokens, 2, drawn))
        one[pair[0], query] = two[pair[1], query] = 1.0
    return ComposedTeacher(
        "products", (first, other * (np.linalg.norm(first) / np.linalg.norm(other))), (one, two)
    )


@register(
    "student",
    "multi_head_position",
    label="position-only, several heads",
    sentence="A sum of heads; trained on samples.",
    estimate=size_multi_head,
)
def _multi_head_position(
    teacher: Teacher,
    seed: int,
    *,
    heads: Annotated[int, Option("heads", "", 1, 16, shape=True)] = 2,
    start: Annotated[float, START] = 0.5,
    restart: Annotated[int, RESTART] = 0,
) -> Student:
    from tutelage.students.multi_head import MultiHeadPosition

    return MultiHeadPosition.random(teacher, heads=heads, scale=start, key=start_key(seed, restart))


@register(
    "student",
    "two_layer_position",
    label="position-only, two layers",
    sentence="One layer after another; trained on samples.",
    begin={"hidden": 8},
    estimate=size_two_layer_position,
)
def _two_layer_position(
    teacher: Teacher,
    seed: int,
    *,
    hidden: Annotated[int, HIDDEN],
    start: Annotated[float, START] = 0.5,
    restart: Annotated[int, RESTART] = 0,
) -> Student:
    from tutelage.students.two_layers import TwoLayerPosition

    return TwoLayerPosition.random(
        teacher, hidden=hidden, scale=start, key=start_key(seed, restart)
    )


_SAMPLES: OrderedDict[str, tuple[Any, Any]] = OrderedDict()
REMEMBERED = 32  # samples: all students and all restarts of a teacher learn from the same one


@register(
    "objective",
    "minibatch",
    label="minibatches of a fixed sample",
    sentence="A batch of n samples at every step.",
    begin={"samples": 2000, "held_out": 1000},
)
def _minibatch(
    teacher: Teacher,
    inputs: Inputs,
    seed: int,
    *,
    samples: Annotated[int, SAMPLES],
    held_out: Annotated[int, HELD_OUT],
    batch: Annotated[int, BATCH] = 100,
) -> Objective:
    """Labels without noise; the sample and what is held out are the seed's, whatever the student
    and its restart.
    """
    import jax

    from tutelage.numerics.streams import stream
    from tutelage.objectives.minibatch import MinibatchRisk
    from tutelage.objectives.sample import draw_sample

    samples = whole("samples", samples, least=1, reason="batches are drawn from them")
    held_out = whole(
        "held_out", held_out, least=1, reason="it counts the inputs on which the excess is measured"
    )
    leaves, structure = jax.tree.flatten((teacher, inputs))
    words = repr((structure, seed, samples, held_out)).encode()
    name = hashlib.sha256(
        words + b"".join(np.asarray(leaf).tobytes() for leaf in leaves)
    ).hexdigest()
    if name not in _SAMPLES:
        _SAMPLES[name] = (
            draw_sample(teacher, inputs, samples, key=stream(seed, "samples"), noisy=False),
            draw_sample(teacher, inputs, held_out, key=stream(seed, "held out"), noisy=False),
        )
        while len(_SAMPLES) > REMEMBERED:
            _SAMPLES.popitem(last=False)
    return MinibatchRisk(*_SAMPLES[name], batch=batch)


@register(
    "optimiser",
    "annealed_adam",
    label="Adam, annealed",
    sentence="Adam whose steps shrink to zero along half a cosine.",
    begin={"steps": 1000},
)
def _annealed_adam(
    *, steps: Annotated[int, Option("steps until the rate is zero", "", 1, 1e6, log=True)]
) -> Optimiser:
    """Adam whose rate falls from η to 0 along half a cosine over `steps` steps, and stays there."""
    import jax.numpy as jnp
    import optax

    steps = whole("steps", steps, least=1, reason="the rate reaches zero after that many")

    def annealed(rate: Rate) -> optax.GradientTransformation:
        def schedule(count: Int[Array, ""]) -> Float[Array, ""]:
            share = jnp.minimum(count.astype(jnp.result_type(float)) / steps, 1.0)
            return 0.5 * rate * (1.0 + jnp.cos(jnp.pi * share))

        return optax.adam(schedule)

    return annealed
