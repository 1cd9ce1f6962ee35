"""The one place where names become objects, and where a setting is refused before any work."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import TYPE_CHECKING, cast

from tutelage.problem.origins import place_of
from tutelage.problem.registry import import_parts, make, own_measures, parse_options
from tutelage.problem.room import check_room, machine_room
from tutelage.refuse import Refused, one_of, whole_seed
from tutelage.settings import KINDS, NO_TEACHER, Part, Setting, check_numbers, one_setting

if TYPE_CHECKING:
    from jaxtyping import Array, Key

    from tutelage.calculations.base import Calculation
    from tutelage.inputs.base import Inputs
    from tutelage.measures.base import Measure
    from tutelage.objectives.base import Objective
    from tutelage.optimisers.base import Optimiser
    from tutelage.students.base import Student
    from tutelage.teachers.base import Teacher


@dataclass(frozen=True)
class Problem:
    """What a setting stands for, ready to train."""

    teacher: Teacher
    inputs: Inputs
    student: Student
    objective: Objective
    optimiser: Optimiser
    measures: tuple[Measure, ...]
    key: Key[Array, ""] | None = None  # of the batches, where the objective draws them


Before = Callable[[str], None]  # told the kind of a part right before it is built; may raise


def go_on(kind: str) -> None:
    """Lets every part be built."""


class Parts:
    """The parts of a setting, each built when first asked for: what a calculation looks at.

    `before` is told the kind of each part right before it is built, and may raise to prevent it. By
    default it refuses a part for which this machine has no room.
    """

    def __init__(self, setting: Setting, before: Before | None = None) -> None:
        self.setting, self.before = setting, before or self._check_room

    def _check_room(self, kind: str) -> None:
        check_room(self.setting, machine_room(), KINDS[: KINDS.index(kind) + 1])

    @property
    def seed(self) -> int:
        return self.setting.seed

    @cached_property
    def teacher(self) -> Teacher:
        self.before("teacher")
        return build_teacher(self.setting)

    @cached_property
    def inputs(self) -> Inputs:
        teacher = self.teacher
        self.before("inputs")
        return build_inputs(self.setting.inputs, teacher)

    @cached_property
    def student(self) -> Student:
        teacher = self.teacher
        self.before("student")
        return cast("Student", make("student", self.setting.student, teacher, self.seed))

    @cached_property
    def objective(self) -> Objective:
        teacher, inputs, student = self.teacher, self.inputs, self.student
        self.before("objective")
        given = make("objective", self.setting.objective, teacher, inputs, self.seed)
        objective = cast("Objective", given)
        objective.check(student)
        return objective


def build(setting: Setting, before: Before = go_on) -> Problem:
    """Objects from names, everything validated: first its options and its size, and then each part
    as it is built. `before` is that of `Parts`.
    """
    from tutelage.numerics.streams import stream
    from tutelage.problem.symmetry import check_symmetry
    from tutelage.students.shallow_transformer import ShallowTransformer
    from tutelage.teachers import CollapsedTeacher

    one_setting(setting)
    if setting.calculation is not None:
        raise Refused(
            "A setting with a calculation is not trained. Use `execute`, which does "
            f"either. Got the calculation {setting.calculation.name!r}."
        )
    check_numbers(setting)
    check_room(setting, machine_room())
    parts = Parts(setting, before)
    if isinstance(parts.teacher, CollapsedTeacher):
        check_symmetry(setting)
    measures = tuple(build_measure(name) for name in setting.measures)
    for measure in measures:
        if measure.keeper not in ("", setting.optimiser.name):
            raise Refused(
                f"The measure {measure.name!r} is of the iterates that {measure.keeper!r} keeps. "
                f"Got the optimiser {setting.optimiser.name!r}."
            )
    if setting.optimiser.name == "projected_descent" and not isinstance(
        parts.student, ShallowTransformer
    ):
        raise Refused(
            "The optimiser 'projected_descent' keeps every head in a ball, so that the student "
            "must have heads, as 'shallow_transformer' does. "
            f"Got the student {setting.student.name!r}."
        )
    return Problem(
        parts.teacher,
        parts.inputs,
        parts.student,
        parts.objective,
        build_optimiser(setting),
        measures,
        stream(setting.seed, "batches") if parts.objective.stochastic else None,
    )


def build_calculation(setting: Setting) -> tuple[Calculation, Parts]:
    """The calculation that a setting names, and what it may look at."""
    from tutelage.calculations.base import Calculation

    if setting.calculation is None:
        raise Refused("This setting names no calculation: it is trained. Use `build`.")
    if setting.steps or setting.rate or setting.measures:
        raise Refused(
            "A setting with a calculation takes no steps and has no rate and no measures, since "
            "nothing is trained (`Setting.of_calculation`). "
            f"Got steps={setting.steps!r}, rate={setting.rate!r}, measures={setting.measures!r}."
        )
    whole_seed(setting.seed)
    parse_options("calculation", setting.calculation)
    check_room(setting, machine_room(), ("calculation",))
    calculation = make("calculation", setting.calculation)
    if not isinstance(calculation, Calculation):
        raise Refused(
            "The factory of a calculation must return a tutelage.calculations.Calculation, since "
            f"that is what is called. Got {type(calculation).__name__} from "
            f"{setting.calculation.name!r}."
        )
    return calculation, Parts(setting)


def build_teacher(setting: Setting) -> Teacher:
    """The teacher alone: what theory needs to predict."""
    if one_setting(setting).teacher == NO_TEACHER:
        raise Refused(
            "A setting must name the teacher that is asked for. Got none: "
            "`Setting.of_calculation(…, teacher=Part(…))` gives one."
        )
    check_room(setting, machine_room(), ("teacher",))
    return cast("Teacher", make("teacher", setting.teacher, setting.seed))


def build_inputs(part: Part, teacher: Teacher) -> Inputs:
    """An input law alone, for a teacher: what it takes to look at a student on foreign inputs."""
    inputs = cast("Inputs", make("inputs", part, teacher))
    inputs.check_shapes(teacher.shape.tokens, teacher.shape.dim)
    return inputs


def build_student(setting: Setting) -> Student:
    """The student at its start alone: what it takes to read a stored one."""
    return Parts(setting).student


def build_optimiser(setting: Setting) -> Optimiser:
    """A function from a rate to an optax transformation."""
    return _optimiser(setting.optimiser)


@lru_cache(maxsize=256)
def _optimiser(part: Part) -> Optimiser:
    """One object per choice of options, so that the compiled loop is reused."""
    return cast("Optimiser", make("optimiser", part))


def build_measure(name: str) -> Measure:
    """A measure by the name of its curve."""
    known = all_measures()
    if name not in known:
        import_parts()
        known = all_measures()
    return known[one_of("measure", name, known)]


def all_measures() -> Mapping[str, Measure]:
    """Those that come with tutelage, and those that were registered."""
    from tutelage.measures import MEASURES
    from tutelage.measures.base import as_measure

    own = own_measures()
    if taken := sorted(MEASURES.keys() & own.keys()):
        raise Refused(
            "A name stands for one measure, since settings and stored runs name it. Got "
            f"{taken[0]!r} from {place_of(own[taken[0]])}; tutelage comes with one of that name."
        )
    return {**MEASURES, **{name: as_measure(f, name) for name, f in own.items()}}
