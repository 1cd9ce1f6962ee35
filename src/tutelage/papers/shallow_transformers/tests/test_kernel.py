"""shallow-transformers/kernel at a tiny size: the lazy claims hold, the controls do not, and too
few seeds decide nothing.
"""

from dataclasses import replace

import numpy as np
import pytest
from answers import Answers

from tutelage.claims import Status
from tutelage.claims.check import check
from tutelage.numerics.heads import features
from tutelage.papers.shallow_transformers.kernel import figures
from tutelage.papers.shallow_transformers.kernel.claims import no_projection_claim
from tutelage.papers.shallow_transformers.kernel.readings import share_of_attention
from tutelage.papers.shallow_transformers.kernel.study import KernelPreset, study
from tutelage.papers.shallow_transformers.theory import kernel as kernel_theory
from tutelage.papers.shallow_transformers.theory.start import build_start
from tutelage.run import Outcome, Run
from tutelage.studies.answering import run_cases
from tutelage.studies.study import Plan

PRESET = KernelPreset(
    seconds=1.0,
    widths=(4, 8, 16),
    samples=12,
    steps=64,
    pool=64,
    limit_heads=512,
    seeds=5,
    fewer_seeds=3,
    control_seeds=20,
    middle=8,
)
TINY = replace(study, presets={"quick": PRESET})


def cases(**plan):
    return TINY.plan(Plan(**plan))[0]


def answer(found):
    return {a.case.name: a for a in run_cases("shallow-transformers/kernel", found)}


@pytest.fixture(scope="module")
def answered():
    return Answers("shallow-transformers/kernel", TINY, lambda case: Plan(only=(case,)))


def verdict(answered, case, claim):
    return answered[case].find(claim)[1]


@pytest.mark.depth
@pytest.mark.parametrize(
    "claim", ["positive", "no-projection", "own-loss", "own-validation", "smallest-eigenvalue"]
)
def test_the_network_is_descent_in_its_own_kernel(answered, claim):
    assert verdict(answered, "width", claim).status is Status.HOLDS


@pytest.mark.parametrize(("farthest", "status"), [(0.99, Status.HOLDS), (1.0, Status.FAILS)])
@pytest.mark.parametrize("kind", [np.float64, np.float32])
def test_a_head_at_the_edge_of_its_ball_has_been_stopped(farthest, status, kind):
    """One block of one head, at one step; rounding may leave it just inside."""
    (setting, *_) = cases(only=("scale",))[0].settings
    radii = np.array([setting.optimiser.options[f"rho_{block}"] for block in "cuw"])
    moved = np.array([[0.0, 0.0, 0.0], [0.1, 0.2, farthest]]) * radii * (1 - np.finfo(kind).eps)
    run = Run(np.arange(2), {"displacement": moved}, None, Outcome.FINISHED, setting=setting)
    assert check(no_projection_claim(), [run]).status is status


@pytest.mark.depth
def test_small_radii_stop_heads(answered):
    runs = answered["small-radii"].runs
    assert check(no_projection_claim(), runs).status is Status.FAILS


@pytest.mark.depth
def test_the_distance_to_it_falls_like_one_over_m(answered):
    """From 4 to 16 heads and five seeds the exponent is known to a quarter: enough to exclude
    −½.
    """
    assert verdict(answered, "width", "own-exponent").measured == pytest.approx(-1.0, abs=0.25)


@pytest.mark.depth
def test_beyond_its_linearisation_it_goes_with_the_square_of_the_labels(answered):
    assert verdict(answered, "scale", "own-exponent").measured == pytest.approx(2.0, abs=0.1)


@pytest.mark.depth
@pytest.mark.parametrize("case", ["small-radii", "large-labels"])
def test_controls_do_not_hold(answered, case):
    """Twenty seeds decide it of the training loss; a dozen held-out inputs scatter more than
    that.
    """
    assert verdict(answered, case, "own-loss").status is Status.FAILS
    assert verdict(answered, case, "own-validation").status is not Status.HOLDS


def test_with_one_token_attention_has_no_part_of_the_kernel(answered):
    assert verdict(answered, "one-token", "attention-share").status is Status.FAILS
    assert verdict(answered, "one-token", "attention-share").measured < 1e-20


@pytest.mark.depth
def test_attention_has_a_part_of_the_kernel(answered):
    """The share by the features themselves: ‖φ_w‖² over that of all three."""
    assert verdict(answered, "attention", "attention-share").status is Status.HOLDS
    run = answered["width"].runs[0]
    start = build_start(run.setting)
    squares = np.zeros(3)
    for tokens in start.sample.tokens:
        found = features(start.student.start, tokens, tokens[:, -1], start.student.activation)
        length = float(tokens[:, -1] @ tokens[:, -1])
        squares += [
            float((found.value**2).sum()),
            float((found.read**2).sum()),
            float((found.spread**2).sum()) * length,
        ]
    assert share_of_attention(run) == pytest.approx(squares[2] / squares.sum(), rel=1e-12)


@pytest.mark.depth
def test_the_fluctuation_is_near_its_prediction(answered):
    """Five seeds of a mean over 2, 4 and 8 heads: a factor of 1.4, which a missing 2 in 2/m would
    use up by its root alone.
    """
    assert 1 / 1.4 < verdict(answered, "width", "kernel-constant").measured < 1.4


@pytest.mark.depth
def test_curves_are_read_from_what_was_measured(answered):
    run = answered["width"].runs[0]
    own = kernel_theory.own(run.setting)
    np.testing.assert_allclose(
        run.curves["own_loss"][0], run.curves["label_power"][0], rtol=1e-12
    )  # f = 0 at the start
    np.testing.assert_allclose(run.curves["own_gap"][0], 0, atol=1e-15)
    np.testing.assert_allclose(run.curves["kernel_drift"][0], 0, atol=1e-15)
    assert 0 < run.curves["kernel_drift"][-1] < run.curves["kernel_gap"][0]
    residual = own.descent.labels - run.curves["outputs"][-1]
    np.testing.assert_allclose(np.mean(residual**2), run.curves["loss"][-1], rtol=1e-10)


@pytest.mark.depth
def test_a_single_seed_tells_nothing_of_a_fluctuation():
    found = answer(cases(seeds=1, only=("width",)))
    for claim in (
        "kernel-exponent",
        "kernel-constant",
        "limit-exponent",
        "limit-constant",
        "limit-validation",
    ):
        assert verdict(found, "width", claim).status is Status.UNDECIDED


def test_a_changed_horizon_brings_its_own_step():
    (width,) = cases(changes={"tau": 100, "d": 4})
    assert width.name == "width"
    assert {(s.steps, s.rate, s.teacher.options["dim"]) for s in width.settings} == {(100, 0.1, 4)}
    (width,) = cases(changes={"tau": 100, "eta": 0.3})
    assert {(s.steps, s.rate) for s in width.settings} == {(100, 0.3)}
    assert {(s.steps, s.rate) for s in cases(steps=25)[0].settings} == {(25, 0.2)}


@pytest.mark.depth
def test_figures_draw_what_was_measured(answered, tmp_path):
    paths = figures.draw(list(answered.values()), tmp_path)
    assert [p.name for p in paths if p.suffix == ".csv"] == [
        "kernel-width.csv",
        "kernel-curves.csv",
    ]
    header = paths[1].read_text().splitlines()[0].split(",")
    first = paths[1].read_text().splitlines()[1].split(",")
    assert float(first[header.index("kernel_gap: measured")]) == pytest.approx(
        answered["width"].runs[0].curves["kernel_gap"][0]
    )
    assert figures.draw([answered["small-radii"]], tmp_path) == []
