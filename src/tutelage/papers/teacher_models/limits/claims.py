"""The claims and measurements of a cell in the map of `teacher-models/limits`."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from tutelage.claims import Claim, Measured, Number
from tutelage.papers.teacher_models.limits.readings import LEARNED, Cell, Draw
from tutelage.papers.teacher_models.theory.limits import floor
from tutelage.run import Run

SOURCE = "proved here (docs/derivations.md, section 16)"
# Of a bound: three Monte Carlo errors of a relative excess on 40,000 inputs, rounded up.
ROOM = 0.03

MEASURED: dict[str, tuple[str, Callable[[Draw], float]]] = {
    "best": (
        "the relative excess of the best of restarts, on fresh inputs",
        lambda draw: draw.best,
    ),
    "second": (
        "the relative excess of the second best restart, held out",
        lambda draw: sorted(draw.restarts)[1],
    ),
    "median": (
        "the relative excess of the median restart, held out",
        lambda draw: sorted(draw.restarts)[len(draw.restarts) // 2],
    ),
    "worst": (
        "the relative excess of the worst restart, held out",
        lambda draw: max(draw.restarts),
    ),
    "near": ("the number of restarts within 10% of the best", lambda draw: float(draw.near)),
    "alone": (
        "the share of draws in which the best is one restart's alone",
        lambda draw: float(draw.alone),
    ),
    "error": ("one Monte Carlo error of the best", lambda draw: draw.error),
    "gap": ("the best on fresh inputs less the same on the training sample", lambda draw: draw.gap),
}


def measurements(cell: Cell) -> list[Measured]:
    """What a cell of the map shows: one number per draw of the teacher."""
    return [
        Measured(cell.values(read), of, id=name, statement=of, source="measured here")
        for name, (of, read) in MEASURED.items()
    ]


def learned_claim(cell: Cell, scale: str = "either") -> Number:
    """The teacher is a student of this kind, or a limit of such students."""
    return Number(
        cell.values(lambda draw: draw.best),
        0.0,
        "the best of restarts",
        LEARNED,
        "at most",
        id="learned",
        statement="the teacher is learned: the relative excess is 1% or less",
        source="it is in the student's class",
        scale=scale,
    )


def bound_claims(cell: Cell) -> list[Claim]:
    """A certified bound is respected and reached."""

    def over_floor(runs: Sequence[Run]) -> list[float]:
        """The best of restarts over the bound of its own draw."""
        floors = {run.setting.seed: floor(run.setting) for run in runs if run.setting is not None}
        return [
            draw.best / bound for draw, bound in zip(cell.draws(runs), floors.values(), strict=True)
        ]

    of = "the best of restarts over the certified bound"
    return [
        Number(
            over_floor,
            1.0,
            of,
            ROOM,
            "at least",
            id="floor",
            statement="nothing is below the certified bound",
            source=SOURCE,
            derived=True,
        ),
        Number(
            over_floor,
            1.0,
            of,
            ROOM,
            id="reached",
            statement="training reaches the bound, which a student attains",
            source=SOURCE,
        ),
    ]
