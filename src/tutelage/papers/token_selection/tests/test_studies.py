"""Lengths, codes and networks of token-selection: theory beside twins, and planted faults."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from functools import partial
from itertools import combinations, product
from math import comb

import numpy as np
import pytest
from scipy.spatial import ConvexHull

from tutelage.claims import Status, check
from tutelage.numerics.streams import generator
from tutelage.papers.token_selection.codes import claims as of_codes
from tutelage.papers.token_selection.codes import study as codes
from tutelage.papers.token_selection.lengths import study as lengths
from tutelage.papers.token_selection.networks import study as networks
from tutelage.papers.token_selection.parts.codes import make_codes
from tutelage.papers.token_selection.parts.faces import find_margin, make_points
from tutelage.papers.token_selection.parts.floor import fit_loss, hard_weights, soft_weights
from tutelage.papers.token_selection.parts.gradients import score_slopes
from tutelage.papers.token_selection.parts.students import list_subsets
from tutelage.papers.token_selection.parts.teacher import SubsetAverage
from tutelage.papers.token_selection.setup import Task, fixed_codes, fresh_codes, train_head
from tutelage.papers.token_selection.theory import collapse, floors, polytopes
from tutelage.papers.token_selection.theory import lengths as length_theory
from tutelage.papers.token_selection.theory import networks as network_theory
from tutelage.refuse import Refused
from tutelage.run import Outcome, Run
from tutelage.running.calculating import calculate
from tutelage.settings import Setting
from tutelage.studies.answering import run_cases
from tutelage.studies.discovery import find_study
from tutelage.studies.study import Plan

T, Q, D = 6, 2, 3


def test_the_ratio_of_lengths_is_that_of_losses_late():
    """At C = 18 and the best α the ratio is within 1e-5 of its limit."""
    gap = 18.0
    missed = collapse.missed_weight(20, 4, gap)
    value = 1 / (1 - missed)
    for other in (10, 40, 120):
        found = collapse.loss(other, 4, 5, value, gap) / collapse.loss(20, 4, 5, value, gap)
        assert found == pytest.approx(length_theory.length_ratio(20, 4, other), rel=1e-5)
    assert length_theory.length_ratio(20, 4, 20) == 1.0


def test_the_refitted_loss_is_the_least_over_alpha():
    """L is a parabola in α, whose lowest point three values give."""
    gap = np.array([0.0, 1.0, 3.0])
    for place, found in enumerate(length_theory.refitted_loss(20, 4, 5, gap)):
        none, one, two = (collapse.loss(20, 4, 5, value, gap[place]) for value in (0.0, 1.0, 2.0))
        bend, slope = (two - 2 * one + none) / 2, (4 * one - two - 3 * none) / 2
        assert found == pytest.approx(none - slope**2 / (4 * bend), rel=1e-12)


@pytest.mark.parametrize("other", [4, 5, 7])
def test_unseen_positions_are_as_all_subsets_say(other: int):
    """W = C(I − 11ᵀ/T) on the first four positions and 0 elsewhere, subset by subset."""
    value, gap = 0.8, 1.7
    scores = np.zeros((other, other))
    scores[:4, :4] = gap * (np.eye(4) - 1 / 4)
    total = []
    for row in list_subsets(other, Q):
        weights = np.exp(scores @ row)
        total.append(np.sum((value * weights / weights.sum() - row / Q) ** 2))
    found = length_theory.unseen_loss(4, Q, D, other, np.array([value]), np.array([gap]))
    assert found[0] == pytest.approx(0.5 * D * np.mean(total), rel=1e-12)


STEPS = np.unique(np.rint(np.logspace(0, 12, 240)).astype(np.int64))


@pytest.mark.parametrize(("factor", "status"), [(1.0, "HOLDS"), (1.1, "FAILS")])
def test_a_planted_ratio_of_lengths_is_told(factor: float, status: str):
    setting = train_head(Task(20, 4, 5), fresh_codes(128), int(STEPS[-1]))
    ratio = factor * 8.5 * (1 - 3 * STEPS**-0.5)
    curves = {"length_ratio": np.maximum(ratio, 0.01), "excess_risk": 1.0 / STEPS}
    run = Run(STEPS, curves, None, Outcome.FINISHED, rate=0.2, setting=setting)
    claim = replace(lengths.RATIO, value=partial(lengths.predict_ratio, other=40))
    assert check(claim, run).status.value == status


def test_losses_on_other_lengths_are_read_by_the_kind_of_codes():
    curves = {"value_scale": np.array([0.0, 0.9]), "score_gap": np.array([0.0, 2.0])}
    curves["excess_risk"] = np.array([1.0, 0.5])
    found = {}
    for name, student in (("fixed", fixed_codes()), ("fresh", fresh_codes(64))):
        setting = train_head(Task(20, 4, 5), student, 10)
        run = Run(np.array([0, 10]), curves, None, Outcome.FINISHED, rate=0.2, setting=setting)
        found[name] = lengths.read_length(run, other=40)["length_loss"][1]
    assert found["fresh"] == pytest.approx(collapse.loss(40, 4, 5, 0.9, 2.0), rel=1e-14)
    unseen = length_theory.unseen_loss(20, 4, 5, 40, np.array([0.9]), np.array([2.0]))
    assert found["fixed"] == pytest.approx(unseen[0], rel=1e-14)
    assert found["fixed"] > 1.5 * found["fresh"]


def exact_ties(tokens: int, support: int, dim: int, width: int) -> Fraction:
    """The law of ties in fractions, over all codes of the subset."""
    total = Fraction(0)
    for signs in product((0, 1), repeat=width * (support - 1)):
        agreeing = width - sum(signs)
        tie = Fraction(1, 2**agreeing)
        for many in range(tokens - support + 1):
            chance = comb(tokens - support, many) * tie**many
            chance *= (1 - tie) ** (tokens - support - many)
            weight = Fraction(1, support + many)
            missed = support * (weight - Fraction(1, support)) ** 2 + many * weight**2
            total += chance * missed / 2 ** (width * (support - 1))
    return Fraction(dim, 2) * total


@pytest.mark.parametrize(("support", "width"), [(1, 3), (1, 6), (2, 4), (2, 7)])
def test_the_law_of_ties_is_that_of_fractions(support: int, width: int):
    expected = float(exact_ties(8, support, D, width))
    assert floors.tie_loss(8, support, D, width) == pytest.approx(expected, rel=1e-12)


def test_the_law_of_ties_ends_at_two():
    with pytest.raises(Refused, match=r"at most two tokens.*support=3"):
        floors.tie_loss(8, 3, D, 4)
    assert floors.tie_loss(20, 2, 5, 3000) == 0.0


def test_all_codes_of_three_signs_give_the_law_of_ties():
    """Hard attention over every choice of signs, q = 2 of 4 tokens: no draw at all."""
    width, tokens = 3, 4
    every = np.array(list(product((-1.0, 1.0), repeat=width * tokens)))
    signs = every.reshape(-1, width, tokens)
    overlaps = np.einsum("rmt,rm->rt", signs, signs[:, :, :2].sum(2)) / width
    made = make_codes("signs", tokens, 2, width, 1, 0)._replace(overlaps=overlaps)
    found = fit_loss(made, D, hard_weights(made))
    assert found == pytest.approx(floors.tie_loss(tokens, 2, D, width), rel=1e-12)


def test_the_floor_is_the_least_of_its_formula_and_of_wide_codes():
    gaps = np.linspace(0.5, 8, 4000)
    least = min(floors.floor_at(20, 4, 5, 1024, gap) for gap in gaps)
    found = floors.sign_floor(20, 4, 5, 1024)
    assert found == pytest.approx(least, rel=1e-5)
    assert found <= least
    made = make_codes("signs", 20, 4, 1024, 200, 0)
    drawn = min(fit_loss(made, 5, soft_weights(made, gap)) for gap in np.linspace(3, 4, 11))
    assert drawn == pytest.approx(found, rel=0.15)  # 200 draws scatter by about 4%


def test_the_terms_of_the_floor_are_moments_over_all_codes():
    """Every choice of three signs per code: the spread of the subset's overlaps, and the variance
    of another token's.
    """
    width, support, gap = 3, 3, 1.9
    every = np.array(list(product((-1.0, 1.0), repeat=width * (support + 1))))
    signs = every.reshape(-1, width, support + 1)
    overlaps = np.einsum("rmt,rm->rt", signs, signs[:, :, :support].sum(2)) / width
    inside = overlaps[:, :support]
    spread = np.mean(np.sum((inside - inside.mean(1, keepdims=True)) ** 2, axis=1))
    variance = np.mean(overlaps[:, support] ** 2)
    others = (20 - support) * np.exp(-2 * gap + 2 * gap**2 * variance)
    expected = 5 / (2 * support**2) * (others + gap**2 * spread)
    assert floors.floor_at(20, support, 5, width, gap) == pytest.approx(expected, rel=1e-12)


def test_the_gradient_of_the_scores_is_that_of_the_loss():
    slopes = score_slopes(SubsetAverage(5, 20, 4))
    expected = collapse.find_slopes(20, 4, 5, 0.7, 1.3).gap
    assert slopes[:4].sum() == pytest.approx(expected, rel=1e-12)
    assert slopes.sum() == pytest.approx(0.0, abs=1e-15)


def hull_faces(points: np.ndarray, support: int) -> set[tuple[int, ...]]:
    """The subsets of the facets of a convex hull in general position."""
    facets = ConvexHull(points).simplices
    return {one for facet in facets for one in combinations(sorted(facet.tolist()), support)}


@pytest.mark.parametrize(
    ("kind", "support", "width"), [("moment", 2, 3), ("gaussian", 2, 3), ("gaussian", 2, 4)]
)
def test_programmes_find_the_faces_of_the_convex_hull(kind: str, support: int, width: int):
    points = make_points(kind, 7, width, 3)
    found = {c for c in combinations(range(7), support) if find_margin(points, c) > 1e-7}
    assert found == hull_faces(points, support)
    if kind == "moment":
        assert len(found) == polytopes.count_cyclic_faces(7, width, support)


def test_cyclic_polytopes_have_the_faces_that_are_known():
    """C(9, 5) has 74 triangles, C(9, 3) has 21 edges, and C(9, 2q) every subset."""
    assert polytopes.count_cyclic_faces(9, 5, 3) == 74
    assert polytopes.count_cyclic_faces(9, 3, 2) == 21
    assert [polytopes.count_cyclic_faces(9, 2 * q, q) for q in (1, 2, 3)] == [9, 36, 84]


def made_count(selected: int, width: int) -> Run:
    setting = codes._programme(9, 2, width, "moment", 0)
    curves = {"selected": np.array([float(selected)])}
    return Run(np.array([0]), curves, None, Outcome.CALCULATED, setting=setting)


def test_one_subset_that_is_missed_fails():
    assert check(of_codes.EVERY, made_count(36, 4)).status is Status.HOLDS
    assert check(of_codes.EVERY, made_count(35, 4)).status is Status.FAILS
    assert check(of_codes.BOUNDED, made_count(21, 3)).status is Status.HOLDS
    assert check(of_codes.BOUNDED, made_count(22, 3)).status is Status.FAILS
    found = of_codes.least_widths([made_count(30, 4), made_count(36, 6), made_count(36, 5)])
    assert found == [5.0]


def network(units: int, **more: object) -> Setting:
    return networks._network(Task(T, Q, D), units, **more)


def exact_error(units: int) -> Fraction:
    """Td − m of the smaller eigenvalue of E[uuᵀ], from its entries in fractions."""
    diagonal = Fraction(comb(T - 1, Q - 1), comb(T, Q) * Q**2)
    beside = Fraction(comb(T - 2, Q - 2), comb(T, Q) * Q**2)
    return (diagonal - beside) * (T * D - units)


@pytest.mark.parametrize("units", [D, 10, T * D - 1])
def test_the_least_error_is_that_of_fractions_and_of_all_subsets(units: int):
    expected = float(exact_error(units))
    assert network_theory.least_error(T, Q, D, units) == pytest.approx(expected, rel=1e-12)
    found = calculate(network(units)).curves["error"][0]
    assert found == pytest.approx(expected, rel=1e-12)


def test_random_layers_leave_their_share_on_average():
    runs = [calculate(network(9, layer="random", seed=seed)) for seed in range(60)]
    mean = np.mean([run.curves["error"][0] for run in runs])
    assert mean == pytest.approx(network_theory.random_error(T, Q, D, 9), rel=0.02)
    assert check(networks.BEST, runs).status is Status.HOLDS
    assert check(networks.LEAST, runs[0]).status is Status.FAILS


def test_the_explicit_network_is_a_function_of_its_units():
    """Below d units too, and with a small weight it misreads the subset."""
    few = calculate(network(2, samples=20_000)).curves
    assert few["misread"][0] == 0.0
    expected = network_theory.least_error(T, Q, D, 2)
    assert few["sampled_error"][0] == pytest.approx(expected, rel=0.03)
    assert calculate(network(9, shift=1.0, samples=2_000)).curves["misread"][0] > 0.3
    with pytest.raises(Refused, match=r"at most Td.*units=19, Td=18"):
        calculate(network(19))


def test_two_draws_of_points_differ():
    assert generator(0, "points").standard_normal() != generator(1, "points").standard_normal()
    assert (make_points("gaussian", 5, 2, 0) != make_points("gaussian", 5, 2, 1)).any()


@pytest.mark.depth
@pytest.mark.parametrize("short", ["rates", "lengths", "codes", "networks"])
def test_small_plans_are_answered_and_drawn(short: str, tmp_path):
    found = find_study(f"token-selection/{short}")
    small = {
        "rates": {"tasks": (Task(8, 2, 3),), "width": 10, "steps": 10**7},
        "lengths": {"task": Task(8, 2, 3), "others": (5, 12), "width": 12, "steps": 10**9},
        "codes": {"supports": (3,), "width": 256, "draws": 64, "points": 6, "faces": (1, 2)},
        "networks": {"tasks": (Task(5, 2, 2),), "samples": 2000},
    }[short]
    preset = replace(found.presets["quick"], **small)
    answered = run_cases(short, found.cases(Plan(seeds=3), preset))
    controls = [v for a in answered if a.case.control for v in a.verdicts]
    assert controls
    assert not [v.id for v in controls if v.status is Status.HOLDS]
    drawn = {path.stem for path in found.figures(answered, tmp_path)}
    assert drawn == set(found.captions)
