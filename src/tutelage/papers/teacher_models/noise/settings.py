"""The settings of `teacher-models/noise`, each before it is given seeds."""

from __future__ import annotations

from dataclasses import replace

from tutelage.papers.teacher_models.setup import SMALL
from tutelage.settings import Part, Setting

POWERS = (0.25, 0.5, 0.75)  # a of steps that decay like η/(1 + s/t₀)^a
ONSET = 100.0  # t₀, steps

# Smaller batches than those of teacher-models/online, since their label noise counts by τ²/N alone
# and drawing them is the work.
BASE = Setting(
    SMALL.change(noise=0.5),
    rate=0.1,
    steps=48_000,
    objective=Part("online", batch=25),
    optimiser=Part("averaged", degree=3.0),
    measures=("excess_risk", "averaged_excess"),
)
# The floor is passed early: what recovers it is seen for long.
LOUD = BASE.change(**{"teacher.noise": 5.0, "steps": 16_000})
FLAT = BASE.change(
    **{"teacher.tokens": 5, "teacher.support": 5, "teacher.noise": 1.0, "steps": 6_000}
)
STRONG = LOUD.change(**{"teacher.noise": 10.0})
AVERAGED_EXACT = replace(BASE, objective=Part("population"), steps=100_000)
PLAIN_EXACT = replace(
    AVERAGED_EXACT, optimiser=Part("gradient_descent"), measures=("excess_risk",), steps=5_000
)


def with_decaying_steps(setting: Setting, power: float) -> Setting:
    """The same descent with steps η/(1 + s/t₀)^a."""
    return replace(
        setting,
        optimiser=Part("gradient_descent", power=power, onset=ONSET),
        measures=("excess_risk",),
    )
