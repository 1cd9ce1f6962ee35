"""The exact risk beside other ways to it: mpmath, panels of the skew-normal law, JAX."""

from __future__ import annotations

import math

import jax
import jax.numpy as jnp
import mpmath as mp
import numpy as np
import pytest

from tutelage.papers.group_sparse.parts.objective import even_part
from tutelage.papers.group_sparse.theory import risk as exact
from tutelage.papers.group_sparse.theory.margin import margin_risk, margin_slopes
from tutelage.papers.group_sparse.theory.risk import risk, risk_slopes, tail, tail_slope

DEVIATIONS = (1e-3, 0.3, 2.0, 17.0, 1e3, 1e6)
# Both sides of a sum of 64 terms are rounded: 10⁻¹² leaves a factor of twenty over what is seen.
CLOSE = 1e-12
SLOPE = jax.jit(jax.grad(even_part))


def integrate_tail(deviation: float, slope: bool) -> mp.mpf:
    """The integral in z itself, over panels that double from the smaller of both scales."""
    unit = mp.mpf(1) / max(1, deviation)
    ends = [0, *(unit * 2**k for k in range(8))]

    def integrand(z: mp.mpf) -> mp.mpf:
        bell = 2 * mp.exp(-z * z / 2) / mp.sqrt(2 * mp.pi)
        if slope:
            return -bell * z / (1 + mp.exp(deviation * z))
        return bell * mp.log1p(mp.exp(-deviation * z))

    return mp.quad(integrand, ends)


@pytest.mark.parametrize("deviation", DEVIATIONS)
def test_the_tail_and_its_slope_are_those_of_mpmath(deviation: float):
    with mp.workdps(20):
        assert tail(deviation) == pytest.approx(float(integrate_tail(deviation, False)), rel=CLOSE)
        found = tail_slope(deviation)
        assert found == pytest.approx(float(integrate_tail(deviation, True)), rel=CLOSE)


def test_too_few_nodes_would_be_seen(monkeypatch: pytest.MonkeyPatch):
    nodes, weights = np.polynomial.legendre.leggauss(24)
    monkeypatch.setattr(exact, "NODES", 20 * (nodes + 1))
    monkeypatch.setattr(exact, "WEIGHTS", 20 * weights)
    with mp.workdps(20):
        assert abs(tail(2.0) / float(integrate_tail(2.0, False)) - 1) > 100 * CLOSE


@pytest.mark.parametrize("deviation", [50.0, 1e4])
def test_far_out_the_tail_is_its_asymptotic_series(deviation: float):
    """Σ (−1)^k (2k)!/(2^k k!) η(2k+2)/τ^(2k+1), η the alternating zeta function."""
    terms = [
        (-1) ** k
        * math.factorial(2 * k)
        / (2**k * math.factorial(k))
        / deviation ** (2 * k + 1)
        * float(mp.altzeta(2 * k + 2))
        for k in range(8)
    ]
    assert tail(deviation) == pytest.approx(2 / math.sqrt(2 * math.pi) * sum(terms), rel=CLOSE)


@pytest.mark.parametrize("ratio", [1e-4, 0.2, 3.0])
@pytest.mark.parametrize("signal", [0.05, 4.0, 900.0])
def test_the_risk_is_that_of_the_skew_normal_law(signal: float, ratio: float):
    """At margin 0 the panels integrate over the density of |g| + ρh itself."""
    noise = ratio * signal
    assert risk(signal, noise) == pytest.approx(margin_risk(signal, noise, 0.0), rel=CLOSE)
    expected, found = margin_slopes(signal, noise, 0.0), risk_slopes(signal, noise)
    np.testing.assert_allclose(found, expected, rtol=CLOSE)


@pytest.mark.parametrize("signal", [0.1, 5.0, 60.0])
def test_turning_the_sign_of_the_signal_adds_its_mean(signal: float):
    turned = risk(signal, 0.7) + signal * math.sqrt(2 / math.pi)
    assert risk(-signal, 0.7) == pytest.approx(turned, rel=CLOSE)


@pytest.mark.parametrize("signal", [-8.0, -0.2, 0.3, 12.0])
def test_slopes_are_central_differences(signal: float):
    """Of step 10⁻⁴: an error of 10⁻⁸ times the third derivative, and rounding of 10⁻¹²."""
    step, noise = 1e-4, 0.6
    by_signal, by_noise = risk_slopes(signal, noise)
    across = (risk(signal + step, noise) - risk(signal - step, noise)) / (2 * step)
    along = (risk(signal, noise + step) - risk(signal, noise - step)) / (2 * step)
    assert by_signal == pytest.approx(across, abs=1e-8)
    assert by_noise == pytest.approx(along, abs=1e-7)


def test_the_even_part_is_smooth_at_zero():
    """G = log 2 + τ²/8 − τ⁴/64 + …, and autodiff finds 1/8 there."""
    bend = jax.jit(jax.grad(jax.grad(even_part)))
    assert float(even_part(jnp.zeros(()))) == pytest.approx(math.log(2), rel=1e-14)
    assert float(SLOPE(jnp.zeros(()))) == pytest.approx(1 / 8, rel=CLOSE)
    assert float(bend(jnp.zeros(()))) == pytest.approx(-1 / 32, rel=CLOSE)
    near = 1e-3
    assert float(SLOPE(jnp.asarray(near))) == pytest.approx(1 / 8 - near / 32, abs=near**2)


@pytest.mark.parametrize("deviation", [0.3, 2.0, 17.0, 1e3])
def test_autodiff_of_the_even_part_is_the_slope_of_the_tail(deviation: float):
    found = 2 * deviation * float(SLOPE(jnp.asarray(deviation**2)))
    expected = 1 / math.sqrt(2 * math.pi) + tail_slope(deviation)
    assert found == pytest.approx(expected, rel=CLOSE)


@pytest.mark.parametrize("noise", [0.12, 9.0])
def test_a_margin_leaves_out_what_is_near_the_boundary(noise: float):
    """A double integral in g and h, over panels of length ¼, to where the densities are 10⁻¹⁸."""
    signal, margin = 6.0, 0.4
    nodes, weights = np.polynomial.legendre.leggauss(12)

    def panels(low: float, high: float) -> tuple[np.ndarray, np.ndarray]:
        begin = np.arange(low, high, 0.25)[:, None]
        return (begin + (1 + nodes) / 8).ravel(), np.tile(weights / 8, len(begin))

    (g, along), (h, across) = panels(margin, margin + 9), panels(-9, 9)
    bell = np.exp(-(g[:, None] ** 2 + h**2) / 2) / math.pi
    terms = bell * np.logaddexp(0, -signal * g[:, None] - noise * h)
    expected = along @ terms @ across / math.erfc(margin / math.sqrt(2))
    assert margin_risk(signal, noise, margin) == pytest.approx(expected, rel=CLOSE)


def test_slopes_with_a_margin_are_differences():
    signal, noise, margin, step = 9.0, 0.3, 0.2, 1e-5
    by_signal, by_noise = margin_slopes(signal, noise, margin)
    across = margin_risk(signal + step, noise, margin) - margin_risk(signal - step, noise, margin)
    along = margin_risk(signal, noise + step, margin) - margin_risk(signal, noise - step, margin)
    assert by_signal == pytest.approx(across / (2 * step), rel=1e-8)
    assert by_noise == pytest.approx(along / (2 * step), rel=1e-8)
