r"""Which forms a curve excludes: power law, with a floor, log-corrected, exponential, stretched.

**What is asked.** A form is *excluded* if none of its members comes within `tolerance` (1%, root
mean square in $\log y$) of the curve from `begin` on, but for chance. That is a statement about the
stretch that was measured, and not about what comes after it.

**How.** What a form misses of a curve is smooth, so only the smooth part of $\log y$ is looked at:
$P$ projects on polynomials of degree 9 in $\log x$. Let $R$ be the smallest
$\|P(\log y - \log f)\|$ over all members $f$, and $n$ the number of bins of $\log x$. If some
member is within the tolerance, then $R \le \|P\,\text{noise}\| + \sqrt n\cdot$ tolerance, since
the best member is no farther away than that one. So a form with a larger $R$ is excluded;
$\|P\,\text{noise}\|$ is bounded by its 99% quantile. Each form is tested by itself, so the true
one is excluded in at most 1% of all curves, however many forms there are.

**What is assumed.** Noise is independent from bin to bin (a 24th of a decade) and varies slowly in
size. Its size is taken from how four neighbours scatter around a parabola in $\log x$. Smoothed
logs break this: their noise looks smaller than it is.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from jaxtyping import Float

from tutelage.evidence.binning import Binned, bin_curve, largest_chance, noise
from tutelage.evidence.curves import check_positive
from tutelage.evidence.laws import FORMS, Fit, Form, fit
from tutelage.evidence.sources import Evidence, as_runs, given_runs
from tutelage.notebook import card
from tutelage.refuse import Refused, positive
from tutelage.run import Run

if TYPE_CHECKING:
    import pandas

CHANCE = 0.01  # of excluding a true form
TOLERANCE = 0.01
FEWEST = 16  # bins
HELD_BACK = 1 / 4  # of the bins, in which a fit to the others is judged
HORIZONS = tuple(2.0**k for k in range(1, 14))  # over the last x, at which forms may part


@dataclass(frozen=True)
class FormAnswer:
    """What a curve says about one form."""

    form: Form
    excluded: bool
    misfit: float  # root mean square of the smooth part of log y − log fit, of the nearest member
    allowed: float  # what noise and the tolerance explain
    # How far a fit to the first three quarters is off in the last one, root mean square in log y.
    forecast: float
    fits: tuple[Fit, ...]  # one per run

    @property
    def word(self) -> str:
        return "excluded" if self.excluded else "not excluded"


@dataclass(frozen=True)
class Comparison:
    """Which forms a curve excludes, and which it does not."""

    curve: str
    answers: tuple[FormAnswer, ...]
    begin: float  # from where on the curve is read
    end: float
    noise: float  # of one bin, in log y
    tolerance: float
    apart: str  # where the forms that are left would part

    @property
    def excluded(self) -> tuple[str, ...]:
        return tuple(answer.form.name for answer in self.answers if answer.excluded)

    @property
    def left(self) -> tuple[str, ...]:
        return tuple(answer.form.name for answer in self.answers if not answer.excluded)

    @property
    def sentence(self) -> str:
        stretch = f"From {self.begin:,.6g} to {self.end:,.6g} {self.curve}"
        if not self.left:
            return f"{stretch} has none of these forms within {self.tolerance:.1%}."
        if not self.excluded:
            return f"{stretch} excludes none of these forms. {self.apart}".strip()
        kept = f"It does not exclude: {', '.join(self.left)}."
        return f"{stretch} excludes: {', '.join(self.excluded)}. {kept} {self.apart}".strip()

    def table(self) -> pandas.DataFrame:
        """A row per form; parameters are those of the first run."""
        import pandas

        rows = [
            {
                "form": answer.form.name,
                "formula": answer.form.formula,
                "excluded": answer.excluded,
                "misfit": answer.misfit,
                "allowed": answer.allowed,
                "forecast": answer.forecast,
                **answer.fits[0].parameters,
            }
            for answer in self.answers
        ]
        return pandas.DataFrame(rows)

    def __repr__(self) -> str:
        return f"Comparison({self.sentence})"

    def _repr_html_(self) -> str:
        rows = {
            f"{answer.form.name}: {answer.form.formula}": (
                f"{answer.word}, misfit {say_off(answer.misfit)}, allowed {say_off(answer.allowed)}"
            )
            for answer in self.answers
        }
        return card("MEASURED", f"forms of {self.curve}", [self.sentence], rows, "")


def say_off(log_ratio: float) -> str:
    """A difference of logarithms: in percent where it is small, as a factor where it is not."""
    return f"{log_ratio:.2%}" if log_ratio < 0.5 else f"×{np.exp(min(log_ratio, 700.0)):.3g}"


def compare_forms(
    evidence: Evidence,
    *,
    x: str | None = None,
    y: str | None = None,
    by: str | None = None,
    begin: float | None = None,
    tolerance: float = TOLERANCE,
) -> Comparison:
    """Which of five forms a curve excludes, in one table.

    `evidence` is what `check` takes; `x`, `y` and `by` name the columns of steps, values and runs.
    The curve is read from `begin` on, by default from where it has halved. Several runs are fitted
    one by one and judged together.
    """
    given = given_runs(evidence)
    # Time is then x itself, so that the rate of a run is the unit in which its steps are counted.
    runs = given or as_runs(evidence, x=x, y=() if y is None else (y,), by=by, rate=1.0)
    unit = 1.0 if given or runs[0].rate is None else runs[0].rate
    return compare_runs(runs, _curve_name(runs, y), begin, tolerance, unit)


def compare_runs(
    runs: Sequence[Run],
    name: str,
    begin: float | None = None,
    tolerance: float = TOLERANCE,
    unit: float = 1.0,
) -> Comparison:
    """The same of runs that have the curve. `begin`, and x in the answer, are `unit` times their
    steps.
    """
    tolerance = positive("tolerance", tolerance, reason="no curve follows a form to the last digit")
    curves = [_read(run, name, begin, unit) for run in runs]
    total = sum(len(one) for one in curves)
    chance = largest_chance(curves, CHANCE)
    allowed = chance / np.sqrt(total) + tolerance
    answers = tuple(_answer(form, curves, float(allowed)) for form in FORMS)
    first = unit * min(find_begin(run, name) for run in runs) if begin is None else begin
    last = unit * max(float(run.steps[-1]) for run in runs)
    scatter = float(np.sqrt(np.mean([noise(one) ** 2 for one in curves])))
    left = [answer for answer in answers if not answer.excluded]
    apart = _parting(left, last, 3 * scatter + 3 * tolerance)
    return Comparison(name, answers, first, last, scatter, tolerance, apart)


def find_begin(run: Run, name: str) -> float:
    """The first x > 0 at which the curve has halved; its first x > 0 where it never does."""
    curve = run.curves[name]
    later = run.steps > 0
    halved = np.flatnonzero(later & (curve <= 0.5 * curve[0]))
    return float(run.steps[halved[0]] if len(halved) else run.steps[later][0])


def _read(run: Run, name: str, begin: float | None, unit: float) -> Binned:
    if name not in run.curves:
        raise Refused(
            f"The curve must be one that was measured. Got {name!r}, of {', '.join(run.curves)}."
        )
    curve = run.curves[name]
    if curve.ndim != 1:
        raise Refused(
            f"A form needs a scalar curve. `{name}` has {curve.shape[1]} entries per step."
        )
    check_positive(name, curve, run.steps)
    start = unit * find_begin(run, name) if begin is None else begin
    binned = bin_curve(unit * run.steps, curve, start * (1 - 1e-9))
    if len(binned) < FEWEST:
        raise Refused(
            f"Forms are compared over at least {FEWEST} points spread over log x, since the "
            f"richest has five parameters. Got {len(binned)} from {start:,g} on, of "
            f"{len(run.steps)} in all. A longer curve, or one measured more often, would do; or "
            "begin earlier (`begin`, `--from`)."
        )
    return binned


def _answer(form: Form, curves: Sequence[Binned], allowed: float) -> FormAnswer:
    fits = tuple(fit(form, one) for one in curves)
    total = sum(len(one) for one in curves)
    misfit = float(np.sqrt(sum(found.squares for found in fits) / total))
    missed = np.concatenate([_forecast(form, one) for one in curves])
    forecast = float(np.sqrt(np.mean(missed**2)))
    return FormAnswer(form, misfit > allowed, misfit, allowed, forecast, fits)


def _forecast(form: Form, binned: Binned) -> Float[np.ndarray, "held"]:
    """What a fit to the first part is off in the part that it has not seen."""
    seen = len(binned) - max(1, int(HELD_BACK * len(binned)))
    found = fit(form, binned.first(seen), tries=1)
    off = binned.log_y[seen:] - found.log_value(binned.x[seen:])
    return np.asarray(np.clip(off, -1e3, 1e3))


def _parting(left: Sequence[FormAnswer], last: float, visible: float) -> str:
    """The first horizon at which two forms that are left would differ by more than could be noise
    or tolerance.
    """
    for times in HORIZONS:
        for one, other in _pairs(left):
            at = np.array([times * last])
            gap = abs(float((one.fits[0].log_value(at) - other.fits[0].log_value(at))[0]))
            if gap > visible:
                return (
                    f"At {times * last:,.3g} the {one.form.name} and the {other.form.name} that "
                    f"fit best would differ by a factor of {np.exp(min(gap, 50.0)):.3g}."
                )
    return ""


def _pairs(left: Sequence[FormAnswer]) -> Iterator[tuple[FormAnswer, FormAnswer]]:
    return itertools.combinations(left, 2)


def _curve_name(runs: Sequence[Run], asked: str | None) -> str:
    if asked is not None:
        return asked
    names = list(dict.fromkeys(name for run in runs for name in run.curves))
    if len(names) != 1:
        raise Refused(f"One curve must be named (`y`, `--y`). Got {', '.join(names)}.")
    return names[0]
