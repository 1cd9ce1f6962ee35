"""The lagged series: its law, its windows, the split; and the measures of gradients and saturation
against plain loops.
"""

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest
import recurrent_twin as twin

from tutelage import Part, Setting, build
from tutelage.inputs.series import Series
from tutelage.measures.recurrent import RECURRENT
from tutelage.refuse import Refused
from tutelage.teachers.autoregression import Autoregression

LARGEST_Z = 4.5


@pytest.mark.parametrize("lag", [1, 3, 7])
def test_the_series_obeys_its_recursion_and_the_noise_is_white(lag):
    teacher = Autoregression(lag)
    x = Series(teacher).values(20_000, seed=2)
    assert np.isfinite(x).all()
    noise = (x[lag:] - 0.9 * x[:-lag]) / np.sqrt(0.19)
    n = len(noise)
    for shift in range(1, 2 * lag + 1):  # a wrong lag leaves a correlation at its own
        assert abs(np.mean(noise[shift:] * noise[:-shift])) < LARGEST_Z / np.sqrt(n)
    assert abs(noise.mean()) < LARGEST_Z / np.sqrt(n)
    assert abs(np.mean(noise**2) - 1) < LARGEST_Z * np.sqrt(2 / n)


def test_the_series_is_stationary_from_its_first_value_on():
    """Without the stationary start the first values would have variance 0.19, or the second lag
    0.34.
    """
    series = Series(Autoregression(2))
    starts = np.array([series.values(8, seed=s) for s in range(3000)])
    z = (np.mean(starts**2, 0) - 1) / np.sqrt(2 / len(starts))
    assert np.abs(z).max() < LARGEST_Z
    np.testing.assert_array_equal(series.values(8, seed=5), series.values(500, seed=5)[:8])


@pytest.mark.brief(2)
@pytest.mark.parametrize("stride", [None, 1, 3])
@pytest.mark.parametrize("tokens", [None, 4, 9])
def test_windows_are_cut_from_the_series_and_none_crosses_the_split(stride, tokens):
    teacher = Autoregression(4, tokens=tokens)
    series = Series(teacher, stride=stride)
    X, y, errors, held_X, held_y = series.windows(7, 5, seed=1)
    T = teacher.tokens
    assert X.shape == (7, 9, T)
    assert held_X.shape == (5, 9, T)
    assert float(jnp.abs(errors).max()) == 0
    # A value is drawn from a continuous law, so that equal numbers are the same value of the
    # series.
    trained = {float(v) for v in np.concatenate([np.ravel(X[:, 0]), y])}
    held = {float(v) for v in np.concatenate([np.ravel(held_X[:, 0]), held_y])}
    assert not trained & held
    if stride is None:
        assert len(trained) == 7 * (T + 1)  # no value is in two windows
    values = series.values(5000, seed=1).tolist()
    last, first = max(values.index(v) for v in trained), min(values.index(v) for v in held)
    assert first - last == series.gap + 1
    assert 0.9 ** ((first - last) / 4) <= 0.01
    for window, label in zip([*X, *held_X], [*y, *held_y], strict=True):
        at = values.index(float(window[0, 0]))
        np.testing.assert_array_equal(window[0], values[at : at + T])
        assert float(label) == values[at + T]


def test_samples_are_nested_and_nothing_is_held_out_unless_asked():
    series = Series(Autoregression(3))
    small, large = series.windows(4, 0, seed=0), series.windows(9, 2, seed=0)
    np.testing.assert_array_equal(small[0], large[0][:4])
    assert small[3:] == (None, None)


@pytest.mark.brief(2)
@pytest.mark.parametrize("norms", ["free", "unit"])
@pytest.mark.parametrize("tokens", [5, 6, 12])
def test_the_teacher_reads_the_value_one_lag_before_the_label(norms, tokens):
    teacher = Autoregression(5, tokens=tokens, channels=4, norms=norms)
    values = np.random.default_rng(0).normal(size=(3, tokens))
    X = teacher.dress(jnp.asarray(values))
    assert X.shape[1:] == teacher.shape[1:3] == (5, tokens)
    # The label stands at index `tokens`, so that its ancestor is at `tokens` − 5. Two roundings of
    # a norm.
    np.testing.assert_allclose(jax.vmap(teacher)(X), 0.9 * values[:, tokens - 5], rtol=1e-14)
    t = np.arange(1, tokens + 1)
    codes = np.array([np.sin(t), np.sin(t / 100), np.cos(t), np.cos(t / 100)])
    length = np.sqrt(values**2 + 2)[:, None]
    whole = np.concatenate([values[:, None], np.broadcast_to(codes, (3, 4, tokens))], 1)
    np.testing.assert_allclose(
        X, whole / length if norms == "unit" else whole, rtol=1e-14, atol=1e-16
    )
    assert teacher.floor == pytest.approx(0.19, rel=1e-15)


def problem(student, norms="free"):
    setting = Setting(
        Part("autoregression", lag=4, channels=4, norms=norms),
        rate=0.1,
        steps=1,
        seed=3,
        inputs=Part("series"),
        student=student,
        objective=Part("squared_loss", samples=5, validation=6),
        measures=("loss",),
    )
    made = build(setting)
    field = "units" if student.name == "indrnn" else "heads"
    draw = np.random.default_rng(1)  # away from the symmetric start
    moved = jax.tree.map(
        lambda leaf: leaf + 0.3 * draw.normal(size=leaf.shape), getattr(made.student, field)
    )
    return eqx.tree_at(lambda s: getattr(s, field), made.student, moved), made.objective


@pytest.mark.brief(4)
@pytest.mark.parametrize(
    "student", [Part("indrnn", heads=4, recurrent=1.5), Part("shallow_transformer", heads=4)]
)
@pytest.mark.parametrize("measure", RECURRENT)
def test_every_measure_is_its_definition(student, measure):
    if measure.__name__ == "saturation" and student.name != "indrnn":
        pytest.skip("only recurrent students have states in time")
    now, objective = problem(student)
    got = np.asarray(jax.jit(lambda: measure(now, objective))())
    # Some hundred roundings of 1.1e-16.
    np.testing.assert_allclose(got, twin.MEASURES[measure.__name__](now, objective), rtol=1e-12)


@pytest.mark.depth
def test_measures_fall_back_on_the_training_inputs():
    now, objective = problem(Part("indrnn", heads=4, recurrent=0.5))
    bare = eqx.tree_at(
        lambda o: (o.validation_tokens, o.validation_labels), objective, (None, None)
    )
    same = eqx.tree_at(
        lambda o: (o.validation_tokens, o.validation_labels),
        objective,
        (objective.tokens, objective.labels),
    )
    for measure in RECURRENT:
        np.testing.assert_array_equal(measure(now, bare), measure(now, same))


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"lag": 0}, "at least 1"),
        ({"lag": 4, "tokens": 3}, "must be in the window"),
        ({"lag": 4, "channels": 3}, "must be even"),
        ({"lag": 4, "coefficient": 1.0}, "stationary"),
        ({"lag": 4, "norms": "half"}, "no kind of norms"),
    ],
)
def test_bad_series_are_refused(options, said):
    with pytest.raises(Refused, match=said):
        Autoregression(options.pop("lag"), **options)


def test_series_need_their_teacher():
    setting = Setting(
        Part("transported", dim=3, tokens=4, anchors=2, pool=8),
        rate=0.1,
        steps=1,
        inputs=Part("series"),
        student=Part("indrnn", heads=4),
        objective=Part("squared_loss", samples=2),
        measures=("loss",),
    )
    with pytest.raises(Refused, match="'autoregression'"):
        build(setting)
