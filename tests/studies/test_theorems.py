"""The claims of a theorem at a setting of the user's, with its hypotheses evaluated there."""

import numpy as np
import pytest

import tutelage as tt
from tutelage.refuse import Refused

TEACHER = tt.Part(
    "convolution", tokens=8, support=2, outputs=2, dim=3, norm=20.0, activation="identity"
)
SETTING = tt.Setting(TEACHER, rate=0.05, steps=100_000)


def test_a_theorem_gives_its_claims_and_hypotheses():
    theorem = tt.claims("teacher-models/rates", SETTING)
    ids = [claim.id for claim in theorem]
    assert {"excess-rate", "excess-constant", "cosine"} <= set(ids)
    assert len(theorem) == len(ids)
    assert theorem.hypotheses
    assert "hypothesis" in str(theorem)
    assert theorem["excess-rate"].source.endswith("Theorem 3.1")


def test_a_setting_that_breaks_a_hypothesis_is_told():
    every = SETTING.change(**{"teacher.support": 8})
    theorem = tt.claims("teacher-models/rates", every)
    assert len(theorem.unmet) > len(tt.claims("teacher-models/rates", SETTING).unmet)


def test_a_curve_of_ones_own_is_judged_at_a_setting():
    claim = tt.claims("teacher-models/rates", SETTING)["excess-constant"]
    steps = np.unique(np.rint(np.geomspace(1, 1e6, 145)))
    limit = claim.value(SETTING)
    excess = limit / (SETTING.rate * (steps + claim.plateau(SETTING)))
    curve = {"step": steps, "excess_risk": excess}
    verdict = tt.check(claim, curve, setting=SETTING)
    assert verdict.predicted == pytest.approx(limit)
    assert verdict.status is tt.Status.HOLDS
    wrong = tt.check(claim, {**curve, "excess_risk": 2 * excess}, setting=SETTING)
    assert wrong.status is tt.Status.FAILS
    assert verdict.hypotheses


def test_a_study_without_them_says_so():
    with pytest.raises(Refused, match=r"about the cases of that study.*teacher-models/rates"):
        tt.claims("teacher-models/scaling", SETTING)
    with pytest.raises(Refused, match="Did you mean 'teacher-models/rates'"):
        tt.claims("teacher-models/rate", SETTING)


def test_the_package_of_claims_is_still_one():
    from tutelage.claims import Rate

    assert tt.claims.Rate is Rate
