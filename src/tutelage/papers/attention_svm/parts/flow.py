r"""Gradient flow on W, or on K and Q, in logarithmic time: $dW/ds = -e^s \nabla L$, s = ln t.

The factor t is put inside of the exponentials of the gradient, so that neither it nor the gradient
has to be a number that a computer can hold: t = 10³⁰⁰ costs as many steps as ln t has units.
"""

from __future__ import annotations

import math

import numpy as np
from jaxtyping import Float, Int
from scipy.integrate import solve_ivp

from tutelage.calculations.base import Calculated, Calculation, Ingredients
from tutelage.numerics.grids import log_spaced
from tutelage.papers.attention_svm.parts.attention import descent_direction
from tutelage.papers.attention_svm.parts.path import describe_path
from tutelage.papers.attention_svm.parts.sample import Sample, Selection
from tutelage.papers.attention_svm.parts.students import FixedHead
from tutelage.papers.attention_svm.parts.teacher import LabelledSequences
from tutelage.papers.attention_svm.theory.programmes import max_margin
from tutelage.refuse import Refused, positive, whole

FIRST_DECADE = -6  # of t: before it the start has moved by 10⁻⁶ of its gradient, in one step
RELATIVE, ABSOLUTE = 1e-9, 1e-11  # tolerances of the solver
MOST_WHOLE_DECADES = 18  # times up to 10¹⁸ are whole numbers, and serve as the axis
PER_DECADE = 8  # measured times in each factor of ten

Factors = tuple[Float[np.ndarray, "d d"], ...]


class AttentionFlow(Calculation):
    """Flow from the student's start to t = 10^decades.

    The axis is t where that is a whole number, else log₁₀ t. With `selection` the start is
    `length` times W^mm of that selection, whatever the student's own.
    """

    def __init__(
        self, decades: int, selection: Float[np.ndarray, "n"] | None, length: float
    ) -> None:
        self.decades = whole("decades", decades, least=1, reason="flow begins before t = 1")
        self.selection = selection
        self.length = positive("length", length, reason="the start is that many times W^mm")

    def __call__(self, given: Ingredients) -> Calculated:
        sample, student = read_parts(given)
        factors: Factors = tuple(np.asarray(factor) for factor in student.factors)
        if self.selection is not None:
            if len(factors) > 1:
                raise Refused(
                    "A start at a multiple of W^mm is one of W itself, since its factors are not "
                    f"unique. Got the student {given.setting.student.name!r}."
                )
            chosen = check_selection(sample, self.selection)
            factors = (self.length * max_margin(sample, chosen).matrix,)
        axis, log_times = self._times()
        path = follow_flow(sample, factors, log_times)
        matrices = [multiply(factors) for factors in path]
        factor_norms = [sum(float(np.sum(f**2)) for f in factors) for factors in path]
        more = {"log_time": log_times, "factor_square": np.array(factor_norms)}
        return describe_path(sample, axis, matrices, more)

    def _times(self) -> tuple[Int[np.ndarray, "points"], Float[np.ndarray, "points"]]:
        """The axis, and log t at each of its points."""
        if self.decades <= MOST_WHOLE_DECADES:
            times = log_spaced(10**self.decades, PER_DECADE)[1:]
            return times, np.log(times.astype(float))
        decades = np.arange(1, self.decades + 1)
        return decades, decades * math.log(10)


def read_parts(given: Ingredients) -> tuple[Sample, FixedHead]:
    """The sample of the teacher and the student, of a setting whose parts are this paper's."""
    teacher, student = given.teacher, given.student
    if not isinstance(teacher, LabelledSequences) or not isinstance(student, FixedHead):
        raise Refused(
            "Descent on attention with a fixed head needs the teacher 'labelled_sequences', and "
            "one of the students 'matrix_attention' and 'factored_attention'. Got "
            f"{given.setting.teacher.name!r} and {given.setting.student.name!r}."
        )
    return teacher.sample, student


def check_selection(sample: Sample, given: Float[np.ndarray, "n"]) -> Selection:
    """One token per sequence, as whole numbers."""
    count, tokens = sample.scores.shape
    chosen = np.asarray(given)
    if chosen.shape != (count,) or (chosen % 1 != 0).any() or not _within(chosen, tokens):
        raise Refused(
            f"`selection` must name one of {tokens} tokens for each of {count} sequences, counted "
            f"from 0, since W^mm attends to them. Got {given!r}."
        )
    return chosen.astype(int)


def _within(chosen: Float[np.ndarray, "n"], tokens: int) -> bool:
    return bool(((chosen >= 0) & (chosen < tokens)).all())


def multiply(factors: Factors) -> Float[np.ndarray, "d d"]:
    """W, from itself or as KQᵀ."""
    return factors[0] if len(factors) == 1 else factors[0] @ factors[1].T


def follow_flow(
    sample: Sample, factors: Factors, log_times: Float[np.ndarray, "points"]
) -> list[Factors]:
    """The factors at each of some log times, from their values at t = 0."""
    shape = (len(factors), *factors[0].shape)

    def slopes(
        log_time: float, flat: Float[np.ndarray, "parameters"]
    ) -> Float[np.ndarray, "parameters"]:
        now = tuple(flat.reshape(shape))
        toward = descent_direction(sample, multiply(now), log_time)
        if len(now) == 1:
            return toward.ravel()
        return np.concatenate([(toward @ now[1]).ravel(), (toward.T @ now[0]).ravel()])

    first = FIRST_DECADE * math.log(10)
    start = np.concatenate([factor.ravel() for factor in factors])
    solved = solve_ivp(
        slopes,
        (first, float(log_times[-1])),
        start + slopes(first, start),
        method="LSODA",
        rtol=RELATIVE,
        atol=ABSOLUTE,
        t_eval=log_times,
    )
    if not solved.success:
        raise Refused(
            "Gradient flow must be smooth on the scale of ln t to be followed. The solver gave "
            f"up: {solved.message}"
        )
    return [tuple(column.reshape(shape)) for column in solved.y.T]
