"""The one place where names become objects, and where input is refused before any work.

The factories are in `parts/`. One takes its options by keyword; a teacher's takes `seed` first,
inputs the teacher, a student `(teacher, seed)`, an objective `(teacher, inputs, seed)`. Nothing
imports JAX until something is built.
"""

from __future__ import annotations

import hashlib
import importlib
import importlib.util
import inspect
import sys
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from tutelage.refuse import Refused, one_of, positive, whole
from tutelage.settings import KINDS, Part, Setting


@dataclass(frozen=True)
class Problem:
    """What a setting stands for, ready to train."""

    teacher: Any
    inputs: Any
    student: Any
    objective: Any
    optimiser: Any
    measures: tuple[Any, ...]
    key: Any = None  # of the batches, where the objective draws them


Further = Callable[[Mapping[str, Any]], Iterable[str]]
_FACTORIES: dict[str, dict[str, Callable[..., Any]]] = {kind: {} for kind in KINDS}
_FURTHER: dict[tuple[str, str], Further] = {}


def register(
    kind: str, name: str, *, further: Further | None = None
) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Makes a factory known by name: `@register("teacher", "my-teacher")` above a function of
    keyword options.

    An optimiser's factory returns a function from a rate to an optax transformation; the others
    return the object itself. Where some options decide which others there are, `further(options)`
    names those, and the factory takes them by `**`.
    """
    one_of("kind of part", kind, KINDS)

    def known(factory: Callable[..., Any]) -> Callable[..., Any]:
        _FACTORIES[kind][name] = factory
        if further is not None:
            _FURTHER[kind, name] = further
        return factory

    return known


def import_all(names: Iterable[str]) -> None:
    """Imports modules and files, which register parts of the user's own; each once a process."""
    for name in names:
        if not name.endswith(".py"):
            try:
                importlib.import_module(name)
            except ModuleNotFoundError as error:
                raise Refused(
                    f"`import` must name modules or files of Python. Got {name!r}: {error}."
                ) from None
            continue
        if not Path(name).exists():
            raise Refused(
                f"`import` must name modules or files of Python. Got {name!r}, and there is no "
                "such file."
            )
        # By path and content: a worker that has lived through an edit must not go on with the old
        # code.
        module = f"tutelage_own_{hashlib.sha256(str(Path(name).resolve()).encode() + Path(name).read_bytes()).hexdigest()[:16]}"
        if module in sys.modules:
            continue
        spec = importlib.util.spec_from_file_location(module, name)
        assert spec is not None
        assert spec.loader is not None
        sys.modules[module] = importlib.util.module_from_spec(spec)
        try:
            spec.loader.exec_module(sys.modules[module])
        except BaseException:
            del sys.modules[module]
            raise


def options_of(kind: str, name: str) -> dict[str, inspect.Parameter]:
    """The options that a registered name takes."""
    return _options(_FACTORIES[kind][one_of(kind, name, _FACTORIES[kind])])


def option_names(kind: str, part: Part) -> tuple[str, ...]:
    """The names of all options that a part takes, those included that its other options bring with
    them.
    """
    further = _FURTHER.get((kind, part.name))
    return (*options_of(kind, part.name), *(further(part.options) if further is not None else ()))


@cache
def _options(factory: Callable[..., Any]) -> dict[str, inspect.Parameter]:
    return {
        p.name: p
        for p in inspect.signature(factory).parameters.values()
        if p.kind is p.KEYWORD_ONLY
    }


def known(kind: str) -> tuple[str, ...]:
    """The names registered for a kind of part."""
    return tuple(sorted(_FACTORIES[kind]))


def _make(kind: str, part: Part, *given: Any) -> Any:
    factory = _FACTORIES[kind][one_of(kind, part.name, _FACTORIES[kind])]
    options, names = options_of(kind, part.name), option_names(kind, part)
    for key in part.options:
        one_of(f"option of {kind} {part.name!r}", key, names)
    missing = [
        name for name, p in options.items() if p.default is p.empty and name not in part.options
    ]
    if missing:
        raise Refused(
            f"The {kind} {part.name!r} needs {', '.join(f'`{m}`' for m in missing)}. Got "
            f"{', '.join(part.options) or 'none'}."
        )
    return factory(*given, **part.options)


def teacher_of(setting: Setting) -> Any:
    """The teacher alone: what theory needs to predict."""
    return _make("teacher", setting.teacher, setting.seed)


def inputs_of(part: Part, teacher: Any) -> Any:
    """An input law alone, for a teacher: what it takes to look at a student on foreign inputs."""
    inputs = _make("inputs", part, teacher)
    _, dim, tokens, _ = teacher.shape
    inputs.check_shapes(tokens, dim)
    return inputs


def build(setting: Setting) -> Problem:
    """Objects from names, everything validated."""
    from tutelage.measures import REGISTERED
    from tutelage.numerics.streams import stream
    from tutelage.problem.collapse import check_symmetry
    from tutelage.teachers import CollapsedTeacher

    positive("rate", setting.rate, reason="a step of gradient descent moves against the gradient")
    whole("steps", setting.steps, least=1, reason="a run takes at least one step")
    whole("seed", setting.seed, least=0, reason="it seeds the random streams")
    teacher = teacher_of(setting)
    if isinstance(teacher, CollapsedTeacher):
        check_symmetry(setting)
    inputs = inputs_of(setting.inputs, teacher)
    student = _make("student", setting.student, teacher, setting.seed)
    objective = _make("objective", setting.objective, teacher, inputs, setting.seed)
    if hasattr(objective, "check"):
        objective.check(student)
    measures = tuple(REGISTERED[one_of("measure", name, REGISTERED)] for name in setting.measures)
    optimiser = optimiser_of(setting)
    for measure in measures:
        keeper = getattr(measure, "of_iterates", setting.optimiser.name)
        if keeper != setting.optimiser.name:
            raise Refused(
                f"The measure {measure.__name__!r} is of the iterates that {keeper!r} keeps. Got "
                f"the optimiser {setting.optimiser.name!r}."
            )
    if setting.optimiser.name == "projected_descent" and not hasattr(student, "heads"):
        raise Refused(
            "The optimiser 'projected_descent' keeps every head in a ball, so that the student "
            "must have heads, as 'shallow_transformer' "
            f"does. Got the student {setting.student.name!r}."
        )
    key = stream(setting.seed, "batches") if hasattr(objective, "draw") else None
    return Problem(teacher, inputs, student, objective, optimiser, measures, key)


def student_of(setting: Setting) -> Any:
    """The student at its start alone: what it takes to read a stored one."""
    return _make("student", setting.student, teacher_of(setting), setting.seed)


def optimiser_of(setting: Setting) -> Any:
    """A function from a rate to an optax transformation."""
    return _optimiser(setting.optimiser)


@cache
def _optimiser(part: Part) -> Any:
    """One object a setting of options, so that the compiled loop is found again."""
    return _make("optimiser", part)


def resolve(setting: Setting, key: str, letters: Mapping[str, str]) -> str:
    """The path of a `--set` key: a letter of the paper (`D`), a path (`teacher.tokens`), or an
    option that one part has.
    """
    if key in letters:
        return letters[key]
    if "." in key or key in (*KINDS, "rate", "steps", "seed"):
        return key
    paths = {}
    for kind in KINDS:
        for option in option_names(kind, getattr(setting, kind)):
            paths[option] = f"{kind}.{option}"
    return paths[one_of("setting", key, [*paths, *letters, "rate", "steps", "seed", *KINDS])]


import tutelage.problem.parts  # noqa: E402, F401  registers all that tutelage comes with; below, since it needs `register`
