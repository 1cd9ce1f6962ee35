"""Evidence made elsewhere: what is taken, and what is refused in a sentence."""

import numpy as np
import pandas as pd
import pytest

import tutelage as tt
from tutelage.evidence.curves import count_steps, find_unit
from tutelage.refuse import Refused

STEPS = np.unique(np.rint(np.geomspace(1, 1e6, 145))).astype(int)
LOSS = 1 / (1 + STEPS / 50)
CLAIM = tt.Rate("loss", -1)


def frame(**more):
    return pd.DataFrame({"step": STEPS, "loss": LOSS, **more})


@pytest.mark.parametrize(
    "evidence",
    [
        frame(),
        frame().set_index("step"),
        frame(accuracy=1 - LOSS).rename(columns={"step": "global_step"}),
        {"step": STEPS.tolist(), "loss": LOSS.tolist()},
        (STEPS.tolist(), LOSS.tolist()),
        np.stack([STEPS, LOSS], axis=1),
        tt.curve(STEPS.tolist(), LOSS.tolist()),
        [tt.curve(STEPS, LOSS)],
        iter([tt.curve(STEPS, LOSS)]),
    ],
    ids=["frame", "indexed", "renamed", "dict", "pair", "array", "curve", "curves", "iterator"],
)
def test_every_kind_of_evidence_gives_the_same_verdict(evidence):
    run = tt.Run(STEPS, {"loss": LOSS}, None, tt.Outcome.FINISHED)
    verdict = tt.check(CLAIM, evidence)
    assert verdict.status is tt.Status.HOLDS
    assert verdict == tt.check(CLAIM, run)


def test_xarray_is_taken_with_its_dimensions_as_columns():
    xarray = pytest.importorskip("xarray")
    both = np.stack([LOSS, 2 * LOSS])
    array = xarray.DataArray(both, {"seed": [0, 1], "step": STEPS}, name="loss")
    for given in (array, array.to_dataset()):
        verdict = tt.check(CLAIM, given, by="seed")
        assert verdict.status is tt.Status.HOLDS
        assert "2 runs" in verdict.sentence
    with pytest.raises(Refused, match="`--by seed`"):
        tt.check(CLAIM, array)


def test_runs_are_told_apart_by_a_column():
    both = pd.concat([frame(seed=0), frame(seed=1)])
    assert "2 runs" in tt.check(CLAIM, both, by="seed").sentence


def test_a_constant_takes_the_step_size():
    claim = tt.Constant("loss", -1, 50 * 0.1)
    assert tt.check(claim, frame(), rate=0.1).status is tt.Status.HOLDS
    assert tt.check(claim, tt.curve(STEPS, LOSS, 0.1)).status is tt.Status.HOLDS
    with pytest.raises(Refused, match="without a rate"):
        tt.check(claim, frame())


def test_a_setting_serves_claims_that_predict_from_one():
    setting = tt.Setting(tt.Part("none"), rate=0.1, steps=10)
    claim = tt.Constant("loss", -1, lambda given: 50 * given.rate)
    assert tt.check(claim, frame(), setting=setting).status is tt.Status.HOLDS


def test_steps_that_are_no_whole_numbers_are_counted_in_a_unit():
    x = np.array([0.5, 1.25, 10.0])
    assert find_unit(x) == pytest.approx(0.01)
    assert count_steps(x, find_unit(x)).tolist() == [50, 125, 1000]
    run = tt.curve(STEPS * 1e16 / 3, LOSS, 1.0)
    assert run.time == pytest.approx(STEPS * 1e16 / 3, rel=1e-6)
    assert "One step is 1e+" in run.sentence
    assert tt.check(CLAIM, run).status is tt.Status.HOLDS


def mixed(*parts):
    return pd.DataFrame({"step": np.concatenate(parts), "loss": 1.0})


RISING = np.arange(10, 110, 10)
WRONG = {
    "nan": (lambda: frame().assign(loss=np.where(STEPS > 1000, np.nan, LOSS)), "Got nan in row"),
    "two runs": (lambda: mixed(RISING, RISING), "2 rows for every step: several runs are mixed"),
    "row by row": (lambda: mixed(np.repeat(RISING, 3)), "3 rows for every step"),
    "concatenated": (lambda: mixed(RISING, RISING[:4]), "10 after 100 in row 11: a second run"),
    "restart": (lambda: mixed(RISING, RISING[5:] + 1), "61 after 100 in row 11: the log was resu"),
    "repeated": (lambda: mixed(RISING, RISING[-1:]), "step 100 a second time in row 11"),
    "unsorted": (lambda: mixed([1, 5, 3, 4, 2]), "3 after 5 in row 3: the rows are not in order"),
    "negative": (lambda: mixed([-1, 2, 3]), "must not be negative"),
    "at zero": (lambda: ([0], [1.0]), "must go beyond step 0"),
    "no column": (lambda: frame().rename(columns={"loss": "losss"}), "Did you mean 'losss'"),
    "no steps": (lambda: frame(b=1.0).rename(columns={"step": "q"}), "column of steps must be nam"),
    "words": (lambda: frame().assign(loss="high"), "Got the text 'high' in row 1"),
    "empty": (lambda: frame().iloc[:0], "at least one row"),
    "zero": (lambda: frame().assign(loss=np.where(STEPS > 99, 0, LOSS)), "must be positive"),
    "one column": (lambda: LOSS, "give the steps too"),
    "text": (lambda: 3, "Got int"),
    "ragged": (lambda: {"step": [1, 2], "loss": [1.0]}, "step has 2, loss has 1"),
    "lengths": (lambda: ([1, 2, 3], [1.0, 0.5]), "Got 3 steps and 2 values"),
    "no runs": (list, "at least one run"),
    "strings": (lambda: (["a", "b"], [1.0, 0.5]), "`steps` must be a list or an array of numbers"),
}  # fmt: skip


@pytest.mark.parametrize("name", WRONG)
def test_bad_evidence_is_refused_in_a_sentence(name):
    make, said = WRONG[name]
    with pytest.raises(Refused) as refused:
        tt.check(CLAIM, make())
    assert said in str(refused.value)


def test_the_column_that_tells_mixed_runs_apart_is_named():
    both = pd.concat([frame(model="a", lr=0.1), frame(model="b", lr=0.1)])
    with pytest.raises(Refused, match=r"By the column `model` they come apart"):
        tt.check(CLAIM, both)


@pytest.mark.parametrize("name", ["steps", "loss"])
def test_a_run_put_together_from_lists_is_refused_and_says_what_takes_them(name):
    run = tt.Run(STEPS, {"loss": LOSS}, None, tt.Outcome.FINISHED)
    given = run.__dict__ if name == "steps" else run.curves
    given[name] = given[name].tolist()
    with pytest.raises(tt.Refused, match=rf"`{name}` of a Run .* Got list; tutelage.curve"):
        tt.check(tt.Rate("loss", -1.0), run)
