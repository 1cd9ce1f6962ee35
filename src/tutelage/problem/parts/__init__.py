"""All the parts that a setting can name: one file a family, each factory registered under its
name.
"""

from tutelage.problem.parts import (
    averaged,
    bilinear,
    calculations,
    images,
    limits,
    optimisers,
    shallow,
)

__all__ = ["averaged", "bilinear", "calculations", "images", "limits", "optimisers", "shallow"]
