"""What the parts of `teacher-models/phases` share: its sources, measures and sizes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from tutelage.papers.teacher_models.setup import THEOREM
from tutelage.settings import Part, Setting
from tutelage.studies.study import Plan, Preset, over_seeds

PROOF = f"{THEOREM} and its proof"
EXACT = f"derived here (docs/derivations.md, section 4), from the form of W_V and W_KQ in {PROOF}"
SLOW = "derived here (docs/derivations.md, section 5)"
MEASURES = ("excess_risk", "value_scale", "score_gap", "support_mass")

# M and d of the runs of the same length in teacher-models/rates: what has one shape and activation
# shares one compiled program.
SHAPES = {"identity": (10, 10), "relu": (8, 10)}


class Point(NamedTuple):
    """One point of a sweep of the plateau."""

    activation: str
    tokens: int
    support: int
    norm: float
    rate: float


@dataclass(frozen=True, kw_only=True)
class PhasesPreset(Preset):
    plateaus: int  # of the six runs and the closed form
    stability_steps: int
    points: Mapping[str, Sequence[Point]]  # of each sweep of the plateau


def make_setting(point: Point) -> Setting:
    """A convolution teacher at a point, with the measures of this study."""
    outputs, dim = SHAPES[point.activation]
    teacher = Part(
        "convolution",
        tokens=point.tokens,
        support=point.support,
        outputs=outputs,
        dim=dim,
        norm=point.norm,
        activation=point.activation,
    )
    return Setting(teacher, point.rate, steps=1, measures=MEASURES)


def repeat(setting: Setting, plan: Plan, preset: PhasesPreset) -> tuple[Setting, ...]:
    """The setting with as many seeds as the plan or its preset asks for; with one where the start
    is zero. From there V* enters through its norm alone, so that every seed is the same run.
    """
    seeds = preset.seeds if setting.student.options.get("start") else 1
    return over_seeds(setting, plan.seeds or seeds)
