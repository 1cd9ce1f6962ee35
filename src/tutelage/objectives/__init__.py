"""Objectives: pytrees with `__call__(student)`; only `population` knows the bilinear class."""

from tutelage.objectives.population import PopulationRisk

__all__ = ["PopulationRisk"]
