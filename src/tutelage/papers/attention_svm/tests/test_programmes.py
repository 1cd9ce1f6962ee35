"""The two programmes and what follows from them: closed forms, certificates, refusals."""

from __future__ import annotations

import importlib

import mpmath
import numpy as np
import pytest
from planting import Fault, fresh_package

from tutelage.numerics.least_norm import Infeasible
from tutelage.papers.attention_svm.parts.sample import Sample, draw_sample
from tutelage.papers.attention_svm.setup import hypotheses
from tutelage.papers.attention_svm.theory import approach, nuclear, programmes
from tutelage.refuse import Refused
from tutelage.settings import Part, Setting

ORTHONORMAL = draw_sample(0, 4, 5, 6, "orthonormal")
SPHERE = draw_sample(1, 3, 4, 6, "sphere")


def test_equal_scores_are_equal():
    sample = draw_sample(2, 4, 5, 6, "equal_scores")
    np.testing.assert_allclose(np.linalg.norm(sample.tokens, axis=2), 1.0, rtol=1e-14)
    np.testing.assert_allclose(np.sort(sample.scores)[:, :-1], 0.0, atol=1e-14)
    np.testing.assert_allclose(sample.scores.max(1), 0.5, rtol=1e-14)


def check_orthonormal() -> None:
    """‖W^mm‖² = n(T−1)/T, every multiplier 1/T, and W̃: the closed forms against the programme."""
    package = "tutelage.papers.attention_svm.theory"
    solve = importlib.import_module(f"{package}.programmes").max_margin
    law = importlib.import_module(f"{package}.approach")
    solved = solve(ORTHONORMAL, ORTHONORMAL.best)
    assert abs(solved.square - 4 * 4 / 5) < 1e-12
    assert abs(law.orthonormal_square(4, 5) - 4 * 4 / 5) < 1e-12
    others = solved.multipliers[solved.supports]
    assert others.shape == (16,)
    np.testing.assert_allclose(others, 1 / 5, rtol=1e-12)
    np.testing.assert_allclose(
        law.orthonormal_offset(ORTHONORMAL), law.offset_on_supports(solved), rtol=0, atol=1e-12
    )


def test_the_orthonormal_design_has_closed_forms():
    check_orthonormal()


def test_the_constant_is_the_sum_of_multipliers():
    solved = programmes.max_margin(SPHERE, SPHERE.best)
    assert solved.multipliers.sum() == pytest.approx(solved.square, rel=1e-12)
    assert solved.margins.min() == pytest.approx(1.0, rel=1e-10)


def test_the_miss_of_the_direction_is_that_of_the_matrices():
    """Against the definition of the correlation, in 50 digits."""
    solved = programmes.max_margin(ORTHONORMAL, ORTHONORMAL.best)
    for log_time in (5.0, 30.0, 700.0):
        at = approach.predicted_matrix(solved, log_time)
        with mpmath.workdps(50):
            first = [mpmath.mpf(float(v)) for v in at.ravel()]
            second = [mpmath.mpf(float(v)) for v in solved.matrix.ravel()]
            product = sum(a * b for a, b in zip(first, second, strict=True))
            lengths = sum(a * a for a in first) * sum(b * b for b in second)
            twin = float(1 - product / mpmath.sqrt(lengths))
        found = approach.miss_of_direction(solved, np.array([log_time]))
        assert found[0] == pytest.approx(twin, rel=1e-11)


def test_the_offset_puts_each_support_at_its_height():
    solved = programmes.max_margin(SPHERE, SPHERE.best)
    if not solved.locally_optimal:
        pytest.skip("this sample's best tokens are not locally optimal")
    offset = approach.offset_on_supports(solved)
    heights = SPHERE.attended(offset)
    above = heights[SPHERE.rows, SPHERE.best][:, None] - heights
    weights = approach.exponential_weights(SPHERE, solved)
    at = solved.supports
    np.testing.assert_allclose(above[at], np.log(weights[at] / solved.multipliers[at]), atol=1e-12)


def brute_locally_optimal(sample: Sample, selected: np.ndarray) -> bool:
    """From margins by loops."""
    solved = programmes.max_margin(sample, selected)
    for i, chosen in enumerate(selected):
        for t in range(sample.scores.shape[1]):
            if t == chosen:
                continue
            apart = sample.tokens[i, chosen] - sample.tokens[i, t]
            margin = apart @ solved.matrix @ sample.queries[i]
            if abs(margin - 1) < 1e-8 and sample.scores[i, t] >= sample.scores[i, chosen]:
                return False
    return True


def test_local_optimality_is_that_of_loops_over_all_selections():
    sample = draw_sample(5, 2, 3, 4, "sphere")
    found = []
    for first in range(3):
        for second in range(3):
            selected = np.array([first, second])
            found.append(programmes.is_locally_optimal(sample, selected))
            assert found[-1] == brute_locally_optimal(sample, selected)
    assert 0 < sum(found) < 9


def test_a_selection_that_cannot_be_made_is_said():
    """One feature and two sequences whose best tokens ask for opposite signs of W."""
    tokens = np.array([[[1.0], [-1.0]], [[1.0], [-1.0]]])
    sample = Sample(tokens, np.array([[1.0], [1.0]]), np.array([1.0, -1.0]), np.array([1.0]))
    with pytest.raises(Infeasible, match="no vector"):
        programmes.max_margin(sample, sample.best)
    assert not programmes.is_locally_optimal(sample, sample.best)


def test_the_nuclear_programme_closes_its_gap():
    """The gap is certified anew: a feasible W, and a lower bound from its own multipliers."""
    solved = nuclear.least_nuclear(SPHERE, SPHERE.best)
    margins = programmes.margins(SPHERE, solved.matrix, SPHERE.best)
    assert margins.min() >= 1 - 1e-12
    assert 0 <= solved.gap < 5e-7
    assert solved.norm == pytest.approx(np.linalg.norm(solved.matrix, "nuc"), rel=1e-12)
    frobenius = programmes.max_margin(SPHERE, SPHERE.best)
    assert solved.norm < np.linalg.norm(frobenius.matrix, "nuc")
    assert np.linalg.norm(solved.matrix) > np.sqrt(frobenius.square)


def test_one_sequence_has_one_programme():
    """W z is all that counts, so that W is of rank one and both norms are equal."""
    sample = draw_sample(4, 1, 4, 5, "sphere")
    frobenius = programmes.max_margin(sample, sample.best)
    solved = nuclear.least_nuclear(sample, sample.best)
    np.testing.assert_allclose(solved.matrix, frobenius.matrix, atol=2e-3)
    assert solved.norm == pytest.approx(np.sqrt(frobenius.square), rel=1e-6)
    assert solved.rank == 1


def test_hypotheses_are_evaluated_at_the_setting():
    def at(**options: int | str) -> dict[str, bool | None]:
        teacher = Part("labelled_sequences", **options)
        setting = Setting.of_calculation(Part("attention_flow"), teacher=teacher)
        return {h.text: h.met for h in hypotheses(setting)}

    equal = "the scores of all tokens but the best are equal"
    assert at(design="equal_scores")[equal]
    assert not at(design="sphere")[equal]
    wide = "d ≥ max(T − 1, n), so that every selection is feasible"
    assert at()[wide]
    narrow = at(dim=2, sequences=12)
    assert not narrow[wide]
    assert not narrow["the best tokens can be selected"]


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"design": "orthonormal", "dim": 7}, "`dim` must be at least `tokens`"),
        ({"tokens": 1}, "attention must have a choice"),
        ({"design": "cube"}, "no design named 'cube'"),
        ({"design": "equal_scores", "dim": 1}, "differ in the other features"),
    ],
)
def test_bad_sizes_are_refused(options: dict[str, int | str], words: str):
    given = {"seed": 0, "sequences": 6, "tokens": 8, "dim": 10, "design": "sphere"} | options
    with pytest.raises(Refused, match=words):
        draw_sample(**given)


FAULTS = [
    Fault(
        "papers.attention_svm.theory.approach",
        "np.log(weights / solved.multipliers[supports])",
        "np.log(weights)",
        "",
    ),
    Fault(
        "papers.attention_svm.theory.approach",
        "pulls = heights - heights.sum() / tokens",
        "pulls = heights - heights.sum() / (tokens + 1e-6)",
        "",
    ),
    Fault(
        "papers.attention_svm.theory.programmes",
        "least_norm(rows, np.ones(len(rows)))",
        "least_norm(rows, np.full(len(rows), 1.000001))",
        "",
    ),
]


@pytest.mark.parametrize("fault", FAULTS, ids=lambda fault: fault.broken)
def test_a_planted_fault_is_seen(fault: Fault):
    with fresh_package(fault), pytest.raises(AssertionError):
        check_orthonormal()
