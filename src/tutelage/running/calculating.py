"""What is done with a setting that names a calculation: nothing is trained."""

from __future__ import annotations

from tutelage.calculations.base import Calculated
from tutelage.problem.build import build_calculation
from tutelage.refuse import Refused
from tutelage.run import Outcome, Run
from tutelage.settings import Setting


def calculate(setting: Setting) -> Run[None]:
    """The numbers and curves of a setting as a run without student, rate and steps.

    `steps` of the run is the axis of the calculation.
    """
    calculation, ingredients = build_calculation(setting)
    found = calculation(ingredients)
    if not isinstance(found, Calculated):
        name = setting.part("calculation").name
        raise Refused(
            "A calculation must return a tutelage.calculations.Calculated, since its names and "
            f"axis are stored. Got {type(found).__name__} from {name!r}."
        )
    return Run(found.axis, dict(found.curves), None, Outcome.CALCULATED, setting=setting)
