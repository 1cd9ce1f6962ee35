"""Settings, hypotheses and words that the studies of this paper share."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from tutelage.claims.claim import NoPrediction
from tutelage.claims.verdict import Hypothesis
from tutelage.papers.group_sparse import paper
from tutelage.papers.group_sparse.theory.laws import read_groups
from tutelage.settings import Part, Setting
from tutelage.studies.changes import changed
from tutelage.studies.study import Plan, Preset

TEACHER = "group_signs"
# How the sources of this paper's statements were known: none of its full text was at hand.
FROM_SUMMARY = "arXiv 2504.08638, from public summaries: its full text was not at hand"
DERIVED = "derived here (docs/law.md of this paper)"
NO_STEP_SIZE = (
    "The paper's step size and its dependence on D are not known to us (no full text), and the "
    "statement depends on it: docs/times.md"
)


@dataclass(frozen=True, kw_only=True)
class GroupPreset(Preset):
    """The numbers of groups that a study goes through, and the first seed.

    A confirmation uses sizes and seeds that nothing was looked at before.
    """

    groups: tuple[int, ...]
    first_seed: int = 0


def over_groups(
    plan: Plan,
    groups: Sequence[int],
    calculation: Part,
    codes: str = "unit",
    dim: int = 4,
    seed: int = 0,
) -> tuple[Setting, ...]:
    """One setting per number of groups, with what the user changed; one where that is D."""
    found = []
    for count in groups:
        teacher = Part(TEACHER, groups=count, dim=dim, codes=codes)
        setting = Setting.of_calculation(calculation, teacher=teacher, seed=seed)
        found.append(changed(setting, plan.changes, paper.letters))
    return tuple(dict.fromkeys(found))


def expect_calculation(setting: Setting, name: str) -> None:
    """Refuses a setting of which a study says nothing: another calculation, or another teacher."""
    found = "none" if setting.calculation is None else repr(setting.calculation.name)
    if setting.calculation is None or setting.calculation.name != name:
        raise NoPrediction(f"The claims are about the calculation {name!r}. Got {found}.")
    if setting.teacher.name != TEACHER:
        raise NoPrediction(
            f"The claims are about the teacher {TEACHER!r}. Got {setting.teacher.name!r}."
        )


def hypotheses(setting: Setting) -> tuple[Hypothesis, ...]:
    """What the laws assume."""
    margin = 0.0
    if setting.calculation is not None:
        margin = float(setting.calculation.options.get("margin", 0.0))
    return (
        Hypothesis("inputs are standard normal, also near the boundary", margin == 0.0),
        Hypothesis("there are at least two groups", read_groups(setting) >= 2),
        Hypothesis(
            "gradient flow: the step size is small",
            setting.calculation is not None and setting.calculation.name != "group_steps",
        ),
    )
