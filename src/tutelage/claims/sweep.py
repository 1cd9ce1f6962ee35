"""The points of a sweep, seed by seed, and whether they lie on a power law at all.

A power law has one exponent everywhere. Its local exponents, between neighbouring points, are all
the same, and so is that of a parabola through the points in logarithms at both of its ends. How far
local exponents differ is read with the limits of chance over seeds, or, of one seed, with the
scatter of its points about that parabola.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import combinations, pairwise

import numpy as np
from jaxtyping import Float
from scipy.special import stdtrit

from tutelage.claims.chance import (
    ERROR,
    SAME,
    confidence_limits,
    evidence_against_below,
)

Points = Sequence[tuple[float, float]]
Found = Sequence[tuple[float, float, int]]  # x, y, seed
Theory = Callable[[Sequence[float]], float]  # its exponent through the points at these x
LEAST_POINTS = 3  # two always fit
LEAST_FREEDOM = 2  # a single residual may be small by accident
EXACT = 0.99  # confidence at which the scatter of one seed must not matter


def fitted_exponent(points: Points) -> float:
    """The slope of log y against log x by least squares; a rounded zero is zero."""
    slope = float(np.polyfit(np.log([x for x, _ in points]), np.log([y for _, y in points]), 1)[0])
    return 0.0 if abs(slope) < 1e-12 else slope


@dataclass(frozen=True)
class Sweep:
    """As many points of every seed, in the order of x; one row where there is no chance."""

    x: Float[np.ndarray, "seeds points"]
    y: Float[np.ndarray, "seeds points"]
    errors: Float[np.ndarray, "seeds points"]  # relative errors of y that are no chance

    @property
    def rows(self) -> list[list[tuple[float, float]]]:
        return [
            list(zip(map(float, x), map(float, y), strict=True))
            for x, y in zip(self.x, self.y, strict=True)
        ]

    @property
    def shared(self) -> bool:
        """Whether all seeds have the same x."""
        return bool((self.x == self.x[0]).all())

    @property
    def reach(self) -> float:
        """How far the errors of the points may move a slope by least squares, at the worst."""
        away = np.log(self.x) - np.log(self.x).mean(1, keepdims=True)
        return float(((np.abs(away) * self.errors).sum(1) / (away**2).sum(1)).max())


@dataclass(frozen=True)
class Span:
    """By how much local exponents differ at least, and the e-value against less than `asked`."""

    least: float
    evidence: float | None = None


def gather(found: Found, errors: Sequence[float]) -> Sweep:
    """The seeds that have all points. Where fewer than half of them do: the points that all seeds
    have; or, where each seed has its own x, the seeds with the most points; or else the geometric
    mean at each x.
    """
    axis = sorted({x for x, _, _ in found})
    seeds: dict[int, dict[float, tuple[float, float]]] = {}
    for (x, y, seed), error in zip(found, errors, strict=True):
        seeds.setdefault(seed, {})[x] = (y, error)
    rows = list(seeds.values())
    common = sorted(set.intersection(*(set(row) for row in rows)))
    most = max(len(row) for row in rows)
    whole = [row for row in rows if len(row) == len(axis)]
    own = [row for row in rows if len(row) == most]
    if 2 * len(whole) >= len(rows):
        sweep = _aligned(whole)
    elif len(common) >= LEAST_POINTS:
        sweep = _aligned([{x: row[x] for x in common} for row in rows])
    elif most >= LEAST_POINTS and 2 * len(own) >= len(rows):
        sweep = _aligned(own)
    else:
        return mean_points(found, errors)
    one_run = sweep.shared and np.ptp(np.log(sweep.y), axis=0).max() <= SAME
    return mean_points(found, errors) if len(sweep.x) > 1 and one_run else sweep


def _aligned(rows: Sequence[dict[float, tuple[float, float]]]) -> Sweep:
    axes = [sorted(row) for row in rows]
    values = np.array([[row[x] for x in axis] for row, axis in zip(rows, axes, strict=True)])
    return Sweep(np.array(axes, float), values[..., 0], values[..., 1])


def mean_points(found: Found, errors: Sequence[float]) -> Sweep:
    """One row: the geometric mean over seeds at each x, with the largest of their errors."""
    axis = sorted({x for x, _, _ in found})
    at = [[k for k, (x, _, _) in enumerate(found) if x == place] for place in axis]
    y = [float(np.exp(np.mean([np.log(found[k][1]) for k in places]))) for places in at]
    largest = [max(errors[k] for k in places) for places in at]
    return Sweep(np.array([axis], float), np.array([y]), np.array([largest]))


def local_exponents(sweep: Sweep, theory: Theory) -> Float[np.ndarray, "seeds gaps"]:
    """The exponents between neighbouring points, less those of theory there."""
    predicted = [[theory([float(a), float(b)]) for a, b in pairwise(x)] for x in sweep.x]
    return np.diff(np.log(sweep.y)) / np.diff(np.log(sweep.x)) - np.array(predicted)


def _departures(sweep: Sweep, theory: Theory) -> list[tuple[np.ndarray, np.ndarray]]:
    """(log x, log y less theory's) of each seed; theory's law is summed from its local exponents,
    so that a law which theory itself bends is straight here.
    """
    found = []
    for x, local in zip(sweep.x, local_exponents(sweep, theory), strict=True):
        log_x = np.log(x)
        found.append((log_x, np.concatenate([[0.0], np.cumsum(local * np.diff(log_x))])))
    return found


@dataclass(frozen=True)
class Parabola:
    """Least squares of log y by a parabola in log x: its bend, the change of its derivative from
    the first point to the last, and what the scatter of the points about it makes uncertain.
    """

    bend: float
    bend_error: float
    slope_error: float  # of a straight line through the points
    freedom: int

    @classmethod
    def fit(
        cls, log_x: Float[np.ndarray, "points"], log_y: Float[np.ndarray, "points"]
    ) -> Parabola:
        away = log_x - (log_x[0] + log_x[-1]) / 2
        design = np.stack([np.ones_like(away), away, away**2], 1)
        found, *_ = np.linalg.lstsq(design, log_y, rcond=None)
        freedom = len(log_x) - LEAST_POINTS
        # Three points lie on a parabola whatever their scatter is.
        squares = float(np.sum((log_y - design @ found) ** 2))
        scatter = np.sqrt(squares / freedom) if freedom else np.inf
        change = 2 * (log_x[-1] - log_x[0])
        inverse = np.linalg.inv(design.T @ design)
        return cls(
            float(found[2] * change),
            float(scatter * change * np.sqrt(inverse[2, 2])),
            float(scatter / np.linalg.norm(log_x - log_x.mean())),
            freedom,
        )

    def known(self, error: float) -> float:
        """How far off a number with this error may be; infinite where too few points are left to
        see their scatter.
        """
        if self.freedom < LEAST_FREEDOM:
            return np.inf
        return float(stdtrit(self.freedom, 0.5 + EXACT / 2)) * error


def parabolas(sweep: Sweep, theory: Theory) -> list[Parabola]:
    """Those of each seed, through its points less theory's own law."""
    return [Parabola.fit(x, y) for x, y in _departures(sweep, theory)]


def visible_span(sweep: Sweep, theory: Theory, *, certain: bool, asked: float) -> Span:
    """By how much local exponents certainly differ: beyond chance over seeds, beyond the scatter of
    a single seed's points, and beyond the errors of the points.
    """
    if certain:
        local = local_exponents(sweep, theory).mean(0)
        wide = _local_errors(sweep)
        spans = [
            abs(local[j] - local[k]) - wide[j] - wide[k]
            for j, k in combinations(range(len(local)), 2)
        ]
        return Span(max(0.0, *map(float, spans)))
    room = 2 * float(_local_errors(sweep).max())  # two exponents may be off by their errors
    if len(sweep.x) == 1:
        (fit,) = parabolas(sweep, theory)
        return Span(max(0.0, abs(fit.bend) - fit.known(fit.bend_error) - room))
    return _span_of_seeds(sweep, theory, asked, room)


def _span_of_seeds(sweep: Sweep, theory: Theory, asked: float, room: float) -> Span:
    """The parabola's bend, or the two gaps whose exponents differ most, each with its share of the
    chance of an error and beyond `room`.
    """
    local = local_exponents(sweep, theory)
    pairs = list(combinations(range(local.shape[1]), 2)) if sweep.shared else []
    values = np.stack(
        [
            np.array([fit.bend for fit in parabolas(sweep, theory)]),
            *(local[:, j] - local[:, k] for j, k in pairs),
        ],
        1,
    )
    # Half of the error is the parabola's; the pairs share the other half.
    shares = [0.5, *[0.5 / max(len(pairs), 1)] * len(pairs)]
    least, evidence = 0.0, 0.0
    for column, share in zip(values.T, shares, strict=True):
        low, high = confidence_limits(column, ERROR * share, with_mean=True)
        span = max(float(low) - room, -float(high) - room, 0.0)
        upward = column if column.mean() > 0 else -column
        e_value = share * evidence_against_below(upward, asked + room)
        least, evidence = max(least, span), max(evidence, e_value)
    return Span(least, evidence)


def _local_errors(sweep: Sweep) -> Float[np.ndarray, "gaps"]:
    errors = sweep.errors.max(0)
    return (errors[1:] + errors[:-1]) / np.abs(np.diff(np.log(sweep.x))).min(0)
