"""The sweeps of `teacher-models/scaling`, and the setting at each of their points."""

from __future__ import annotations

from typing import NamedTuple

from tutelage.papers.teacher_models.sweeps import Sweep, norm, rate, support, tokens
from tutelage.settings import Part, Setting

SWEEPS = (
    Sweep("D", "D", "K = 4", tokens, "$D$, with $K=4$"),
    Sweep("D-and-K", "D", "K = D/4", tokens, "$D$, with $K=D/4$"),
    Sweep("K", "K", "D = 36", support, "$K$, with $D=36$"),
    Sweep("V", "‖V*‖", "D = 16, K = 4", norm),
    Sweep("eta", "η", "D = 16, K = 4", rate),
)


class Point(NamedTuple):
    """One point of a sweep: D, K, ‖V*‖ and the step size over the largest stable one."""

    tokens: int
    support: int
    norm: float = 40.0
    fraction: float = 0.25


def make_setting(point: Point) -> Setting:
    """A convolution teacher with ReLU (λ = ½), its rate a fraction of min(2K/(λD), 2DK²/(λ‖V*‖²)),
    the largest stable one.
    """
    D, K, V, fraction = point
    teacher = Part("convolution", tokens=D, support=K, outputs=2, dim=4, norm=V, activation="relu")
    return Setting(teacher, rate=fraction * min(4 * K / D, 4 * D * K**2 / V**2), steps=1)
