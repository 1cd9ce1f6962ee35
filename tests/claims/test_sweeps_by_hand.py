"""Points of a sweep that lie on no power law, and which points of which seeds are judged."""

import numpy as np
import pytest
from scipy.stats import t as student_t

from tutelage.claims import Exponent, Status
from tutelage.claims.chance import ERROR, confidence_limits, evidence_against_below
from tutelage.claims.sweep import Parabola, gather, local_exponents, visible_span
from tutelage.run import Outcome, Run

X = np.array([1.0, 2.0, 4.0, 8.0, 16.0])
RUNS = [Run(np.array([1]), {}, None, Outcome.FINISHED)]


def ask(rows, exponent=1.0, **options):
    """The answer about rows of (x, y), one per seed."""
    points = [(x, y, seed) for seed, row in enumerate(rows) for x, y in row]
    return Exponent(lambda runs: points, exponent, **options).answer(RUNS * len(rows))


def row_of(log_y, x=X):
    return list(zip(x, np.exp(log_y), strict=True))


def sweep_of(rows, errors=0.0):
    points = [(x, y, seed) for seed, row in enumerate(rows) for x, y in row]
    return gather(points, [errors] * len(points))


def flat(xs):
    """A theory whose exponent is 0."""
    return 0.0


# --- which points


def test_every_seed_may_have_its_own_x():
    """Exponents are those within seeds: the constants of seeds differ so much that a line through
    all points has another.
    """
    rows = [[(x * 1.3**k, 5.0**k * x) for x in (1.0, 1.7, 3.1)] for k in range(6)]
    answer = ask(rows)
    assert answer.measured == pytest.approx(1.0, rel=1e-12)
    assert "3 points per seed" in answer.sentence


def test_seeds_that_lack_points_are_left_out_if_most_have_all():
    whole = [row_of(np.log(X) + 0.01 * k) for k in range(3)]
    found = sweep_of([*whole, whole[0][:-1]])
    assert found.x.shape == (3, 5)
    np.testing.assert_allclose(found.x[0], X)


def test_if_few_seeds_have_all_points_those_that_all_have_are_judged():
    rows = [row_of(np.log(X) + 0.01 * k) for k in range(5)]
    lacking = [row[:k] + row[k + 1 :] for k, row in zip((0, 4, 4, 0), rows, strict=False)]
    found = sweep_of([*lacking, rows[-1]])
    assert found.x.shape == (5, 3)
    np.testing.assert_allclose(found.x, np.tile(X[1:4], (5, 1)))
    np.testing.assert_allclose(found.y[3], np.exp(np.log(X[1:4]) + 0.03))


def test_half_of_the_seeds_are_enough():
    rows = [row_of(np.log(X) + 0.01 * k) for k in range(4)]
    found = sweep_of([*rows[:2], rows[2][1:], rows[3][:-1]])
    assert found.x.shape == (2, 5)


def test_points_that_share_neither_seed_nor_axis_are_one_row_of_means():
    found = sweep_of([[(1.0, 2.0)], [(1.0, 8.0), (2.0, 5.0)], [(4.0, 7.0)]])
    np.testing.assert_allclose(found.rows, [[(1.0, 4.0), (2.0, 5.0), (4.0, 7.0)]])


# --- local exponents


def test_local_exponents_are_those_of_neighbours_less_theorys():
    found = sweep_of([[(1.0, 1.0), (2.0, 8.0), (8.0, 16.0)]])
    np.testing.assert_allclose(local_exponents(found, flat), [[3.0, 0.5]])
    np.testing.assert_allclose(local_exponents(found, lambda x: x[0]), [[2.0, -1.5]])


def test_the_bend_of_a_parabola_is_the_change_of_its_slope():
    """(log x)² has the slopes 0 and 2·log 16 at the ends."""
    log_x = np.log(X)
    fit = Parabola.fit(log_x, log_x**2)
    assert fit.bend == pytest.approx(2 * np.log(16.0), rel=1e-12)
    assert fit.bend_error == pytest.approx(0.0, abs=1e-12)
    bumps = np.array([0.01, -0.02, 0.015, 0.0, -0.01])
    fit = Parabola.fit(log_x, bumps)
    (curvature, *_), covariance = np.polyfit(log_x, bumps, 2, cov=True)
    assert fit.bend == pytest.approx(2 * np.log(16.0) * curvature, rel=1e-9)
    assert fit.bend_error == pytest.approx(2 * np.log(16.0) * covariance[0, 0] ** 0.5, rel=1e-9)
    scatter = np.sqrt(np.polyfit(log_x, bumps, 2, full=True)[1][0] / 2)
    assert fit.slope_error == pytest.approx(scatter / np.linalg.norm(log_x - log_x.mean()))
    assert fit.known(2.0) == pytest.approx(2.0 * student_t.ppf(0.995, 2))
    for few in (3, 4):
        assert Parabola.fit(log_x[:few], bumps[:few]).known(1.0) == np.inf


def test_a_bent_law_that_is_right_on_average_fails():
    """Local exponents go from 0.8 to 1.2: ten tolerances each way, so that it is no power law."""
    log_x = np.log(X)
    away = log_x - log_x.mean()
    bent = log_x + 0.2 * away**2 / np.ptp(log_x)
    answer = ask([row_of(bent)])
    assert answer.status is Status.FAILS
    assert answer.interval is None
    assert "no power law" in answer.sentence
    assert "differ by at least 0.4" in answer.sentence
    wide = ask([row_of(bent)], tolerance=0.041)
    assert wide.status is not Status.FAILS


def test_a_law_that_theory_bends_alike_holds():
    log_x = np.log(X)
    law = dict(zip(X, np.exp(log_x + 0.2 * log_x**2), strict=True))

    def theory(xs):
        return np.polyfit(np.log(xs), [np.log(law[x]) for x in xs], 1)[0]

    assert ask([list(law.items())], theory).status is Status.HOLDS
    assert ask([list(law.items())], 1.0).status is Status.FAILS


def test_a_law_bent_within_the_tolerance_holds():
    log_x = np.log(X)
    away = log_x - log_x.mean()
    assert ask([row_of(log_x + 0.01 * away**2 / np.ptp(log_x))]).status is Status.HOLDS


def test_one_seed_is_no_power_law_only_beyond_its_scatter():
    log_x = np.log(X)
    fit = Parabola.fit(log_x, 0.1 * np.array([1.0, -1.0, 0.5, -1.0, 1.5]))
    span = visible_span(
        sweep_of([row_of(0.1 * np.array([1.0, -1.0, 0.5, -1.0, 1.5]))]),
        flat,
        certain=False,
        asked=0.2,
    )
    assert span.least == max(0.0, fit.bend - fit.known(fit.bend_error)) == 0.0
    exact = sweep_of([row_of(0.1 * log_x**2)])
    assert visible_span(exact, flat, certain=False, asked=0.2).least == pytest.approx(
        0.2 * np.log(16.0), rel=1e-9
    )


def test_certain_points_are_compared_gap_by_gap_beyond_their_errors():
    """Exponents 3 and ½ between neighbours; errors of 1% tilt each by 0.02 over its gap."""
    rows = [[(1.0, 1.0), (2.0, 8.0), (8.0, 16.0)]]
    assert visible_span(sweep_of(rows), flat, certain=True, asked=1.0).least == pytest.approx(2.5)
    with_errors = visible_span(sweep_of(rows, 0.01), flat, certain=True, asked=1.0)
    assert with_errors.least == pytest.approx(2.5 - 0.02 / np.log(2) - 0.02 / np.log(4))


def test_seeds_share_the_chance_of_an_error_between_their_contrasts():
    """Half is the bend's; three pairs of gaps share the rest."""
    generator = np.random.default_rng(0)
    bumps = np.array([0.0, 0.3, 0.0, 0.3]) + 0.01 * generator.normal(size=(6, 4))
    found = sweep_of([row_of(row, X[:4]) for row in bumps])
    local = np.diff(bumps) / np.log(2.0)
    contrast = local[:, 0] - local[:, 1]
    low, _ = confidence_limits(contrast, ERROR / 6)
    span = visible_span(found, flat, certain=False, asked=0.2)
    others = [confidence_limits(local[:, 2] - local[:, 1], ERROR / 6)[0]]
    assert span.least == pytest.approx(max(float(low), float(others[0])), rel=1e-9)
    e_values = [evidence_against_below(c, 0.2) / 6 for c in (contrast, local[:, 2] - local[:, 1])]
    assert span.evidence == pytest.approx(max(e_values), rel=1e-9)


def test_errors_of_points_leave_room_for_local_exponents():
    """1% at both ends of a gap of log 2 tilts each of two exponents by 0.02/log 2."""
    room = 0.04 / np.log(2.0)
    bent = row_of(0.1 * np.log(X) ** 2)
    exact, with_errors = (
        visible_span(sweep_of([bent], errors), flat, certain=False, asked=0.2).least
        for errors in (0.0, 0.01)
    )
    assert with_errors == pytest.approx(exact - room, rel=1e-9)
    generator = np.random.default_rng(3)
    rows = [row_of(0.1 * np.log(X) ** 2 + 0.001 * generator.normal(size=5)) for _ in range(5)]
    exact, with_errors = (
        visible_span(sweep_of(rows, errors), flat, certain=False, asked=0.2)
        for errors in (0.0, 0.01)
    )
    assert with_errors.least == pytest.approx(exact.least - room, rel=1e-9)
    assert with_errors.evidence < exact.evidence


def test_a_log_periodic_law_of_many_seeds_does_not_hold():
    """Right on average, and without a bend: seen only between neighbours."""
    x = np.geomspace(1.0, 256.0, 9)
    generator = np.random.default_rng(1)
    wave = np.array([0, 1, 0, 1, 0, 1, 0, 1, 0])
    for height, status in ((0.0, Status.HOLDS), (0.03, Status.UNDECIDED), (0.2, Status.FAILS)):
        rows = [
            row_of(np.log(x) + height * wave + 0.002 * generator.normal(size=9), x)
            for _ in range(10)
        ]
        answer = ask(rows)
        assert answer.status is status, answer.sentence
    assert answer.e_value > 20


def test_chance_rarely_makes_a_power_law_none():
    """Six seeds with 10% noise over five points, 400 times."""
    generator = np.random.default_rng(2)
    wrong = 0
    for _ in range(400):
        rows = [row_of(np.log(X) + 0.1 * generator.normal(size=5)) for _ in range(6)]
        wrong += ask(rows).status is Status.FAILS
    assert wrong <= 4
