r"""Gaussian expectations by quadrature, for any smooth activation.

The pair (a, b) is written as b = σ_b x and a = b + d, d = −(σ_b − C/σ_b) x + (√G/σ_b) y with x, y
independent standard normal, so that the difference d is small by its coefficients and not by
subtraction. The integrand (σ(a) − σ(b))² is then never negative, and neither is its trapezoidal sum
on [−8, 8]², which converges exponentially for smooth σ: the error falls like exp(−2π·s/h) with s
the distance of the nearest singularity of σ from the real line in units of the standard deviation.
Gauss–Hermite does much worse here (tanh at standard deviation 3: 8e-5 with 160 nodes).
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache, lru_cache
from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float

from tutelage.log import tell_wait
from tutelage.numerics.geometry import Form, Pairs, Slopes

# The normal density there is 1e-14 of its peak, and no more of the integral lies beyond.
HALF_WIDTH = 8.0
# Stop refining once the estimated relative error is below this; the promise to users is 1e-10
TARGET = 1e-11
COUNTS = (41, 61, 81, 121, 161, 241, 321)
# A gradient takes about so long for each pair of pre-activations and node, measured on one core.
SECONDS_PER_NODE = 6e-9
PREPARING = (
    "preparing quadrature for the activation {name}, which has no closed form: up to ten seconds, "
    "once for each activation and scale."
)


class Accuracy(NamedTuple):
    """Nodes a side, and the estimated relative errors of excess and gradient at standard deviations
    up to `reach`.
    """

    nodes: int
    excess: float
    gradient: float
    reach: float

    @property
    def sentence(self) -> str:
        return (
            f"quadrature with {self.nodes}×{self.nodes} nodes: estimated relative error "
            f"{self.excess:.1e} of the excess and "
            f"{self.gradient:.1e} of its gradient, for pre-activations of standard deviation up "
            f"to {self.reach:.3g}"
        )


@lru_cache(maxsize=64)
def form(function: Callable[[Array], Array], nodes: int) -> Form:
    """The expectations of `function` on a grid of `nodes` a side."""

    def along(
        x: Float[Array, "*s"],
    ) -> tuple[Float[Array, "*s"], Float[Array, "*s"], Float[Array, "*s"]]:
        """σ, σ′ and σ″, elementwise."""
        slope = lambda t: jax.jvp(function, (t,), (jnp.ones_like(t),))  # noqa: E731
        (value, first), (_, second) = jax.jvp(slope, (x,), (jnp.ones_like(x),))
        return value, first, second

    def excess(p: Pairs) -> Float[Array, "M Q"]:
        return 0.5 * _expect(lambda a, b: (function(a) - function(b)) ** 2, p, nodes)

    def slopes(p: Pairs) -> Slopes:
        # Price's theorem: 2∂_A = E[σ′(a)² + (σ(a)−σ(b))σ″(a)], ∂_C = −E[σ′(a)σ′(b)]; their sum is
        # small term by term.
        def terms(a: Float[Array, "*s k"], b: Float[Array, "*s 1"]) -> Float[Array, "2 *s k"]:
            value, first, second = along(a)
            bend = (value - function(b)) * second
            slope_b = jax.jvp(function, (b,), (jnp.ones_like(b),))[1]
            return jnp.stack([first**2 + bend, first * (first - slope_b) + bend])

        mu, both = _expect(terms, p, nodes)
        return Slopes(mu, jnp.zeros_like(mu), both)

    return Form(excess, slopes)


def _expect(
    function: Callable[[Array, Array], Array], p: Pairs, nodes: int
) -> Float[Array, "*leading M Q"]:
    """E[function(a, b)] for every pair; one row of the grid at a time, so that memory is
    M·Q·nodes.
    """
    grid = jnp.linspace(-HALF_WIDTH, HALF_WIDTH, nodes)
    weight = jnp.exp(-0.5 * grid**2)
    weight = weight / jnp.sum(weight)
    sigma = jnp.sqrt(p.teacher)
    safe = jnp.where(sigma > 0, sigma, 1.0)
    # E[b(a−b)]/σ_b = (C−B)/σ_b = ε σ_b; a teacher's row of zeros leaves b = 0 and a = √A y.
    with_x = p.stretch * sigma
    with_y = jnp.where(sigma > 0, p.area / safe, jnp.sqrt(p.distance))

    def row(total: Float[Array, "..."], x: tuple[Array, Array]) -> tuple[Array, None]:
        node, mass = x
        b = (sigma * node)[..., None]  # the same for a whole row: σ(b) is computed once
        a = b + (with_x * node)[..., None] + with_y[..., None] * _along_last(grid, sigma.ndim + 1)
        values = function(a, b)
        return total + mass * jnp.sum(values * _along_last(weight, values.ndim), -1), None

    first = grid[0], weight[0]
    shape = jax.eval_shape(lambda: row(jnp.zeros(()), first)[0]).shape
    return jax.lax.scan(row, jnp.zeros(shape), (grid, weight))[0]


def _along_last(numbers: Float[Array, "k"], axes: int) -> Float[Array, "*ones k"]:
    """The numbers along the last of so many axes."""
    return numbers.reshape((*(1,) * (axes - 1), -1))


@lru_cache(maxsize=64)
def fit(function: Callable[[Array], Array], reach: float, name: str = "") -> Accuracy:
    """The fewest nodes whose error, against half the spacing, is below the target at standard
    deviations up to `reach`.

    Pairs at random distances from the teacher stand for those that training will visit. The
    gradient is also compared with Stein's form E[(σ(a)−σ(b))σ′(a)b], which needs no second
    derivative: a kink that automatic differentiation cannot see shows there as an error of the
    gradient.
    """
    tell_wait(PREPARING.format(name=name))
    probes = _probes(reach)

    @cache
    def on_grid(nodes: int) -> tuple[np.ndarray, Slopes, np.ndarray]:
        def all_of(p: Pairs) -> tuple[Array, Slopes, Array]:
            slopes = form(function, nodes).slopes(p)
            return form(function, nodes).excess(p), slopes, _stein_gap(function, p, slopes, nodes)

        return jax.tree.map(np.asarray, jax.jit(all_of)(probes))

    for nodes in COUNTS:
        coarse, fine = on_grid(nodes), on_grid(2 * nodes - 1)
        excess = np.max(np.abs(coarse[0] - fine[0]) / np.maximum(fine[0], np.finfo(float).tiny))
        scale = np.max(np.abs(fine[1].mu))
        gap = max(np.max(np.abs(x - y)) for x, y in zip(coarse[1], fine[1], strict=True))
        gradient = max(gap, np.max(np.abs(fine[2]))) / max(scale, np.finfo(float).tiny)
        accuracy = Accuracy(nodes, float(excess), float(gradient), reach)
        if max(accuracy.excess, accuracy.gradient) < TARGET:
            break
    return accuracy


def _stein_gap(
    function: Callable[[Array], Array], p: Pairs, slopes: Slopes, nodes: int
) -> Float[Array, "M Q"]:
    """E[(σ(a)−σ(b))σ′(a) b]/B by direct quadrature, less the same from the slopes: 2∂_A C/B +
    ∂_C.
    """

    def projected(a: Float[Array, "*s k"], b: Float[Array, "*s 1"]) -> Float[Array, "*s k"]:
        value, first = jax.jvp(function, (a,), (jnp.ones_like(a),))
        return (value - function(b)) * first * b

    direct = _expect(projected, p, nodes) / p.teacher
    return direct - (slopes.mu * p.stretch + slopes.kappa_teacher)


def _probes(reach: float) -> Pairs:
    """Pairs at the reach and at a third of it: the student far, turned, opposite, and close by,
    where the difference is smallest.
    """
    along = np.array([0.1, 0.5, 0.99, -1.0, 0.9, 0.99, 1.2])[:, None]
    off = np.array([0.4, 0.05, 0.0, 0.0, 0.3, 0.0, 0.1])[:, None]
    part = np.array([1.0, 1.0, 1.0, 1.0, 0.3, 0.3, 0.3])[:, None]
    student = along**2 + off  # ‖w‖²/‖v‖²
    row = (reach * part) ** 2 / np.maximum(1.0, student)
    column_off, column = np.array([[0.0, 0.05]]), np.array([[1.0, 0.95]])
    parts = [along - 1, along, off * row, row, np.zeros((1, 2)), column_off, column]
    return Pairs._make(jnp.asarray(part) for part in parts)
