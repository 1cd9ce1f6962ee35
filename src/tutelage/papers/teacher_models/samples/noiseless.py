"""Samples without label noise in `teacher-models/samples`: from how few the teacher is found."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from tutelage.claims import Claim, Measured, Number
from tutelage.papers.teacher_models.samples import readings
from tutelage.papers.teacher_models.samples.claims import DERIVED, EXACT, measured
from tutelage.papers.teacher_models.samples.fits import fit_all
from tutelage.papers.teacher_models.samples.settings import counts_of, with_samples
from tutelage.papers.teacher_models.theory.linear_baselines import zero_excess
from tutelage.papers.teacher_models.theory.tangent_cone import free_map
from tutelage.run import Run
from tutelage.settings import Setting

# Of the excess of predicting zero: without noise the teacher is found or missed by far.
FOUND = 0.01


def share_found(n: int) -> Callable[[Sequence[Run]], list[float]]:
    """1 for each sample from which the teacher is found, else 0."""
    return readings.each_at(n, lambda run: float(readings.relative_excess(run) < FOUND))


def words(n: int) -> str:
    return f"the share of samples of {n} from which the teacher is found"


def found_measures(settings: Sequence[Setting]) -> tuple[Measured, ...]:
    """Where descent begins to find the teacher, which is measured."""
    return tuple(measured(f"found-{n}", words(n), share_found(n)) for n in counts_of(settings))


def identity_claims(settings: Sequence[Setting]) -> tuple[Claim, ...]:
    """Below δ the sample does not determine the teacher even near it."""
    fewest = counts_of(settings)[0]
    below = Number(
        values=share_found(fewest),
        value=0.0,
        of=words(fewest),
        tolerance=0.05,
        side="at most",
        id=f"below-{fewest}",
        statement="below δ samples the teacher is not found",
        source=DERIVED,
    )

    def read(run: Run) -> float:
        base = readings.setting_of(run)
        enough = with_samples(base, int(free_map(base)) + 2)
        return fit_all(enough).least_squares / zero_excess(enough)

    least_squares = Number(
        values=readings.each_at(fewest, read),
        value=0.0,
        of="the relative excess of least squares at n = Dd + 2",
        tolerance=1e-9,
        id="least-squares",
        statement="without noise least squares is exact from n = Dd + 1 on",
        source=EXACT,
    )
    return (below, *found_measures(settings)[1:], least_squares)
