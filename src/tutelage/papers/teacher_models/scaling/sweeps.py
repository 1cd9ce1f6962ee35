"""The sweeps of `teacher-models/scaling`, and the setting at each of their points."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import NamedTuple

from tutelage.papers.teacher_models.sweeps import Sweep, norm, rate, support, tokens
from tutelage.settings import Part, Setting

SWEEPS = (
    Sweep("D", "D", "K = 2, M = 1", tokens, "$D$, with $K=2$"),
    Sweep("V", "‖V*‖", "D = 256, K = 2, M = 1", norm),
    Sweep("eta", "η", "D = 256, K = 2, M = 1", rate),
    Sweep("D-and-K", "D", "K = D/4", tokens, "$D$, with $K=D/4$"),
    Sweep("K", "K", "D = 36", support, "$K$, with $D=36$"),
)
# D ≥ poly(M, K) with a polynomial that is not stated: D is far above K = 2 and M = 1 here, so that
# the theorem speaks of these sweeps. In the other two D/K is 4 at worst, where it says nothing.
IN_REGIME = ("D", "V", "eta")


class Point(NamedTuple):
    """One point of a sweep: D, K, ‖V*‖ and the step size over the largest stable one."""

    tokens: int
    support: int
    norm: float = 40.0
    fraction: float = 0.25


def make_large(point: Point) -> Setting:
    """A collapsed convolution teacher with the identity and one output, whatever D; ‖V*‖ is in
    units of D√K, at which the two stable steps 2K/D and 2DK²/‖V*‖² are alike.
    """
    D, K, units, fraction = point
    V = units * D * math.sqrt(K)
    teacher = Part(
        "convolution",
        tokens=D,
        support=K,
        outputs=1,
        dim=4,
        norm=V,
        activation="identity",
        collapse=True,
    )
    return Setting(teacher, rate=fraction * min(2 * K / D, 2 * D * K**2 / V**2), steps=1)


def make_unscaled(point: Point) -> Setting:
    """As `make_large`, with scores that are not divided by √D. That multiplies the second stable
    step by 1/D, so ‖V*‖ is in units of √(DK).
    """
    units = point.norm / math.sqrt(point.tokens)
    student = Part("position_attention", attention_scale=1.0)
    return replace(make_large(point._replace(norm=units)), student=student)


def make_wide(queries: int) -> Setting:
    """A collapsed group-sparse teacher with D = 8 tokens, ‖V*‖ = D and any number of queries Q, at
    half the largest stable step 2/Q.
    """
    teacher = Part("group_sparse", tokens=8, dim=4, norm=8.0, queries=queries, collapse=True)
    return Setting(teacher, rate=0.5 * 2 / queries, steps=1)


def make_setting(point: Point) -> Setting:
    """A collapsed convolution teacher with ReLU (λ = ½). Its rate is a fraction of the largest
    stable one, min(2K/(λD), 2DK²/(λ‖V*‖²)).
    """
    D, K, V, fraction = point
    teacher = Part(
        "convolution",
        tokens=D,
        support=K,
        outputs=2,
        dim=4,
        norm=V,
        activation="relu",
        collapse=True,
    )
    return Setting(teacher, rate=fraction * min(4 * K / D, 4 * D * K**2 / V**2), steps=1)
