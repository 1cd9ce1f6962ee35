"""Numbers that no run could use, and options that would give a run a second name, are refused."""

import math

import numpy as np
import pytest

import tutelage as tt
from tutelage.explorer.states import setting_of
from tutelage.problem.build import build, build_optimiser
from tutelage.studies.sweeps import Sweep

BASE = tt.Setting(tt.Part("convolution", tokens=4, support=2, outputs=1, dim=2), rate=0.1, steps=5)
POOLED = np.array([[0.5], [0.5]])


@pytest.mark.parametrize(
    ("name", "options", "words"),
    [
        ("adam", {"b1": 1.0}, r"`b1` must be in \[0, 1\)"),
        ("adam", {"b1": -0.1}, "Got b1=-0.1"),
        ("adam", {"b2": math.nan}, "Got b2=nan"),
        ("adam", {"eps": 0.0}, "Got eps=0.0"),
        ("adam", {"eps": math.inf}, "Got eps=inf"),
        ("momentum", {"decay": 1.0}, "Got decay=1.0"),
        ("momentum", {"decay": math.nan}, "Got decay=nan"),
        ("optax", {"transformation": "adam", "b1": 2.0}, "Got b1=2.0"),
        ("optax", {"transformation": "rmsprop", "decay": math.nan}, "Got decay=nan"),
        ("optax", {"transformation": "adamw", "weight_decay": math.inf}, "must be finite"),
    ],
)
def test_optimisers(name, options, words):
    with pytest.raises(tt.Refused, match=words):
        build_optimiser(BASE.change(optimiser=tt.Part(name, **options)))


def test_an_optimisers_own_default_is_in_range():
    part = tt.Part("optax", transformation="scale_by_sm3", b2=1.0)
    assert build_optimiser(BASE.change(optimiser=part))


@pytest.mark.parametrize("seed", [2**63, 2**64, 10**400])
def test_seeds_whose_streams_would_repeat(seed):
    with pytest.raises(tt.Refused, match=r"`seed` must be below 2\^63"):
        build(BASE.change(seed=seed))
    with pytest.raises(tt.Refused, match=r"`seed` must be below 2\^63"):
        Sweep("small", BASE, seeds=(seed,)).cases()


@pytest.mark.parametrize("seed", [3.0, np.float32(3.0), np.float64(3.0)])
def test_a_whole_number_is_a_seed_however_it_is_written(seed):
    given = BASE.change(seed=seed)
    assert type(given.seed) is int
    assert given.identity() == BASE.change(seed=3).identity()
    assert build(given).student is not None


def test_the_largest_seed_is_a_seed():
    assert build(BASE.change(seed=2**63 - 1)).student is not None


@pytest.mark.parametrize(
    ("option", "value"), [("norm", -1), ("norm", math.inf), ("outputs", 0), ("outputs", 1.5)]
)
def test_teachers(option, value):
    with pytest.raises(tt.Refused, match=f"`{option}` must be"):
        build(BASE.change(**{f"teacher.{option}": value}))


@pytest.mark.parametrize("unused", [{"norm": 2.0}, {"outputs": 1}, {"dim": 3}])
def test_a_matrix_by_hand_is_not_drawn(unused):
    teacher = tt.Part("bilinear", selection=POOLED, value=np.ones((1, 3)), **unused)
    with pytest.raises(tt.Refused, match="a second name"):
        build(BASE.change(teacher=teacher))


@pytest.mark.parametrize(
    ("path", "value", "beside"),
    [
        ("optimiser.onset", 10.0, {"optimiser": tt.Part("gradient_descent")}),
        ("optimiser.onset", 100.0, {"optimiser": tt.Part("adam", power=0)}),
        ("optimiser.onset", 5, {"optimiser": tt.Part("optax", transformation="rmsprop")}),
        ("inputs.freedom", 7.0, {"inputs": tt.Part("independent")}),
        ("inputs.freedom", 7.0, {"inputs": tt.Part("independent", law="gumbel")}),
        ("student.restart", 3, {}),
        ("student.width", 64, {"student": tt.Part("selection_head")}),
        ("student.draws", 9, {"student": tt.Part("selection_head", codes="fresh", width=64)}),
    ],
)
def test_an_option_that_changes_nothing_is_refused(path, value, beside):
    """Two settings of one run would be stored as two."""
    setting = BASE.change(**beside).change(**{path: value})
    option = path.partition(".")[2]
    with pytest.raises(tt.Refused, match=rf"`{option}` changes nothing at \w+=.*second name"):
        build(setting)


def test_where_it_changes_something_it_is_taken():
    drawn = tt.Part("independent", law="student_t", freedom=7.0)
    falling = tt.Part("adam", power=0.5, onset=10.0)
    started = tt.Part("position_attention", start=0.1, restart=3)
    setting = BASE.change(inputs=drawn, optimiser=falling, student=started)
    assert build(setting.change(**{"teacher.activation": "identity"})).inputs.freedom == 7.0


def test_the_page_leaves_out_what_changes_nothing():
    asked = "inputs=independent&inputs.law=gumbel&inputs.freedom=7&optimiser.onset=10"
    setting = setting_of(f"teacher=convolution&objective=online&{asked}")
    assert setting.inputs == tt.Part("independent", law="gumbel")
    assert setting.optimiser == tt.Part("gradient_descent")
