"""Numbers of the theory that studies use and no other test asks for alone, worked out by hand."""

import math
from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest

from tutelage.claims.claim import NoPrediction
from tutelage.numerics.kernel_descent import KernelDescent
from tutelage.papers.shallow_transformers.setup import setting_at
from tutelage.papers.shallow_transformers.theory import (
    approximation,
    bounds,
    infinite_width,
    kernel,
    width,
)
from tutelage.papers.shallow_transformers.theory.autoregressive import Scale, scale_of
from tutelage.papers.shallow_transformers.theory.options import read_option
from tutelage.settings import Part, Setting

S = approximation.Sizes(d=4, T=7, n=100, m=16, tau=400, rho=(1.0, 2.0, 3.0), nu=(0.5, 0.25, 0.125))
B = 2 + math.sqrt(2 * math.log(160)) + 0.5  # √d + √(2 log(m/2δ′)) + ρ_u/√m
ONE = math.sqrt(1 + B**2)
TWO = 4 / (3 * math.sqrt(3)) * (1 + B**2) + 8 * ONE
FAR = math.sqrt(13)  # √(ρ_u² + ρ_w²)
LINEAR = (ONE * FAR + TWO * 13) / 4


def test_the_bounds_of_the_start():
    assert approximation.reading_bound(S) == pytest.approx(B, rel=1e-12)
    assert approximation.lipschitz(S) == pytest.approx((ONE, TWO), rel=1e-12)
    assert approximation.linearisation_bound(S) == pytest.approx(LINEAR, rel=1e-12)
    apart = 1.75 * math.sqrt(2 * math.log(4000) / 16)
    assert approximation.approximation_bound(S) == pytest.approx(apart, rel=1e-12)
    # Half of 16 heads are independent.
    assert bounds.pool_bound(S, 8) == pytest.approx(apart, rel=1e-12)


def test_the_bounds_of_training():
    tangent = (4 * ONE * FAR + 2 * 1.25 * TWO * 13) / 4
    assert bounds.tangent_bound(S) == pytest.approx(tangent, rel=1e-12)
    gradient = math.sqrt(1 + (1.25 * ONE) ** 2)
    assert bounds.gradient_bound(S) == pytest.approx(gradient, rel=1e-12)
    largest = (1 + 2 + 3 * B + LINEAR + 0.5 + 0.25 + 0.125 * 2) ** 2
    assert bounds.largest_loss(S) == pytest.approx(largest, rel=1e-12)


@pytest.mark.parametrize("rate", [1e-4, 1e-2, 1.0])
def test_the_mean_loss_solves_the_smaller_of_two_quadratics(rate):
    beta = LINEAR + bounds.tangent_bound(S) + 2 * approximation.approximation_bound(S)
    first = (0.25 + 0.0625 + 0.015625) / (4 * rate * 400)
    steep = rate * bounds.gradient_bound(S) ** 2
    roots = [np.roots([1.0, -beta, -first - steep * bounds.largest_loss(S)]).max()]
    if steep < 1:
        roots.append(np.roots([1 - steep, -beta, -first]).max())
    root = min(roots)
    assert bounds.mean_loss_bound(S, rate, 8) == pytest.approx(root**2, rel=1e-12)
    assert bounds.averaged_bound(S, rate, 8) == pytest.approx((root + 2 * LINEAR) ** 2, rel=1e-12)


def test_the_width_at_which_a_bound_falls_to_a_level():
    def falling(s):
        return 1 / math.sqrt(s.m)

    assert bounds.width_for(falling, S, 0.1) == pytest.approx(100.0, rel=1e-12)
    assert bounds.width_for(lambda s: 2.0, S, 1.0) == math.inf
    assert bounds.width_for(lambda s: 0.5, S, 1.0) == pytest.approx(2.0, rel=1e-12)


def test_the_error_of_heads_and_pool():
    assert width.approximation_scale(8, 16) == pytest.approx(math.sqrt(0.3125), rel=1e-12)
    assert width.approximation_exponent(math.inf)([8, 32, 128]) == pytest.approx(-0.5, rel=1e-12)
    assert (width.RANDOM_POINT, width.ADVERSARIAL_POINT) == (-1.0, -0.5)


def test_regression_without_a_penalty_and_descent_to_it():
    """K = diag(1, 2), y = (1, 2): the predictor is k·(1, 1)."""
    cross, held = np.array([[1.0, 0.0], [1.0, 2.0]]), np.array([0.0, 5.0])
    found = kernel.Reference(
        KernelDescent(np.diag([1.0, 2.0]), np.array([1.0, 2.0]), 0.5), cross, held
    )
    assert found.ridgeless() == pytest.approx((1 + 4) / 2, rel=1e-9)
    # One step of size ½ with n = 2: α = ½y, and the predictions are 0.5 and 2.5.
    assert found.validation(np.array([1])) == pytest.approx([(0.25 + 6.25) / 2], rel=1e-12)


def test_how_far_a_mean_over_heads_is_from_one_over_more():
    """√(2/m + 1/P) with m = 8 and P = 4."""
    setting = Setting(
        Part("transported", dim=3, tokens=4, anchors=2, pool=8),
        0.2,
        1,
        inputs=Part("clipped_gaussian"),
        student=Part("shallow_transformer", heads=8),
        objective=Part("squared_loss", samples=5),
        optimiser=Part("projected_descent"),
    )
    assert kernel._root_of_heads(setting, 4) == pytest.approx(math.sqrt(0.5), rel=1e-12)
    narrow = kernel._narrow(setting)
    assert narrow.student.options["heads"] == 2
    alone = kernel._inputs_alone(setting)
    assert (alone.rate, alone.steps) == (1.0, 1)


def test_the_kernel_of_a_sample_is_cut_from_that_of_all_inputs():
    """The first two rows are the sample's own, made symmetric; the third is held out."""
    both = np.array([[1.0, 0.2], [0.2 + 1e-12, 2.0], [0.5, 0.7]])
    sample = SimpleNamespace(
        labels=np.array([1.0, 2.0]), validation_labels=np.array([3.0]), tokens=None
    )
    found = kernel._reference(both, SimpleNamespace(sample=sample), 0.25)
    middle = 0.2 + 5e-13
    expected = [[1.0, middle], [middle, 2.0]]
    np.testing.assert_allclose(found.descent.kernel, expected, rtol=1e-15)
    np.testing.assert_array_equal(found.cross, [[0.5, 0.7]])
    assert found.descent.rate == 0.25
    assert found.descent.labels.tolist() == [1.0, 2.0]
    assert found.held_labels.tolist() == [3.0]
    sample.validation_labels = None
    alone = kernel._reference(both[:2], SimpleNamespace(sample=sample), 0.25)
    assert (alone.cross.shape, alone.held_labels.shape) == ((0, 2), (0,))


def test_a_scale_reaches_another_in_every_respect():
    paper = Scale(samples=50, heads=6, steps=20)
    assert paper.reaches(paper)
    for less in ({"samples": 49}, {"heads": 5}, {"steps": 19}):
        assert not replace(paper, **less).reaches(paper)
        assert paper.reaches(replace(paper, **less))


def test_the_scale_and_the_options_of_a_setting():
    setting = Setting(
        Part("autoregression", lag=3),
        0.1,
        40,
        student=Part("indrnn", heads=8),
        objective=Part("squared_loss", samples=30),
    )
    assert scale_of(setting) == Scale(samples=30, heads=8, steps=40)
    assert read_option(setting, "teacher", "lag") == 3
    assert read_option(setting, "teacher", "tokens") is None


def test_losses_at_infinite_width_are_shares_of_the_mean_square_of_labels(monkeypatch):
    """Along eigenvectors with 1 − 2ηλ/n = 1 and −½, from labels whose mean square is 10."""
    asked = []

    def descent(setting):
        asked.append(setting)
        return KernelDescent(np.diag([0.0, 2.0]), np.array([2.0, 4.0]), setting.rate)

    monkeypatch.setattr(infinite_width, "_descent", descent)
    setting = setting_at(heads=8, samples=2, steps=3, measures=(), dim=2, tokens=3, pool=16)
    setting = setting.change(rate=0.75)
    last = (2.0**2 + (4 * 0.5**3) ** 2) / 2
    averaged = (2.0**2 + (4 * (1 - 0.5 + 0.25) / 3) ** 2) / 2
    assert infinite_width.losses(setting) == pytest.approx((last / 10, averaged / 10), rel=1e-12)
    assert asked == [setting.change(**{"student.heads": 2, "rate": 1.0, "steps": 1})]
    for rate in (1.0, 1.5):
        with pytest.raises(NoPrediction, match="unstable above a step of 1"):
            infinite_width.losses(setting.change(rate=rate))
    for change in (
        {"objective": Part("single_sample")},
        {"student.query": (1.0, 0.0), "teacher.query": (1.0, 0.0)},
    ):
        with pytest.raises(NoPrediction, match="the last token as query"):
            infinite_width.losses(setting.change(**change))
