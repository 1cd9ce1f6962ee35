"""What is refused before any work: batches that do not fit together, and horizons out of reach."""

from __future__ import annotations

from collections.abc import Sequence

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import optax
from jaxtyping import Array, Key

from tutelage.measures.base import Measure
from tutelage.objectives.base import Objective
from tutelage.refuse import Refused, positive
from tutelage.run import Run
from tutelage.students.base import Student, trainable
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
    for given, base in ((students, Student), (objectives, Objective)):
        for one in given:
            if not isinstance(one, base):
                raise Refused(
                    f"A {base.__name__.lower()} must be a tutelage.{base.__module__.split('.')[1]}."
                    f"{base.__name__}, since that declares what training asks of it. "
                    f"Got {type(one).__name__}."
                )
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
            f"Each member of a batch goes on from a run of its own. Got {len(begin)} runs to "
            f"begin from, {len(students)} students."
        )
    names = {measure.name for measure in measures}
    for run, student in zip(begin, students, strict=True):
        if run.rest is None or run.rest.taken != (begin[0].rest or run.rest).taken:
            raise Refused(
                "Runs that go on together must have stopped, undiverged, after as many steps, "
                "since they share one loop."
            )
        if (run.continued is None) != (begin[0].continued is None):
            raise Refused(
                "Runs that go on together must go on alike, by steps or by gradient flow. Got "
                "some of each."
            )
        if run.rest.taken >= steps:
            raise Refused(
                f"A run goes on to a later step than it has reached. Got steps={steps:,} after "
                f"{run.rest.taken:,}."
            )
        if run.setting is not None and any(
            piece.get("origins", {}) != run.setting.origins() for piece in run.made
        ):
            raise Refused(
                "A run goes on with the code and the random draws that began it, since its curves "
                f"are those of one run. Got one that {run.made[-1].get('origins') or 'earlier'} "
                f"made, where {run.setting.origins()} is at work now: start it anew."
            )
        if set(run.curves) != names:
            raise Refused(
                f"A run goes on with the measures it began with. Got {sorted(names)} after "
                f"{sorted(run.curves)}."
            )
        if hash(jax.tree.structure(run.student)) != hash(jax.tree.structure(student)):
            raise Refused("A run goes on with a student of the same kind. Got another.")


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
