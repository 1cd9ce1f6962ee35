"""The claims of `teacher-models/samples` about the excess against n, for every method and
teacher.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from tutelage.claims import Claim, Exponent, Measured, Number
from tutelage.papers.teacher_models.samples import readings
from tutelage.papers.teacher_models.samples.fits import fit_all
from tutelage.papers.teacher_models.samples.methods import (
    LEAST_SQUARES,
    ORACLE,
    RIDGE,
    STUDENT,
    Baseline,
    Method,
    count_parameters,
    steady,
)
from tutelage.papers.teacher_models.samples.settings import counts_of, with_samples
from tutelage.papers.teacher_models.theory import linear_baselines
from tutelage.papers.teacher_models.theory.tangent_cone import free_map
from tutelage.run import Run
from tutelage.settings import Setting

DERIVED = "derived here (docs/derivations.md, section 15)"
EXACT = "exact for Gaussian inputs (docs/derivations.md, section 15)"
WHITE_RIDGE = "Dobriban and Wager 2018, for white inputs"
# Relative to the prediction, which is the leading order: the next one is a few times δ/n, 1% of
# itself at the largest n.
CLOSE = 0.05
BENT = 0.1  # the same for ReLU, whose next order is larger
EXPONENT = 0.1  # told from the other methods': 0, about ½ and 1


def dimension_law(
    settings: Sequence[Setting],
    method: Method = STUDENT,
    *,
    dimension: Callable[[Setting], float] | None = None,
    statement: str = "",
    tolerance: float = CLOSE,
) -> Number:
    """2n·excess/τ² = δ at the largest n of a case; δ is the method's own where no other is
    given.
    """
    n, value = counts_of(settings)[-1], dimension or method.dimension

    def read(run: Run) -> float:
        return count_parameters(method, readings.setting_of(run), readings.last_excess(run))

    return Number(
        values=readings.each_at(n, read),
        value=value,
        of=f"2n·excess/τ² of {method.words} at n = {n:,}",
        tolerance=tolerance * value(settings[0]),
        id=f"{method.id}-law",
        statement=statement or f"2n·excess/τ² of {method.words} → δ",
        source=DERIVED,
    )


def expected_excess(method: Baseline, n: int, source: str) -> Number:
    """A linear baseline's mean excess at n over the expected one; steadied where n is large, where
    that helps.
    """

    def read(run: Run) -> float:
        setting = readings.setting_of(run)
        excess = method.excess(fit_all(setting))
        if n > 4 * free_map(setting):
            excess = steady(method, setting, excess)
        return excess / method.expected(setting)

    words = f"the excess of {method.words} at n = {n} over the expected one"
    return Number(
        values=readings.each_at(n, read),
        value=1.0,
        of=words,
        tolerance=CLOSE,
        id=f"{method.id}-{n}",
        statement=f"{words} is 1",
        source=source,
    )


def measured(name: str, of: str, values: Callable[[Sequence[Run]], Sequence[float]]) -> Measured:
    return Measured(
        values=values, of=of, id=name, statement=of, source="measured; nothing predicts it"
    )


def relative_measure(n: int, who: str) -> Measured:
    """The last excess over that of predicting zero."""
    return measured(
        f"relative-{n}",
        f"the excess of {who} at n = {n} over that of predicting zero",
        readings.each_at(n, readings.relative_excess),
    )


def stopping_measure(n: int, who: str) -> Measured:
    """What the best of all stops would save."""
    return measured(
        f"stopping-{n}",
        f"the least excess along the way of {who} at n = {n} over its last",
        readings.each_at(n, readings.saved_by_stopping),
    )


def student_rate(counts: Sequence[int]) -> Exponent:
    """The student's excess in n, over some n."""

    def points(runs: Sequence[Run]) -> list[tuple[float, float, int]]:
        found = []
        for n in counts:
            for run in readings.with_count(runs, n):
                setting = readings.setting_of(run)
                excess = steady(STUDENT, setting, readings.last_excess(run))
                found.append((float(n), excess, setting.seed))
        return found

    return Exponent(
        points=points,
        exponent=-1.0,
        of="the student's excess in n",
        tolerance=EXPONENT,
        id="student-rate",
        statement="the student's excess falls like 1/n",
        source=DERIVED,
    )


def identity_claims(settings: Sequence[Setting]) -> tuple[Claim, ...]:
    """The identity: all methods against n."""
    counts = counts_of(settings)
    fewer, few, most = counts[0], counts[1], counts[-1]
    return (
        dimension_law(settings),
        student_rate(counts[-3:]),
        expected_excess(ORACLE, most, EXACT),
        expected_excess(LEAST_SQUARES, most, EXACT),
        expected_excess(LEAST_SQUARES, fewer, EXACT),
        expected_excess(RIDGE, most, WHITE_RIDGE),
        expected_excess(RIDGE, few, WHITE_RIDGE),
        relative_measure(few, STUDENT.words),
        stopping_measure(fewer, STUDENT.words),
        stopping_measure(most, STUDENT.words),
    )


def linear_gap_claim(n: int) -> Number:
    """What a linear map cannot learn of a ReLU."""

    def read(run: Run) -> float:
        # Excess = gap + c/n + O(1/n²): twice that at 2n less that at n is the gap, to second order.
        setting = readings.setting_of(run)
        twice, once = (fit_all(with_samples(setting, m)).least_squares for m in (n, n // 2))
        return (2 * twice - once) / linear_baselines.linear_gap(setting)

    return Number(
        values=readings.each_at(n, read),
        value=1.0,
        of="what least squares does not learn as n grows, over the gap",
        tolerance=BENT,
        id="linear-gap",
        statement="the excess of least squares tends to (½ − 1/π) of that of predicting zero",
        source=EXACT,
    )


def relu_claims(settings: Sequence[Setting]) -> tuple[Claim, ...]:
    """The same law for ReLU."""
    counts = counts_of(settings)
    return (
        dimension_law(settings, tolerance=BENT),
        linear_gap_claim(counts[-1]),
        relative_measure(counts[0], STUDENT.words),
        stopping_measure(counts[0], STUDENT.words),
    )


def oracle_claims(settings: Sequence[Setting]) -> tuple[Claim, ...]:
    """A student that knows S*, trained."""
    law = dimension_law(settings, ORACLE, tolerance=BENT)
    return law, relative_measure(counts_of(settings)[0], ORACLE.words)


def network_claims(settings: Sequence[Setting]) -> tuple[Claim, ...]:
    return tuple(
        measure(n, "the network")
        for n in counts_of(settings)
        for measure in (relative_measure, stopping_measure)
    )
