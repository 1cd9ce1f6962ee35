"""`learn`: is this layer σ(VXS), and what can a position-only student make of it?"""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

import jax.numpy as jnp
import numpy as np
from jaxtyping import Float
from numpy.typing import ArrayLike

from tutelage.activations import Identity
from tutelage.claims.verdict import Status
from tutelage.inputs.base import Inputs
from tutelage.inputs.gaussian import Gaussian
from tutelage.layers.adapters import Columns, Sizes, Tokens
from tutelage.layers.analysis import Analysis, analyse
from tutelage.layers.answering import answer
from tutelage.layers.facts import Probes
from tutelage.layers.foreign import Function
from tutelage.layers.found import Found
from tutelage.layers.gap import Gap, gaussian_gap, sampled_gap
from tutelage.layers.reader import MOST_SLOPES, Branch, Reader, Source
from tutelage.layers.reading import is_piecewise_linear, positional_share
from tutelage.layers.training import explain
from tutelage.layers.wrapping import wrap
from tutelage.numerics.streams import generator
from tutelage.problem.build import build_inputs
from tutelage.problem.room import BYTES_PER_NUMBER, describe_bytes, machine_room
from tutelage.refuse import Refused, positive, show, whole, whole_seed
from tutelage.running.store import Store
from tutelage.settings import Part
from tutelage.teachers.recorded import Recorded

PROBES = 24
FRESH = 2000
SAMPLED_STEPS, EXACT_STEPS = 1000, 100_000
LEAST_DRAWN = 64  # fresh inputs, however large one is
COPIES = 4  # of the inputs that are drawn: as tokens, as the layer's own, shifted, and results
LARGEST_SIZE = 2**63 - 1
MOST_BYTES = 10**300  # that are told of: a float holds no more
MOST_ADDED = 32  # at once
ROUNDS = 3  # of adding inputs on which the form was wrong to the probes
NEARBY = 1e-4  # how far slopes are compared, relative to the inputs
FEW = 6  # probes at which they are
LEAST_INPUTS = 8


def learn(
    layer: Function,
    inputs: Inputs | Part | str | ArrayLike | None = None,
    *,
    tokens: Tokens | None = None,
    shape: Sizes | None = None,
    probes: int = PROBES,
    fresh: int = FRESH,
    steps: int | None = None,
    tolerance: float | None = None,
    seed: int = 0,
    framework: str | None = None,
    batched: bool | None = None,
    output: int | str | None = None,
    arguments: tuple[Any, ...] = (),
    store: Store | None = None,
) -> Found:
    """Looks at a layer through its Jacobians, and trains a student on it.

    `layer` is a function of arrays, or a module of PyTorch, Equinox or Flax; a PyTorch module is
    copied, in eval mode and double precision. `inputs` is a law, itself or by its
    registered name (Gaussian by default, and then `shape` is that of one input, without the batch)
    or an array of samples in the layer's own shape. `tokens` says how the layer's input is read as
    tokens: `Columns()` (d×D, the default),
    `Sequence()`, `Nodes()`, `Pixels()`, `Patches(size)`.

    Jacobians are taken at `probes` inputs; a form that is found is compared with the layer on
    `fresh` others. `tolerance` is the squared residual up to which a fact holds; by default 1e-12,
    or what the slopes allow. `steps` is how long the student trains; 0 for no student.

    `arguments` follow the input at every call, `output` chooses among several results, `batched`
    says whether the layer takes a batch, and `framework` ("numpy", "jax", "torch") what it is made
    of; by default it is detected.
    """
    read = Columns() if tokens is None else tokens
    if not isinstance(read, Tokens):
        raise Refused(
            "`tokens` must be Columns(), Sequence(), Nodes(), Pixels() or Patches(size), since it "
            f"says which part of an input is a token. Got {read!r}."
        )
    seed = whole_seed(seed)
    compared = "directions are compared between probes"
    counted = "they are counted by 64 bits"
    probes = whole("probes", probes, least=2, reason=compared, most=LARGEST_SIZE, beyond=counted)
    judged = "the gap is fitted on one half, judged on the other"
    fresh = whole("fresh", fresh, least=16, reason=judged)
    if steps is not None:
        trained = "it is how long the student trains; 0 for none"
        steps = whole("steps", steps, least=0, reason=trained)
    if tolerance is not None:
        positive("tolerance", tolerance, reason="residuals are compared with it")
    if shape is not None:
        shape = _check_shape(shape)
        _check_size(shape, probes)
    if isinstance(inputs, str | Part):
        inputs = _registered(inputs, read, shape)
    law, own = _inputs_and_shape(inputs, shape)
    reader = Reader(
        wrap(layer, own, framework=framework, batched=batched, output=output, arguments=arguments),
        read,
        own,
    )
    source = Source(law, read, own, seed)
    first = source.draw(probes)
    reader.check(first)
    return _look(reader, source, first, fresh, steps, tolerance, seed, store)


def _check_shape(shape: Sizes) -> Sizes:
    if not isinstance(shape, tuple | list):
        raise Refused(
            "`shape` must be the sizes of one input, such as (tokens, features), since the law "
            f"alone does not determine them. Got {show(shape)}."
        )
    return tuple(
        whole(
            "shape",
            size,
            least=1,
            reason="every axis of an input has at least one entry",
            most=LARGEST_SIZE,
            beyond="entries are counted by 64 bits",
        )
        for size in shape
    )


def _check_size(own: Sizes, probes: int) -> None:
    """Refuses inputs that would not fit into memory, before one is drawn."""
    drawn = max(probes, LEAST_DRAWN)
    needed = float(min(BYTES_PER_NUMBER * COPIES * drawn * math.prod(own), MOST_BYTES))
    room = machine_room()
    if needed > room.bytes:
        raise Refused(
            f"{room.who} has {describe_bytes(room.bytes)} of memory, and {drawn:,} inputs at least "
            f"are drawn and held in {COPIES} copies. Got an estimate of {describe_bytes(needed)} "
            f"from probes={probes:,} and inputs of shape {own}."
        )


def _look(
    reader: Reader,
    source: Source,
    first: Float[np.ndarray, "n d D"],
    fresh: int,
    steps: int | None,
    tolerance: float | None,
    seed: int,
    store: Store | None,
) -> Found:
    rows, queries = _choose_outputs(reader, len(first), seed)
    given = reader.probe(first, rows, queries)
    allowed = max(1e-12, (100 * given.error) ** 2) if tolerance is None else tolerance
    M, d, D, Q = reader.shape
    others = source.draw(min(fresh, max(LEAST_DRAWN, MOST_SLOPES // (d * D + M * Q))))
    labels = reader.labels(others)
    _check_values(labels)
    seen = labels[:, rows][:, :, queries]
    analysis, differing = _settle(reader, given, rows, queries, others, seen, allowed)
    if analysis.link is None and not isinstance(reader, Branch) and reader.adds_its_input(given):
        branch = Branch(reader)
        looked = _look(branch, source, first, fresh, steps, tolerance, seed, store)
        return replace(
            looked,
            member=Status.FAILS,
            answer=f"X plus: {looked.answer}",
            residual_connection="Its input is added to its output (a residual connection); all "
            "this is about f(X) − X.",
        )
    found = answer(
        analysis,
        reader,
        law=source.law,
        tolerance=allowed,
        differing=differing,
        fresh=len(others),
        looked_at=(len(rows), len(queries)),
        positional=positional_share(given),
        linear_pieces=_is_linear_in_pieces(reader, given, rows, queries, allowed, seed),
        gap=_gap(source, others, seen, given),
        seed=seed,
    )
    if steps == 0:
        return found
    exact = found.counting_constant is not None and not found.biased and found.gaussian is not None
    return explain(
        found,
        others,
        seen,
        steps=steps or (EXACT_STEPS if exact else SAMPLED_STEPS),
        size=_size(given),
        store=store,
    )


def _registered(name: str | Part, tokens: Tokens, shape: Sizes | None) -> Inputs:
    """A law by its registered name, for tokens of this shape."""
    if shape is None:
        return Gaussian()  # refused for want of a shape
    dim, count = tokens.shape_of(tuple(shape))
    part = Part(name) if isinstance(name, str) else name
    silent = Recorded(jnp.zeros((1, dim, count)), jnp.zeros((1, 1, 1)), Identity())
    return build_inputs(part, silent)


def _inputs_and_shape(
    inputs: Inputs | ArrayLike | None, shape: Sizes | None
) -> tuple[Inputs | Float[np.ndarray, "n ..."], Sizes]:
    if inputs is None or isinstance(inputs, Inputs):
        if shape is None:
            raise Refused(
                "`shape` must be given with an input law, since the law alone does not say how "
                "large an input is. Got none: try shape=(channels, height, width), (tokens, "
                "features), or an array of inputs."
            )
        return (Gaussian() if inputs is None else inputs), shape
    try:
        array = np.asarray(inputs)
        if array.dtype.kind not in "fiub":
            raise TypeError
    except (TypeError, ValueError, RuntimeError):
        raise Refused(
            "`inputs` must be an input law, such as tutelage.Gaussian(), or an array of numbers "
            f"with one input per row. Got {type(inputs).__name__}."
        ) from None
    array = array.astype(np.float64)
    if array.ndim < 2 or len(array) < LEAST_INPUTS:
        raise Refused(
            f"`inputs` must hold at least {LEAST_INPUTS} inputs along its first axis, since they "
            f"are compared with one another. Got an array of shape {array.shape}."
        )
    if not np.isfinite(array).all():
        raise Refused(
            "`inputs` must be finite, since the layer is called on them. Got NaN or infinity in "
            f"{int(np.sum(~np.isfinite(array))):,} of {array.size:,} numbers."
        )
    if shape is not None and tuple(shape) != array.shape[1:]:
        raise Refused(
            "`shape` must be that of one input, and can be left out with an array. Got "
            f"shape={tuple(shape)}, inputs of shape {array.shape[1:]}."
        )
    return array, array.shape[1:]


def _choose_outputs(reader: Reader, probes: int, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """All outputs and queries, or as many as there is room for, drawn at random."""
    M, d, D, Q = reader.shape
    room = max(4, MOST_SLOPES // (probes * d * D))
    if room >= M * Q:
        return np.arange(M), np.arange(Q)
    draw = generator(seed, "outputs of the layer")
    columns = min(Q, max(2, int(room**0.5)))
    count = min(M, max(2, room // columns))
    return (
        np.sort(draw.choice(M, count, replace=False)),
        np.sort(draw.choice(Q, columns, replace=False)),
    )


def _settle(
    reader: Reader,
    given: Probes,
    rows: np.ndarray,
    queries: np.ndarray,
    others: Float[np.ndarray, "n d D"],
    labels: Float[np.ndarray, "n M Q"],
    tolerance: float,
) -> tuple[Analysis, int]:
    """The form, and on how many of the other inputs the layer differs from it.

    Inputs on which it differs join the probes, a few times: an output that no probe had switched
    on is then seen.
    """
    probes = given
    for attempt in range(ROUNDS + 1):
        analysis = analyse(probes, tolerance)
        if analysis.link is None or analysis.heads is None:
            return analysis, 0
        heads = max(1, analysis.heads.count(tolerance))
        if heads > len(analysis.heads.values):
            return analysis, 0
        apart = _apart(analysis, heads, others, labels, tolerance)
        wrong = int(np.sum(apart.max((1, 2)) > 1))
        if not wrong or attempt == ROUNDS:
            break
        worst = apart.argmax(0)[apart.max(0) > 1]  # for each output the input that shows most
        chosen = np.unique(worst)[:MOST_ADDED]
        probes = _joined(probes, reader.probe(others[chosen], rows, queries))
    return analysis, wrong


def _apart(
    analysis: Analysis,
    heads: int,
    tokens: Float[np.ndarray, "n d D"],
    labels: Float[np.ndarray, "n M Q"],
    tolerance: float,
) -> Float[np.ndarray, "n M Q"]:
    """How far form and layer are apart, in units of what rounding may do."""
    size = np.sqrt(np.mean((labels - labels.mean(0)) ** 2)) + 1e-300
    allowed = 10 * max(tolerance, 1e-14) ** 0.5 * float(size)
    return np.abs(labels - analysis.predict(tokens, heads)) / allowed


def _joined(one: Probes, two: Probes) -> Probes:
    return replace(
        one,
        tokens=np.concatenate([one.tokens, two.tokens]),
        labels=np.concatenate([one.labels, two.labels]),
        jacobians=np.concatenate([one.jacobians, two.jacobians]),
        sound=np.concatenate([one.sound, two.sound]),
        error=max(one.error, two.error),
    )


def _check_values(labels: Float[np.ndarray, "n M Q"]) -> None:
    wrong = int(np.sum(~np.isfinite(labels).all((1, 2))))
    if wrong:
        raise Refused(
            "A layer must return finite numbers, since nothing is learned from others. Got NaN or "
            f"infinity for {wrong:,} of {len(labels):,} inputs."
        )


def _is_linear_in_pieces(
    reader: Reader,
    given: Probes,
    rows: np.ndarray,
    queries: np.ndarray,
    tolerance: float,
    seed: int,
) -> bool:
    few = given.tokens[:FEW]
    step = generator(seed, "steps nearby").standard_normal(few.shape)
    size = NEARBY * float(np.sqrt(np.mean(few**2)))
    nearby = reader.probe(few + size * step, rows, queries)
    return is_piecewise_linear(
        given.jacobians[:FEW], nearby.jacobians, max(1e-14, (100 * given.error) ** 2)
    )


def _gap(
    source: Source,
    tokens: Float[np.ndarray, "n d D"],
    labels: Float[np.ndarray, "n M Q"],
    given: Probes,
) -> Gap:
    if isinstance(source.law, Gaussian):
        return gaussian_gap(source.law, tokens, labels, given.jacobians.mean(0))
    return sampled_gap(tokens, labels)


def _size(given: Probes) -> float:
    """About how large entries of V are: the sum of slopes over tokens, in the middle."""
    pooled = np.abs(given.jacobians.sum(-1))
    return float(np.sqrt(np.mean(pooled**2)))
