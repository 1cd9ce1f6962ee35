"""The closed-form excess risk against three independent twins: fifty digits, direct integration,
and a sum over a basis.
"""

from __future__ import annotations

from dataclasses import replace

import jax
import mpmath
import numpy as np
import pytest
import scipy.special
import twins
from mpmath import mpf
from twins import CLOSED_FORMS, DISTANCES, EPS, TIGHT

pytestmark = pytest.mark.compiled

CASES = twins.cases()


@pytest.mark.brief(6)
@pytest.mark.parametrize("name", CASES)
@pytest.mark.parametrize("activation", CLOSED_FORMS)
def test_excess_is_the_textbook_formula_at_fifty_digits(activation: str, name: str) -> None:
    twins.check_excess(activation, CASES[name])


@pytest.mark.parametrize("distance", DISTANCES)
@pytest.mark.parametrize("activation", CLOSED_FORMS)
def test_excess_keeps_its_digits_at_any_distance_from_the_teacher(
    activation: str, distance: float
) -> None:
    case = twins.at_distance(distance)
    excess = float(case.risk(activation).excess(case.student(activation)))
    assert 0 < excess < 10 * distance**2
    twins.check_excess(activation, case)


@pytest.mark.parametrize("activation", ["identity", "relu", "leaky_relu(0.1)", "erf"])
def test_the_compiler_keeps_the_digits_too(activation: str) -> None:
    # Training runs the compiled program, where fusion may contract a product and a sum into one
    # rounding.
    twins.check_excess(activation, twins.at_distance(1e-8), compiled=True)


@pytest.mark.parametrize("distance", DISTANCES)
@pytest.mark.parametrize("activation", ["identity", "relu", "leaky_relu(0.1)", "erf"])
def test_excess_of_the_student_that_is_trained(activation: str, distance: float) -> None:
    student, teacher = twins.attending(activation, distance)
    got = twins.tutelage().PopulationRisk(teacher).excess(student)
    with mpmath.workdps(twins.DIGITS):
        attention = twins.exact_softmax(twins.scores_of(student, twins.exact(student.key_query)))
        parts = (student.value, teacher.value, teacher.selection)
        value, teacher_value, selection = map(twins.exact, parts)
        want = twins.exact_excess(activation, value, attention, teacher_value, selection)
        # Each weight of S is rounded to eps, which is eps/distance of S − S*, and the excess is
        # quadratic in that.
        twins.close(got, want, TIGHT + 16 * EPS / distance, f"{activation} excess")


@pytest.mark.parametrize("distance", DISTANCES)
@pytest.mark.parametrize("activation", ["identity", "relu", "leaky_relu(0.1)", "erf"])
def test_excess_near_the_teacher_with_correlated_inputs(activation: str, distance: float) -> None:
    draw = np.random.default_rng(9)
    case = replace(
        twins.at_distance(distance),
        covariance=twins.moments(draw, 3),
        correlation=twins.moments(draw, 4),
    )
    # W − V* and S − S* pass through the roots of the moments as differences, which round to eps of
    # themselves.
    twins.check_excess(activation, case, TIGHT)


@pytest.mark.brief(3)
@pytest.mark.parametrize("activation", ["identity", "relu", "leaky_relu(0.1)", "erf"])
@pytest.mark.parametrize("name", ["zero row in V", "covariance and correlation"])
def test_a_student_equal_to_the_teacher_has_no_excess(activation: str, name: str) -> None:
    case = CASES[name]
    case = replace(case, value=case.teacher_value, attention=case.selection)
    risk, student = case.risk(activation), case.student(activation)
    assert float(risk.excess(student)) == 0.0
    gradient = jax.jit(jax.grad(risk))(student)
    np.testing.assert_array_equal(gradient.value, 0.0)
    np.testing.assert_array_equal(gradient.weights, 0.0)


@pytest.mark.parametrize("activation", CLOSED_FORMS)
def test_the_nearest_number_to_the_teacher_has_a_positive_excess(activation: str) -> None:
    case = CASES["wide"]
    value = case.teacher_value.copy()
    value[0, 0] = np.nextafter(value[0, 0], np.inf)
    case = replace(case, value=value, attention=case.selection)
    assert float(case.risk(activation).excess(case.student(activation))) > 0
    twins.check_excess(activation, case)


def test_identity_is_a_sum_over_a_basis() -> None:
    for name in ("square", "wide", "tall", "opposite", "zero row in V"):
        case = CASES[name]
        # vec(W X S) = (Sᵀ ⊗ W) vec(X), and the entries of X are iid: the risk is half the squared
        # norm of the difference.
        gap = np.kron(case.attention.T, case.value) - np.kron(case.selection.T, case.teacher_value)
        want = 0.5 * np.sum(gap**2)
        # Both sum at most 225 squares of rounded products: 225·eps at the very worst.
        np.testing.assert_allclose(
            case.risk("identity").excess(case.student("identity")), want, rtol=1e-13, atol=0
        )


def test_identity_with_covariances_is_a_sum_over_a_basis() -> None:
    case = CASES["covariance and correlation"]
    gap = np.kron(case.attention.T, case.value) - np.kron(case.selection.T, case.teacher_value)
    joint = np.kron(case.correlation, case.covariance)
    want = 0.5 * np.trace(gap @ joint @ gap.T)
    np.testing.assert_allclose(
        case.risk("identity").excess(case.student("identity")), want, rtol=1e-13, atol=0
    )


# Two standard deviations and a correlation: far, near, right-angled, opposite, and one much larger
# than the other.
PAIRS = (
    (1.0, 1.0, 0.3),
    (0.7, 1.9, -0.6),
    (2.0, 0.1, 0.999),
    (1.3, 0.4, 0.0),
    (0.5, 0.5, -1.0),
    (1.1, 1.4, 1.0),
)


@pytest.mark.parametrize("pair", PAIRS)
@pytest.mark.parametrize(
    "activation", ["identity", "relu", "leaky_relu(0.1)", "leaky_relu(0.5)", "leaky_relu(0.95)"]
)
def test_the_textbook_formula_is_the_integral_in_polar_coordinates(
    activation: str, pair: tuple[float, float, float]
) -> None:
    """These activations scale: the radius integrates to ½E r² = 1, and the angle to pieces of sines
    and cosines.
    """
    with mpmath.workdps(30):
        a, b, rho = map(mpf, pair)
        theta, slope = (
            mpmath.acos(rho),
            mpf(1) if activation == "identity" else twins.slope_of(activation),
        )
        act = lambda x: x if x > 0 else slope * x  # noqa: E731
        kinks = sorted(
            {
                mpf(0),
                2 * mpmath.pi,
                *(
                    (x + y) % (2 * mpmath.pi)
                    for x in (0, theta)
                    for y in (mpmath.pi / 2, 3 * mpmath.pi / 2)
                ),
            }
        )
        pieces = mpmath.quad(lambda phi: act(mpmath.cos(phi)) * act(mpmath.cos(phi - theta)), kinks)
        integral = a * b * pieces / mpmath.pi  # E r² = 2 over 2π
        formula = twins.expected_product(activation, a**2, b**2, rho * a * b)
        # Gauss–Legendre on smooth pieces, thirty digits.
        assert abs(integral - formula) <= mpf(10) ** -20 * a * b


@pytest.mark.parametrize("pair", PAIRS)
def test_the_arcsine_formula_is_the_integral_over_the_plane(
    pair: tuple[float, float, float],
) -> None:
    a, b, rho = pair
    grid = np.linspace(-12, 12, 1201)
    weight = np.exp(-0.5 * grid**2)
    weight /= weight.sum()
    other = rho * grid[:, None] + np.sqrt(1 - rho**2) * grid
    integral = (
        weight @ (scipy.special.erf(a * grid)[:, None] * scipy.special.erf(b * other)) @ weight
    )
    with mpmath.workdps(twins.DIGITS):
        formula = twins.expected_product(
            "erf", mpf(a) ** 2, mpf(b) ** 2, mpf(rho) * mpf(a) * mpf(b)
        )
    # Erf is entire and the step is 1/50, so the trapezoidal rule is exact to rounding: a mean of
    # numbers below 1, few eps.
    assert abs(integral - float(formula)) <= 1e-14
