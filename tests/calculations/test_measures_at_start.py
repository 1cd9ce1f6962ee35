"""Measures at the start: those of a run at step 0, with nothing trained."""

import numpy as np
import pytest

from tutelage.measures import MEASURES
from tutelage.problem.build import build, build_calculation
from tutelage.refuse import Refused
from tutelage.settings import Part, Setting
from tutelage.training.loop import train

PARTS = {
    "teacher": Part("transported", dim=3, tokens=4, pool=16),
    "inputs": Part("clipped_gaussian"),
    "student": Part("shallow_transformer", heads=8),
    "objective": Part("squared_loss", samples=6),
}
NAMES = (
    "nested_approximation",
    "random_linearisation",
    "adversarial_linearisation",
    "singled_out_linearisation",
    "approximation_error",
    "approximation_sups",
    "function_gradient_sup",
    "function_gradient_square",
    "label_error",
    "label_power",
)
QUICK = ("approximation_sups", "label_error")


def at_start(measures, seed=0, **parts):
    return Setting.of_calculation(
        Part("measures_at_start", measures=measures), seed=seed, **{**PARTS, **parts}
    )


def calculate(setting):
    calculation, given = build_calculation(setting)
    return calculation(given)


@pytest.mark.brief(1)
@pytest.mark.parametrize(
    ("seed", "names"), [(3, QUICK), pytest.param(0, NAMES, marks=pytest.mark.depth)]
)
def test_they_are_those_of_a_run_at_its_first_point(seed, names):
    found = calculate(at_start(",".join(names), seed=seed))
    setting = Setting(rate=1e-12, steps=1, seed=seed, measures=names, **PARTS)
    problem = build(setting)
    run = train(
        problem.student,
        problem.objective,
        rate=setting.rate,
        steps=1,
        measures=problem.measures,
    )
    assert set(found.curves) == set(names)
    assert found.axis.tolist() == [0]
    for name in names:
        np.testing.assert_allclose(found.curves[name][0], run.curves[name][0], rtol=1e-12)
        assert len(found.curves[name]) == 1


@pytest.mark.depth
def test_another_student_is_measured_too():
    found = calculate(
        at_start("function_gradient_sup, saturation", student=Part("indrnn", heads=4))
    )
    given = build_calculation(at_start("saturation", student=Part("indrnn", heads=4)))[1]
    want = MEASURES["saturation"](given.student, given.objective)
    np.testing.assert_allclose(found.curves["saturation"][0], want, rtol=1e-12)


@pytest.mark.parametrize(
    ("measures", "reason"),
    [
        ("least_loss", "no iterates yet"),
        ("", "one measure or more"),
        ("loss,,label_power", "one measure or more"),
        ("loss,loss", "each once"),
        ("loss,no_such_measure", "no_such_measure"),
    ],
)
def test_what_cannot_be_measured_at_the_start_is_refused(measures, reason):
    with pytest.raises(Refused, match=reason):
        build_calculation(at_start(measures))
