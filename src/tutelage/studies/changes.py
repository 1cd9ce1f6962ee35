"""Changes that a user asks of a study's settings: a letter of the paper, an option or a path."""

from __future__ import annotations

from collections.abc import Mapping

from tutelage.problem.options import Value
from tutelage.problem.registry import option_names, resolve
from tutelage.refuse import Refused, one_of
from tutelage.settings import Setting


class NoSuchOption(Refused):
    """A change that a setting's parts have no option for."""


def changed(setting: Setting, changes: Mapping[str, Value], letters: Mapping[str, str]) -> Setting:
    """The setting with a plan's changes, each key a letter of the paper, an option or a path."""
    for key, value in changes.items():
        try:
            path = resolve(setting, key, letters)
            kind, _, option = path.partition(".")
            if option:
                part = setting.part(kind)
                one_of(f"option of {kind} {part.name!r}", option, option_names(kind, part))
        except Refused as refused:
            raise NoSuchOption(str(refused)) from None
        setting = setting.change(**{path: value})
    return setting
