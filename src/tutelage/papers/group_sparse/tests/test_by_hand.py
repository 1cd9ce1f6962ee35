"""Numbers of the theory that studies use and no other test asks for alone, worked out by hand."""

import math

import pytest

from tutelage.papers.group_sparse.theory import laws, risk
from tutelage.settings import Part, Setting

LEVEL, CURVATURE = math.pi**2 / (6 * math.sqrt(2 * math.pi)), 1 / (2 * math.sqrt(2 * math.pi))


def setting(**options):
    return Setting(Part("group_signs", **options), 0.1, 10)


def test_codes_have_their_length_and_groups_their_default():
    assert laws.code_square("unit", 7) == 1.0
    assert laws.code_square("sine", 7) == 4.0
    assert (laws.read_groups(setting()), laws.read_push(setting())) == (10, 1.0)
    assert laws.read_push(setting(groups=7, codes="sine")) == 16.0


def test_the_constants_of_late_times_solve_their_equations():
    """a³ = 3c₀D², and ⅔b² = β⁴(c₀/a)b + 2κβ⁴a."""
    a, b = laws.signal_constant(8), laws.gap_constant(8, 3.0)
    assert a**3 == pytest.approx(3 * LEVEL * 64, rel=1e-12)
    assert 2 / 3 * b**2 == pytest.approx(3 * LEVEL / a * b + 6 * CURVATURE * a, rel=1e-12)
    given = setting(groups=8)
    assert laws.risk_constant(given) == pytest.approx(LEVEL / a, rel=1e-12)
    assert laws.miss_constant(given) == pytest.approx(7 / laws.gap_constant(8, 1.0), rel=1e-12)
    assert laws.missed_at(27.0, 8, 3.0) == pytest.approx(7 / (9 * b), rel=1e-12)
    assert laws.time_to_risk(8, 0.5) == pytest.approx(LEVEL**2 / (3 * 64 / 8), rel=1e-12)


def test_plateau_and_the_first_steps():
    assert laws.plateau(setting(groups=8)) == pytest.approx(49 * math.pi / 4, rel=1e-12)
    assert laws.plateau(setting(groups=2, codes="sine")) == 1.0  # (π/4)/(3/2)² is less
    assert laws.second_gap(5, 3.0, 2.0) == pytest.approx(1.2 / math.pi, rel=1e-12)
    assert laws.log_missed_by_steps(5, 3.0, 2.0) == pytest.approx(
        math.log(4) - 1.2 / math.pi, rel=1e-12
    )
    assert laws.feature_pull(3, 0.5) == pytest.approx(
        0.25 * math.sqrt(2 / math.pi) * 4 / 9 - 0.125, rel=1e-12
    )


def test_the_risk_of_no_score_is_that_of_a_coin():
    assert risk.tail(0.0) == pytest.approx(math.log(2.0), rel=1e-12)
    assert risk.risk(0.0, 0.0) == pytest.approx(math.log(2.0), rel=1e-12)
    assert risk.risk_slopes(0.0, 0.0) == pytest.approx((-1 / math.sqrt(2 * math.pi), 0.0))
