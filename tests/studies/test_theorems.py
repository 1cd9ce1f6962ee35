"""The claims of a theorem at a setting of the user's, with its hypotheses evaluated there."""

import numpy as np
import pytest

import tutelage as tt
from tutelage.refuse import Refused
from tutelage.studies.discovery import find_study, papers

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


def test_a_study_whose_claims_compare_settings_says_what():
    with pytest.raises(Refused, match=r"compare settings along one size.*teacher-models/rates"):
        tt.claims("teacher-models/scaling", SETTING)
    with pytest.raises(Refused, match="Did you mean 'teacher-models/rates'"):
        tt.claims("teacher-models/rate", SETTING)


@pytest.mark.parametrize("name", [f"{p.name}/{s}" for p in papers().values() for s in p.studies])
def test_every_study_gives_its_claims_at_one_setting_or_says_what_they_compare(name):
    """That they are the claims of its own cases is one of `check_paper`'s rules."""
    study = find_study(name)
    assert (study.case_at is None) == bool(study.compares)


def test_a_theorem_is_checked_with_the_curves_that_its_study_derives():
    """`law` is about excess·Σ η_t, which no run measures."""
    decaying = tt.Part("gradient_descent", power=0.25, onset=10.0)
    setting = SETTING.change(optimiser=decaying, steps=3000, measures=("excess_risk",))
    theorem = tt.claims("teacher-models/optimisers", setting)
    assert {"two_value_distance", "cosine"} <= set(theorem.setting.measures)
    runs = list(tt.execute([theorem.setting]))
    verdicts = dict(zip((claim.id for claim in theorem), theorem.check(runs), strict=True))
    assert verdicts["law"].status in (tt.Status.HOLDS, tt.Status.UNDECIDED)
    assert verdicts["two-values"].status is tt.Status.HOLDS
    assert verdicts["law"].id == "teacher-models/optimisers/setting/law"
    with pytest.raises(Refused, match="'excess_by_time', which this run did not record"):
        tt.check(theorem["law"], runs[0])


def test_the_claims_depend_on_the_setting():
    """S* with a zero: power laws. Without: an exponential."""
    zeros = tt.claims("teacher-models/starts", SETTING)
    none = tt.claims("teacher-models/starts", SETTING.change(**{"teacher.support": 8}))
    assert "excess-rate" in [claim.id for claim in zeros]
    assert [claim.id for claim in none] == ["first", "decay", "rows", "attention", "cosine"]


def test_runs_without_a_setting_and_none_at_all_are_refused():
    theorem = tt.claims("teacher-models/rates", SETTING)
    with pytest.raises(Refused, match="Got none"):
        theorem.check([])
    with pytest.raises(Refused, match="Got a run without one"):
        theorem.check(tt.curve([1, 2, 3], [1.0, 0.5, 0.3]))


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("teacher-models/noise", "Got plain iterates on the population risk"),
        ("teacher-models/blocks", "Got 'position_attention'"),
        ("teacher-models/images", "Got the teacher 'convolution'"),
        ("attention-svm/max-margin", "the calculation 'attention_flow'. Got none"),
    ],
)
def test_a_setting_of_which_a_study_says_nothing_is_refused(name, said):
    with pytest.raises(Refused, match=said):
        tt.claims(name, SETTING)


def test_the_package_of_claims_is_still_one():
    from tutelage.claims import Rate

    assert tt.claims.Rate is Rate
