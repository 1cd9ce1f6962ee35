"""Options of registered parts: their labels, letters, ranges and units, beside their types.

A factory declares an option as a keyword argument, `tokens: Annotated[int, Option("tokens",
letter="D", least=1, most=256)]`. The command line, the explorer and the docs read it from there.
"""

from __future__ import annotations

import inspect
import sys
import types
import typing
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from functools import cache, partial

import numpy as np

from tutelage.refuse import Refused, show
from tutelage.settings import Value as Value

Matrix = np.ndarray  # a matrix or vector given by hand, in a setting's option
PLAIN = (bool, int, float, str, np.ndarray, type(None))  # what an option may be
ANY = bool | int | float | str | np.ndarray | None
Hint = type | types.UnionType
_MISSING = inspect.Parameter.empty


@dataclass(frozen=True)
class Option:
    """How an option is shown, and where a slider for it begins and ends.

    `least` and `most` are the ends of a slider, not limits: a factory refuses what is wrong.
    `shape` says that another value is another program to compile. `at_most` and `divides` name
    another option of the same part that bounds this one, or that this one must divide. `brings`
    gives, for a choice, values of other options that go with it; None for those to leave open.
    `unused` names values of other options at which this one changes nothing: it is refused beside
    them, since it would give the same run a second name.
    """

    label: str
    letter: str = ""
    least: float | None = None
    most: float | None = None
    log: bool = False
    shape: bool = False
    choices: tuple[Value, ...] = ()
    unit: str = ""
    # "graph" for an editor of graphs, whose nodes the option `tokens` counts; "" for the widget
    # that fits the type.
    widget: str = ""
    hidden: bool = False  # True where the explorer does not offer it
    at_most: str = ""
    divides: str = ""
    brings: Mapping[str, Mapping[str, Value]] = field(default_factory=dict, hash=False)
    unused: Mapping[str, tuple[Value, ...]] = field(default_factory=dict, hash=False)


@dataclass(frozen=True)
class Declared:
    """An option as its factory declares it."""

    name: str
    types: tuple[type, ...]  # those a value may have; NoneType among them where it may be left open
    default: Value | type[inspect.Parameter.empty]
    shown: Option
    labelled: bool = True  # False where the factory gives no `Option`, and its name serves

    @property
    def required(self) -> bool:
        return self.default is _MISSING

    @property
    def kind(self) -> str:
        """The type in a word: bool, int, float, matrix, str, or choice."""
        if self.shown.choices:
            return "choice"
        if set(self.types) == set(PLAIN):
            return "str"
        for word, kind in (("bool", bool), ("int", int), ("float", float), ("matrix", np.ndarray)):
            if kind in self.types:
                return word
        return "str"

    def parse(self, value: Value, part: str) -> Value:
        """`value` as one of the declared types; "no" is not taken for a truth.

        A number of the wrong size or kind is left to the factory, which knows the reason.
        """
        if value is None and type(None) in self.types:
            return value
        if isinstance(value, bool):
            if bool in self.types:
                return value
        elif isinstance(value, int | float):
            if int in self.types and (isinstance(value, int) or value.is_integer()):
                return int(value)
            with suppress(OverflowError):  # of whole numbers that are larger than any float
                if int in self.types or float in self.types:
                    return float(value)
        elif isinstance(value, str):
            if str in self.types:
                return value
        elif np.ndarray in self.types and value is not None:
            return value
        raise Refused(
            f"`{self.name}` of {part} must be {self._words()}, since it is declared so. "
            f"Got {self.name}={show(value)}."
        )

    def _words(self) -> str:
        words = {
            bool: "true or false",
            int: "a whole number",
            float: "a number",
            str: "a word",
            np.ndarray: "an array of numbers",
            type(None): "left open",
        }
        named = [words[kind] for kind in self.types if not (kind is int and float in self.types)]
        return " or ".join(named)


@cache
def declared_options(factory: Callable[..., object]) -> dict[str, Declared]:
    """The keyword options of a factory, in their order."""
    found = {}
    for name, parameter in inspect.signature(factory).parameters.items():
        if parameter.kind is not parameter.KEYWORD_ONLY:
            continue
        hint = _hint_of(factory, parameter)
        given: list[Option] = []
        if typing.get_origin(hint) is typing.Annotated:
            hint, *extras = typing.get_args(hint)
            given = [extra for extra in extras if isinstance(extra, Option)]
        shown = given[0] if given else Option(name.replace("_", " "))
        kinds = _types_of(hint, factory, name)
        found[name] = Declared(name, kinds, parameter.default, shown, labelled=bool(given))
    return found


def _hint_of(factory: Callable[..., object], parameter: inspect.Parameter) -> Hint:
    """The annotation of an option, evaluated; without one the type of its default, or any.

    The other parameters of a factory are left alone: they may be annotated by what is only imported
    for type checkers.
    """
    if parameter.annotation is _MISSING:
        default = parameter.default
        return type(default) if type(default) in PLAIN and default is not None else ANY
    while isinstance(factory, partial):
        factory = factory.func
    inner = inspect.unwrap(factory)
    is_function = isinstance(inner, types.FunctionType)
    names = inner.__globals__ if is_function else vars(sys.modules[inner.__module__])
    given = types.SimpleNamespace(__annotations__={parameter.name: parameter.annotation})
    return typing.get_type_hints(given, names, include_extras=True)[parameter.name]


def _types_of(hint: Hint, factory: Callable[..., object], name: str) -> tuple[type, ...]:
    union = typing.get_origin(hint) in (types.UnionType, typing.Union)
    kinds = typing.get_args(hint) if union else (hint,)
    if not all(kind in PLAIN for kind in kinds):
        raise Refused(
            f"An option must be declared as bool, int, float, str, Matrix or a union of these, "
            f"since a setting is plain data. Got {hint!r} for `{name}` of {factory.__name__}."
        )
    return tuple(kinds)
