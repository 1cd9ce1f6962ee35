"""The SVM law as claims: about runs that have found their supports, and about how W_KQ grows
then.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from tutelage.claims import Claim, Constant, Rate, Status
from tutelage.claims.claim import Answer, NoPrediction, count, curve_of, value_at
from tutelage.claims.power_laws import CONSTANTS_AFTER
from tutelage.papers.teacher_models.codes.readings import found
from tutelage.papers.teacher_models.theory import LAW, max_margin
from tutelage.run import Run

SHARP = (
    "derived here (docs/derivations.md); the direction is that of Tarzanagh et al. 2023 "
    "(arXiv 2308.16898)"
)


@dataclass(frozen=True)
class WhereFound(Claim):
    """A claim about those runs that have found their supports: the law says where W_KQ goes then,
    not that it is always so.
    """

    of: Rate | Constant | Increment

    @property
    def tested(self) -> str:
        return self.of.tested

    @property
    def tolerance(self) -> float:
        return self.of.tolerance

    @property
    def judged_as(self) -> Claim:
        return self.of

    def answer(self, runs: Sequence[Run]) -> Answer:
        try:
            for run in runs:
                value_at(max_margin.excess_constant, run)
        except NoPrediction as reason:
            return Answer(Status.UNDECIDED, f"No prediction at this setting. {reason}", None)
        kept = [run for run in runs if found(run)]
        if 2 * len(kept) < len(runs):
            answer = self.of.answer(kept or runs)
            said = (
                f"Only {len(kept)} of {len(runs)} runs have found their supports, too few to "
                f"speak for all. {answer.sentence}"
            )
            return replace(answer, status=Status.UNDECIDED, sentence=said)
        answer, lost = self.of.answer(kept), len(runs) - len(kept)
        if not lost:
            return answer
        said = f"{lost} of {len(runs)} runs have not found theirs. {answer.sentence}"
        return replace(answer, sentence=said)


@dataclass(frozen=True)
class Increment(Claim):
    """ΔW_KQ/Δlog t → W_svm: the relative distance of the last half decade's increment is within
    `tolerance`.

    A margin that is only just above ½ leaves a weight that falls only just faster than the others,
    so the approach may be as slow as any power of t. A distance that still falls, however slowly,
    refutes nothing; one that has not fallen for a decade does.
    """

    tolerance: float = 0.1

    def answer(self, runs: Sequence[Run]) -> Answer:
        ends = np.array([curve_of(run, "increment_error")[-1] for run in runs])
        worst, seen = float(ends.max()), (float(ends.min()), float(ends.max()))
        said = (
            f"Over {count(runs)} the relative distance of ΔW_KQ/Δlog t from W_svm ends at "
            f"{worst:.3g} at most"
        )
        begin = CONSTANTS_AFTER * max(value_at(max_margin.plateau, run) for run in runs)
        steps = min(int(run.steps[-1]) for run in runs)
        if steps < begin:
            said += (
                f", after {steps:,} steps; it is read after {begin:,.0f} "
                f"({CONSTANTS_AFTER:g} plateaus). About {begin:.1g} would decide"
            )
            status = Status.UNDECIDED
        elif worst <= self.tolerance:
            status, said = Status.HOLDS, f"{said}, within {self.tolerance:g}"
        elif steps >= 10 * begin and any(_stays(run) for run in runs):
            status, said = (
                Status.FAILS,
                f"{said}, above {self.tolerance:g} and no nearer than a decade ago",
            )
        else:
            status, said = (
                Status.UNDECIDED,
                f"{said}, above {self.tolerance:g}; about {10 * steps:.1g} steps may decide",
            )
        rejected = worst if status is Status.HOLDS else None
        return Answer(status, f"{said}.", 0.0, worst, seen, smallest_violation=rejected)


def _stays(run: Run) -> bool:
    """Whether the distance is no smaller than a decade ago."""
    curve = curve_of(run, "increment_error")
    return bool(curve[-1] >= np.interp(run.steps[-1] / 10, run.steps, curve))


def law_claims() -> tuple[Claim, ...]:
    """The SVM law about one kind of codes."""
    law, plateau = LAW["excess"], max_margin.plateau
    claims: dict[str, tuple[Rate | Constant | Increment, str]] = {
        "excess-rate": (Rate(law.curve, law.exponent, plateau=plateau), law.rate_text),
        "excess-constant": (
            Constant(law.curve, law.exponent, max_margin.excess_constant, plateau=plateau),
            "excess·ηT → ‖W_svm‖²",
        ),
        "increment": (
            Increment(),
            "ΔW_KQ/Δlog t → W_svm, relative distance over the last half decade",
        ),
    }
    return tuple(
        WhereFound(of, id=name, statement=words, source=SHARP, hypotheses=max_margin.svm_law)
        for name, (of, words) in claims.items()
    )
