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
from tutelage.papers.attention_svm.parts.sample import Sample
from tutelage.papers.attention_svm.parts.starts import read_parts
from tutelage.refuse import Refused, whole

FIRST_DECADE = -6  # of t: before it the start has moved by 10⁻⁶ of its gradient, in one step
RELATIVE, ABSOLUTE = 1e-8, 1e-10  # tolerances of the solver
MOST_WHOLE_DECADES = 18  # times up to 10¹⁸ are whole numbers, and serve as the axis
PER_DECADE = 8  # measured times in each factor of ten

Factors = tuple[Float[np.ndarray, "d d"], ...]


class AttentionFlow(Calculation):
    """Flow from the student's start to t = 10^decades.

    The axis is t where that is a whole number, else log₁₀ t.
    """

    def __init__(self, decades: int) -> None:
        self.decades = whole("decades", decades, least=1, reason="flow begins before t = 1")

    def __call__(self, given: Ingredients) -> Calculated:
        sample, student = read_parts(given)
        factors: Factors = tuple(np.asarray(factor) for factor in student.factors)
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
