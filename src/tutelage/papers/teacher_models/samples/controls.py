"""What must not hold in `teacher-models/samples`."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from tutelage.claims import Number
from tutelage.papers.teacher_models.samples import readings
from tutelage.papers.teacher_models.samples.claims import dimension_law
from tutelage.papers.teacher_models.samples.fits import fit_all
from tutelage.papers.teacher_models.samples.methods import (
    LEAST_SQUARES,
    ORACLE,
    SHARE,
    find_need,
)
from tutelage.papers.teacher_models.samples.needs import counts_around
from tutelage.papers.teacher_models.samples.settings import counts_of
from tutelage.papers.teacher_models.theory.linear_baselines import zero_excess
from tutelage.papers.teacher_models.theory.tangent_cone import free_weights
from tutelage.run import Run
from tutelage.settings import Setting
from tutelage.studies.study import Case


def controls(identity: tuple[Setting, ...], relu: tuple[Setting, ...]) -> list[Case]:
    """On the runs of the two curves against n."""
    few, most = counts_of(identity)[1], counts_of(relu)[-1]
    return [
        Case(
            "free-weights",
            "weights of any sign",
            identity,
            (
                dimension_law(
                    identity,
                    dimension=free_weights,
                    statement="2n·excess/τ² → Md − 1 + D, every weight free",
                ),
            ),
            "weights that are not negative: each zero of S* counts one half",
        ),
        Case(
            "no-more-than-the-oracle",
            "least squares as good as the oracle",
            identity,
            (
                at_most(
                    "need",
                    over_oracle(identity[0], few),
                    1.0,
                    "the n that least squares needs over the oracle's",
                ),
            ),
            "S* is known: least squares must find it",
        ),
        Case(
            "too-few-rows",
            "least squares with n < Dd",
            identity,
            (reached_by_least_squares(few),),
            "n > Dd: there are fewer equations than unknowns",
        ),
        Case(
            "linear-for-relu",
            "a linear map of a ReLU",
            relu,
            (reached_by_least_squares(most),),
            "a linear teacher: the gap stays",
        ),
    ]


def at_most(
    name: str, values: Callable[[Sequence[Run]], list[float]], value: float, of: str
) -> Number:
    return Number(
        values=values,
        value=value,
        of=of,
        tolerance=0.0,
        side="at most",
        id=name,
        statement=f"{of} is at most {value:g}",
        source="a control",
    )


def reached_by_least_squares(n: int) -> Number:
    def read(run: Run) -> float:
        setting = readings.setting_of(run)
        return fit_all(setting).least_squares / zero_excess(setting)

    of = f"the relative excess of least squares at n = {n}"
    return at_most("reached", readings.each_at(n, read), SHARE, of)


def over_oracle(base: Setting, n: int) -> Callable[[Sequence[Run]], list[float]]:
    """The n that least squares needs over the oracle's, for each seed with runs at n."""

    def read(run: Run) -> float:
        setting = readings.setting_of(run)
        ours, theirs = (
            find_need(method, setting, counts_around(method, base))
            for method in (LEAST_SQUARES, ORACLE)
        )
        return ours / theirs

    return readings.each_at(n, read)
