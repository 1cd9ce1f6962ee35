"""Objectives: pytrees with `__call__(student)`, or with `draw(student, key=…)` where every step
draws its own loss.

Only `population` knows the bilinear class.
"""

from tutelage.objectives.base import Objective
from tutelage.objectives.empirical import EmpiricalRisk
from tutelage.objectives.online import OnlineRisk
from tutelage.objectives.population import PopulationRisk
from tutelage.objectives.sample import Sample

__all__ = ["EmpiricalRisk", "Objective", "OnlineRisk", "PopulationRisk", "Sample"]
