"""Estimates of parts whose sizes their options' names alone do not tell: the leading terms of what
each holds, with the letters M, d, D, Q of a teacher's outputs, features, tokens and queries.
"""

from __future__ import annotations

import math

import numpy as np

from tutelage.problem.sizes import (
    PAIR_NUMBERS,
    Options,
    Sizes,
    count,
    hold_student,
    hold_teacher,
    size_teacher,
)
from tutelage.settings import LITERAL

# Of 70,000 images of 28×28 pixels, which are held as bytes; and their 81 tokens of 9 features.
IMAGE_BYTES, IMAGE_TOKENS, IMAGE_DIM = 70_000 * 784, 81, 9
NEARLY_ONE = 1.0 - 1e-15
FADED = 0.01  # the correlation that is left between what is trained on and what is held out
# Numbers of a curvature, at most, and the copies of it that gradient flow holds.
MOST_CURVATURE, CURVATURES = 2.0**25, 5
SQUARE_NODES = 1e4  # of quadrature, for one pair of an output and a query


def size_token_selection(options: Options, sizes: Sizes) -> Sizes:
    """V* is a multiple of the identity."""
    return size_teacher({**options, "outputs": options.get("dim")}, sizes)


def size_bilinear(options: Options, sizes: Sizes) -> Sizes:
    """S* and V* may be given by hand, and then say how large they are."""
    selection, value = options.get("selection"), options.get("value")
    given = dict(options)
    if isinstance(selection, np.ndarray) and selection.ndim == 2:
        given |= {"tokens": selection.shape[0], "queries": selection.shape[1]}
    if isinstance(value, np.ndarray) and value.ndim == 2:
        given |= {"outputs": value.shape[0], "dim": value.shape[1]}
    return size_teacher(given, sizes)


def size_recorded(options: Options, sizes: Sizes) -> Sizes:
    """The inputs and labels that are given say how large they are."""
    inputs, labels = options.get("inputs"), options.get("labels")
    if not isinstance(inputs, np.ndarray) or not isinstance(labels, np.ndarray):
        return sizes  # refused later
    if inputs.ndim != 3 or labels.ndim != 3:
        return sizes
    M, Q = labels.shape[1:]
    d, D = inputs.shape[1:]
    shaped = sizes._replace(outputs=M, dim=d, tokens=D, queries=Q, per_draw=d * D)
    return shaped.draw(len(inputs), 0)


def size_two_selections(options: Options, sizes: Sizes) -> Sizes:
    """Two matrices V* and two S*; `hidden` rows between them where there are layers."""
    shaped = size_teacher(options, sizes)
    between = count(options, "hidden", shaped.outputs) * (shaped.dim + shaped.outputs)
    return hold_teacher(shaped._replace(held=sizes.held, work=sizes.work), 2.0).hold(between)


def size_transported(options: Options, sizes: Sizes) -> Sizes:
    """A pool of heads, W and v of each; a label goes through all of them."""
    d, T = count(options, "dim"), count(options, "tokens")
    pool, anchors = count(options, "pool"), count(options, "anchors")
    held = 6 * pool * d * (d + 1) + anchors * d * T
    shaped = sizes._replace(dim=d, tokens=T, per_draw=d * T, work_per_draw=4 * pool * T * d)
    return shaped.hold(held, anchors * pool * d * (d + T))


def size_autoregression(options: Options, sizes: Sizes) -> Sizes:
    """Tokens are one value with its position channels."""
    T = count(options, "tokens", count(options, "lag") + 1)
    d = count(options, "channels") + 1
    phi = options.get("coefficient")
    phi = min(abs(phi), NEARLY_ONE) if isinstance(phi, int | float) else 0.0
    lags = math.log(FADED) / math.log(phi) if phi > 0 else 0.0
    apart = max(lags * count(options, "lag"), T + 1)
    shaped = sizes._replace(dim=d, tokens=T, per_draw=d * T, apart=apart)
    return shaped.hold(d * T)


def size_series(options: Options, sizes: Sizes) -> Sizes:
    """Between the beginnings of two windows lie `stride` values, drawn thrice over."""
    stride = count(options, "stride", sizes.tokens + 1)
    return sizes._replace(per_draw=sizes.per_draw + stride, apart=3 * sizes.apart)


def size_images(options: Options, sizes: Sizes) -> Sizes:
    """All images as bytes, and a small network that is trained on batches of them."""
    shaped = size_teacher({**options, "tokens": IMAGE_TOKENS, "dim": IMAGE_DIM}, sizes)
    batch = count(options, "batch") * IMAGE_TOKENS * (IMAGE_DIM + shaped.outputs)
    return shaped.hold(IMAGE_BYTES / 8 + 3 * batch)


def size_position_attention(options: Options, sizes: Sizes) -> Sizes:
    """W_V and the scores, and codes where they are named or given; S is the same for all inputs."""
    M, d, D, Q = sizes.outputs, sizes.dim, sizes.tokens, sizes.queries
    return hold_student(
        _hold_codes(options, options.get("key_codes"), sizes),
        M * d + D * Q,
        per_input=M * (D + 2 * Q),
        work_per_input=M * D * (d + Q),
    )


def size_content_attention(options: Options, sizes: Sizes) -> Sizes:
    """W_KQ and W_V of the width of a token with its code; one S for every input."""
    M, d, D, Q = sizes.outputs, sizes.dim, sizes.tokens, sizes.queries
    mix = options.get("mix")
    width = d if mix in ("added", "none") else d + count(options, "size", D)
    codes = None if mix == "none" else options.get("codes")
    return hold_student(
        _hold_codes(options, codes, sizes),
        2 * width**2 + M * width,
        per_input=2 * D * Q + 2 * width * D + M * Q,
        work_per_input=width * D * (width + Q + M) + M * D * Q,
    )


def _hold_codes(options: Options, codes: object, sizes: Sizes) -> Sizes:
    """Named codes of length p; orthonormal ones are cut from a rotation of p×p."""
    if not isinstance(codes, str):
        return sizes
    p = count(options, "size", sizes.tokens)
    square = 3 * p**2 if codes == "orthonormal" else 0.0
    return sizes.hold(2 * p * sizes.tokens + square, square * p)


def size_two_layer(options: Options, sizes: Sizes) -> Sizes:
    """`hidden` units that read all features of all tokens."""
    hidden, read = count(options, "hidden"), sizes.dim * sizes.tokens
    written = sizes.outputs * sizes.queries
    numbers = hidden * (read + written)
    return hold_student(
        sizes, numbers, per_input=read + 2 * hidden + 2 * written, work_per_input=numbers
    )


def size_multi_head(options: Options, sizes: Sizes) -> Sizes:
    M, d, D, Q = sizes.outputs, sizes.dim, sizes.tokens, sizes.queries
    heads = count(options, "heads")
    return hold_student(
        sizes,
        heads * (M * d + D * Q),
        per_input=heads * M * (D + Q),
        work_per_input=heads * M * D * (d + Q),
    )


def size_two_layer_position(options: Options, sizes: Sizes) -> Sizes:
    M, d, D, Q = sizes.outputs, sizes.dim, sizes.tokens, sizes.queries
    hidden = count(options, "hidden")
    return hold_student(
        sizes,
        D * (D + Q) + hidden * (d + M),
        per_input=hidden * (3 * D + Q) + 2 * M * Q,
        work_per_input=hidden * D * (d + D + Q + M),
    )


def size_shallow_transformer(options: Options, sizes: Sizes) -> Sizes:
    """W, U and c of each head, now and at the start."""
    heads, d, T = count(options, "heads"), sizes.dim, sizes.tokens
    return hold_student(
        sizes,
        2 * heads * (d + 1) ** 2,
        per_input=heads * (2 * T + 3 * d),
        work_per_input=heads * d * (d + 3 * T),
        in_blocks=True,
    )


def size_indrnn(options: Options, sizes: Sizes) -> Sizes:
    """A gradient keeps what every unit was at every token."""
    heads, d, T = count(options, "heads"), sizes.dim, sizes.tokens
    return hold_student(
        sizes, 2 * heads * (d + 2), per_input=2 * heads * T, work_per_input=heads * d * T
    )


def size_population(options: Options, sizes: Sizes) -> Sizes:
    """Nothing is drawn: some numbers per output and query; a curvature if it goes on by flow."""
    M, d, D, Q = sizes.outputs, sizes.dim, sizes.tokens, sizes.queries
    curvature = (M * d) ** 2 + D * Q * (D + M * d)
    flows = sizes.steps > LITERAL and curvature <= MOST_CURVATURE
    flowing = CURVATURES * curvature if flows else 0.0
    return sizes.hold(PAIR_NUMBERS * M * Q + D * Q + flowing, M * Q * SQUARE_NODES + D * Q * M)


def size_online(options: Options, sizes: Sizes) -> Sizes:
    """A batch is drawn within each step, and thrown away."""
    batch, held_out = count(options, "batch"), count(options, "held_out")
    return sizes.draw(0.0, held_out).draw(batch, 0.0).step(max(batch, held_out))


def size_squared_loss(options: Options, sizes: Sizes) -> Sizes:
    """The tokens are held a second time, as steps read them."""
    samples, validation = count(options, "samples"), count(options, "validation")
    held = sizes.draw(samples, validation).hold(samples * sizes.dim * sizes.tokens)
    return held.step(max(samples, validation))


def size_image_loss(options: Options, sizes: Sizes) -> Sizes:
    """A batch of images within each step; ten thousand are held out."""
    return sizes.step(max(count(options, "batch"), 1e4))
