"""The settings of `teacher-models/samples`, and how their n and their sizes are read."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace

import numpy as np
from jaxtyping import Float

from tutelage.settings import Part, Setting

STEPS = 500  # of Adam; a student of the class has then settled


def one_query(tokens: int, support: int) -> Float[np.ndarray, "D 1"]:
    """S* of one query that reads the first `support` tokens; which ones does not matter, since
    tokens are iid.
    """
    return (np.arange(tokens) < support)[:, None] / support


def setting_at(
    tokens: int = 16,
    dim: int = 8,
    *,
    activation: str = "identity",
    noise: float = 0.5,
    support: int = 4,
) -> Setting:
    """One output of one query; ‖V*‖² = K, so that the signal has variance 1 before σ and τ = ½ is a
    noise of a quarter of that.
    """
    teacher = Part(
        "bilinear",
        selection=one_query(tokens, support),
        outputs=1,
        dim=dim,
        norm=support**0.5,
        activation=activation,
        noise=noise,
    )
    return Setting(
        teacher,
        rate=0.05,
        steps=STEPS,
        student=Part("position_attention", attention_scale=1.0),
        objective=Part("empirical", samples=100),
        optimiser=Part("adam"),
        measures=("excess_risk",),
    )


def several_queries() -> Setting:
    """Three outputs and four queries, whose supports differ in size and overlap."""
    selection = np.zeros((12, 4))
    for query, (first, support) in enumerate(((0, 2), (1, 3), (3, 4), (0, 6))):
        selection[first : first + support, query] = 1 / support
    teacher = Part(
        "bilinear",
        selection=selection,
        outputs=3,
        dim=6,
        norm=3.0,
        activation="identity",
        noise=0.5,
    )
    return replace(setting_at(), teacher=teacher)


def with_samples(setting: Setting, samples: int) -> Setting:
    """The same setting with another n."""
    return setting.change(**{"objective.samples": samples})


def counts_of(settings: Sequence[Setting]) -> list[int]:
    """Every n of some settings, rising."""
    return sorted({int(setting.objective.options["samples"]) for setting in settings})


def noise_of(setting: Setting) -> float:
    """τ."""
    return float(setting.teacher.options.get("noise", 0.0))


SIZE: Mapping[str, Callable[[Setting], float]] = {  # by the letter that a sweep goes along
    "D": lambda setting: float(len(setting.teacher.options["selection"])),
    "d": lambda setting: float(setting.teacher.options["dim"]),
}
