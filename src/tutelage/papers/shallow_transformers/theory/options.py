"""The options of a setting's parts: as given, or their defaults where an option is left out."""

from __future__ import annotations

from tutelage.problem.options import Value
from tutelage.problem.registry import options_of
from tutelage.settings import Setting


def read_option(setting: Setting, kind: str, name: str) -> Value:
    """An option as given, or the default of its part."""
    part = setting.part(kind)
    if name in part.options:
        given: Value = part.options[name]
        return given
    declared = options_of(kind, part.name)[name].default
    assert not isinstance(declared, type)  # an option without a default is always given
    return declared


def read_number(setting: Setting, kind: str, name: str) -> float:
    """The same, of an option that is a number."""
    value = read_option(setting, kind, name)
    assert isinstance(value, int | float)
    return float(value)


def read_three(setting: Setting, kind: str, name: str) -> tuple[float, float, float]:
    """The three options `name`_c, `name`_u and `name`_w: a radius of each block of a head."""
    c, u, w = (read_number(setting, kind, f"{name}_{block}") for block in "cuw")
    return c, u, w
