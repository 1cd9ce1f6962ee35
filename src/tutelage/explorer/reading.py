"""What theory says of a run while it goes on: predicted and fitted lines, verdicts as they form,
phases.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any, Protocol

import numpy as np

from tutelage.claims import Hypothesis, Verdict
from tutelage.claims.claim import NoPrediction
from tutelage.explorer.measuring import CLASS, numbers
from tutelage.explorer.phases import phases_of
from tutelage.run import Outcome, Run
from tutelage.settings import Setting

Line = dict[str, Any]
REMEMBERED = 128  # settings whose facts theory keeps, each with its D×Q matrix
LAWS = {  # the curve that a claim's name begins with: its exponent and constant
    "excess": ("excess_risk", -1.0, "counting_law"),
    "value": ("value_error", -0.5, "value_constant"),
    "attention": ("attention_error", -0.5, "attention_constant"),
}


class Reading(Protocol):
    """What can be said of a setting, and of its run."""

    sentence: str  # why there are no claims; "" where there are some

    def hypotheses(self) -> Sequence[Hypothesis]: ...

    def predicted(self) -> list[Line]: ...

    def fitted(self, run: Run) -> list[Line]: ...

    def verdicts(self, run: Run) -> list[Verdict]: ...

    def phases(self, run: Run | None) -> list[dict[str, Any]]: ...


class Silent:
    """A setting of which no theorem here says anything; why is its sentence."""

    def __init__(self, sentence: str) -> None:
        self.sentence = sentence

    def hypotheses(self) -> Sequence[Hypothesis]:
        return ()

    def predicted(self) -> list[Line]:
        return []

    def fitted(self, run: Run) -> list[Line]:
        return []

    def verdicts(self, run: Run) -> list[Verdict]:
        return []

    def phases(self, run: Run | None) -> list[dict[str, Any]]:
        return []


class Rates:
    """The claims of `teacher-models/rates` about one setting."""

    sentence = ""

    def __init__(self, setting: Setting) -> None:
        from tutelage.papers.teacher_models import theory
        from tutelage.papers.teacher_models.rates.study import claims_of

        if theory.facts.cache_info().currsize >= REMEMBERED:
            theory.facts.cache_clear()
        self.setting = setting
        self.conditions = theory.theorem_3_1(setting)
        self.constants = {name: self._constant(law) for name, (_, _, law) in LAWS.items()}
        # A constant of zero (all tokens are read) is no power law, and nothing is claimed of it.
        self.claims = {
            name: claim
            for name, claim in claims_of("explorer").items()
            if self.constants.get(name.removesuffix("-constant")) != 0
        }

    def _constant(self, law: str) -> float | None:
        from tutelage.papers.teacher_models import theory

        try:
            return float(getattr(theory, law)(self.setting))
        except NoPrediction:
            return None

    def hypotheses(self) -> Sequence[Hypothesis]:
        return self.conditions

    def predicted(self) -> list[Line]:
        """Straight lines of the sharp constants from the end of the plateau on, and where label
        noise will hold an online run.
        """
        from tutelage.papers.teacher_models import theory

        lines, end = [], float(self.setting.steps)
        begin = max(1.0, theory.plateau(self.setting))
        for name, (curve, exponent, _) in LAWS.items():
            constant = self.constants[name]
            if constant and begin < end:
                values = [
                    constant * (self.setting.rate * step) ** exponent for step in (begin, end)
                ]
                law = "1/ηT" if exponent == -1 else "1/√(ηT)"
                lines.append(
                    _line(
                        curve, "predicted", f"theory: {constant:.4g} · {law}", [begin, end], values
                    )
                )
        if (
            float(self.setting.teacher.options.get("noise", 0.0)) > 0
            and self.setting.objective.name == "online"
        ):
            try:
                floor = theory.noise_floor(self.setting)
                lines.append(
                    _line(
                        "excess_risk",
                        "predicted",
                        f"theory: noise floor {floor:.3g}",
                        [1.0, end],
                        [floor, floor],
                    )
                )
            except NoPrediction:
                pass
        return lines

    def fitted(self, run: Run) -> list[Line]:
        """The slope in the last window of each claimed rate, drawn over all the windows that the
        verdict reads.
        """
        from tutelage.claims import Rate
        from tutelage.claims.power_laws import window_of
        from tutelage.claims.trend import WINDOWS

        lines = []
        for claim in self.claims.values():
            if (
                not isinstance(claim, Rate)
                or claim.curve not in run.curves
                or (span := window_of(claim, [run])) is None
            ):
                continue
            begin = span[1] * (span[0] / span[1]) ** (
                1 / WINDOWS
            )  # of the last of so many windows, equally wide in log time
            late = (run.steps >= begin) & (run.steps <= span[1]) & (run.curves[claim.curve] > 0)
            if late.sum() > 2:
                slope, level = np.polyfit(
                    np.log(run.steps[late]), np.log(run.curves[claim.curve][late]), 1
                )
                values = np.exp(level + slope * np.log(span))
                lines.append(
                    _line(claim.curve, "fitted", f"fitted slope {slope:.3f}", span, values)
                    | {"window": [begin, span[1]]}
                )
        return lines

    def verdicts(self, run: Run) -> list[Verdict]:
        from tutelage.claims import check

        # A run of a study may have measured less than the page does.
        return [
            check(claim, run)
            for claim in self.claims.values()
            if getattr(claim, "curve", "") in run.curves
        ]

    def phases(self, run: Run | None) -> list[dict[str, Any]]:
        return phases_of(
            self.setting, run, theorem=all(h.met is not False for h in self.conditions[:-1])
        )


class Bounds:
    """The claims of `shallow-transformers/bounds` about training; they are of the last step, and so
    wait for it.
    """

    sentence = ""

    def __init__(self, setting: Setting) -> None:
        from tutelage.papers.shallow_transformers.bounds.study import IN_TRAINING, claims_of
        from tutelage.papers.shallow_transformers.theory import approximation as theory
        from tutelage.problem.registry import options_of

        pool = options_of("teacher", "transported")["pool"].default
        self.setting = setting.change(
            **{"teacher.pool": setting.teacher.options.get("pool", pool)}
        )  # its error is part of the bounds
        self.conditions = theory.hypotheses(self.setting)
        self.claims = claims_of("explorer", IN_TRAINING, theory.hypotheses)

    def hypotheses(self) -> Sequence[Hypothesis]:
        return self.conditions

    def predicted(self) -> list[Line]:
        """The bound on linearisation, which is of every iterate."""
        from tutelage.papers.shallow_transformers.theory import approximation as theory

        bound = theory.linearisation_bound(theory.sizes(self.setting))
        ends = [1.0, float(self.setting.steps)]
        return [
            _line(
                "linearisation_gap.sup",
                "predicted",
                f"theory: at most {bound:.3g}",
                ends,
                [bound, bound],
            )
        ]

    def fitted(self, run: Run) -> list[Line]:
        return []

    def verdicts(self, run: Run) -> list[Verdict]:
        from tutelage.claims import check

        if run.outcome is not Outcome.FINISHED or not {
            "least_loss",
            "averaged_loss",
            "label_power",
        } <= set(run.curves):
            return []
        return [check(claim, replace(run, setting=self.setting)) for claim in self.claims]

    def phases(self, run: Run | None) -> list[dict[str, Any]]:
        return []


def reading_of(setting: Setting) -> Reading:
    """The theory that knows a setting, or why none does. The setting has been built, and so is
    sound.
    """
    teacher, student = setting.teacher.name, setting.student.name
    if setting.teacher.options.get("collapse"):
        return Silent("The explorer judges teachers that are not collapsed.")
    if (
        teacher in CLASS
        and student == "position_attention"
        and setting.objective.name == "minibatch"
    ):
        return Silent(
            "No claims here: minibatches of a fixed sample do not measure what Theorem 3.1 is "
            "about."
        )
    if teacher in CLASS and student == "position_attention":
        try:
            return Rates(setting)
        except NoPrediction as reason:
            return Silent(f"No claims here. {reason}")
    if (
        teacher == "transported"
        and setting.optimiser.name == "projected_descent"
        and setting.objective.name == "squared_loss"
    ):
        return Bounds(setting)
    if teacher in CLASS:
        return Silent(
            f"No claims here: Theorem 3.1 is about the student position_attention. Got {student}."
        )
    if teacher == "transported":
        return Silent(
            "No claims here: the bounds are for projected descent on the squared loss of the "
            "whole sample."
        )
    return Silent(
        f"No claims here: no theorem in this library is about the teacher {teacher} and one run."
    )


def so_far(setting: Setting, points: np.ndarray, curves: Mapping[str, np.ndarray]) -> Run:
    """A run as it stands, for claims to look at."""
    have = len(next(iter(curves.values())))
    return Run(
        points[:have], dict(curves), None, Outcome.STOPPED, rate=setting.rate, setting=setting
    )


def events(reading: Reading, run: Run) -> Iterator[dict[str, Any]]:
    """What can be said of a run now. Lines and verdicts replace those that came before."""
    if not len(run.steps) or run.steps[-1] < 1:
        return
    yield {"event": "lines", "lines": [*reading.predicted(), *reading.fitted(run)]}
    if phases := reading.phases(run):
        yield {"event": "phases", "phases": phases}
    yield {
        "event": "verdicts",
        "verdicts": [verdict_of(v) for v in reading.verdicts(run)],
        "sentence": reading.sentence,
    }


def verdict_of(verdict: Verdict) -> dict[str, Any]:
    """A verdict as JSON has it: no number that is not finite."""
    return finite(verdict.plain())


def finite(thing: Any) -> Any:
    """The same with null for every number that JSON does not know."""
    if isinstance(thing, dict):
        return {key: finite(value) for key, value in thing.items()}
    if isinstance(thing, list | tuple):
        return [finite(value) for value in thing]
    return None if isinstance(thing, float) and not np.isfinite(thing) else thing


def _line(curve: str, kind: str, label: str, steps: Any, values: Any) -> Line:
    return {
        "curve": curve,
        "kind": kind,
        "label": label,
        "steps": numbers(steps),
        "values": numbers(values),
    }
