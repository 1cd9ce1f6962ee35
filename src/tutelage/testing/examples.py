"""The settings in which a part is tried: its values to begin with, beside parts that go with it."""

from __future__ import annotations

import itertools
from collections.abc import Iterator

from tutelage.problem.build import build
from tutelage.problem.registry import Registered, registered, registered_names
from tutelage.refuse import Refused
from tutelage.settings import KINDS, Part, Setting

RATE = 0.01
STEPS = 5
USUAL_STUDENT = "position_attention"
COMPANIONS = tuple(kind for kind in KINDS if kind != "teacher")


def beginning(kind: str, name: str) -> Part:
    """A part with the values that it begins with."""
    return Part(name, **registered(kind, name).begin)


def find_example(kind: str, name: str) -> Setting:
    """The first setting that has the part in it and can be built.

    Refused where there is none, with the reason of the last that was tried.
    """
    reason = Refused(
        f"No teacher goes with the {kind} {name!r}. Name it in `goes_with` of a teacher, which "
        "says what it can be tried with."
    )
    for setting in _candidates(kind, name):
        try:
            build(setting)
        except Refused as refused:
            reason = refused
        else:
            return setting
    raise reason


def calculated_examples(part: Part, found: Registered) -> Iterator[Setting]:
    """Settings of a calculation: alone, and with the parts that each teacher begins with. Those
    that are registered beside `found` come first, since it is most likely made for them.
    """
    yield Setting.of_calculation(part)
    teachers = _teachers_with("calculation", part.name)
    for teacher in sorted(teachers, key=lambda teacher: not _are_neighbours(teacher, found)):
        if not teacher.slow:
            parts = dict(find_example("teacher", teacher.name).parts)
            del parts["optimiser"]
            yield Setting.of_calculation(part).change(**parts)


def is_slow(found: Registered) -> bool:
    """Whether it takes minutes to build, or goes only with teachers that do."""
    return found.slow or all(teacher.slow for teacher in _teachers_with(found.kind, found.name))


def _teachers_with(kind: str, name: str) -> list[Registered]:
    """The teachers that name a part, or that it names; all of them where there is none."""
    every = [registered("teacher", teacher) for teacher in registered_names("teacher")]
    if kind == "teacher":
        return [registered(kind, name)]
    named = registered(kind, name).goes_with.get("teacher", ())
    going = [t for t in every if t.name in named or name in t.goes_with.get(kind, ())]
    return sorted(going or every, key=_is_unusual)


def _are_neighbours(one: Registered, two: Registered) -> bool:
    """Whether two parts are of one package, or of one module that is in none."""
    places = {part.factory.__module__ for part in (one, two)}
    return len({place.rpartition(".")[0] or place for place in places}) == 1


def _is_unusual(teacher: Registered) -> bool:
    """Whether it begins with another student than a setting does; those build more slowly."""
    return USUAL_STUDENT not in teacher.goes_with.get("student", ())[:1]


def _candidates(kind: str, name: str) -> Iterator[Setting]:
    """Settings with the part in them, those of a teacher's first companions first."""
    for teacher in _teachers_with(kind, name):
        if teacher.slow:
            continue
        setting = Setting(beginning("teacher", teacher.name), RATE, STEPS)
        # A teacher that names no companions is tried with those that a setting has anyway.
        offered = [
            (name,) if each == kind else teacher.goes_with.get(each) or (setting.part(each).name,)
            for each in COMPANIONS
        ]
        for names in itertools.product(*offered):
            parts = {
                each: beginning(each, chosen)
                for each, chosen in zip(COMPANIONS, names, strict=True)
            }
            yield setting.change(measures=("excess_risk",), **parts)
