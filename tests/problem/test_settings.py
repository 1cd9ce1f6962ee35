"""Settings are plain data: exact in JSON, identified by content, changed by path, refused with a
reason.
"""

import json

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import tutelage as tt
from tutelage.problem.registry import resolve

CNN = tt.Setting(tt.Part("convolution", tokens=12, support=3, outputs=2, dim=4), rate=0.1, steps=50)


def test_json_round_trip_is_exact():
    again = tt.Setting.from_plain(json.loads(json.dumps(CNN.plain())))
    assert again == CNN
    assert again.identity() == CNN.identity()


@given(rate=st.floats(1e-12, 1e3), seed=st.integers(0, 2**31), norm=st.floats(1e-3, 1e6))
def test_numbers_survive_to_the_last_bit(rate, seed, norm):
    setting = CNN.change(rate=rate, seed=seed, **{"teacher.norm": norm})
    again = tt.Setting.from_plain(json.loads(json.dumps(setting.plain())))
    assert (again.rate, again.seed, again.teacher.options["norm"]) == (rate, seed, norm)


def test_identity_ignores_the_horizon_and_nothing_else():
    assert CNN.change(steps=10**6).identity() == CNN.identity()
    for change in (
        {"rate": 0.2},
        {"seed": 1},
        {"teacher.dim": 5},
        {"teacher": "group_sparse"},
        {"measures": ("cosine",)},
    ):
        assert CNN.change(**change).identity() != CNN.identity()


def test_arrays_enter_by_their_content():
    a, b = np.eye(4), np.eye(4)
    one = tt.Setting(tt.Part("bilinear", value=a, selection=a), rate=0.1, steps=1)
    two = tt.Setting(tt.Part("bilinear", value=b, selection=b), rate=0.1, steps=1)
    assert one == two
    assert one.identity() == two.identity()
    assert len(one.arrays()) == 1
    b[0, 0] = 0.5  # the setting keeps its own copy
    assert one == two
    assert tt.Setting.from_plain(one.plain(), one.arrays()) == one


def test_a_callable_cannot_be_stored():
    with pytest.raises(tt.Refused, match="register it under a name"):
        tt.Part("convolution", activation=lambda x: x)


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"teacher": "convolutoin"}, "Did you mean 'convolution'"),
        ({"teacher.suport": 3}, "Did you mean 'support'"),
        ({"teacher.support": 13}, "Got support=13, tokens=12"),
        ({"teacher.support": 5}, "multiple of `support`"),
        ({"teacher.activation": "rleu"}, "Did you mean 'relu'"),
        ({"teacher.dim": 0}, "Got dim=0"),
        ({"teacher.norm": -1.0}, "Got norm=-1"),
        ({"teacher.noise": float("nan")}, "Got noise=nan"),
        ({"rate": 0.0}, "Got rate=0"),
        ({"rate": "fast"}, "Got rate='fast'"),
        ({"steps": 0}, "Got steps=0"),
        ({"seed": -1}, "Got seed=-1"),
        ({"inputs.covariance": np.eye(3)}, "must be 4×4"),
        ({"measures": ("cosin",)}, "Did you mean 'cosine'"),
        ({"optimiser": "momentun"}, "Did you mean 'momentum'"),
        ({"optimiser": "momentum"}, "needs `decay`"),
    ],
)
def test_bad_settings_are_refused_when_built(change, words):
    with pytest.raises(tt.Refused, match=words):
        tt.build(CNN.change(**change))


def test_unknown_paths_are_refused():
    with pytest.raises(tt.Refused, match="no part of a setting named 'tacher'"):
        CNN.change(**{"tacher.dim": 3})
    with pytest.raises(tt.Refused, match="no field of a setting named 'rat'"):
        CNN.change(rat=3)


def test_keys_resolve_by_letter_path_and_option():
    letters = {"D": "teacher.tokens"}
    assert resolve(CNN, "D", letters) == "teacher.tokens"
    assert resolve(CNN, "activation", letters) == "teacher.activation"
    assert resolve(CNN, "start", letters) == "student.start"
    assert resolve(CNN, "rate", letters) == "rate"
    with pytest.raises(tt.Refused, match="Did you mean 'activation'"):
        resolve(CNN, "activaton", letters)


@pytest.mark.parametrize(
    "name", ["convolution", "graph_convolution", "group_sparse", "token_selection"]
)
def test_every_registered_teacher_is_in_the_class(name):
    options = {"tokens": 12, "dim": 3, "outputs": 2, "support": 3}
    from tutelage.problem.registry import options_of

    part = tt.Part(name, **{k: v for k, v in options.items() if k in options_of("teacher", name)})
    teacher = tt.build_teacher(tt.Setting(part, rate=0.1, steps=1, seed=4))
    selection = np.asarray(teacher.selection)
    np.testing.assert_allclose(selection.sum(0), 1.0, rtol=1e-15)
    assert (selection >= 0).all()
    other = tt.build_teacher(tt.Setting(part, rate=0.1, steps=1, seed=5))
    same = name == "token_selection" and np.array_equal(other.selection, teacher.selection)
    assert not np.array_equal(other.value, teacher.value) or not same


def test_norm_is_the_length_of_the_teacher():
    teacher = tt.build_teacher(CNN.change(**{"teacher.norm": 7.0}))
    assert float(np.linalg.norm(teacher.value)) == pytest.approx(7.0, rel=1e-14)


def test_a_registered_teacher_is_a_few_lines():
    @tt.register("teacher", "every-other")
    def every_other(seed, *, tokens, dim):
        chosen = np.arange(0, tokens, 2)
        return tt.BilinearTeacher(np.eye(dim), tt.same_subset(tokens, chosen))

    problem = tt.build(tt.Setting(tt.Part("every-other", tokens=6, dim=2), rate=0.1, steps=1))
    assert problem.objective.teacher.shape == (2, 2, 6, 6)
