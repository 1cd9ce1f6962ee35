"""The study of width: its readings on runs of known truth, its settings under a plan's changes, and
one case trained for real.
"""

import csv
from dataclasses import replace

import numpy as np
import pytest
from made_runs import made

from tutelage.claims import Status, check
from tutelage.measures.linearisation import nested_widths
from tutelage.papers.shallow_transformers.theory import approximation as theory
from tutelage.papers.shallow_transformers.theory import infinite_width
from tutelage.papers.shallow_transformers.theory.width import (
    approximation_exponent,
    approximation_scale,
)
from tutelage.papers.shallow_transformers.width import figures
from tutelage.papers.shallow_transformers.width.claims import (
    HORIZON,
    approximation_claims,
    horizon_claims,
    loss_claims,
)
from tutelage.papers.shallow_transformers.width.readings import (
    averaged_relative,
    least_relative,
    over_infinite,
    over_partner,
    reach,
    square_over_predicted,
    steepening,
)
from tutelage.papers.shallow_transformers.width.study import SMALL_RADIUS, study
from tutelage.refuse import Refused
from tutelage.settings import Part
from tutelage.studies.answering import run_cases
from tutelage.studies.study import Plan

QUICK = study.presets["quick"]


def cases(**plan):
    found, left_out = study.plan(Plan(**plan))
    return {case.name: case for case in found}, left_out


def losses(setting, law):
    """A run whose least loss is the law of its width and horizon, and whose labels have power 2."""
    value = 2 * law(theory.sizes(setting).m, setting.steps)
    return made(
        setting,
        least_loss=value,
        averaged_loss=3 * value,
        label_power=2.0,
        displacement=[0.3, 0.6, 1.5],
    )


def errors(setting, constant, exponent=-0.5):
    pool, widths = setting.teacher.options["pool"], nested_widths(theory.sizes(setting).m)
    sizes = [
        np.sqrt(constant)
        * 7.0
        * (approximation_scale(m, pool) if exponent == -0.5 else m**exponent)
        for m in widths
    ]
    return made(
        setting,
        nested_approximation=[part * size for size in sizes for part in (3, 0.8, 1)],
        label_error=7.0 / np.sqrt(pool),
    )


def test_the_exponent_of_the_approximation_error_knows_of_the_pool():
    widths = (8, 16, 64, 256)
    assert approximation_exponent(1e12)(widths) == pytest.approx(-0.5, abs=1e-6)
    # At pool = 64 the two errors are equal at m = 128: from 8 to 128 the variance falls from 17/64
    # to 2/64.
    assert approximation_exponent(64)((8, 128)) == pytest.approx(0.5 * np.log(2 / 17) / np.log(16))


def test_the_constant_of_the_approximation_error_is_read():
    settings = cases()[0]["approximation"].settings
    widths = QUICK.widths
    claims = approximation_claims(QUICK.pool, widths)
    right = [errors(s, 1.0) for s in settings]
    assert square_over_predicted(widths)(right) == pytest.approx([1.0] * QUICK.draws)
    assert {check(claim, right).status for claim in claims} == {Status.HOLDS}
    # As if all m heads were independent; and as if the error had a floor.
    assert check(claims[2], [errors(s, 0.5) for s in settings]).status is Status.FAILS
    flatter = [errors(s, 1 + 0.01 * (-1) ** s.seed, -0.2) for s in settings]
    assert {check(claim, flatter).status for claim in claims} == {Status.FAILS}


def test_the_exponents_of_the_loss_are_read_at_their_own_horizon():
    trained = cases(preset="paper")[0]["trained"].settings
    settings = [replace(s, steps=tau, rate=tau**-0.5) for tau in (250, HORIZON) for s in trained]
    runs = [losses(s, lambda m, tau: m ** (-0.5 if tau == HORIZON else -0.2)) for s in settings]
    found = {claim.id: check(claim, runs) for claim in loss_claims((250, HORIZON))}
    assert found["least-4000"].status is found["averaged-4000"].status is Status.HOLDS
    assert found["least-250"].status is Status.OUTSIDE  # the paper's is of τ = 4,000
    assert "in m has exponent -0.2000" in found["least-250"].sentence
    assert found["averaged-250"].status is Status.FAILS  # which is a question of our own
    (control, *_) = loss_claims((250,))
    assert check(control, runs, control="a long horizon").status is Status.FAILS
    assert steepening(runs) == pytest.approx([-0.3] * 8)


def test_steepening_and_displacement_are_judged():
    settings = cases()[0]["horizons"].settings
    claims = horizon_claims((50, 200, 800))
    steeper = [losses(s, lambda m, tau: m ** (-0.1 * np.log(tau))) for s in settings]
    assert reach(steeper[0]) == pytest.approx(0.5)
    assert [check(claim, steeper).status for claim in claims] == [Status.HOLDS, Status.HOLDS]
    flatter = [losses(s, lambda m, tau: m ** (-1 / np.log(tau))) for s in settings]
    assert check(claims[0], flatter).status is Status.FAILS
    bound = [
        replace(run, curves={**run.curves, "displacement": np.full((2, 3), 3.0)}) for run in steeper
    ]
    assert check(claims[1], bound).status is Status.FAILS


def test_pairs_are_of_one_width_and_seed():
    """One sample a step is twice as bad at every width; were widths mixed up, the ratios would be
    far from 2.
    """
    settings = cases()[0]["single-sample"].settings
    runs = [
        losses(s, lambda m, tau, k=2.0 if s.objective.name == "single_sample" else 1.0: k * m**-1.0)
        for s in settings
    ]

    def batch(s):
        samples = s.objective.options["samples"]
        return replace(s, objective=Part("squared_loss", samples=samples))

    read = over_partner(averaged_relative, lambda s: s.objective.name == "single_sample", batch)
    assert read(runs) == pytest.approx([2.0] * QUICK.seeds)


def test_a_changed_horizon_changes_the_step_unless_one_is_given():
    for plan in ({"changes": {"tau": 100}}, {"steps": 100}):
        found, _ = cases(**plan)
        assert "shorter" not in found
        assert {
            (s.steps, s.rate)
            for name in ("trained", "small-radii", "single-sample")
            for s in found[name].settings
        } == {(100, 0.1)}
        assert {s.steps for s in found["approximation"].settings} == {0}  # nothing is trained
    found, _ = cases(changes={"tau": 100, "eta": 0.3, "n": 10})
    assert {
        (s.steps, s.rate, s.objective.options["samples"]) for s in found["trained"].settings
    } == {(100, 0.3, 10)}


def test_what_the_sweeps_set_cannot_be_changed():
    with pytest.raises(Refused, match="`m` is what this study varies"):
        cases(changes={"m": 12})
    with pytest.raises(Refused, match="what this study varies"):
        cases(changes={"student.heads": 12})


def test_the_papers_size_has_the_paper_as_stated_and_as_coded():
    found, _ = cases(preset="paper")
    assert list(found) == ["approximation", "linearised", "trained", "as-coded"]
    stated, coded = found["trained"].settings, found["as-coded"].settings
    assert (
        {s.student.options["heads"] for s in stated}
        == {s.student.options["heads"] for s in coded}
        == {8, 16, 64, 128, 256}
    )
    assert {s.steps for s in stated} == {4000}
    assert {s.objective.options["samples"] for s in stated} == {5000}
    assert all(h.met for h in theory.hypotheses(stated[0]))
    assert coded[0].rate == pytest.approx(1.75 / np.sqrt(4000))
    assert coded[0].objective == Part("squared_loss", samples=4000, validation=1000)
    assert coded[0].teacher.options["scores"] == "diagonal"
    assert coded[0].teacher.options["signs"] == "random"
    assert [h.met for h in theory.hypotheses(coded[0])].count(False) == 2
    small = cases()[0]["as-coded"].settings
    assert small[0].rate == pytest.approx(1.75 / np.sqrt(800))


def test_the_floor_is_read_at_the_widest_student(monkeypatch):
    monkeypatch.setattr(
        infinite_width, "losses", lambda setting: (0.5 * setting.steps, 2.0 * setting.steps)
    )
    runs = [
        losses(s, lambda m, tau: tau * (1 if m == max(QUICK.trained) else 7))
        for s in cases()[0]["horizons"].settings
    ]
    assert over_infinite(least_relative, 0, 200)(runs) == pytest.approx([2.0] * QUICK.seeds)
    assert over_infinite(averaged_relative, 1, 800)(runs) == pytest.approx([1.5] * QUICK.seeds)


@pytest.fixture(scope="module")
def answered():
    """Steps large enough that forty of them reach the small radius."""
    plan = Plan(
        only=("small-radii",),
        seeds=2,
        steps=40,
        changes={"n": 20, "pool": 64, "eta": 1.0, "T": 4, "d": 3},
    )
    return run_cases("shallow-transformers/width", study.plan(plan)[0])


@pytest.mark.depth
def test_small_radii_bind_exactly_and_cost(answered):
    ((binds, costs),) = [a.verdicts for a in answered]
    assert binds.status is Status.HOLDS
    assert binds.measured == pytest.approx(1.0, abs=1e-12)
    assert costs.measured > 1
    assert not {h.text: h.met for h in binds.hypotheses}["radii cover the target, ρ ≥ ν"]
    far = [reach(run) for run in answered[0].runs if run.setting.optimiser.options["rho_c"] == 3.0]
    assert max(far) * 3.0 > SMALL_RADIUS  # with room to go they go farther


@pytest.mark.depth
def test_figures_draw_what_was_measured(answered, tmp_path, monkeypatch):
    monkeypatch.setattr(infinite_width, "losses", lambda setting: (0.1, 0.2))
    settings = cases()[0]
    runs = {"approximation": [errors(s, 1.0) for s in settings["approximation"].settings]}
    runs["horizons"] = [losses(s, lambda m, tau: m**-0.5) for s in settings["horizons"].settings]
    shown = [
        replace(answered[0], case=settings[name], runs=tuple(r), verdicts=())
        for name, r in runs.items()
    ]
    paths = figures.draw([*shown, *answered], tmp_path)
    assert [p.name for p in paths if p.suffix == ".csv"] == [
        "width-start.csv",
        "width-training.csv",
    ]
    with paths[3].open() as file:
        first = next(csv.DictReader(file))
    assert float(first["least, $\\tau=50$: mean"]) == pytest.approx(8**-0.5)
    assert float(first["infinite width, tau=50: least"]) == pytest.approx(0.1)
    # An eigen-decomposition for every seed: not where the sample is large.
    monkeypatch.setattr(figures, "MOST_IN_A_KERNEL", 1)
    with figures.draw([*shown, *answered], tmp_path)[3].open() as file:
        assert not any("infinite width" in name for name in next(csv.DictReader(file)))


def test_radii_that_a_case_sets_cannot_be_changed_there():
    found, left_out = cases(changes={"rho_u": 1.0})
    assert left_out == ["small-radii"]
    assert {float(s.optimiser.options["rho_u"]) for s in found["trained"].settings} == {1.0}


def test_a_control_names_the_hypothesis_that_it_breaks():
    """Each claim by its own horizon, whichever setting comes first."""
    case = cases()[0]["shorter"]
    for claim, tau in zip(case.claims, (50, 50, 200, 200), strict=True):
        broken = [h for h in claim.hypotheses(case.settings[0]) if not h.met]
        assert [(h.text, h.detail) for h in broken] == [
            ("the experiment's horizon, τ ≥ 4,000", f"τ = {tau}"),
            ("the experiment's sample, n ≥ 4,000", f"n = {QUICK.samples}"),
        ]
