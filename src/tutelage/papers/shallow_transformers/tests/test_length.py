"""shallow-transformers/length: its readings on runs of known truth, and a small plan from settings
to verdicts.
"""

from dataclasses import replace

import numpy as np
import pytest

from tutelage.claims import Status, check
from tutelage.papers.shallow_transformers.length import figures
from tutelage.papers.shallow_transformers.length.readings import QUANTITIES, exponents
from tutelage.papers.shallow_transformers.length.study import LengthPreset, study
from tutelage.refuse import Refused
from tutelage.run import Outcome, Run
from tutelage.studies.answering import run_cases
from tutelage.studies.study import Plan


def attention(**plan):
    (found,) = study.plan(Plan(only=("attention",), **plan))[0]
    return found


CASE = attention()
SEEDS = len({setting.seed for setting in CASE.settings})


def runs(power, jitter=0.01):
    """Runs of the case whose every quantity is T^power, a little more or less by seed."""
    made = []
    for setting in CASE.settings:
        y = setting.teacher.options["tokens"] ** (power + jitter * (-1) ** setting.seed)
        curves = {
            "least_loss": np.array([5.0, y]),
            "label_power": np.ones(2),
            "function_gradient_sup": np.array([[9, 9, 9, y], [9, 9, 9, 9]]),
            "random_linearisation": np.array([[y, 9], [9, 9]]),
        }
        curves["least_loss"][0] = max(5.0, y)
        made.append(Run(np.array([0, 100]), curves, None, Outcome.FINISHED, setting=setting))
    return made


@pytest.mark.parametrize("quantity", QUANTITIES, ids=lambda q: q.name)
def test_each_quantity_is_read_where_it_stands(quantity):
    assert exponents(runs(-0.3, jitter=0.0), quantity) == pytest.approx([-0.3] * SEEDS)


@pytest.mark.parametrize(
    ("power", "growth", "flat"),
    [
        (0.0, Status.HOLDS, Status.HOLDS),
        (
            -0.2,
            Status.HOLDS,
            Status.FAILS,
        ),  # a bound is respected by what falls, and what falls is not flat
        (0.2, Status.FAILS, Status.FAILS),
        (0.05, Status.UNDECIDED, Status.UNDECIDED),
    ],
)
def test_no_growth_and_flatness_are_two_claims(power, growth, flat):
    for claim in CASE.claims:
        verdict = check(claim, runs(power))
        assert verdict.status is (growth if claim.id.endswith("no-growth") else flat), claim.id


@pytest.fixture(scope="module")
def answered():
    """Short and few: the way is what is tried here. The controls are at sizes where they show."""
    small = LengthPreset(
        seconds=1.0, seeds=4, dim=3, heads=4, samples=8, pool=16, steps=5, lengths=(4, 16, 64)
    )
    found, left_out = replace(study, presets={"quick": small}).plan(Plan(changes={"R": 2}))
    assert left_out == []
    return {a.case.name: a for a in run_cases("shallow-transformers/length", found)}


@pytest.mark.depth
def test_the_recurrent_control_grows(answered):
    (verdict,) = answered["indrnn"].verdicts
    assert verdict.status is Status.FAILS
    # With |u| = 1.02 and nothing saturated the gradient in W_in is a sum of T terms 1.02^k x of
    # either sign: √T, and more by 1.02^k.
    assert verdict.measured > 0.5


@pytest.mark.depth
def test_no_control_holds_and_each_names_what_it_breaks(answered):
    for name in ("growing-tokens", "indrnn"):
        assert all(v.status is not Status.HOLDS for v in answered[name].verdicts)
        assert any(h.met is False for v in answered[name].verdicts for h in v.hypotheses)
    assert all(h.met for v in answered["attention"].verdicts for h in v.hypotheses)


@pytest.mark.depth
def test_heads_of_a_seed_are_the_same_for_every_length(answered):
    by_length = [
        run.student.start.attention for run in answered["attention"].runs if run.setting.seed == 1
    ]
    assert len(by_length) == 3
    assert all(np.array_equal(by_length[0], other) for other in by_length)


@pytest.mark.depth
def test_tokens_of_the_control_grow_in_inputs_and_anchors_alike(answered):
    for setting in answered["growing-tokens"].case.settings:
        size = np.sqrt(setting.teacher.options["tokens"]) / 2
        assert (
            setting.inputs.options["radius"]
            == setting.teacher.options["token_radius"]
            == pytest.approx(size)
        )


@pytest.mark.depth
def test_the_figure_draws_what_was_measured(answered, tmp_path):
    paths = figures.draw(list(answered.values()), tmp_path)
    assert [p.suffix for p in paths] == [".png", ".csv"]
    header, first = paths[1].read_text().splitlines()[:2]
    row = dict(zip(header.split(","), first.split(","), strict=False))
    assert float(row["attention: T"]) == 4


def test_the_step_follows_the_horizon_and_the_sweep_keeps_its_axis():
    assert attention(steps=64).settings[0].rate == pytest.approx(1 / 8)
    assert attention(changes={"eta": 0.3}).settings[0].rate == 0.3
    with pytest.raises(Refused, match="`T` is what this study varies"):
        study.plan(Plan(changes={"T": 12}))
    one_length = [replace(s, teacher=s.teacher.change(tokens=4)) for s in CASE.settings]
    with pytest.raises(Refused, match="at least three lengths"):
        exponents(
            [replace(r, setting=s) for r, s in zip(runs(0.0), one_length, strict=True)],
            QUANTITIES[0],
        )
