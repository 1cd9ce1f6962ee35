"""What is refused before any work: batches that do not fit together, and horizons out of reach."""

from __future__ import annotations

from collections.abc import Sequence

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import optax
from jaxtyping import Array, Key

from tutelage.measures.base import Measure, OfBilinear
from tutelage.measures.bilinear import OF_TEACHER, has_bilinear_teacher
from tutelage.objectives.base import Objective
from tutelage.refuse import Refused, positive
from tutelage.run import Run
from tutelage.settings import Setting
from tutelage.students.base import Student, trainable
from tutelage.teachers.base import Teacher
from tutelage.training.batch import Batch, Steps
from tutelage.training.method import Method

# Beyond this many steps a run that cannot go on by flow is refused: one by one they take a day and
# more.
MOST_STEPS_ONE_BY_ONE = 1_000_000_000
# Parameters whose curvature is held as one matrix, which is inverted: about two seconds.
MOST_ROWS_OF_CURVATURE = 2_500
# Numbers of the curvature in all, 270 MB, of which five copies are held: D = 300 and orthonormal
# codes.
MOST_NUMBERS_OF_CURVATURE = 2**25


def check_batch(batch: Batch, method: Method) -> None:
    """Refuses what cannot be trained together, or not at all."""
    _check_members(batch)
    _check_measures(batch)
    _check_rates(batch.rates, batch.optimiser)
    _check_keys(batch.keys, batch.objectives)
    check_horizon(batch.steps, method, batch.students[0], batch.objectives[0], batch.optimiser)
    if batch.begin is not None:
        _check_begin(batch.begin, batch.students, batch.measures, batch.steps)
    _check_shapes(batch)


def check_horizon(
    steps: int, method: Method, student: Student, objective: Objective, optimiser: Steps
) -> None:
    """Refuses a horizon that would take days of steps one by one."""
    most = max(MOST_STEPS_ONE_BY_ONE, method.literal)
    if steps > most and (reason := why_no_flow(student, objective, optimiser, method)):
        raise Refused(
            f"`steps` must be at most {most:,} here, since they are taken one by one and take days "
            "beyond that; only plain gradient descent on an exact risk goes on by gradient flow. "
            f"Got steps={steps:,}, and {reason}."
        )


def why_no_flow(student: Student, objective: Objective, optimiser: Steps, method: Method) -> str:
    """Why runs of this kind are taken step by step only, in a sentence; "" where they can go on by
    gradient flow.
    """
    if objective.stochastic:
        return "this objective draws a fresh batch at every step"
    if not objective.has_gradient:
        return (
            f"{type(objective).__name__} has no `gradient` that can be differentiated again, "
            "as the population risk has"
        )
    if optimiser is not optax.sgd:
        return "only plain gradient descent follows the gradient flow"
    moving = [
        leaf
        for leaf in jax.tree.leaves(eqx.filter(student, trainable(student)))
        if leaf is not None
    ]
    if method.precision != "float64" or any(leaf.dtype != jnp.float64 for leaf in moving):
        return "gradient flow needs double precision"
    apart = [vars(student)[name].shape for name in student.columns_apart]
    border = sum(leaf.size for leaf in moving) - sum(rows * columns for rows, columns in apart)
    if border > MOST_ROWS_OF_CURVATURE:
        return (
            f"its curvature would be a matrix of {border:,} rows, and at most "
            f"{MOST_ROWS_OF_CURVATURE:,} are held"
        )
    numbers = border**2 + sum(rows * columns * (rows + border) for rows, columns in apart)
    if numbers > MOST_NUMBERS_OF_CURVATURE:
        return (
            f"its curvature would have {numbers:,} numbers, and at most "
            f"{MOST_NUMBERS_OF_CURVATURE:,} are held"
        )
    return ""


def _check_members(batch: Batch) -> None:
    students, objectives, rates = batch.students, batch.objectives, batch.rates
    if not len(students) == len(objectives) == len(rates) >= 1:
        raise Refused(
            "A batch needs at least one run, and as many objectives and rates as students, since "
            "member i takes one of each. "
            f"Got {len(students)} students, {len(objectives)} objectives, {len(rates)} rates."
        )
    for student, objective in zip(students, objectives, strict=True):
        _check_types(student, objective)
    names = [measure.name for measure in batch.measures]
    if len(set(names)) < len(names):
        twice = next(name for name in names if names.count(name) > 1)
        raise Refused(
            "Each measure must have a name of its own, since that names its curve. Got "
            f"{twice!r} more than once."
        )
    for student, objective in zip(students, objectives, strict=True):
        if not all(
            np.isfinite(np.asarray(leaf)).all()
            for leaf in jax.tree.leaves(eqx.filter(student, eqx.is_inexact_array))
        ):
            raise Refused(
                "A student must start from finite numbers, since nothing is learned from others. "
                "Got NaN or infinity."
            )
        objective.check(student)


def _check_types(student: object, objective: object) -> None:
    """Refuses arguments in the wrong order, teachers in the place of risks, and whatever else is no
    student or no objective.
    """
    if isinstance(student, Objective) and isinstance(objective, Student):
        raise Refused(
            "The student comes first and the objective second, train(student, objective, …), since "
            "the objective is a function of the student. Got them the other way round: "
            f"{type(student).__name__}, {type(objective).__name__}."
        )
    if not isinstance(student, Student):
        raise Refused(
            "A student must be a tutelage.students.Student, since that declares what training asks "
            f"of it. Got {_describe(student)}."
        )
    if not isinstance(objective, Objective):
        raise Refused(
            "An objective must be a tutelage.objectives.Objective, since that declares what "
            f"training asks of it. Got {_describe(objective)}."
        )


def _describe(given: object) -> str:
    """What was received in the place of a student or an objective, and what to do with it."""
    kind = type(given).__name__
    if isinstance(given, Teacher):
        return (
            f"{kind}, a teacher: its risk is tutelage.PopulationRisk(teacher), and a student of "
            "its shape is tutelage.PositionAttention.zeros(teacher)"
        )
    if isinstance(given, Setting):
        return "Setting: `tutelage.execute([setting])` trains it"
    if isinstance(given, list | tuple):
        return f"{kind}: `tutelage.train_batch` takes several"
    return kind


def _check_measures(batch: Batch) -> None:
    """Refuses measures that compare the student with a teacher where there is none."""
    for objective in batch.objectives:
        for measure in batch.measures:
            if measure.function in OF_TEACHER and not has_bilinear_teacher(objective):
                raise Refused(
                    f"The measure {measure.name!r} compares the student with a teacher σ(V* X S*), "
                    "so that the objective must have one. Got "
                    f"{_name_teacher(objective)}; measures=None takes those that need none."
                )


def _name_teacher(objective: Objective) -> str:
    kind = type(objective).__name__
    if isinstance(objective, OfBilinear):
        return f"{kind} with the teacher {type(objective.teacher).__name__}"
    return f"{kind}, which has no teacher"


def _check_shapes(batch: Batch) -> None:
    begun = batch.students if batch.begin is None else [run.student for run in batch.begin]
    pairs = list(zip(begun, batch.objectives, strict=True))
    shapes = {
        (jax.tree.structure(pair), tuple(jnp.shape(leaf) for leaf in jax.tree.leaves(pair)))
        for pair in pairs
    }
    if len(shapes) != 1:
        raise Refused(
            "Runs trained together must have the same shapes, activation and codes, since they "
            "share one compiled program. "
            "Give `execute` their settings instead: it groups them by shape."
        )


def _check_begin(
    begin: Sequence[Run], students: Sequence[Student], measures: Sequence[Measure], steps: int
) -> None:
    if len(begin) != len(students):
        raise Refused(
            f"Each member of a batch continues its own run. Got {len(begin)} runs to "
            f"begin from, {len(students)} students."
        )
    names = {measure.name for measure in measures}
    for run, student in zip(begin, students, strict=True):
        if run.rest is None or run.rest.taken != (begin[0].rest or run.rest).taken:
            raise Refused(
                "Runs that are continued together must have stopped after the same number of "
                "steps without diverging, since they share one loop."
            )
        if (run.continued is None) != (begin[0].continued is None):
            raise Refused(
                "Runs that are continued together must all continue by steps or all by gradient "
                "flow. Got some of each."
            )
        if run.rest.taken >= steps:
            raise Refused(
                f"A run is continued to a later step than it has reached. Got steps={steps:,} "
                f"after {run.rest.taken:,}."
            )
        if run.setting is not None and any(
            piece.get("origins", {}) != run.setting.origins() for piece in run.made
        ):
            raise Refused(
                "A run is continued with the code and random draws that began it, since its curves "
                f"are those of one run. Got one that {run.made[-1].get('origins') or 'earlier'} "
                f"made, where {run.setting.origins()} is at work now: start it anew."
            )
        if set(run.curves) != names:
            raise Refused(
                f"A run is continued with the measures it began with. Got {sorted(names)} after "
                f"{sorted(run.curves)}."
            )
        if hash(jax.tree.structure(run.student)) != hash(jax.tree.structure(student)):
            raise Refused("A run is continued with a student of the same kind. Got another.")


def _check_rates(rates: Sequence[float | None], optimiser: Steps) -> None:
    finished = isinstance(optimiser, optax.GradientTransformation)
    if not finished and not callable(optimiser):
        raise Refused(
            "`optimiser` must be an optax transformation, or a function from a rate to one such "
            "as optax.adam, since that is what "
            f"turns a gradient into a step. Got {optimiser!r}."
        )
    for rate in rates:
        if finished and rate is not None:
            raise Refused(
                "`rate` must be left out when `optimiser` is a finished optax transformation, "
                "since that carries its own. "
                f"Got rate={rate!r}; pass the factory instead (optax.adam, not optax.adam(0.1)) "
                "to set the rate here."
            )
        if not finished:
            if rate is None:
                raise Refused(
                    "`rate` must be given, since gradient descent needs a step size. Got none."
                )
            positive("rate", rate, reason="a step of gradient descent moves against the gradient")


def _check_keys(keys: Sequence[Key[Array, ""]] | None, objectives: Sequence[Objective]) -> None:
    stochastic = [objective.stochastic for objective in objectives]
    if keys is None and any(stochastic):
        raise Refused(
            "`key` must be given, since this objective draws a fresh batch at every step. Got "
            "none; try key=stream(0, 'batches')."
        )
    if keys is not None and (not all(stochastic) or len(keys) != len(objectives)):
        raise Refused(
            "`key` is for objectives that draw their batches, one for each run; an exact or a "
            "fixed-sample risk has nothing to draw. "
            f"Got {len(keys)} for {len(objectives)} runs, of which {sum(stochastic)} draw."
        )
