"""A verdict says what its replicates vary, and whether that changes anything."""

from dataclasses import replace

import numpy as np
import pytest

import tutelage as tt
from tutelage.claims import Rate
from tutelage.settings import Part, Setting
from tutelage.studies.answering import run_cases
from tutelage.studies.replicates import describe_replicates
from tutelage.studies.study import Case, over_seeds

SMALL = Part("convolution", tokens=4, support=2, outputs=2, dim=3, norm=2.0, activation="identity")
RATE = Rate("excess_risk", -1.0, id="rate")


def varied(setting: Setting, seeds: int = 2) -> str:
    case = Case("small", "small", over_seeds(setting, seeds), (RATE,))
    (answered,) = run_cases("paper/study", [case])
    return answered.verdicts[0].varies


def test_from_zero_another_teacher_of_the_same_norm_is_the_same_run():
    said = varied(tt.Setting(SMALL, rate=0.1, steps=50))
    assert said.startswith("the teacher, which changes no curve")
    assert said.endswith("one run to rounding")


def test_a_random_start_differs_and_matters():
    setting = tt.Setting(SMALL, rate=0.1, steps=50, student=Part("position_attention", start=0.5))
    assert varied(setting) == "the teacher and the start"


def test_batches_are_data():
    setting = tt.Setting(SMALL, rate=0.05, steps=50, objective=Part("online", batch=10))
    assert varied(setting) == "the teacher and the data"


def test_one_run_varies_nothing():
    assert varied(tt.Setting(SMALL, rate=0.1, steps=50), seeds=1) == ""


def test_a_case_may_say_it_itself():
    settings = over_seeds(tt.Setting(SMALL, rate=0.1, steps=50), 2)
    (answered,) = run_cases("p/s", [Case("a", "", settings, (RATE,), varies="graphs")])
    assert answered.verdicts[0].varies == "graphs"


@pytest.mark.parametrize(("last", "alike"), [(4.0, True), (5.0, False)])
def test_arrays_of_a_calculation_are_compared_too(last: float, alike: bool):
    """A calculation may have found nothing but arrays, and what it found is what is judged."""
    setting = Setting.of_calculation(Part("two_draws"), teacher=SMALL, seed=0)
    runs = [
        tt.Run(
            np.array([1]),
            {"found": np.array([[3.0, value]])},
            None,
            tt.Outcome.FINISHED,
            setting=replace(setting, seed=seed),
        )
        for seed, value in enumerate((4.0, last))
    ]
    said = describe_replicates(runs)
    assert said.startswith("what is drawn")
    assert said.endswith("one run to rounding") is alike
