"""The two numbers of the flow beside the gradient in all parameters, and the laws beside both."""

from __future__ import annotations

import math
from types import SimpleNamespace

import equinox as eqx
import jax.numpy as jnp
import numpy as np
import pytest

from tutelage.inputs.gaussian import Gaussian
from tutelage.papers.group_sparse.parts import path
from tutelage.papers.group_sparse.parts.flow import GroupSteps, GroupWaits
from tutelage.papers.group_sparse.parts.objective import GroupRisk, missed_weight, value_miss
from tutelage.papers.group_sparse.parts.path import Groups, State, follow_flow
from tutelage.papers.group_sparse.parts.student import GroupAttention
from tutelage.papers.group_sparse.parts.teacher import GroupSigns
from tutelage.papers.group_sparse.theory import laws
from tutelage.papers.group_sparse.theory.risk import risk
from tutelage.refuse import Refused

TEACHER = GroupSigns(5, 3, "sine")
RISK = GroupRisk(TEACHER, Gaussian())
PROBLEM = Groups(5, TEACHER.code_square**2)
READ = eqx.filter_jit(lambda s: (RISK.gradient(s), RISK(s), RISK.excess(s), missed_weight(s, RISK)))


def symmetric_student(state: State) -> GroupAttention:
    """The student of two numbers: columns of W with the gap C, of zero mean."""
    groups = state.problem.groups
    column = np.full(groups, -1.0 / groups)
    column[0] += 1.0
    scores = state.gap * np.repeat(column[:, None], groups, 1)
    value = state.length * TEACHER.direction
    return GroupAttention(value, jnp.asarray(scores / TEACHER.code_square), TEACHER.code_square)


@pytest.mark.parametrize(("length", "gap"), [(0.0, 0.0), (0.4, 0.3), (3.0, 2.5), (-0.7, 1.0)])
def test_two_numbers_move_as_all_parameters_do(length: float, gap: float):
    """The gradient in v and W, by autodiff of the objective, is that of α and C alone."""
    state = State(PROBLEM, length, gap)
    student = symmetric_student(state)
    slope, risk_found, excess, missed = READ(student)
    up, apart = state.slopes()
    assert -np.asarray(slope.value) == pytest.approx([up, 0, 0], abs=1e-13)
    moves = -TEACHER.code_square * np.asarray(slope.matrix)  # of β²W, the scores
    assert np.ptp(moves, axis=1).max() < 1e-13  # every query alike
    assert moves[0] - moves[1] == pytest.approx(np.full(5, apart), abs=1e-12)
    assert float(excess) == pytest.approx(state.risk, rel=1e-12)
    assert float(risk_found) == pytest.approx(state.risk, rel=1e-12)
    assert float(missed) == pytest.approx(state.missed, rel=1e-12)


def test_the_risk_of_any_student_is_a_mean_over_inputs():
    """By plain Monte Carlo, within four standard errors; 0.02 off would be seen."""
    draw = np.random.default_rng(3)
    value, matrix = 0.3 * draw.standard_normal(3), 0.3 * draw.standard_normal((5, 5))
    student = GroupAttention(jnp.asarray(value), jnp.asarray(matrix), 3.0)
    tokens = draw.standard_normal((100_000, 3, 5))
    weights = np.asarray(student.group_weights())
    scores = tokens.transpose(0, 2, 1) @ value @ weights
    assert scores[0] == pytest.approx(float(student(jnp.asarray(tokens[0]))), rel=1e-12)
    losses = np.logaddexp(0, -np.sign(tokens[:, 0, 0]) * scores)
    error = losses.std() / math.sqrt(len(losses))
    assert float(RISK(student)) == pytest.approx(losses.mean(), abs=4 * error)
    assert 4 * error < 0.02
    assert float(RISK.excess(student)) == pytest.approx(float(RISK(student)), rel=1e-12)
    assert float(value_miss(student, RISK)) == pytest.approx(
        math.hypot(*value[1:]) / np.linalg.norm(value), rel=1e-12
    )


def test_the_first_time_does_not_matter(monkeypatch: pytest.MonkeyPatch):
    log_times = np.log([1.0, 1e3])
    (early, late), _ = follow_flow(PROBLEM, log_times)
    monkeypatch.setattr(path, "FIRST_TIME", 1e-8)
    (other_early, other_late), _ = follow_flow(PROBLEM, log_times)
    assert other_early.gap == pytest.approx(early.gap, rel=1e-7)
    assert other_late.length == pytest.approx(late.length, rel=1e-7)


def test_small_steps_come_to_flow():
    """Descent to t = 4 by 1000 steps is flow to within the step size, and by 2000 twice as near."""
    (expected,), _ = follow_flow(PROBLEM, np.log([4.0]))
    gaps = []
    for steps in (1000, 2000):
        found = GroupSteps(4.0 / steps, steps)(SimpleNamespace(teacher=TEACHER))
        gaps.append(found.curves["length"][-1] / expected.length - 1)
    assert abs(gaps[0]) < 4e-3
    assert gaps[1] / gaps[0] == pytest.approx(0.5, abs=0.02)


def test_a_margin_begins_where_its_flow_does():
    """The slope of α at zero is half of E|g|, by the panels at a tiny signal."""
    problem = Groups(5, 1.0, 0.3)
    begin = path.first_state(problem)
    up, _ = begin.slopes()
    assert begin.length / path.FIRST_TIME == pytest.approx(up, rel=1e-5)


@pytest.mark.parametrize("push", [1.0, 400.0])
@pytest.mark.parametrize("groups", [3, 50])
def test_constants_solve_the_late_equations(groups: int, push: float):
    """A = a·t^(1/3) and q = b·t^(2/3), put into the equations of the module's head at t = 1."""
    a, b = laws.signal_constant(groups), laws.gap_constant(groups, push)
    assert a / groups / 3 == pytest.approx(laws.LEVEL * groups / a**2, rel=1e-12)
    pull = push * (laws.LEVEL / a + 2 * laws.CURVATURE * a / b)
    assert 2 / 3 * b == pytest.approx(pull, rel=1e-12)


def test_constants_of_the_expansion_are_those_of_the_risk():
    """A·L → c₀, and (L − c₀/A)/(Aρ²) → κ, each up to what its order leaves out."""
    signal, ratio = 1e4, 3e-6
    assert signal * risk(signal, 0.0) == pytest.approx(laws.LEVEL, rel=1e-7)
    rise = (risk(signal, ratio * signal) - risk(signal, 0.0)) / (signal * ratio**2)
    assert rise == pytest.approx(laws.CURVATURE, rel=1e-3)


@pytest.mark.parametrize("codes", laws.CODES)
def test_the_gap_after_two_steps_is_in_closed_form(codes: str):
    teacher = GroupSigns(40, 2, codes)
    found = GroupSteps(0.5, 2)(SimpleNamespace(teacher=teacher))
    expected = laws.second_gap(40, teacher.code_square**2, 0.5)
    assert found.curves["gap"][2] == pytest.approx(expected, rel=1e-12)
    assert found.curves["length"][1] == pytest.approx(0.5 / math.sqrt(2 * math.pi), rel=1e-12)


def test_sine_codes_are_orthogonal_of_the_length_said():
    groups = 7
    index = np.arange(1, groups + 1)
    codes = np.sin(np.outer(index, index) * math.pi / (groups + 1))
    square = laws.code_square("sine", groups)
    np.testing.assert_allclose(codes @ codes.T, square * np.eye(groups), atol=1e-12)


def test_waits_are_crossings_of_the_flow():
    found = GroupWaits(0.01)(SimpleNamespace(teacher=TEACHER)).curves
    times = np.array([125.0, found["time_to_risk"][0]])
    (cube, there), _ = follow_flow(PROBLEM, np.log(times))
    assert there.risk == pytest.approx(0.01, rel=1e-7)
    assert cube.missed == pytest.approx(found["missed_at_cube"][0], rel=1e-7)
    (half,), _ = follow_flow(PROBLEM, np.log(found["time_to_half"]))
    assert half.missed == pytest.approx(0.5, rel=1e-7)


def test_log_missed_goes_on_where_missed_is_no_number():
    far = State(Groups(9, 1.0), 1.0, 900.0)
    assert far.log_missed == pytest.approx(math.log(8) - 900)
    near = State(Groups(9, 1.0), 1.0, 2.0)
    assert near.log_missed == pytest.approx(math.log(near.missed), rel=1e-12)


def test_what_is_not_meant_is_refused():
    with pytest.raises(Refused, match="closed form for standard normal"):
        GroupRisk(TEACHER, Gaussian(covariance=np.diag([1.0, 2.0, 3.0])))
    with pytest.raises(Refused, match="log 2"):
        GroupWaits(0.7)
    with pytest.raises(Refused, match="must have a choice"):
        GroupSigns(1, 3, "unit")
    other = eqx.nn.Identity()
    with pytest.raises(Refused, match="attention by position"):
        RISK.check(other)


@pytest.mark.parametrize("groups", [3, 50])
def test_the_attention_missed_after_two_large_steps_is_that_of_a_softmax(groups: int):
    """1 − s = (D − 1)/(e^C + D − 1), at a gap C of forty."""
    push = 2.0
    rate = math.sqrt(40 * 2 * math.pi * groups / push)
    gap = laws.second_gap(groups, push, rate)
    assert gap == pytest.approx(40)
    exact = math.log((groups - 1) / (math.exp(gap) + groups - 1))
    assert laws.log_missed_by_steps(groups, push, rate) == pytest.approx(exact, abs=1e-12)
