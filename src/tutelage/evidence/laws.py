r"""The forms that a falling curve may have, each a family of curves, and their least-squares fits.

| form | $y(x)$ |
|---|---|
| power law | $A\,(x+x_0)^{-p}$ |
| power law with a floor | $c + A\,(x+x_0)^{-p}$ |
| log-corrected | $A\,(x+x_0)^{-p}\,\log(e + x/\tau)^{q}$ |
| exponential | $A\,e^{-kx}$ |
| stretched exponential | $A\,e^{-(x/\tau)^{\beta}}$, $\beta \le 1$ |

$x_0 \ge 0$ is where a power law counts from: $(1+t)^{-1}$ is one; and $|q| \le 3$. Fits are least
squares in $\log y$, of its smooth part (`Binned.smooth`). Given the parameters that enter in a
curved way, the others enter linearly; a grid over the former finds the neighbourhood of the best
fit, and least squares over all of them its bottom.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from jaxtyping import Float
from scipy.optimize import least_squares

from tutelage.evidence.binning import Binned

Points = Float[np.ndarray, "bins"]
Shape = tuple[float, ...]  # the parameters that enter in a curved way
Parameters = dict[str, float]
OFFSETS = (0.0, 0.01, 0.03, 0.1, 0.3, 1.0, 3.0, 10.0)  # of x0, in units of the first x
SCALES = (1e-3, 1e-2, 0.1, 1.0, 10.0)  # of τ, likewise
POWERS = (0.1, 0.2, 0.35, 0.5, 0.7, 1.0, 1.4, 2.0, 3.0)
FLOORS = (0.0, 0.01, 0.03, 0.1, 0.3, 0.5, 0.7, 0.85, 0.95, 0.99)  # of c, over the smallest y
STRETCHES = (0.05, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 1.0)
MOST_LOGS = 3.0  # |q|
FREE = (-np.inf, np.inf)
TRIES = 2  # points of the grid from which the bottom is sought


@dataclass(frozen=True)
class Form:
    """A family of curves: log y = Σ_j b_j · column_j(x; shape), or with a floor below it."""

    name: str
    formula: str
    # The columns beside 1, at one shape; x is in units of the first x.
    columns: Callable[[Points, Shape], list[Points]]
    grid: tuple[tuple[float, ...], ...]  # of each parameter of the shape
    named: Callable[[float, Shape, Sequence[float]], Parameters]
    ranges: tuple[tuple[float, float], ...] = (FREE, FREE)  # of the coefficients
    floor: bool = False  # whether the last parameter of the shape is a floor, over the smallest y


def _power_columns(x: Points, shape: Shape) -> list[Points]:
    return [-np.log(x + shape[0])]


def _log_columns(x: Points, shape: Shape) -> list[Points]:
    return [-np.log(x + shape[0]), np.log(np.log(np.e + x / shape[1]))]


def _exponential_columns(x: Points, shape: Shape) -> list[Points]:
    return [-x]


def _stretched_columns(x: Points, shape: Shape) -> list[Points]:
    return [-(x ** shape[0])]


# What the parameters are in units of the user: `unit` is the first x; `b` are the coefficients.
def _name_power(unit: float, shape: Shape, b: Sequence[float]) -> Parameters:
    return {"p": b[1], "x0": unit * shape[0]}


def _name_floor(unit: float, shape: Shape, b: Sequence[float]) -> Parameters:
    return {"p": b[1], "x0": unit * shape[0], "c": shape[1]}


def _name_log(unit: float, shape: Shape, b: Sequence[float]) -> Parameters:
    return {"p": b[1], "q": b[2], "x0": unit * shape[0], "τ": unit * shape[1]}


def _name_exponential(unit: float, shape: Shape, b: Sequence[float]) -> Parameters:
    return {"k": b[1] / unit}


def _name_stretched(unit: float, shape: Shape, b: Sequence[float]) -> Parameters:
    scale = unit * b[1] ** (-1 / shape[0]) if b[1] > 0 else np.inf
    return {"β": shape[0], "τ": float(scale)}


FORMS = (
    Form("power law", "A·(x+x0)^-p", _power_columns, (OFFSETS,), _name_power),
    Form(
        "power law with a floor", "c + A·(x+x0)^-p",
        _power_columns, (OFFSETS, FLOORS), _name_floor, (FREE, (0.0, np.inf)), floor=True,
    ),
    Form(
        "log-corrected power law", "A·(x+x0)^-p·log(e+x/τ)^q",
        _log_columns, (OFFSETS, SCALES), _name_log, (FREE, FREE, (-MOST_LOGS, MOST_LOGS)),
    ),
    Form("exponential", "A·e^(-kx)", _exponential_columns, (), _name_exponential),
    Form(
        "stretched exponential", "A·e^-(x/τ)^β",
        _stretched_columns, (STRETCHES,), _name_stretched,
    ),
)  # fmt: skip


@dataclass(frozen=True)
class Fit:
    """The member of a form that is nearest to a curve."""

    form: Form
    unit: float  # the first x
    least: float  # the smallest y, in which a floor is counted
    shape: Shape
    coefficients: tuple[float, ...]
    squares: float  # Σ (log y − log fit)²

    def log_value(self, x: Points) -> Points:
        return _log_value(self.form, x / self.unit, self.shape, self.coefficients, self.least)

    @property
    def parameters(self) -> Parameters:
        found = self.form.named(self.unit, self.shape, self.coefficients)
        return {k: v * self.least if k == "c" else v for k, v in found.items()}


def fit(form: Form, binned: Binned, tries: int = TRIES) -> Fit:
    """Least squares of the smooth part of log y, from the best few points of the grid."""
    unit, least = float(binned.x[0]), float(np.exp(binned.log_y.min()))
    search = _Search(form, binned.x / unit, binned.log_y, binned.smooth, least)
    shapes = itertools.product(*form.grid)
    starts = sorted((search.begin(shape) for shape in shapes), key=lambda start: start[0])
    best = min((search.refine(start) for start in starts[:tries]), key=lambda found: found[0])
    return Fit(form, unit, least, best[1], best[2], best[0])


Start = tuple[float, Shape, tuple[float, ...]]  # squares, shape, coefficients


def _log_value(
    form: Form, x: Points, shape: Shape, coefficients: Sequence[float], least: float
) -> Points:
    found = _design(form, x, shape) @ np.asarray(coefficients)
    if form.floor and shape[-1] > 0:
        found = np.logaddexp(found, np.log(shape[-1] * least))
    return np.asarray(found)


def _design(form: Form, x: Points, shape: Shape) -> Float[np.ndarray, "bins columns"]:
    return np.stack([np.ones_like(x), *form.columns(x, shape)], axis=1)


@dataclass(frozen=True)
class _Search:
    """For the member of a form that is nearest to a curve; x is in units of the first x."""

    form: Form
    x: Points
    log_y: Points
    smooth: Float[np.ndarray, "polynomials bins"]
    least: float

    def begin(self, shape: Shape) -> Start:
        b = self.solve(shape)
        off = self.residuals(shape, b)
        return float(off @ off), shape, b

    def solve(self, shape: Shape) -> tuple[float, ...]:
        """The coefficients that fit best at one shape. With a floor they are those of log (y − c),
        weighted by how much it matters to log y, which is near enough to begin with.
        """
        form, log_y = self.form, self.log_y
        design, project = _design(form, self.x, shape), self.smooth
        if form.floor and shape[-1] > 0:
            above = np.maximum(-np.expm1(np.log(shape[-1] * self.least) - log_y), 1e-3)
            log_y, project = log_y + np.log(above), project * above  # above is (y − c)/y
        return _bounded(project @ design, project @ log_y, form.ranges)

    def residuals(
        self, shape: Shape, coefficients: Sequence[float]
    ) -> Float[np.ndarray, "polynomials"]:
        """The smooth part of what is off."""
        off = self.log_y - _log_value(self.form, self.x, shape, coefficients, self.least)
        return self.smooth @ np.clip(np.nan_to_num(off, nan=1e3), -1e3, 1e3)

    def refine(self, start: Start) -> Start:
        """The bottom near a start, within the ranges of the form. Coefficients that enter linearly
        are found anew at every shape; beside a floor they do not, and are searched for too.
        """
        form = self.form
        if not form.grid:
            return start
        count = len(start[1])
        ranges = [(min(values), max(values)) for values in form.grid]
        begin = list(start[1])
        if form.floor:
            ranges, begin = [*ranges, *form.ranges], [*begin, *start[2]]
        low, high = np.transpose(ranges)

        def complete(p: Sequence[float]) -> tuple[Shape, tuple[float, ...]]:
            shape = tuple(float(value) for value in p[:count])
            return shape, tuple(float(v) for v in p[count:]) if form.floor else self.solve(shape)

        found = least_squares(
            lambda p: self.residuals(*complete(p)),
            np.clip(begin, low + 1e-9, high - 1e-9),
            bounds=(low, high), x_scale="jac", ftol=1e-6, xtol=1e-8, max_nfev=60,
        )  # fmt: skip
        return min(start, (float(found.fun @ found.fun), *complete(found.x.tolist())))


def _bounded(
    design: Float[np.ndarray, "rows columns"],
    target: Float[np.ndarray, "rows"],
    ranges: Sequence[tuple[float, float]],
) -> tuple[float, ...]:
    """Linear least squares; a coefficient that leaves its range is held at its end, and the others
    are found again.
    """
    b = np.linalg.lstsq(design, target, rcond=None)[0]
    held = np.clip(b, *np.transpose(ranges))
    outside = held != b
    if outside.any():
        rest = target - design[:, outside] @ held[outside]
        held[~outside] = np.linalg.lstsq(design[:, ~outside], rest, rcond=None)[0]
        held = np.clip(held, *np.transpose(ranges))
    return tuple(float(value) for value in held)
