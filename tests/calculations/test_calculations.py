"""Calculations: named numbers of a setting, without training, and what they refuse."""

import numpy as np
import pytest

import tutelage as tt
from tutelage.calculations import Calculated, Calculation
from tutelage.problem.build import build_calculation
from tutelage.problem.registry import resolve


def test_numbers_are_curves_of_one_point():
    found = Calculated.numbers(bound=2, terms=np.arange(3))
    np.testing.assert_array_equal(found.axis, [0])
    assert found.curves["bound"].tolist() == [2.0]
    assert found.curves["terms"].shape == (1, 3)
    assert {curve.dtype for curve in found.curves.values()} == {np.dtype(np.float64)}


def test_an_infinite_bound_is_a_number():
    assert np.isinf(Calculated.numbers(bound=np.inf).curves["bound"]).all()


@pytest.mark.parametrize(
    ("axis", "curves", "rule"),
    [
        ([0, 1], {"bound": [1.0]}, r"as long as the calculation's axis, since .* Got shape \(1,\)"),
        ([0], {"bound": 1.0}, r"as long as the calculation's axis, since .* Got shape \(\)"),
        ([0], {"my bound": [1.0]}, "by a word .* since .* Got 'my bound'"),
        ([0], {"": [1.0]}, "by a word .* since .* Got ''"),
        ([0], {3: [1.0]}, "by a word .* since .* Got 3"),
        ([0], {"step": [1.0]}, "a name of its own, since .* Got 'step'"),
        ([0], {"rate": [1.0]}, "a name of its own, since .* Got 'rate'"),
        ([0], {"bound": ["large"]}, "real numbers, since .* Got"),
        ([0], {"bound": [1j]}, "real numbers, since .* Got"),
        ([0], {}, "at least one named number or curve, since .* Got none"),
        ([], {"bound": []}, "at least one, since .* Got"),
        ([0.5], {"bound": [1.0]}, "whole numbers that increase, .* since .* Got"),
        ([1, 1], {"bound": [1.0, 2.0]}, "whole numbers that increase, .* since .* Got"),
        ([[0]], {"bound": [1.0]}, "whole numbers that increase, .* since .* Got"),
    ],
)
@pytest.mark.usefixtures("shapes_unchecked")
def test_a_bad_result_is_refused_with_its_rule_its_reason_and_itself(axis, curves, rule):
    with pytest.raises(tt.Refused, match=f"(?s){rule}"):
        Calculated(np.asarray(axis), curves)


class Squares(Calculation):
    def __init__(self, count):
        self.count = count

    def __call__(self, given):
        axis = np.arange(1, self.count + 1)
        return Calculated(axis, {"square": axis**2})


@pytest.fixture(autouse=True)
def _squares():
    @tt.register("calculation", "squares")
    def squares(*, count: int = 3):
        return Squares(count)

    @tt.register("calculation", "no-calculation")
    def nothing():
        return lambda given: given


SETTING = tt.Setting.of_calculation(tt.Part("squares", count=4))


def test_a_calculation_may_ask_for_each_part_of_its_setting():
    convolution = tt.Part("convolution", tokens=4, support=2, outputs=2, dim=3)
    given = build_calculation(SETTING.change(teacher=convolution, seed=3))[1]
    assert given.seed == 3
    assert given.teacher.shape.tokens == 4
    assert float(given.objective(given.student)) > 0
    assert given.inputs is given.inputs  # built once


@pytest.mark.parametrize(
    ("setting", "rule"),
    [
        (SETTING.change(steps=5), "takes no steps .* since nothing is trained .* Got steps=5"),
        (SETTING.change(rate=0.1), "no rate .* Got steps=0, rate=0.1"),
        (SETTING.change(measures=("excess_risk",)), "no measures, .* Got .*excess_risk"),
        (SETTING.change(seed=-1), "`seed` must be"),
        (SETTING.change(calculation="square"), "no calculation named 'square'. Did you mean"),
        (SETTING.change(**{"calculation.size": 2}), "no option of calculation 'squares' named"),
        (SETTING.change(**{"calculation.count": "two"}), "must be a whole number"),
        (SETTING.change(calculation="no-calculation"), "must return a .*Calculation, since"),
    ],
)
def test_a_bad_setting_is_refused_before_any_work(setting, rule):
    with pytest.raises(tt.Refused, match=rule):
        next(tt.execute([setting]))


def test_a_calculation_that_looks_at_no_teacher_is_told_so():
    given = build_calculation(SETTING)[1]
    with pytest.raises(tt.Refused, match="must name the teacher"):
        _ = given.student


def test_a_setting_is_either_trained_or_calculated():
    with pytest.raises(tt.Refused, match="a calculation is not trained"):
        tt.build(SETTING)
    trained = tt.Setting(tt.Part("convolution", tokens=4, support=2, outputs=2, dim=3), 0.1, 10)
    with pytest.raises(tt.Refused, match="names no calculation"):
        build_calculation(trained)


def test_an_option_of_a_calculation_is_found_by_its_name_alone():
    assert resolve(SETTING, "count", {}) == "calculation.count"
    assert resolve(SETTING, "N", {"N": "calculation.count"}) == "calculation.count"


def test_a_setting_survives_its_plain_form():
    assert tt.Setting.from_plain(SETTING.plain()) == SETTING
    assert tt.Setting.from_plain(SETTING.plain()).identity() == SETTING.identity()
