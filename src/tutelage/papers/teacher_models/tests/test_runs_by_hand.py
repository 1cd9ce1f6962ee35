"""What theory says of whole runs — noise, optimisers, slow attention, the cone of directions — each
on sizes that fit on paper, or by another way.
"""

import math
from itertools import permutations

import numpy as np
import pytest
from scipy.integrate import quad
from scipy.optimize import nnls

from tutelage.claims.claim import NoPrediction
from tutelage.papers.teacher_models import theory
from tutelage.papers.teacher_models.theory import (
    decay,
    equivariance,
    limits,
    max_margin,
    noise,
    optimisers,
    recursion,
    slow_manifold,
    slowest_column,
    tangent_cone,
    theorem,
    unequal_weights,
)
from tutelage.papers.teacher_models.theory.facts import facts
from tutelage.papers.teacher_models.theory.noise_floor import curvatures, noise_floor
from tutelage.problem.build import build_teacher
from tutelage.settings import Part, Setting

# D = Q = 6 tokens and queries, K = 2, M = 2, d = 3 and ‖V*‖ = 5; c²D = 1, η = 0.1.
SMALL = Setting(
    Part("convolution", tokens=6, support=2, outputs=2, dim=3, norm=5.0, activation="identity"),
    0.1,
    300,
)
# τ = 0.4 and batches of 10.
NOISY = SMALL.change(
    **{
        "teacher.noise": 0.4,
        "objective": Part("online", batch=10),
        "optimiser": Part("averaged", degree=2.0),
    }
)
UNEQUAL = np.array([[1.0, 0.0], [0.0, 0.5], [0.0, 0.3], [0.0, 0.2], [0.0, 0.0]])


def of_weights(weights, **more):
    given = {"outputs": 2, "dim": 3, "norm": 4.0, "activation": "identity"}
    return SMALL.change(teacher=Part("bilinear", selection=weights, **given | more))


# --- label noise


def test_the_floor_of_noise_from_its_two_curvatures():
    """h is Q/K = 3 for six entries of W_V and ‖V*‖²/(DK²) = 25/24 for six differences of scores."""
    (entries, value), (gaps, scores) = curvatures(NOISY)
    assert (entries, gaps) == (6, 6)
    assert (value, scores) == pytest.approx((3.0, 25 / 24), rel=1e-12)
    by_hand = 0.1 * 0.16 / 40 * (18 / (1 - 0.15) + 6.25 / (1 - 0.1 * 25 / 48))
    assert noise_floor(NOISY) == pytest.approx(by_hand, rel=1e-12)
    alone = NOISY.change(objective=Part("online"))
    assert noise_floor(alone) == pytest.approx(by_hand / 10, rel=1e-12)  # batches of 100
    assert curvatures(NOISY.change(rate=0.66))[0][1] == pytest.approx(3.0)
    with pytest.raises(NoPrediction, match=r"below 0\.667"):
        curvatures(NOISY.change(rate=0.67))
    with pytest.raises(NoPrediction, match="online"):
        curvatures(SMALL)


def test_what_averaging_costs_and_leaves():
    """k = 2: A = 6/5 and B = e^(1/6); p = 12 directions and N = 10."""
    A, B = 1.2, math.exp(1 / 6)
    cost = B**2 + 2 * (A - B) ** 2
    assert noise.averaging_cost(NOISY) == pytest.approx(cost, rel=1e-12)
    assert noise.averaged_constant(NOISY) == pytest.approx(12 * cost, rel=1e-12)
    assert noise.averaged_noise(NOISY) == pytest.approx(9 / 5 * 0.16 * 12 / 20, rel=1e-12)
    drive = 0.1 * 0.16 / 10
    q = 6 * drive / 1.7 / 50
    chi = drive / 24 / (2 - 0.1 * 25 / 24)
    by_hand = 0.5 * 25 * 6 * (2 * chi**2 + 4 * q**2)
    assert noise.averaged_bias(NOISY) == pytest.approx(by_hand, rel=1e-12)
    assert noise.degree(SMALL) == 0.0


def test_what_noise_keeps_up_from_the_share_of_every_draw():
    """x_s = Σ_j a_sj ξ_j of each direction, and its average with weights 1/s, (1+k)/(s+k) = 3/(s+2)
    of the newest.
    """
    steps, last, averaged = 5, np.zeros(6), np.zeros(6)
    for many, h in ((6, 3.0), (6, 25 / 24)):
        x, mean = np.zeros(steps), np.zeros(steps)
        for s in range(1, steps + 1):
            x = (1 - 0.1 * h) * x
            x[s - 1] += 0.1 * math.sqrt(h * 0.16 / 10)
            mean = mean + 3 / (s + 2) * (x - mean)
            last[s] += many * h / 2 * (x @ x)
            averaged[s] += many * h / 2 * (mean @ mean)
    found = noise.kept(NOISY, np.arange(6))
    np.testing.assert_allclose(found.last, last, rtol=1e-12)
    np.testing.assert_allclose(found.averaged, averaged, rtol=1e-12)


def test_the_average_of_the_exact_run_from_its_matrices():
    """C and z of the recursion, averaged, and ½‖V*‖²Q‖Cs − s*‖² there."""
    exact = NOISY.change(rate=0.05)
    states = [state for state, _ in zip(recursion.states(exact), range(6), strict=False)]
    C = z = 0.0
    by_hand = []
    for s, state in enumerate(states):
        if s:
            C += 3 / (s + 2) * (state.value_scale - C)
            z += 3 / (s + 2) * (state.score_gap - z)
        lifted = np.exp(z / math.sqrt(6) * (np.arange(6) < 2))
        away = C * lifted / lifted.sum() - 0.5 * (np.arange(6) < 2)
        by_hand.append(0.5 * 25 * 6 * (away @ away))
    found = noise.averaged_exact(exact, np.arange(6))
    np.testing.assert_allclose(found, by_hand, rtol=1e-12)
    both = noise.expected_average(exact, np.arange(6))
    np.testing.assert_allclose(both, found + noise.kept(exact, np.arange(6)).averaged, rtol=1e-12)


def test_the_exact_run_at_the_time_of_its_steps():
    """Steps of η/(1 + s/2): after three of them the time is 1 + 2/3 + 1/2 = 13/6 steps."""
    slowed = SMALL.change(
        rate=0.05,
        optimiser=Part("gradient_descent", power=1.0, onset=2.0),
        objective=Part("online"),
    )
    path = recursion.along(slowed, np.arange(4))["excess_risk"]
    found = noise.exact(slowed, np.array([0, 1, 3]))
    share = math.log(13 / 12) / math.log(3 / 2)
    between = path[2] ** (1 - share) * path[3] ** share
    np.testing.assert_allclose(found, [path[0], path[1], between], rtol=1e-12)
    several = noise.step_sizes(slowed)
    assert [next(several) for _ in range(3)] == pytest.approx([0.05, 0.05 / 1.5, 0.025], rel=1e-12)


def test_the_crossing_is_between_two_steps():
    setting = NOISY.change(rate=0.05)
    floor, crossing = noise_floor(setting), noise.crossing(setting)
    step = math.floor(crossing)
    before, after = recursion.along(setting, np.array([step, step + 1]))["excess_risk"]
    assert before > floor >= after
    assert before + (crossing - step) * (after - before) == pytest.approx(floor, rel=1e-9)
    assert noise.crossing(setting.change(**{"teacher.noise": 40.0})) == 0.0


# --- optimisers


def test_numbers_of_other_optimisers():
    """h = ‖S*‖² = 3 and C = 12; η = 0.1 and T = 300."""
    assert optimisers.curvature(SMALL) == pytest.approx(3.0, rel=1e-12)
    assert optimisers.edge(SMALL) == pytest.approx(2 / 3, rel=1e-12)
    heavy = SMALL.change(optimiser=Part("momentum", decay=0.5))
    assert optimisers.edge(heavy) == pytest.approx(1.0, rel=1e-12)
    nesterov = SMALL.change(optimiser=Part("momentum", decay=0.5, nesterov=True))
    assert optimisers.edge(nesterov) == pytest.approx(0.5, rel=1e-12)
    level = 3 * 0.01 / 8 + 12 * 3 / 600
    assert optimisers.normalised_level(SMALL) == pytest.approx(level, rel=1e-12)
    assert optimisers.normalised_fall(SMALL) == pytest.approx(-1 / math.sqrt(12), rel=1e-12)
    assert optimisers.normalised_edge_excess(SMALL) == pytest.approx(0.15 * math.sqrt(12))
    assert optimisers.self_tuned_law(SMALL) == pytest.approx(1.8, rel=1e-12)
    value = np.asarray(build_teacher(SMALL).value)
    cosine = np.sum(np.sign(value) * value) / np.linalg.norm(np.sign(value)) / 5
    assert optimisers.sign_cosine(SMALL) == pytest.approx(cosine, rel=1e-12)
    for law in theory.LAWS:
        ratio = optimisers.with_momentum(law)(heavy) / law.constant(heavy)
        assert ratio == pytest.approx(0.5**-law.exponent, rel=1e-12)
    # The plateau is 14.4 steps of η: with momentum ½ half as many.
    assert optimisers.plateau(SMALL) == pytest.approx(14.4, rel=1e-12)
    assert optimisers.plateau(heavy) == pytest.approx(7.2, rel=1e-12)
    slowed = SMALL.change(optimiser=Part("gradient_descent", power=1.0))
    sums = np.cumsum(1 / (1 + np.arange(40) / 100))
    steps = np.interp(14.4, sums, np.arange(1, 41))
    assert optimisers.plateau(slowed) == pytest.approx(steps, rel=1e-12)


def test_the_plateau_waits_until_momentum_no_longer_rings():
    # h = 3. Plain steps of 1.9/h: W_V changes sign and keeps 0.9 of its size.
    plain = SMALL.change(rate=1.9 / 3)
    assert optimisers.ringing(plain) == pytest.approx(-1 / math.log(0.9), rel=1e-12)
    # Complex roots of the heavy ball have the modulus √β; two real ones are ½ and ⅔ here.
    heavy = SMALL.change(optimiser=Part("momentum", decay=0.5), rate=0.5)
    assert optimisers.ringing(heavy) == pytest.approx(-1 / math.log(math.sqrt(0.5)), rel=1e-12)
    real = SMALL.change(optimiser=Part("momentum", decay=1 / 3), rate=1 / 18)
    assert optimisers.ringing(real) == pytest.approx(-1 / math.log(2 / 3), rel=1e-12)
    # Nesterov at ηh = ½, β = ½: z² − ¾z + ¼, complex roots of modulus ½.
    nesterov = SMALL.change(optimiser=Part("momentum", decay=0.5, nesterov=True), rate=0.5 / 3)
    assert optimisers.ringing(nesterov) == pytest.approx(1 / math.log(2), rel=1e-12)
    # Beyond the edge nothing falls, and the usual plateau stands.
    beyond = SMALL.change(rate=2.1 / 3)
    assert optimisers.ringing(beyond) == 0.0
    slow = SMALL.change(optimiser=Part("momentum", decay=0.99), rate=0.5)
    assert optimisers.plateau(slow) == optimisers.ringing(slow) > optimisers.steps_to_plateau(slow)
    assert optimisers.plateau(SMALL) == optimisers.steps_to_plateau(SMALL)


LEAKY = SMALL.change(**{"teacher.activation": "leaky_relu(0.3)"})


def leaky_product(cosine):
    """E[σ(a)σ(b)] for unit normals a and b, σ(x) = 0.65x + 0.35|x|."""
    angle = math.acos(min(cosine, 1.0))
    both = 2 / math.pi * (math.sin(angle) + (math.pi / 2 - angle) * cosine)  # E|a||b|
    return 0.65**2 * cosine + 0.35**2 * both


def reduced_risk(C, weights, wanted):
    """½Q‖V*‖²E(σ(Ca) − σ(b))², a and b being the same row of V* with the columns s and s*."""
    a, b = np.linalg.norm(weights), np.linalg.norm(wanted)
    cosine = weights @ wanted / a / b
    half = 0.5 * (1 + 0.09)
    return 0.5 * 6 * 25 * (half * (C**2 * a**2 + b**2) - 2 * C * a * b * leaky_product(cosine))


def column(gap):
    lifted = np.exp(gap / math.sqrt(6) * (np.arange(6) < 2))
    return lifted / lifted.sum()


WANTED = 0.5 * (np.arange(6) < 2)


def test_the_risk_of_two_numbers_and_its_flow():
    """−∂/∂C over ‖V*‖², and −∂/∂z times (½ + ¼)/6."""
    C, z, h = 0.7, 1.3, 1e-5
    here = reduced_risk(C, column(z), WANTED)
    assert float(optimisers.risk_of_two(LEAKY)(C, z)) == pytest.approx(here, rel=1e-12)
    by_value = (reduced_risk(C + h, column(z), WANTED) - reduced_risk(C - h, column(z), WANTED)) / h
    by_gap = (reduced_risk(C, column(z + h), WANTED) - reduced_risk(C, column(z - h), WANTED)) / h
    found = optimisers.flow_field(LEAKY)(0.0, np.array([C, z]))
    np.testing.assert_allclose(found, [-by_value / 50, -by_gap / 16], rtol=1e-8)


# --- the recursion


def test_steps_of_the_recursion_are_those_of_descent_on_the_risk_of_two_numbers():
    """C₁ = ηQ(0.65)²/D after one step, as the slope at the kink is 0.65; then differences of the
    risk, over ‖V*‖² and times (½ + ¼)/6.
    """
    states, h = recursion.states(LEAKY), 1e-5
    start, state = next(states), next(states)
    assert start[:3] == (0.0, 0.0, pytest.approx(1 / 3, rel=1e-12))
    assert start.excess_risk == pytest.approx(0.5 * 0.545 * 6 * 25 / 2, rel=1e-12)
    assert state[:2] == pytest.approx((0.1 * 0.65**2, 0.0), rel=1e-12)
    for _ in range(3):
        C, z = state[:2]
        weights, away = column(z), [column(z + h), column(z - h)]
        risk = reduced_risk(C, weights, WANTED)
        best = slow(z)[2]
        found = (weights[:2].sum(), risk, best)
        assert state[2:] == pytest.approx(found, rel=1e-10)
        up, down = (reduced_risk(C + step, weights, WANTED) for step in (h, -h))
        more, less = (reduced_risk(C, one, WANTED) for one in away)
        state = next(states)
        moved = (C - 0.1 * (up - down) / (50 * h), z - 0.1 * (more - less) / (16 * h))
        assert state[:2] == pytest.approx(moved, rel=1e-7)


def test_the_times_of_a_recursion_by_looking_at_every_step():
    setting = SMALL.change(rate=0.02)
    found = recursion.times(setting)
    states = [state for state, _ in zip(recursion.states(setting), range(300), strict=False)]
    excess, mass, scale, best = (
        np.array([getattr(state, name) for state in states])
        for name in ("excess_risk", "support_mass", "value_scale", "best_scale")
    )
    assert found.settled == np.argmax(np.abs(scale / best - 1) <= 0.01)
    half = np.interp(-excess[0] / 2, -excess, np.arange(300))
    assert found.halving == pytest.approx(half, rel=1e-9)
    assert found.attention == pytest.approx(np.interp(0.5, mass, np.arange(300)), rel=1e-9)
    wide = SMALL.change(**{"rate": 0.02, "teacher.support": 3})
    assert recursion.times(wide).attention == 0.0


# --- slow attention


def slow(gap):
    """Y, the excess that is left of the first, and C at the best C."""
    weights = column(gap)
    a, b = np.linalg.norm(weights), np.linalg.norm(WANTED)
    C = b / a * leaky_product(weights @ WANTED / a / b) / 0.545
    left = reduced_risk(C, weights, WANTED) / (0.5 * 0.545 * 6 * 25 / 2)
    return C * weights[:2].sum(), left, C


def test_the_slow_manifold_is_where_the_value_is_at_its_best():
    """ω = nq/(Kp) is 2e^(−cz)."""
    for gap in (0.0, 1.0, 4.0):
        omega = 2 * math.exp(-gap / math.sqrt(6))
        scale, left, _ = slow_manifold.manifold(facts(LEAKY), omega)
        assert (scale, left) == pytest.approx(slow(gap)[:2], rel=1e-10)


def test_the_time_of_slow_attention_is_that_of_the_flow_of_its_gap():
    """dz/dt = −(½ + ¼)/6 ∂L/∂z at the best C."""

    def pace(gap):
        C, h = slow(gap)[2], 1e-4
        rise = reduced_risk(C, column(gap + h), WANTED) - reduced_risk(C, column(gap - h), WANTED)
        return -16 * h / rise

    wanted = math.sqrt(6) * math.log(2.0)  # from ω = 2 to ω = 1
    time, _ = quad(pace, 0.0, wanted, epsrel=1e-9)
    assert slow_manifold.time_to(LEAKY, 1.0) == pytest.approx(time, rel=1e-6)
    assert slow_manifold.attention_time(LEAKY) == pytest.approx(10 * time, rel=1e-6)
    assert slow_manifold.settling(LEAKY) == pytest.approx(10 * 6 / (0.545 * 0.1 * 6), rel=1e-12)
    for omega in (2.0, 3.0):  # attention begins at ω = n/K = 2
        assert slow_manifold.time_to(LEAKY, omega) == slow_manifold.time_to(SMALL, omega) == 0.0
    scaled = LEAKY.change(student=Part("position_attention", attention_scale=0.7))
    ratio = slow_manifold.time_to(LEAKY, 1.0) / slow_manifold.time_to(scaled, 1.0)
    assert ratio == pytest.approx(0.49 * 6, rel=1e-9)


def test_the_slow_curves_of_the_identity_on_paper():
    """K = 2 and n = 4 at ω = 1: 25t = 16 + 32 log 2 + (32 − 8 − 8)/2. Of the excess
    (6·25/2)/(4 + 2) is left, and the gap is √6 log 2.
    """
    time = (24 + 32 * math.log(2.0)) / 25
    assert slow_manifold.time_to(SMALL, 1.0) == pytest.approx(time, rel=1e-12)
    assert slow_manifold.omega_at(SMALL, time) == pytest.approx(1.0, rel=1e-12)
    assert slow_manifold.omega_at(SMALL, 0.0) == pytest.approx(2.0, rel=1e-12)
    unit = SMALL.change(rate=time / 7)
    found = slow_manifold.excess_curve(unit, np.array([7]))
    assert found == pytest.approx([12.5], rel=1e-10)
    gaps = slow_manifold.gap_curve(unit, np.array([7]))
    assert gaps == pytest.approx([math.sqrt(6) * math.log(2.0)], rel=1e-10)
    # Of the excess Kω²/(n + Kω²) is left, which is ½ at ω² = n/K.
    halving = slow_manifold.time_to(SMALL, math.sqrt(2.0)) / 0.1
    assert slow_manifold.halving_time(SMALL) == pytest.approx(halving, rel=1e-9)
    with pytest.raises(NoPrediction, match="K = 3"):
        slow_manifold.halving_time(SMALL.change(**{"teacher.support": 3}))
    with pytest.raises(NoPrediction, match="identity only"):
        slow_manifold.omega_at(LEAKY, 1.0)


# --- supports and weights that differ


def test_plateaus_of_unequal_supports_and_weights():
    """2η‖V*‖² = 3.2. Of one and three of five tokens K(D−K)² is 16 and 12; the least weight 0.2
    has 1/s = D, and 0.1 has twice that.
    """
    assert slowest_column.slowest_plateau(of_weights(UNEQUAL)) == pytest.approx(5.0, rel=1e-12)
    relu = of_weights(UNEQUAL, activation="relu")
    assert slowest_column.slowest_plateau(relu) == pytest.approx(15.0, rel=1e-12)
    sample = Part("empirical", samples=3, held_out=3)
    tanh = of_weights(UNEQUAL, activation="tanh").change(objective=sample)
    assert slowest_column.slowest_plateau(tanh) == pytest.approx(5.0, rel=1e-12)
    assert unequal_weights.least_weight_plateau(of_weights(UNEQUAL)) == pytest.approx(75 / 3.2)
    assert unequal_weights.least_weight_plateau(relu) == pytest.approx(225 / 3.2, rel=1e-12)
    assert unequal_weights.least_weight_plateau(tanh) == pytest.approx(75 / 3.2, rel=1e-12)
    small = UNEQUAL + np.array([[0.0], [0.0], [0.1], [-0.1], [0.0]]) * [0.0, 1.0]
    assert unequal_weights.least_weight_plateau(of_weights(small)) == pytest.approx(300 / 3.2)


def test_shares_of_a_support_and_the_effective_counting_law():
    """1/0.2 − 1/0.5 = 3 and 1/0.4 − 1/0.3 < that; D − K = 2 and 2‖V*‖²c²D = 32."""
    even = UNEQUAL.copy()
    even[:, 0] = [0.3, 0.3, 0.4, 0.0, 0.0]
    assert unequal_weights.support_spread(of_weights(even)) == pytest.approx(6 / 32, rel=1e-12)
    scaled = of_weights(even).change(student=Part("position_attention", attention_scale=0.7))
    assert unequal_weights.support_spread(scaled) == pytest.approx(6 / 32 / 2.45, rel=1e-12)
    for setting in (of_weights(UNEQUAL), of_weights(even, activation="relu")):
        with pytest.raises(NoPrediction, match="one size"):
            unequal_weights.support_spread(setting)
    K = np.array([1.0, 1 / 0.38])
    found = unequal_weights.effective_counting_law(of_weights(UNEQUAL))
    assert found == pytest.approx(np.sum(K * (5 - K)) / 4, rel=1e-12)


def test_what_decays_where_no_weight_is_zero():
    """λ‖V*‖²c²s² with s = 0.2 and c² = ½; from equal weights ½λ‖V*‖²(1 − η((1+k)/2)²)²."""
    weights = np.array([[0.2, 0.7], [0.8, 0.3]])
    leaky = {"activation": "leaky_relu(0.3)"}
    found = decay.least_weight_decay(of_weights(weights, **leaky))
    assert found == pytest.approx(0.545 * 16 / 2 * 0.04, rel=1e-12)
    flat = of_weights(np.full((2, 3), 0.5), **leaky)
    by_hand = 0.5 * 0.545 * 16 * 1.5 * (1 - 0.15 * 0.65**2) ** 2
    assert decay.first_excess(flat) == pytest.approx(by_hand, rel=1e-12)
    # Its two curvatures: λ‖S*‖² = 0.8175 of the value, and none of the scores, which are alike.
    assert decay.decay(flat) == pytest.approx(-math.log(1 - 0.08175) / 0.1, rel=1e-12)
    for rate in (2.5, 3.0):
        with pytest.raises(NoPrediction, match="too large"):
            decay.decay(flat.change(rate=rate))


def test_a_random_start_moves_the_value_across_the_teachers_too():
    """λ‖S*‖² = 1.26 of W⊥, which has no room in one dimension and has in two."""
    weights = np.array([[0.2, 0.7], [0.8, 0.3]])
    start = Part("position_attention", start=0.3)
    for outputs, dim, across in ((1, 1, False), (1, 2, True), (2, 1, True)):
        setting = of_weights(weights, outputs=outputs, dim=dim)
        along = decay.curvatures(setting)
        found = decay.curvatures(setting.change(student=start))
        expected = np.sort([*along, 1.26]) if across else along
        np.testing.assert_allclose(found, expected, rtol=1e-12)


def test_long_codes_leave_the_time_that_the_value_needs():
    """1/(ηλ‖S*‖²) with ‖S*‖² = 6/2 and η = 0.1; codes of length 1 take longer."""
    long = SMALL.change(student=Part("position_attention", key_codes=100.0 * np.eye(6)))
    assert max_margin.plateau(long) == pytest.approx(1 / 0.3, rel=1e-12)
    leaky = long.change(**{"teacher.activation": "leaky_relu(0.3)"})
    assert max_margin.plateau(leaky) == pytest.approx(1 / (0.3 * 0.545), rel=1e-12)
    assert max_margin.plateau(SMALL) > 1 / 0.3


# --- the cone of directions at the teacher


def cone_of_weights(on):
    """Rays that make up {T: column sums equal, T ≥ 0 off the support}, one per row."""
    tokens, queries = on.shape
    rays = []
    level = np.zeros(on.shape)
    for q in range(queries):
        first = int(np.argmax(on[:, q]))
        level[first, q] = 1.0
        for j in range(tokens):
            if j != first:
                ray = np.zeros(on.shape)
                ray[j, q], ray[first, q] = 1.0, -1.0
                rays += [ray, -ray] if on[j, q] else [ray]
    return rays, [level, -level]


ON = np.array([[1, 0, 1], [1, 0, 0], [0, 1, 0], [0, 0, 0]], bool)


def test_the_projection_on_the_cone_of_weights_by_its_rays():
    moves, levels = cone_of_weights(ON)
    rays = np.array([ray.ravel() for ray in (*moves, *levels)]).T
    given = np.random.default_rng(0).standard_normal((8, *ON.shape))
    found = tangent_cone.project(given, ON)
    for one, projected in zip(given, found, strict=True):
        nearest = rays @ nnls(rays, one.ravel())[0]
        np.testing.assert_allclose(projected.ravel(), nearest, atol=1e-12)


def test_the_part_of_noise_in_the_whole_cone_by_its_rays():
    """dW⊗S* + V*⊗dS, with column sums of dS zero."""
    draw = np.random.default_rng(1)
    selection = ON / ON.sum(0)
    value = draw.standard_normal((2, 3))
    rays = []
    for m in range(2):
        for e in range(3):
            unit = np.zeros((2, 3))
            unit[m, e] = 1.0
            ray = np.einsum("me,jq->mqej", unit, selection).ravel()
            rays += [ray, -ray]
    rays += [np.einsum("me,jq->mqej", value, ray).ravel() for ray in cone_of_weights(ON)[0]]
    rays = np.array(rays).T
    for _ in range(4):
        given = draw.standard_normal((2, 3, 3, 4))
        nearest = rays @ nnls(rays, given.ravel())[0]
        found = tangent_cone.length_square(given, value, selection)
        assert found == pytest.approx(nearest @ nearest, rel=1e-10)


def test_how_many_numbers_are_free():
    """M d = 6, of six tokens and six queries."""
    assert tangent_cone.known_selection(SMALL) == 6.0
    assert tangent_cone.free_map(SMALL) == 6.0 * 36
    assert tangent_cone.free_weights(SMALL) == 6 - 1 + 36 - 5
    one = of_weights(UNEQUAL[:, 1:])
    assert tangent_cone.statistical_dimension(one) == pytest.approx(6 - 1 + 3 + 2 / 2, rel=1e-12)
    for inputs in ({"covariance": np.diag([1.0, 2.0, 0.5])}, {"correlation": np.eye(6) + 0.1}):
        with pytest.raises(NoPrediction, match="sum to 1"):
            tangent_cone.statistical_dimension(SMALL.change(inputs=Part("gaussian", **inputs)))


# --- layers without positions


def test_the_floor_without_positions_is_the_mean_over_all_orders():
    S = np.array([[0.5, 0.1, 0.4], [0.25, 0.25, 0.5], [0.9, 0.0, 0.1]]).T
    orders = [np.eye(3)[list(order)] for order in permutations(range(3))]
    mean = np.mean([order @ S @ order.T for order in orders], axis=0)
    np.testing.assert_allclose(equivariance.symmetrised(S), mean, rtol=1e-12)
    setting = of_weights(S)
    assert equivariance.floor(setting) == pytest.approx(8 * np.sum((S - mean) ** 2), rel=1e-12)
    assert equivariance.silence(setting) == pytest.approx(8 * np.sum(S**2), rel=1e-12)
    for other in (of_weights(S[:, :2]), of_weights(S, activation="relu")):
        with pytest.raises(NoPrediction, match="a query for each token"):
            equivariance.floor(other)


@pytest.mark.parametrize("size", [1e-4, 1.0, 1e4])
def test_what_one_head_must_lose_is_beyond_its_first_direction(size, monkeypatch):
    """Of squares 4 + 1 in two directions and 2 in none, one head keeps 4: 3 of the variance 6 are
    lost. What is lost below 1e-12 of the square is rounding.
    """
    monkeypatch.setattr(limits, "build_teacher", lambda _: None)

    def bound(square, linear):
        found = limits.Moments(size * square, size, np.sqrt(size) * np.diag(linear))
        monkeypatch.setattr(limits, "moments", lambda _: found)
        return limits.floor(SMALL)

    assert bound(7.0, [2.0, 1.0]) == pytest.approx(3 / 6, rel=1e-12)
    assert bound(5.0, [1e-7, math.sqrt(5.0)]) == 0.0
    assert bound(4 + 3e-12, [2.0, 0.0]) == 0.0
    assert bound(4 + 6e-12, [2.0, 0.0]) == pytest.approx(6e-12 / 3, rel=1e-3)


def test_a_hypothesis_about_supports_says_their_range():
    """One, and three of five tokens; or two of six everywhere."""
    for setting, said in ((of_weights(UNEQUAL), "K from 1 to 3"), (SMALL, "K = 2")):
        (found,) = (h for h in theorem.theorem_3_1(setting) if "K equal weights" in h.text)
        assert found.detail == said
