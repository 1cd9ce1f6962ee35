"""What runs weigh beside one another: by steps, sizes, and what comes before the first step."""

import numpy as np
import pytest

import tutelage as tt
from tutelage.studies.planning import make_plan, plan_studies
from tutelage.studies.study import Case
from tutelage.studies.weights import MOST, SMALLEST_STEP, weigh, weigh_cases

TEACHER = tt.Part("transported", tokens=16, dim=8, pool=1000, anchors=16)
HEADS = tt.Setting(
    TEACHER,
    rate=0.1,
    steps=100,
    student=tt.Part("shallow_transformer", heads=32),
    objective=tt.Part("squared_loss", samples=500),
)


def test_steps_weigh_by_the_sizes_of_the_student_and_its_sample():
    def of_steps(**changes):
        return weigh(HEADS.change(steps=200, **changes)) - weigh(HEADS.change(**changes))

    once = of_steps()
    assert once > 100 * SMALLEST_STEP
    for name in ("student.heads", "objective.samples"):
        more = 2 * HEADS.part(name.split(".")[0]).options[name.split(".")[1]]
        assert of_steps(**{name: more}) == pytest.approx(2 * once)
    # Scores and sums over tokens, beside W_i q.
    assert of_steps(**{"teacher.tokens": 160}) == pytest.approx(once * (8 + 480) / (8 + 48))


def test_a_calculation_weighs_its_labels():
    """In the units of a run that trains: 500 labels of 1,000 heads, and a measurement."""
    look = tt.Part("measures_at_start", measures="loss")
    settings = [
        tt.Setting.of_calculation(look, **(HEADS.parts | {"teacher": TEACHER.change(pool=pool)}))
        for pool in (1000, 3000)
    ]
    few, many = map(weigh, settings)
    labels, heads = 500 * 4 * 2000 * 16 * 8, 16 * 2000 * 8 * (8 + 16)  # of 2,000 heads more
    assert many - few == labels + heads
    assert few < weigh(HEADS)


def test_a_run_of_two_cases_weighs_once():
    cases = [Case(name, name, (HEADS,), ()) for name in "ab"]
    assert weigh_cases(cases) == weigh(HEADS)


def test_a_setting_that_no_machine_holds_has_a_weight_that_can_be_compared():
    huge = HEADS.change(**{"teacher.tokens": 10**290, "objective.samples": 10**290})
    assert weigh(huge) == MOST
    assert np.isfinite(weigh_cases([Case("a", "a", (huge, HEADS), ())]))


def test_calculations_have_their_measured_share_of_a_study_that_also_trains():
    """At the paper's size they took 66 of 96 minutes."""
    (samples,), _ = plan_studies(["shallow-transformers/samples"], make_plan(preset="paper"))
    looked = [
        case for case in samples.cases if all(one.calculation is not None for one in case.settings)
    ]
    share = weigh_cases(looked) / weigh_cases(samples.cases)
    assert share == pytest.approx(66 / 96, abs=0.15)
