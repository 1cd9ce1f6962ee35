"""The kinds of position codes under the SVM law, and the teachers that they are tried on."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass

import numpy as np
from jaxtyping import Float

from tutelage.problem.options import Value
from tutelage.settings import Part, Setting

POOLING = Part(
    "convolution", tokens=8, support=2, outputs=2, dim=4, norm=11.0, activation="identity"
)
NEXT = Part(
    "bilinear",
    selection=np.roll(np.eye(8), 1, axis=0),
    outputs=2,
    dim=4,
    norm=8.0,
    activation="identity",
)

Options = Callable[[Setting], Mapping[str, Value]]


@dataclass(frozen=True)
class Kind:
    """A kind of codes under the SVM law: who teaches, and the options of the student that has
    them.
    """

    name: str
    label: str
    teacher: Part
    options: Options
    random: bool = False


def even_sinusoids(positions: int) -> Float[np.ndarray, "D D"]:
    """Sines and cosines of D/2 frequencies spaced evenly from 0.4 to 2.4 radians per position, each
    code of length 1 (D even).
    """
    rows = np.arange(positions)
    angles = np.outer(np.linspace(0.4, 2.4, positions // 2)[rows // 2], np.arange(positions))
    return np.where(rows[:, None] % 2 == 0, np.sin(angles), np.cos(angles)) * math.sqrt(
        2 / positions
    )


def _named(name: str, size: float = 1.0, **more: Value) -> Options:
    """Codes of a name, `size` times D long."""
    return lambda setting: {
        "key_codes": name,
        "size": round(size * _count_tokens(setting)),
        **more,
    }


def _even(setting: Setting) -> Mapping[str, Value]:
    return {"key_codes": even_sinusoids(_count_tokens(setting))}


def _count_tokens(setting: Setting) -> int:
    options = setting.teacher.options
    return int(options["tokens"] if "tokens" in options else len(options["selection"]))


KINDS = (
    Kind("orthonormal", "orthonormal", POOLING, _named("orthonormal")),
    Kind("longer", "1.5 × orthonormal", POOLING, _named("orthonormal", code_scale=1.5)),
    Kind("shorter", "0.7 × orthonormal", POOLING, _named("orthonormal", code_scale=0.7)),
    Kind("even-sinusoids", "even sinusoids", POOLING, _even),
    Kind("gaussian-wide", "Gaussian, p = 2D", POOLING, _named("gaussian", 2.0), random=True),
    Kind("gaussian-square", "Gaussian, p = D, K = 1", NEXT, _named("gaussian"), random=True),
    Kind("gaussian-narrow", "Gaussian, p = ¾D, K = 1", NEXT, _named("gaussian", 0.75), random=True),
    Kind("textbook-sinusoids", "textbook sinusoids", POOLING, _named("sinusoidal", code_scale=0.5)),
)
