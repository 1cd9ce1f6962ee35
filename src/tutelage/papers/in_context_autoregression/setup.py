"""Settings, hypotheses and words that the studies of this paper share."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import lru_cache

import numpy as np
from jaxtyping import Float

from tutelage.claims.claim import NoPrediction
from tutelage.claims.verdict import Hypothesis
from tutelage.papers.in_context_autoregression import paper
from tutelage.papers.in_context_autoregression.parts.attention import LinearAttention, used_entries
from tutelage.papers.in_context_autoregression.parts.rotations import RotatingTokens
from tutelage.papers.in_context_autoregression.theory.conservation import (
    Conserved,
    read_conserved,
    unitary_level,
    unitary_level_from_zero,
)
from tutelage.problem.build import build
from tutelage.settings import Part, Setting
from tutelage.studies.changes import changed
from tutelage.studies.study import Plan, Preset

# How the sources of this paper's statements were known: none of its full text was at hand.
FROM_MEMORY = "arXiv 2402.05787, from memory: its full text was not at hand"
FROM_CODE = "the authors' published code, which was read; the text was not at hand"
DERIVED = "derived here (docs/law.md of this paper)"

START = 0.1  # size of the start in the published code


@dataclass(frozen=True, kw_only=True)
class AttentionPreset(Preset):
    """Sizes of the process, and the first of the seeds."""

    dim: int = 10
    tokens: int = 20
    first_seed: int = 0


def attention_setting(
    dim: int,
    tokens: int,
    *,
    heads: int | None = None,
    process: str = "unitary",
    start: float = START,
    rate: float,
    steps: int,
    seed: int,
    measures: tuple[str, ...],
) -> Setting:
    """Plain descent of linear attention on the exact loss."""
    return Setting(
        Part("rotating_tokens", dim=dim, tokens=tokens, process=process),
        rate,
        steps,
        seed=seed,
        inputs=Part("rotations"),
        student=Part("linear_attention", heads=heads, start=start),
        objective=Part("next_token"),
        measures=measures,
    )


def change_settings(plan: Plan, settings: Sequence[Setting]) -> tuple[Setting, ...]:
    """With what the user changed."""
    given = [changed(setting, plan.changes, paper.letters) for setting in settings]
    if plan.steps is not None:
        given = [replace(setting, steps=plan.steps) for setting in given]
    return tuple(given)


def over_seeds(setting: Setting, count: int) -> tuple[Setting, ...]:
    """The same setting with successive seeds."""
    return tuple(replace(setting, seed=setting.seed + i) for i in range(count))


def expect_training(setting: Setting, teacher: str) -> None:
    """Refuses a setting of which a study says nothing: a calculation, or another teacher."""
    if setting.calculation is not None:
        raise NoPrediction(
            f"The claims are about training. Got the calculation {setting.calculation.name!r}."
        )
    if setting.teacher.name != teacher:
        raise NoPrediction(
            f"The claims are about the teacher {teacher!r}. Got {setting.teacher.name!r}."
        )


@dataclass(frozen=True)
class Start:
    """Where a run of linear attention begins, and the sizes that its prediction needs."""

    teacher: RotatingTokens
    heads: int
    conserved: Conserved

    @property
    def rows(self) -> int:
        """R, the number of prefixes."""
        return self.teacher.tokens - 1


@lru_cache(maxsize=4096)
def start_of(setting: Setting) -> Start:
    """The start of a setting, which is all that the conservation law looks at."""
    problem = build(setting)
    teacher, student = problem.teacher, problem.student
    if not isinstance(teacher, RotatingTokens) or not isinstance(student, LinearAttention):
        raise NoPrediction(
            "The conservation law is that of linear attention on rotating tokens. Got "
            f"{setting.student.name!r} and {setting.teacher.name!r}."
        )
    scores, values = np.asarray(student.scores), np.asarray(student.values)
    used = np.asarray(student.positions)[used_entries(teacher.tokens)]
    return Start(teacher, len(scores), read_conserved(scores, values, used))


def predict_level(setting: Setting) -> float:
    """|c| by the law of independent angles and H = d heads, from the start of a run."""
    start = start_of(setting)
    return unitary_level(start.conserved, start.rows)


def predict_level_from_zero(setting: Setting) -> float:
    """|c| of a vanishing start."""
    start = start_of(setting)
    return unitary_level_from_zero(start.teacher.dim, start.rows)


def steady_rate(dim: int, tokens: int, share: float) -> float:
    """A step size that is the same share of 1/(dc²), the time scale of the end, at all sizes."""
    return share / (dim * unitary_level_from_zero(dim, tokens - 1) ** 2)


def hypotheses_of_process(setting: Setting) -> tuple[Hypothesis, ...]:
    """What the statements about independent angles assume, whatever the number of heads."""
    process = start_of(setting).teacher.process
    return (
        Hypothesis(
            "the angles of all features are independent and uniform",
            process == "unitary",
            f"the process is {process}",
        ),
        Hypothesis("the step size is small", None, f"η = {setting.rate:g}"),
    )


def hypotheses(setting: Setting) -> tuple[Hypothesis, ...]:
    """The same, and as many heads as features."""
    start = start_of(setting)
    dim = start.teacher.dim
    return (
        *hypotheses_of_process(setting),
        Hypothesis(
            "there are as many heads as features",
            start.heads == dim,
            f"H = {start.heads}, d = {dim}",
        ),
    )


def fitted_slope(x: Float[np.ndarray, "n"], y: Float[np.ndarray, "n"]) -> float:
    """The slope of y against x by least squares."""
    return float(np.polyfit(x, y, 1)[0])
