"""shallow-transformers/samples: its readings on runs of known truth, and a small plan from settings
to verdicts.
"""

import math
from dataclasses import replace

import numpy as np
import pytest

from tutelage.claims import Status, check
from tutelage.claims.claim import NotYet
from tutelage.numerics.grids import nested_sizes
from tutelage.papers.shallow_transformers.samples import figures
from tutelage.papers.shallow_transformers.samples.readings import (
    LEVEL,
    growth,
    needed,
    over_bound,
    root_log,
    width_exponents,
)
from tutelage.papers.shallow_transformers.samples.study import SamplesPreset, study
from tutelage.papers.shallow_transformers.theory.approximation import approximation_bound, sizes
from tutelage.refuse import Refused
from tutelage.run import Outcome, Run
from tutelage.studies.answering import run_cases
from tutelage.studies.study import Plan


def cases(**plan):
    """All cases of a plan, those left out among them, by their names."""
    found = study.cases(Plan(**plan), study.presets["quick"])
    return {case.name: case for case in found}


QUICK = cases()


def errors(power, seed=0, size=0.1, doubt=0.0):
    """A run whose sup error is size·n^power."""
    setting = replace(QUICK["approximation"].settings[0], seed=seed)
    sups = np.array([[size * n**power for n in nested_sizes(10_000)]])
    return Run(
        np.array([0]),
        {
            "approximation_sups": sups,
            "label_error_sup": np.array([doubt]),
            "label_power": np.array([0.04]),
        },
        None,
        Outcome.FINISHED,
        setting=setting,
    )


def trained(widths, seeds=6, jitter=0.0):
    """Runs of the case `width` whose relative loss falls like 1/m and is the level at m =
    widths(n)·2^(±jitter), the sign by seed and n.
    """
    runs = []
    for setting in QUICK["width"].settings:
        if setting.seed < seeds:
            m, n = setting.student.options["heads"], setting.objective.options["samples"]
            sign = (-1) ** (setting.seed + (n == 1024))
            loss = LEVEL * widths(n) * 2 ** (jitter * sign) / m
            curves = {"least_loss": np.array([1.0, loss]), "label_power": np.ones(2)}
            runs.append(Run(np.array([0, 400]), curves, None, Outcome.FINISHED, setting=setting))
    return runs


def claim(case, name):
    (found,) = [c for c in QUICK[case].claims if c.id == name]
    return found


# ---- the sup error


def test_the_exponent_is_that_of_the_sup_error_from_one_hundred_on():
    assert growth([errors(0.2), errors(-0.1)]) == pytest.approx([0.2, -0.1])


def test_root_log_is_fitted_at_the_same_points():
    points = [n for n in nested_sizes(10_000) if n >= 100]
    slope = np.polyfit(np.log(points), 0.5 * np.log(np.log(points)), 1)[0]
    assert root_log(QUICK["approximation"].settings[0]) == pytest.approx(slope, rel=1e-12)
    assert 0.07 < slope < 0.08  # what a sweep to 10⁴ cannot tell from n^0.07


@pytest.mark.parametrize(
    ("power", "status"),
    [(0.0, Status.HOLDS), (0.07, Status.HOLDS), (0.2, Status.FAILS), (0.5, Status.FAILS)],
)
def test_powers_are_refuted_and_slow_growth_is_not(power, status):
    runs = [errors(power + 0.01 * (-1) ** seed, seed) for seed in range(8)]
    assert check(claim("approximation", "growth"), runs).status is status


def test_one_seed_says_nothing_of_the_growth():
    assert check(claim("approximation", "growth"), [errors(0.0)]).status is Status.UNDECIDED


def test_one_run_above_the_bound_is_enough_to_fail():
    s = sizes(QUICK["approximation"].settings[0])
    bound = approximation_bound(replace(s, n=100))
    below, above = (errors(0.0, seed=i, size=bound * f) for i, f in enumerate((0.99, 1.01)))
    assert over_bound(below) == pytest.approx(0.99)
    assert check(claim("approximation", "bound"), [below, below]).status is Status.VACUOUS
    assert check(claim("approximation", "bound"), [below, above]).status is Status.FAILS


def test_what_the_pool_may_hide_is_added():
    bound = approximation_bound(replace(sizes(QUICK["approximation"].settings[0]), n=10_000))
    hidden = 0.2 * math.sqrt(2 * math.log(2 * 10_000 / 0.05))
    assert over_bound(errors(0.0, size=0.0, doubt=0.2)) == pytest.approx(hidden / bound)


# ---- needed widths


def test_the_needed_width_is_read_between_octaves():
    assert needed(trained(lambda n: 7.3))[0, 64] == pytest.approx(7.3, rel=1e-12)
    found = needed(trained(lambda n: n / 16 + 1))
    assert found[0, 64] == pytest.approx(5, rel=1e-12)
    assert math.isinf(found[0, 1024])
    assert needed(trained(lambda n: 1))[0, 64] == 2  # the smallest student there is


@pytest.mark.parametrize(
    ("widths", "status"),
    [
        (lambda n: 7.0, Status.HOLDS),
        (lambda n: 6 * math.log(n) / math.log(64), Status.HOLDS),
        (lambda n: 6 * (n / 64) ** 0.3, Status.FAILS),
        (lambda n: 6 * (n / 64) ** 0.5, Status.FAILS),
        (lambda n: 6 * n / 64, Status.FAILS),  # at n = 1,024 more than was tried
    ],
)
def test_slow_growth_of_the_needed_width_holds_and_powers_fail(widths, status):
    """Also a need like n^0.3 and one like n, which octaves could not tell from none."""
    assert check(claim("width", "needed-width"), trained(widths, jitter=0.03)).status is status


def test_widths_that_were_never_reached_confirm_nothing():
    with pytest.raises(NotYet, match="at n = 64, 256, 1,024 no width"):
        width_exponents(trained(lambda n: 1000))
    tried = [run for run in trained(lambda n: 1) if run.setting.student.options["heads"] > 2]
    with pytest.raises(NotYet, match="Narrower"):
        width_exponents(tried)
    assert check(claim("width", "needed-width"), trained(lambda n: 1000)).status is Status.UNDECIDED


# ---- the whole way


@pytest.fixture(scope="module")
def answered():
    """Few samples, steps and seeds: the way is what is tried here, not the claims."""
    widths = dict.fromkeys((16, 24, 32), (2,))
    small = SamplesPreset(
        seconds=1.0,
        dim=3,
        tokens=3,
        heads=8,
        samples=1200,
        pool=16,
        steps=20,
        widths=widths,
        fast_steps=20,
        fast_widths=widths,
        sup_seeds=30,
        control_seeds=6,
        width_seeds=3,
        fast_seeds=8,
    )
    plan = Plan(seeds=2, changes={"R": 2})
    found, left_out = replace(study, presets={"quick": small}).plan(plan)
    assert left_out == []
    return {a.case.name: a for a in run_cases("shallow-transformers/samples", found)}


@pytest.mark.depth
def test_every_case_runs_and_the_bound_holds(answered):
    assert set(answered) == {
        "approximation",
        "heavy-tails",
        "width",
        "width-fast",
        "foreign-labels",
    }
    assert answered["approximation"].verdicts[0].status is Status.VACUOUS
    assert {s.teacher.options["anchors"] for a in answered.values() for s in a.case.settings} == {2}


@pytest.mark.depth
def test_controls_and_hypotheses_say_what_is_broken(answered):
    broken = {
        name: [h.text for v in a.verdicts for h in v.hypotheses if h.met is False]
        for name, a in answered.items()
    }
    assert broken["approximation"] == [] == broken["width"]
    assert broken["heavy-tails"] == ["token norms ≤ 1"]
    assert broken["width-fast"] == ["projected descent with step 1/√τ"]
    assert set(broken["foreign-labels"]) == {
        "projected descent with step 1/√τ",
        "target in the transported class",
    }
    assert [name for name, a in answered.items() if a.case.control] == [
        "heavy-tails",
        "foreign-labels",
    ]


@pytest.mark.depth
def test_the_sup_error_never_falls_as_samples_are_added(answered):
    for name in ("approximation", "heavy-tails"):
        for run in answered[name].runs:
            assert (np.diff(run.curves["approximation_sups"][0]) >= 0).all()


@pytest.mark.depth
def test_the_figures_draw_what_was_measured(answered, tmp_path):
    paths = figures.draw(list(answered.values()), tmp_path)
    assert [p.name for p in paths if p.suffix == ".png"] == ["samples-sup.png", "samples-width.png"]
    header, first = paths[1].read_text().splitlines()[:2]
    row = dict(zip(header.split(","), first.split(","), strict=True))
    assert (
        float(row["approximation: seed 0"])
        == answered["approximation"].runs[0].curves["approximation_sups"][0][4]
    )  # n = 100


def test_the_step_follows_the_horizon_unless_it_is_set():
    by_steps = cases(steps=100)["width"].settings[0]
    by_letter = cases(changes={"tau": 100})["width"].settings[0]
    assert by_steps.rate == by_letter.rate == pytest.approx(0.1)
    assert by_steps.steps == by_letter.steps == 100
    assert cases(changes={"eta": 0.3})["width"].settings[0].rate == 0.3
    # The sup error is read at the start.
    assert cases(changes={"tau": 100})["approximation"].settings[0].steps == 0


def test_what_the_sweeps_set_cannot_be_changed():
    with pytest.raises(Refused, match="`n` is what this study varies"):
        study.plan(Plan(changes={"n": 12}))
