"""The numbers that every row trains on, in plain NumPy, so that no rival's process holds more than
its own library.
"""

from __future__ import annotations

import os
from typing import Any

import numpy as np

CORES = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1

# The CNN setting: tokens, support, dimension, outputs; a batch and label noise for those who
# sample.
D, K, DIM, M, BATCH, NOISE, RATE, START, SEEDS = 36, 4, 10, 8, 100, 0.1, 0.01, 0.1, 64
# The shallow transformer, and its tangent kernel.
SAMPLES, FEATURES, TOKENS, WIDTHS, STEP, RADIUS = 4000, 8, 16, (8, 64, 256), 0.03, 3.0
GRAM_SAMPLES, GRAM_HEADS = 1000, 1024


def cnn(
    tokens: int, dtype: Any, seeds: int = 0, scale: float = START
) -> tuple[list[np.ndarray], list[np.ndarray]]:
    """V* and S* of average pooling over groups of K tokens, and a start W_V, W_KQ for each of some
    seeds; 0 is one, without the axis.
    """
    draw, lead = np.random.default_rng(0), (seeds,) if seeds else ()
    teacher = (
        draw.normal(size=(*lead, M, DIM)),
        np.kron(np.eye(tokens // K), np.full((K, K), 1 / K)),
    )
    start = (
        draw.normal(size=(*lead, M, DIM)) * scale,
        draw.normal(size=(*lead, tokens, tokens)) * scale,
    )
    return [x.astype(dtype) for x in teacher], [x.astype(dtype) for x in start]


def heads(
    n: int, m: int, dtype: Any, tokens: int = TOKENS
) -> tuple[list[np.ndarray], list[np.ndarray]]:
    """W, U, c at the symmetric start, and X, q (the last token), y."""
    draw = np.random.default_rng(0)
    half = (
        draw.normal(size=(m // 2, FEATURES, FEATURES)),
        draw.normal(size=(m // 2, FEATURES)),
        draw.choice([-1.0, 1.0], size=m // 2),
    )
    weights = [
        np.concatenate([half[0]] * 2),
        np.concatenate([half[1]] * 2),
        np.concatenate([half[2], -half[2]]),
    ]
    X = draw.normal(size=(n, FEATURES, tokens))
    X /= np.maximum(1, np.linalg.norm(X, axis=1, keepdims=True))
    return [x.astype(dtype) for x in weights], [
        x.astype(dtype) for x in (X, X[:, :, -1], 0.1 * draw.normal(size=n))
    ]
