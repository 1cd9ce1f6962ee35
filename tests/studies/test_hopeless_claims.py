"""A claim that no number could fail, or that is about what no run records, is refused before any
run.
"""

import math

import numpy as np
import pytest

import tutelage as tt
from tutelage.claims import Rate, Recovery
from tutelage.run import Outcome, Run
from tutelage.running import work
from tutelage.studies.sweep_files import read_sweep

SETTING = """
[setting]
rate = 0.1
steps = 60
measures = ["excess_risk"]
teacher = { name = "convolution", tokens = 4, support = 2, outputs = 1, dim = 2 }
"""
STUDY = 'study = "teacher-models/rates"\ncase = ["cnn-relu"]\nseeds = 1\n'
RATE = '[[claims]]\nkind = "rate"\nmeasure = "excess_risk"\n'
RECOVERY = '[[claims]]\nkind = "recovery"\nmeasure = "excess_risk"\ntarget = 0\n'


@pytest.mark.parametrize("begin", [SETTING, STUDY], ids=["setting", "study"])
@pytest.mark.parametrize(
    ("claim", "said"),
    [
        (RATE + "exponent = -1\ntolerance = inf", "`tolerance` of a claim must be a finite"),
        (RATE + "exponent = -1\ntolerance = nan", "`tolerance` of a claim must be a finite"),
        (RATE + "exponent = nan", "`exponent` of a claim must be a finite"),
        (RATE + f"exponent = {'9' * 400}", "1,329 bits"),
        (RECOVERY + "within = inf", "`within` of a claim must be a finite"),
        (RECOVERY + "within = 1\nfrom_step = 1.5", "from_step=1.5"),
        (RECOVERY + 'within = 1\nreading = "lmit"', "Did you mean 'limit'"),
        ('[[claims]]\nkind = "rate"\nmeasure = "excess"\nexponent = -1', "excess_risk"),
        ('[[claims]]\nkind = "rate"\nmeasure = 3\nexponent = -1', "must be a word"),
    ],
)
def test_in_a_sweep_file(tmp_path, monkeypatch, begin, claim, said):
    monkeypatch.setattr(work, "train_batch", lambda *a, **k: pytest.fail("work was started"))
    path = tmp_path / "small.toml"
    path.write_text(begin + claim)
    with pytest.raises(tt.Refused, match=said):
        read_sweep(path).cases()


def test_a_recovery_in_a_sweep_file_may_have_a_reading(tmp_path):
    path = tmp_path / "small.toml"
    path.write_text(SETTING + RECOVERY + 'within = 1\nreading = "limit"')
    (case,) = read_sweep(path).cases()
    assert case.claims[0].reading == "limit"


@pytest.mark.parametrize("tolerance", [math.inf, math.nan, -0.1])
@pytest.mark.parametrize(
    "make",
    [
        lambda size: Rate("risk", -1.0, tolerance=size, id="mine"),
        lambda size: Recovery("risk", 0.0, size, id="mine"),
    ],
    ids=["rate", "recovery"],
)
def test_in_python(make, tolerance):
    steps = np.unique(np.geomspace(1, 1e5, 200).astype(int))
    run = Run(steps, {"risk": 1.0 / steps}, None, Outcome.FINISHED, rate=1.0)
    with pytest.raises(tt.Refused, match="positive finite number, since every number is within"):
        tt.check(make(tolerance), run)
