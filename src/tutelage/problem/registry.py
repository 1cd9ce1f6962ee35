"""What a setting can name: parts registered under a kind and a name, with their options.

The factories of tutelage's own parts are in `parts/`, those of a paper in the `parts` of its
folder. A factory takes its options by keyword. A teacher's takes `seed` first, inputs the teacher,
a student `(teacher, seed)`, an objective `(teacher, inputs, seed)`; an optimiser's and a
calculation's take nothing else. Nothing here imports JAX until something is built.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, cast

import numpy as np

from tutelage.plugins import import_parts as import_parts
from tutelage.problem.options import Declared, Value, declared_options
from tutelage.problem.origins import origin_of, place_of
from tutelage.problem.sizes import Estimate
from tutelage.refuse import Refused, one_of, show
from tutelage.settings import KINDS, NO_TEACHER, ORIGINS, REGISTERED_KINDS, Part, Setting

if TYPE_CHECKING:
    from tutelage.activations import Bend
    from tutelage.inputs.base import Inputs
    from tutelage.measures.base import OfStudent
    from tutelage.teachers.base import Teacher

Factory = Callable[..., object]
Further = Callable[[Mapping[str, Value]], Iterable[str]]
Names = tuple[str, ...]


@dataclass(frozen=True)
class Registered:
    """A part as it was registered."""

    kind: str
    name: str
    factory: Factory = field(repr=False)
    label: str  # what people call it
    sentence: str  # what it does
    # Values of options that the explorer begins with, where they have no default or another one.
    begin: Mapping[str, Value]
    # The names of other parts that go with it, by their kind; all of a kind that is not there. Of
    # a teacher the first of each kind is the one to begin with.
    goes_with: Mapping[str, Names]
    further: Further | None
    # Whether building it takes minutes, so that the explorer leaves it to the command line.
    slow: bool
    # How large it makes a setting, from its options; None where their names tell.
    estimate: Estimate | None = None

    @property
    def options(self) -> dict[str, Declared]:
        return declared_options(self.factory)


_REGISTERED: dict[str, dict[str, Registered]] = {kind: {} for kind in REGISTERED_KINDS}


def register(
    kind: str,
    name: str,
    *,
    label: str = "",
    sentence: str = "",
    begin: Mapping[str, Value] | None = None,
    goes_with: Mapping[str, Names] | None = None,
    further: Further | None = None,
    slow: bool = False,
    estimate: Estimate | None = None,
) -> Callable[[Factory], Factory]:
    """Makes a factory known by name: `@register("teacher", "my-teacher")` above a function.

    Its keyword arguments are the options of the part, each with a type and, by
    `Annotated[int, Option(…)]`, a label, a letter and a range. An optimiser's factory returns a
    function from a rate to an optax transformation; the others return the object itself. Where
    some options decide which others there are, `further(options)` names those, and the factory
    takes them by `**`. `estimate` says how large the part makes a setting before it is built
    (`tutelage.problem.sizes`), where the names of its options do not tell.

    A measure and an activation have no factory: what is decorated is the function of (student,
    objective), or of one array, itself.
    """
    one_of("kind of part", kind, REGISTERED_KINDS)

    def add(factory: Factory) -> Factory:
        if known := _REGISTERED[kind].get(name):
            _refuse_another(known, factory)
        _REGISTERED[kind][name] = Registered(
            kind=kind,
            name=name,
            factory=factory,
            label=label or name.replace("_", " "),
            sentence=sentence,
            begin=begin or {},
            goes_with=goes_with or {},
            further=further,
            slow=slow,
            estimate=estimate,
        )
        ORIGINS.pop((kind, name), None)
        if origin := origin_of(factory):
            ORIGINS[kind, name] = origin
        if kind == "activation":
            _add_activation(name, factory)
        return factory

    return add


def _refuse_another(known: Registered, factory: Factory) -> None:
    """A name may be registered again by the code that did so before, which was edited since."""
    first, second = place_of(known.factory), place_of(factory)
    if first != second:
        raise Refused(
            f"A name stands for one {known.kind}, since settings and stored runs name it. Got "
            f"{known.name!r} from {first} and from {second}."
        )


def _add_activation(name: str, function: Factory) -> None:
    """Teachers and students look their activation up by themselves, below this registry."""
    from tutelage import activations

    activations.REGISTERED[name] = activations.Smooth(cast("Bend", function), name)


def own_measures() -> dict[str, OfStudent]:
    """The measures that were registered, beside those that tutelage comes with."""
    return {
        name: cast("OfStudent", found.factory) for name, found in _REGISTERED["measure"].items()
    }


def registered(kind: str, name: str) -> Registered:
    """What was registered under a name, in tutelage, in a paper or by the user."""
    if name not in _REGISTERED[kind]:
        import_parts()
    return _REGISTERED[kind][one_of(kind, name, _REGISTERED[kind])]


def registered_names(kind: str) -> Names:
    """All names of a kind."""
    import_parts()
    return tuple(sorted(_REGISTERED[kind]))


def options_of(kind: str, name: str) -> dict[str, Declared]:
    """The options that a registered name takes."""
    return registered(kind, name).options


def option_names(kind: str, part: Part) -> Names:
    """The names of all options that a part takes, with those that its other options bring along."""
    found = registered(kind, part.name)
    return (*found.options, *(found.further(part.options) if found.further is not None else ()))


def parse_options(kind: str, part: Part) -> dict[str, Value]:
    """The options of a part, each by its declared type; refused where one is unknown or missing."""
    found = registered(kind, part.name)
    options = {
        key: found.options[key].parse(value, f"{kind} {part.name!r}")
        if key in found.options
        else value
        for key, value in part.options.items()
    }
    names = option_names(kind, part)  # some depend on the values of others, which are sound now
    for key in options:
        one_of(f"option of {kind} {part.name!r}", key, names)
    missing = [name for name, o in found.options.items() if o.required and name not in options]
    if missing:
        needed = ", ".join(f"`{name}`" for name in missing)
        got = ", ".join(options) or "none"
        raise Refused(f"The {kind} {part.name!r} needs {needed}. Got {got}.")
    for name, (other, value) in find_unused(found.options, options).items():
        raise Refused(
            f"`{name}` changes nothing at {other}={show(value)}, and would give the same run a "
            f"second name: leave it out. Got {name}={show(options[name])} for {kind} "
            f"{part.name!r}."
        )
    return options


def find_unused(
    declared: Mapping[str, Declared], given: Mapping[str, object]
) -> dict[str, tuple[str, object]]:
    """The given options that change nothing, each with the option and value that make it so."""
    unused = {}
    for name in given.keys() & declared.keys():
        for other, idle in declared[name].shown.unused.items():
            value = given.get(other, declared[other].default)
            if not isinstance(value, np.ndarray) and value in idle:
                unused[name] = (other, value)
    return unused


def make(kind: str, part: Part, *given: Teacher | Inputs | int) -> object:
    """The object that a part stands for."""
    return registered(kind, part.name).factory(*given, **parse_options(kind, part))


def resolve(setting: Setting, key: str, letters: Mapping[str, str]) -> str:
    """The path of a `--set` key: a letter of the paper (`D`), a path (`teacher.tokens`), or an
    option that one part has.
    """
    if key in letters:
        return letters[key]
    if "." in key or key in (*setting.parts, "rate", "steps", "seed"):
        return key
    paths = {}
    for kind, part in setting.parts.items():
        if part == NO_TEACHER:
            continue
        for option in option_names(kind, part):
            paths[option] = f"{kind}.{option}"
    return paths[one_of("setting", key, [*paths, *letters, "rate", "steps", "seed", *KINDS])]
