"""The heads of token-selection: the whole one, its two numbers, and what theory says about both."""

from __future__ import annotations

from fractions import Fraction
from itertools import combinations

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest

from tutelage.claims import Status, check
from tutelage.numerics.streams import generator
from tutelage.papers.token_selection.parts.codes import draw_overlaps, make_codes
from tutelage.papers.token_selection.parts.objective import SubsetRisk
from tutelage.papers.token_selection.parts.students import SelectionHead, SubsetAttention
from tutelage.papers.token_selection.parts.teacher import SubsetAverage, neighbouring_subsets
from tutelage.papers.token_selection.rates.study import (
    BOUND,
    CONSTANT,
    FIXED_SUBSET,
    ORDER,
    SHARP_BOUND,
    TWO_NUMBERS,
    cases,
    read_bound,
    study,
)
from tutelage.papers.token_selection.setup import (
    Task,
    fixed_codes,
    fresh_codes,
    paper_hypotheses,
    sizes_of,
    train_head,
)
from tutelage.papers.token_selection.theory import collapse
from tutelage.refuse import Refused
from tutelage.run import Outcome, Run
from tutelage.studies.study import Plan

T, Q, D = 7, 3, 2
STEPS = np.unique(np.rint(np.logspace(0, 9, 200)).astype(np.int64))


def moved_head(value: float, gap: float) -> SelectionHead:
    head = SelectionHead.zeros(D, make_codes("fixed", T, Q, None, 1, 0))
    lengths = jnp.asarray(value * D**0.5), jnp.asarray(gap * (T - 1) ** 0.5)
    return eqx.tree_at(lambda h: (h.value_length, h.score_length), head, lengths)


def whole_head(value: float, gap: float) -> SubsetAttention:
    head = SubsetAttention.zeros(SubsetAverage(D, T, Q))
    scores = gap * (jnp.eye(T) - 1 / T)
    return eqx.tree_at(lambda h: (h.value, h.scores), head, (value * jnp.eye(D), scores))


def exact_loss(value: Fraction, weight_ratio: Fraction) -> Fraction:
    """L by sums over tokens, in fractions: chosen tokens weigh `weight_ratio` times the others."""
    total = Q * weight_ratio + (T - Q)
    chosen, other = weight_ratio / total, 1 / total
    away = Q * (value * chosen - Fraction(1, Q)) ** 2 + (T - Q) * (value * other) ** 2
    return Fraction(D, 2) * away


@pytest.mark.parametrize(("value", "ratio"), [(0, 1), (1, 2), (2, 7), (1, 4096)])
def test_the_loss_is_that_of_both_heads_and_of_fractions(value: int, ratio: int):
    expected = float(exact_loss(Fraction(value), Fraction(ratio)))
    gap = np.log(ratio)
    risk = SubsetRisk()
    assert collapse.loss(T, Q, D, float(value), gap) == pytest.approx(expected, rel=1e-12)
    assert float(risk(moved_head(value, gap))) == pytest.approx(expected, rel=1e-12)
    assert float(risk(whole_head(value, gap))) == pytest.approx(expected, rel=1e-12)


def test_the_whole_head_has_the_gradient_of_its_two_numbers():
    value, gap = 0.7, 1.3
    slope = eqx.filter_grad(SubsetRisk())(whole_head(value, gap))
    slopes = collapse.find_slopes(T, Q, D, value, gap)
    np.testing.assert_allclose(slope.value, slopes.value / D * np.eye(D), atol=1e-14)
    expected = slopes.gap / (T - 1) * (np.eye(T) - 1 / T)
    np.testing.assert_allclose(slope.scores, expected, atol=1e-14)


def test_slopes_are_those_of_the_loss():
    step = 1e-6
    slopes = collapse.find_slopes(20, 4, 5, 0.9, 2.0)
    for which, found in enumerate(slopes):
        ends = [np.array([0.9, 2.0]) + sign * step * np.eye(2)[which] for sign in (1, -1)]
        up, down = (float(collapse.loss(20, 4, 5, *end)) for end in ends)
        assert found == pytest.approx((up - down) / (2 * step), rel=1e-7)


def test_the_whole_head_answers_about_the_subset_that_its_input_names():
    head, teacher = whole_head(1.0, 40.0), SubsetAverage(D, T, Q)
    tokens = generator(0, "tokens").standard_normal((D + 1, T))
    chosen = np.argsort(tokens[-1])[-Q:]
    expected = tokens[:D, chosen].mean(1)
    np.testing.assert_allclose(teacher(jnp.asarray(tokens))[:, 0], expected, rtol=1e-14)
    np.testing.assert_allclose(head(jnp.asarray(tokens))[:, 0], expected, rtol=1e-12)


@pytest.mark.depth
def test_the_risk_is_the_mean_loss_of_drawn_inputs():
    """Against a million Gaussian numbers: four standard errors."""
    head, teacher = whole_head(0.8, 1.0), SubsetAverage(D, T, Q)
    drawn = jnp.asarray(generator(1, "inputs").standard_normal((40_000, D + 1, T)))
    losses = 0.5 * jnp.sum((jax.vmap(head)(drawn) - jax.vmap(teacher)(drawn)) ** 2, axis=(1, 2))
    error = 4 * float(losses.std()) / 200
    assert float(SubsetRisk()(head)) == pytest.approx(float(losses.mean()), abs=error)


def test_attention_is_shown_for_neighbouring_subsets():
    shown = np.asarray(neighbouring_subsets(6, 2, 3))
    assert shown.T.tolist() == [[1, 1, 0, 0, 0, 0], [0, 0, 1, 1, 0, 0], [0, 0, 0, 0, 1, 1]]
    assert whole_head(1.0, 2.0).attention().shape == (T, 1)


@pytest.mark.depth
def test_fresh_orthonormal_codes_move_the_identity_alone():
    """The mean over codes of E G Eᵀ, G the gradient of the scores, is (∂L/∂C)/m times the
    identity: its trace is exact in every draw, and 4000 draws leave 4% of the rest.
    """
    width, draw = 12, generator(2, "codes")
    inner = np.eye(T) - 1 / T  # G, up to the factor (∂L/∂C)/(T − 1)
    total = np.zeros((width, width))
    for _ in range(4000):
        code, _ = np.linalg.qr(draw.standard_normal((width, T)))
        total += code @ inner @ code.T / (T - 1) / 4000
    assert np.trace(total) == pytest.approx(1.0, rel=1e-12)
    away = np.linalg.norm(total - np.eye(width) / width) / np.linalg.norm(np.eye(width) / width)
    assert away < 0.04


def test_overlaps_of_signs_are_those_of_the_codes_themselves():
    found = draw_overlaps(5, 2, 6, 50, generator(3, "signs"))
    signs = generator(3, "signs").integers(0, 2, (50, 6, 5), dtype=np.int8) * 2.0 - 1
    gram = np.einsum("rmi,rmj->rij", signs, signs) / 6
    np.testing.assert_allclose(found, gram[:, :, :2].sum(2), atol=1e-15)


def test_the_closed_curve_solves_its_equation():
    """L of `followed_loss` against the flow of r, integrated with tiny steps."""
    sizes = collapse.Sizes(20, 4, 5, 19.0)
    ratio, time = 16 / 4, 0.0
    while time < 50 - 1e-9:
        middle = ratio + 0.5e-3 * flow_of_ratio(sizes, ratio)
        ratio, time = ratio + 1e-3 * flow_of_ratio(sizes, middle), time + 1e-3
    expected = 5 / 8 * ratio / (1 + ratio)
    found = collapse.followed_loss(sizes, np.array([50.0]))[0]
    assert found == pytest.approx(expected, rel=1e-6)
    late = collapse.followed_loss(sizes, np.array([1e9]))[0]
    assert late * 1e9 == pytest.approx(collapse.constant(sizes), rel=1e-6)


def flow_of_ratio(sizes: collapse.Sizes, ratio: float) -> float:
    return -2 * sizes.dim / (sizes.support * sizes.modes) * ratio**2 / (1 + ratio) ** 2


def test_a_fixed_subset_moves_along_one_direction():
    """q(T − q)/T is the squared length of 1_y less its mean."""
    column = np.zeros(20)
    column[:4] = 1
    column -= column.mean()
    assert collapse.fixed_subset_constant(20, 4) == pytest.approx(column @ column / 4, rel=1e-14)


def made_run(factor: float, power: float) -> Run:
    """A run whose L·t over N/4 is `factor` times (log t)^power."""
    setting = train_head(Task(20, 4, 5), fixed_codes(), int(STEPS[-1]))
    time = setting.rate * STEPS
    curve = factor * sizes_of(setting).modes / 4 / time * np.log(np.e + time) ** power
    run = Run(STEPS, {"excess_risk": curve}, None, Outcome.FINISHED, rate=0.2, setting=setting)
    return Run(STEPS, {**run.curves, **read_bound(run)}, None, run.outcome, "", 0.2, setting)


@pytest.mark.parametrize(
    ("factor", "power", "order", "constant", "bound", "sharp"),
    [
        # The slope of L·t/log t falls like that of 1/log t, which is within the bound.
        (1.0, 0.0, "HOLDS", "HOLDS", "HOLDS", "FAILS"),
        (1.1, 0.0, "HOLDS", "FAILS", "HOLDS", "FAILS"),
        (1.0, 1.0, "FAILS", "FAILS", "HOLDS", "HOLDS"),
        (1.0, 2.0, "FAILS", "FAILS", "FAILS", "FAILS"),
    ],
)
def test_planted_logarithms_are_found(
    factor: float, power: float, order: str, constant: str, bound: str, sharp: str
):
    run = made_run(factor, power)
    found = [check(one, run).status.value for one in (ORDER, CONSTANT, SHARP_BOUND)]
    assert found == [order, constant, sharp]
    run = Run(
        run.steps,
        run.curves,
        None,
        run.outcome,
        rate=0.2,
        setting=train_head(Task(20, 4, 5), fresh_codes(19), int(STEPS[-1])),
    )
    assert check(BOUND, run).status.value == bound


def test_the_papers_bound_says_nothing_of_fixed_codes():
    assert check(BOUND, made_run(1.0, 0.0)).status is Status.OUTSIDE
    (_, fresh, _) = paper_hypotheses(train_head(Task(20, 4, 5), fixed_codes(), 1))
    assert fresh.met is False


def test_the_twin_of_the_whole_head_has_another_number_of_modes_than_tokens():
    """N = T in place of T − 1 is seen at once by the claim that the two are one."""
    setting = train_head(Task(T, Q, D), fixed_codes(), 100)
    steps = np.array([0, 1, 10, 100])
    right = collapse.descend(sizes_of(setting), 0.2, steps)
    wrong = collapse.descend(sizes_of(setting)._replace(modes=T), 0.2, steps)
    for path, status in ((right, Status.HOLDS), (wrong, Status.FAILS)):
        curve = np.asarray(collapse.loss(T, Q, D, path.value, path.gap))
        run = Run(steps, {"excess_risk": curve}, None, Outcome.FINISHED, rate=0.2, setting=setting)
        assert check(TWO_NUMBERS, run).status is status


def test_sizes_that_cannot_be_are_refused():
    with pytest.raises(Refused, match=r"smaller than `tokens`.*support=5, tokens=5"):
        SubsetAverage(2, 5, 5)
    for sizes in ((2, 10**400, 5), (10**400, 5, 2), (2, 5, 2, 10**400)):
        with pytest.raises(Refused, match=r"at most 9,007,199,254,740,992, since .*1,329 bits"):
            SubsetAverage(*sizes)
    with pytest.raises(Refused, match=r"`width` must be at least `tokens`.*width=4, tokens=5"):
        make_codes("fresh", 5, 2, 4, 1, 0)
    with pytest.raises(Refused, match=r"need a `width`"):
        make_codes("signs", 5, 2, None, 1, 0)
    with pytest.raises(Refused, match=r"at most 1000.*184,756 of 10 in 20"):
        SubsetAttention.zeros(SubsetAverage(2, 20, 10))
    assert len(list(combinations(range(T), Q))) == len(whole_head(1, 1).subsets)


def test_a_change_applies_to_both_kinds_of_codes():
    made = cases(Plan(changes={"T": 30}), study.presets["quick"])
    assert [case.name for case in made] == ["fixed", "fresh"]
    assert {case.settings[0].teacher.options["tokens"] for case in made} == {30}
    assert FIXED_SUBSET.value(cases(Plan(), study.presets["quick"])[-1].settings[0]) == 0.8
