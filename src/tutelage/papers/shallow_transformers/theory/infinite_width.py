"""Descent at infinite width: the loss that τ steps leave when f is linear in its parameters and its
kernel is the expected one.

The expectation over heads is a mean over many, none of which the teacher's pool has.
"""

from __future__ import annotations

from functools import cache

import numpy as np

from tutelage.claims.claim import NoPrediction
from tutelage.numerics.heads import draw_heads
from tutelage.numerics.kernel_descent import KernelDescent
from tutelage.numerics.streams import stream
from tutelage.numerics.tangent_kernel import gram
from tutelage.papers.shallow_transformers.theory.start import build_start
from tutelage.settings import Setting

HEADS = 4096  # that stand for the expectation


def losses(setting: Setting) -> tuple[float, float]:
    """The loss after τ steps, and that of the averaged iterate (1/τ)Σ_{t<τ}θ_t, each over
    (1/n)Σy².
    """
    if setting.objective.name != "squared_loss" or setting.student.options.get("query") is not None:
        raise NoPrediction(
            "Descent at infinite width is computed for the whole batch and the last token as query."
        )
    descent = _descent(
        setting.change(**{"student.heads": 2, "rate": 1.0, "steps": 1, "measures": ()})
    ).at(setting.rate)
    if setting.rate >= descent.largest_rate:
        raise NoPrediction(
            f"At infinite width descent is unstable above a step of {descent.largest_rate:.3g}."
        )
    power, last = np.mean(descent.labels**2), np.array([setting.steps])
    return float(descent.loss(last)[0] / power), float(descent.averaged_loss(last)[0] / power)


@cache
def _descent(setting: Setting) -> KernelDescent:
    """Descent in K on the setting's sample, at its rate."""
    start = build_start(setting)
    tokens = start.sample.tokens
    heads = draw_heads(HEADS, tokens.shape[1], key=stream(setting.seed, "infinite width"))
    kernel = gram(
        heads.attention,
        heads.reading,
        tokens,
        tokens[:, :, -1],
        activation=start.student.activation,
    )
    return KernelDescent(np.asarray(kernel), np.asarray(start.sample.labels), setting.rate)
