"""All the parts that a setting can name: one file a family, each factory registered under its
name.
"""

from tutelage.problem.parts import (
    attention,
    averaged,
    bilinear,
    calculations,
    images,
    limits,
    optimisers,
    recorded,
    risks,
    shallow,
    squared_loss,
    tokens,
)

__all__ = [
    "attention",
    "averaged",
    "bilinear",
    "calculations",
    "images",
    "limits",
    "optimisers",
    "recorded",
    "risks",
    "shallow",
    "squared_loss",
    "tokens",
]
