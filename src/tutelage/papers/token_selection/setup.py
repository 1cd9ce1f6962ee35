"""Settings, hypotheses and words that the studies of this paper share."""

from __future__ import annotations

from typing import NamedTuple

from tutelage.claims.claim import NoPrediction
from tutelage.claims.verdict import Hypothesis
from tutelage.papers.token_selection.theory.collapse import Sizes, constant, plateau
from tutelage.settings import Part, Setting

TEACHER = "subset_average"
HEAD = "selection_head"
RATE = 0.2
# How the sources of this paper's statements were known: none of its full text was at hand.
FROM_SUMMARY = "arXiv 2406.06893, from summaries: its full text was not at hand"
BOUND_REPORTED = "arXiv 2406.06893 as reported by 2603.22801; the text was not at hand"
FROM_MEMORY = "arXiv 2306.02896, from memory: its full text was not at hand"
DERIVED = "derived here (docs/law.md of this paper)"
MEASURES = ("excess_risk", "value_scale", "score_gap", "chosen_weight")


class Task(NamedTuple):
    """T tokens of d features, of which q are averaged."""

    tokens: int
    support: int
    dim: int

    @property
    def name(self) -> str:
        return f"T{self.tokens}-q{self.support}-d{self.dim}"

    @property
    def label(self) -> str:
        return f"T = {self.tokens}, q = {self.support}, d = {self.dim}"

    @property
    def teacher(self) -> Part:
        return Part(TEACHER, tokens=self.tokens, support=self.support, dim=self.dim)


def train_head(task: Task, student: Part, steps: int, rate: float = RATE, seed: int = 0) -> Setting:
    """Gradient descent from zero on the exact risk."""
    return Setting(
        task.teacher,
        rate,
        steps,
        seed=seed,
        student=student,
        objective=Part("subset_risk"),
        measures=MEASURES if student.name == HEAD else ("excess_risk", "chosen_weight"),
    )


def fixed_codes() -> Part:
    return Part(HEAD, codes="fixed")


def fresh_codes(width: int) -> Part:
    return Part(HEAD, codes="fresh", width=width)


def sign_codes(width: int, draws: int) -> Part:
    return Part(HEAD, codes="signs", width=width, draws=draws)


def task_of(setting: Setting) -> Task:
    """The sizes that a setting's teacher has."""
    if setting.teacher.name not in (TEACHER, "token_selection"):
        raise NoPrediction(
            f"The law is one of the teacher {TEACHER!r}. Got {setting.teacher.name!r}."
        )
    options = setting.teacher.options
    return Task(int(options["tokens"]), int(options["support"]), int(options["dim"]))


def sizes_of(setting: Setting) -> Sizes:
    """T, q, d and N: T − 1 for fixed codes, and for a subset that is fixed as well; m for fresh
    ones.
    """
    task = task_of(setting)
    options = setting.student.options
    fresh = setting.student.name == HEAD and options.get("codes", "fixed") != "fixed"
    return Sizes(*task, float(options["width"] if fresh else task.tokens - 1))


def predict_constant(setting: Setting) -> float:
    """The limit of L·t."""
    return constant(sizes_of(setting))


def predict_plateau(setting: Setting) -> float:
    """The length of the plateau in steps."""
    return plateau(sizes_of(setting)) / setting.rate


def hypotheses(setting: Setting) -> tuple[Hypothesis, ...]:
    """What the law assumes."""
    signs = setting.student.options.get("codes") == "signs"
    overlap = "their overlaps are of size 1/√m" if signs else ""
    return (
        Hypothesis("the subset is part of the input", setting.teacher.name == TEACHER),
        Hypothesis("codes are orthonormal", not signs, overlap),
        Hypothesis("training starts at zero, on the exact risk", True),
    )


def paper_hypotheses(setting: Setting) -> tuple[Hypothesis, ...]:
    """What the paper's bound assumes, as far as it is known to us."""
    codes = str(setting.student.options.get("codes", "fixed"))
    return (
        Hypothesis("the subset is part of the input", setting.teacher.name == TEACHER),
        Hypothesis("codes are drawn anew at every step", codes != "fixed", f"they are {codes}"),
        Hypothesis("codes are wide enough to be nearly orthogonal", codes == "fresh" or None),
    )
