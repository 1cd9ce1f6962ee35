"""Theorem 1, and the same prediction where its hypothesis is broken."""

import numpy as np

from tutelage.claims import Curve
from tutelage.settings import Part, Setting
from tutelage.studies.changes import changed
from tutelage.studies.study import Case, Control, Plan, Preset, Study, at_setting, over_seeds

from .. import paper, theory
from . import figures

TEACHER = Part("averaging", tokens=4, dim=5, norm=2.0)
SETTING = Setting(TEACHER, rate=0.4, steps=100, measures=("excess_risk",))
LAW = "excess(T) = (1 − η/D)^(2T) ‖V*‖²/(2D)"
CLAIM = Curve("excess_risk", theory.excess, 1e-9, id="excess", statement=LAW, source="Theorem 1")
BROKEN = SETTING.change(inputs=Part("gaussian", covariance=np.diag([0.5, 0.8, 1.0, 1.2, 1.5])))
WHY = "tokens N(0, I): with unequal variances every direction has a rate of its own"
CONTROL = Control("unequal", "unequal variances", BROKEN, CLAIM, breaks=WHY)


def cases(plan: Plan, preset: Preset) -> list[Case]:
    setting = changed(SETTING.change(steps=plan.steps or 100), plan.changes, paper.letters)
    seeds = over_seeds(setting, plan.seeds or preset.seeds)
    return [Case("equal", "equal variances", seeds, (CLAIM,)), CONTROL.case()]


study = Study(
    source="Theorem 1",
    statement="Attention learns the mean of N(0, I) tokens, seen through V*, at a geometric rate.",
    equation="L(T) − L_opt = (1 − η/D)^(2T) ‖V*‖_F² / (2D)",
    presets={"quick": Preset(seconds=5, seeds=2), "full": Preset(seconds=5, seeds=10)},
    cases=cases,
    case_at=lambda setting: at_setting(setting, [CLAIM]),
    figures=figures.draw,
    captions={"excess": "Excess risk, its prediction, and the control, which leaves it."},
)
