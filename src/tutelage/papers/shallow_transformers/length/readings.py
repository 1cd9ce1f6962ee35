"""What the study of length reads off a run, and how it depends on the number of tokens."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from tutelage.claims.exponent import fitted_exponent
from tutelage.papers.shallow_transformers.readings import Point, Reading, read_start, setting_of
from tutelage.refuse import Refused
from tutelage.run import Run


@dataclass(frozen=True)
class Quantity:
    """What is read off a run, and its name in a sentence."""

    name: str
    words: str
    read: Reading


def least_relative(run: Run) -> float:
    """The least loss of any iterate over (1/n)Σy²."""
    return float(run.curves["least_loss"].min() / run.curves["label_power"][0])


LOSS = Quantity("loss", "min loss/E[y²]", least_relative)
# The last of the four entries of a gradient measure is that of all blocks together.
GRADIENT = Quantity("gradient", "sup ‖∇f‖", read_start("function_gradient_sup", 3))
LINEARISATION = Quantity(
    "linearisation",
    "sup |f − f_lin| at random points of the boundary",
    read_start("random_linearisation", 0),
)
QUANTITIES = (LOSS, GRADIENT, LINEARISATION)


def points(runs: Sequence[Run], quantity: Quantity) -> list[Point]:
    """(T, value, seed) of every run."""
    settings = [setting_of(run) for run in runs]
    return [
        (float(setting.teacher.options["tokens"]), quantity.read(run), setting.seed)
        for run, setting in zip(runs, settings, strict=True)
    ]


def exponents(runs: Sequence[Run], quantity: Quantity) -> list[float]:
    """The exponent in T through all lengths, one per seed."""
    found = points(runs, quantity)
    lengths = {T for T, _, _ in found}
    if len(lengths) < 3:
        raise Refused(
            f"An exponent needs at least three lengths, since two always fit. Got {len(lengths)}."
        )
    return [
        fitted_exponent([(T, y) for T, y, s in found if s == seed])
        for seed in sorted({s for _, _, s in found})
    ]
