"""The true form of a curve is not excluded, and wrong ones are; the bound on chance is a bound."""

import numpy as np
import pandas as pd
import pytest

import tutelage as tt
from tutelage.evidence.binning import Binned, bin_curve, largest_chance, noise
from tutelage.evidence.laws import FORMS, fit
from tutelage.refuse import Refused

STEPS = np.unique(np.rint(np.geomspace(1, 1e6, 145))).astype(int)
POWER, FLOOR, LOG, EXPONENTIAL, STRETCHED = (form.name for form in FORMS)
TRUE = {
    POWER: lambda t: (1 + t / 50) ** -0.7,
    FLOOR: lambda t: 0.02 + (1 + t / 50) ** -0.5,
    LOG: lambda t: np.log(np.e + t / 50) / (1 + t / 50),
    EXPONENTIAL: lambda t: np.exp(-t / 1e5),
    STRETCHED: lambda t: np.exp(-((t / 1e3) ** 0.4)),
}
# What an exact curve of each form cannot exclude beside its own: a form that contains it.
CONTAINED = {
    POWER: {FLOOR, LOG},
    FLOOR: set(),
    LOG: set(),
    EXPONENTIAL: {STRETCHED},
    STRETCHED: set(),
}


def compare(curve):
    return tt.compare_forms((STEPS, curve))


@pytest.mark.parametrize("name", TRUE)
def test_an_exact_curve_excludes_every_form_that_it_has_not(name):
    found = compare(TRUE[name](STEPS))
    assert set(found.left) == {name} | CONTAINED[name]


@pytest.mark.parametrize("name", TRUE)
def test_noise_excludes_no_true_form_and_does_not_hide_wrong_ones(name):
    generator = np.random.default_rng(7)
    wrong = 0
    for _ in range(2):
        noisy = TRUE[name](STEPS) * np.exp(0.03 * generator.standard_normal(len(STEPS)))
        found = compare(noisy)
        assert name in found.left
        wrong += len(found.excluded)
    assert wrong >= 2 * 2  # at least two of the four wrong forms each time


def test_parameters_are_those_of_the_curve():
    found = {answer.form.name: answer for answer in compare(TRUE[FLOOR](STEPS)).answers}
    parameters = found[FLOOR].fits[0].parameters
    assert parameters["p"] == pytest.approx(0.5, rel=1e-3)
    assert parameters["x0"] == pytest.approx(50, rel=1e-2)
    assert parameters["c"] == pytest.approx(0.02, rel=1e-3)


def test_a_fit_to_the_first_part_forecasts_the_last():
    found = {answer.form.name: answer for answer in compare(TRUE[POWER](STEPS)).answers}
    assert found[POWER].forecast < 1e-3
    assert found[EXPONENTIAL].forecast > 1


@pytest.mark.depth
def test_the_bound_on_the_noise_is_passed_about_as_often_as_it_says():
    """At 10%, of which 300 draws tell more than of 1%; few bins, where the noise is known badly."""
    log_x = np.log(STEPS[STEPS > 50])[::3].astype(float)
    generator = np.random.default_rng(3)
    passed = 0
    for _ in range(300):
        drawn = Binned(log_x, 0.1 * generator.standard_normal(len(log_x)))
        passed += np.linalg.norm(drawn.smooth @ drawn.log_y) > largest_chance([drawn], 0.1)
    assert 0.04 < passed / 300 < 0.16


def test_noise_is_measured_whatever_the_spacing():
    generator = np.random.default_rng(5)
    x = np.arange(1.0, 5000.0, 10)
    y = x**-0.5 * np.exp(0.02 * generator.standard_normal(len(x)))
    binned = bin_curve(x, y, 1.0)
    assert len(binned) < len(x) / 3
    early = Binned(binned.log_x[:20], binned.log_y[:20])
    assert noise(early) == pytest.approx(0.02, rel=0.6)


def test_several_runs_are_fitted_one_by_one():
    frames = [
        pd.DataFrame({"step": STEPS, "loss": scale * TRUE[POWER](STEPS), "seed": seed})
        for seed, scale in enumerate((1.0, 5.0))
    ]
    found = tt.compare_forms(pd.concat(frames), y="loss", by="seed")
    assert POWER in found.left
    assert len(found.answers[0].fits) == 2


def test_the_forms_that_are_left_say_where_they_would_part():
    generator = np.random.default_rng(11)
    noisy = TRUE[POWER](STEPS) * np.exp(0.1 * generator.standard_normal(len(STEPS)))
    assert "would differ by a factor" in compare(noisy).sentence


def test_a_table_has_a_row_per_form():
    table = compare(TRUE[POWER](STEPS)).table()
    assert table["form"].tolist() == [form.name for form in FORMS]
    assert table["excluded"].tolist() == [False, False, False, True, True]


def test_a_floor_cannot_be_below_zero():
    falling = bin_curve(STEPS.astype(float), TRUE[STRETCHED](STEPS), 10.0)
    floor = next(form for form in FORMS if form.name == FLOOR)
    assert fit(floor, falling).parameters["c"] >= 0


@pytest.mark.parametrize(
    ("curve", "options", "said"),
    [
        (STEPS[:10] ** -1.0, {}, "at least 16 points"),
        (np.where(STEPS > 100, -1.0, 1.0), {}, "must be positive"),
        (1.0 / STEPS, {"y": "lost"}, "Got 'lost'"),
        (1.0 / STEPS, {"tolerance": 0}, "`tolerance` must be a positive"),
    ],
)
def test_bad_curves_are_refused_in_a_sentence(curve, options, said):
    with pytest.raises(Refused) as refused:
        tt.compare_forms([tt.curve(STEPS[: len(curve)], curve)], **options)
    assert said in str(refused.value)


def test_x_of_any_size_is_told_in_its_own_units():
    compute = np.geomspace(1e17, 1e22, 60)
    loss = 1.7 + 20 * (compute / 1e17) ** -0.3
    found = tt.compare_forms({"compute": compute, "loss": loss}, begin=1e17)
    assert found.begin == 1e17
    assert found.end == pytest.approx(1e22, rel=1e-6)
    (floor,) = (answer for answer in found.answers if answer.form.name == FLOOR)
    assert not floor.excluded
    assert floor.fits[0].parameters["c"] == pytest.approx(1.7, rel=1e-3)
    assert POWER in found.excluded
