"""Settings, hypotheses and words that the studies of this paper share."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import TypedDict

import numpy as np

from tutelage.claims.claim import NoPrediction
from tutelage.claims.verdict import Hypothesis
from tutelage.numerics.least_norm import Infeasible
from tutelage.papers.attention_svm import paper
from tutelage.papers.attention_svm.parts.sample import Sample
from tutelage.papers.attention_svm.parts.teacher import LabelledSequences
from tutelage.papers.attention_svm.theory.nuclear import LeastNuclear, least_nuclear
from tutelage.papers.attention_svm.theory.programmes import MaxMargin, max_margin
from tutelage.problem.build import build_teacher
from tutelage.settings import Part, Setting
from tutelage.studies.changes import changed
from tutelage.studies.study import Plan, Preset

TEACHER = "labelled_sequences"
# How the sources of this paper's statements were known: none of its full text was at hand.
FROM_MEMORY = "arXiv 2308.16898, from memory: its full text was not at hand"
FROM_CODE = "the authors' published code, which was read; the text was not at hand"
DERIVED = "derived here (docs/law.md of this paper)"


@dataclass(frozen=True, kw_only=True)
class SvmPreset(Preset):
    """Sizes of the sample, and the first of its seeds.

    A confirmation uses sizes and seeds that nothing was looked at before.
    """

    sequences: int = 6
    tokens: int = 8
    dim: int = 10
    first_seed: int = 0


RATE = 0.1  # of normalised descent, in the published code
W_FROM_UNIFORM = Part("matrix_attention", start="uniform")


def descent_part(steps: int, arithmetic: str = "log", ridge: float = 0.0) -> Part:
    """Normalised descent at the published step size."""
    return Part(
        "normalised_attention_descent",
        rate=RATE,
        steps=steps,
        arithmetic=arithmetic,
        ridge=ridge,
    )


class Sizes(TypedDict):
    """What a preset says about its problems."""

    sequences: int
    tokens: int
    dim: int
    first_seed: int


# Sizes and seeds of the presets named `confirm`.
FRESH: Sizes = {"sequences": 5, "tokens": 10, "dim": 12, "first_seed": 1000}


def build_settings(
    plan: Plan,
    preset: SvmPreset,
    calculation: Part,
    student: Part,
    design: str = "sphere",
    seeds: int | None = None,
) -> tuple[Setting, ...]:
    """One setting per seed at the sizes of the preset, with what the user changed."""
    teacher = Part(
        TEACHER,
        sequences=preset.sequences,
        tokens=preset.tokens,
        dim=preset.dim,
        design=design,
    )
    base = Setting.of_calculation(
        calculation, teacher=teacher, student=student, seed=preset.first_seed
    )
    setting = changed(base, plan.changes, paper.letters)
    count = plan.seeds or seeds or preset.seeds
    return tuple(replace(setting, seed=setting.seed + i) for i in range(count))


def expect_calculation(setting: Setting, *names: str) -> None:
    """Refuses a setting of which a study says nothing: another calculation, or another teacher."""
    found = "none" if setting.calculation is None else repr(setting.calculation.name)
    if setting.calculation is None or setting.calculation.name not in names:
        known = " or ".join(map(repr, names))
        raise NoPrediction(f"The claims are about the calculation {known}. Got {found}.")
    sample_of(setting)


def sample_of(setting: Setting) -> Sample:
    """The sample that a setting's teacher stands for."""
    teacher = build_teacher(setting)
    if not isinstance(teacher, LabelledSequences):
        raise NoPrediction(
            f"The programmes are for the teacher {TEACHER!r}. Got {setting.teacher.name!r}."
        )
    return teacher.sample


def programme_of(sample: Sample, selected: Sequence[float]) -> MaxMargin:
    """W^mm of a selection, solved once."""
    return _solve_margin(sample, tuple(int(token) for token in selected))


@lru_cache(maxsize=4096)
def _solve_margin(sample: Sample, selected: tuple[int, ...]) -> MaxMargin:
    return max_margin(sample, np.array(selected))


def nuclear_of(sample: Sample, selected: Sequence[float]) -> LeastNuclear:
    """W_⋆ of a selection, solved once."""
    return _solve_nuclear(sample, tuple(int(token) for token in selected))


@lru_cache(maxsize=4096)
def _solve_nuclear(sample: Sample, selected: tuple[int, ...]) -> LeastNuclear:
    return least_nuclear(sample, np.array(selected))


def local_hypotheses(setting: Setting) -> tuple[Hypothesis, ...]:
    """What the theorems about the selection that a run ends at assume: that it can be made."""
    sample = sample_of(setting)
    (count, tokens), dim = sample.scores.shape, sample.tokens.shape[2]
    wide = dim >= max(tokens - 1, count)
    sizes = f"d = {dim}, T − 1 = {tokens - 1}, n = {count}"
    return (Hypothesis("d ≥ max(T − 1, n), so that every selection is feasible", wide, sizes),)


def hypotheses(setting: Setting) -> tuple[Hypothesis, ...]:
    """What the theorem about the best tokens assumes, evaluated at a setting."""
    sample = sample_of(setting)
    others = np.sort(sample.scores, axis=1)[:, :-1]
    spread = float(np.ptp(others, axis=1).max())
    found = [
        *local_hypotheses(setting),
        Hypothesis(
            "the scores of all tokens but the best are equal",
            spread < 1e-12,
            f"they differ by {spread:.2g} at most",
        ),
    ]
    try:
        solved = programme_of(sample, sample.best.tolist())
    except Infeasible as reason:
        return (Hypothesis("the best tokens can be selected", False, str(reason)), *found)
    detail = f"‖W^mm‖² = {solved.square:.4g}, residual of the programme {solved.residual:.2g}"
    slack = f"the smallest is {solved.smallest_slack:.2g}"
    return (
        Hypothesis("the best tokens can be selected", True, detail),
        *found,
        Hypothesis("the best tokens are locally optimal", solved.locally_optimal),
        Hypothesis("constraints that do not support have slack", None, slack),
    )
