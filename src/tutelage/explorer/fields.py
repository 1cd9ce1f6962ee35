"""Step size, steps and seed: what every setting has beside its parts, shown as options are."""

from __future__ import annotations

from inspect import Parameter

from tutelage.problem.options import Declared, Option, Value

_REQUIRED = Parameter.empty

FIELDS = {
    declared.name: declared
    for declared in (
        Declared("rate", (float,), _REQUIRED, Option("learning rate", "η", 1e-4, 10, log=True)),
        Declared("steps", (int,), _REQUIRED, Option("steps", "T", 1, 1e7, log=True)),
        Declared("seed", (int,), 0, Option("seed", "", 0, 1000)),
    )
}


def default_of(declared: Declared) -> Value:
    """What an option is where none is given; None where one must be."""
    return None if isinstance(declared.default, type) else declared.default
