"""Calculations: named numbers or curves of a setting, without training."""

from tutelage.calculations.base import Calculated, Calculation, Ingredients

__all__ = ["Calculated", "Calculation", "Ingredients"]
