"""The IndRNN against a plain loop written out by hand, and its gradient against automatic
differentiation.
"""

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest

from tutelage import Part, Setting, build, stream
from tutelage.refuse import Refused
from tutelage.students.base import trainable
from tutelage.students.indrnn import IndRNN

# Some hundred roundings of 1.1e-16, multiplied by |u|^T ≤ 1.5^8 = 26 at most: below 1e-12 of the
# result's size.
TIGHT = 1e-12
TOKENS = np.random.default_rng(0).normal(size=(3, 8))


def moved(recurrent=1.5, **options):
    """A student away from its symmetric start, where f is not zero."""
    student = IndRNN.symmetric(6, 3, recurrent=recurrent, key=stream(0, "units"), **options)
    draw = np.random.default_rng(1)
    units = jax.tree.map(lambda leaf: leaf + 0.3 * draw.normal(size=leaf.shape), student.units)
    return eqx.tree_at(lambda s: s.units, student, units)


def by_hand(student, tokens):
    W, u, c = (
        np.asarray(x)
        for x in (student.units.reading, student.units.recurrence, student.units.output)
    )
    total = 0.0
    for i in range(len(c)):
        h = 0.0
        for t in range(tokens.shape[1]):
            h = np.tanh(sum(W[i, k] * tokens[k, t] for k in range(len(tokens))) + u[i] * h)
        total += c[i] * h
    return total / np.sqrt(len(c))


@pytest.mark.parametrize("tokens", [1, 2, 8])
def test_the_output_is_the_recurrence_written_out(tokens):
    student = moved()
    assert float(student(jnp.asarray(TOKENS[:, :tokens]))) == pytest.approx(
        by_hand(student, TOKENS[:, :tokens]), rel=TIGHT
    )


@pytest.mark.brief(5)
@pytest.mark.parametrize("recurrent", [0.0, 0.5, 1.5])
@pytest.mark.parametrize("activation", ["tanh", "identity", "gelu"])
@pytest.mark.parametrize("tokens", [1, 8])
def test_the_gradient_forwards_in_time_is_that_of_backpropagation(recurrent, activation, tokens):
    student = moved(recurrent, activation_name=activation)
    tokens = jnp.asarray(TOKENS[:, :tokens])
    want = eqx.filter_grad(lambda units: eqx.tree_at(lambda s: s.units, student, units)(tokens))(
        student.units
    )
    for got, expected in zip(
        jax.tree.leaves(student.gradient(tokens)), jax.tree.leaves(want), strict=True
    ):
        np.testing.assert_allclose(
            got, expected, rtol=TIGHT, atol=TIGHT * float(jnp.abs(expected).max())
        )


def test_the_start_is_symmetric():
    student = IndRNN.symmetric(8, 3, recurrent=0.7, key=stream(0, "units"))
    units = student.units
    np.testing.assert_array_equal(units.reading[:4], units.reading[4:])
    np.testing.assert_array_equal(units.recurrence[:4], units.recurrence[4:])
    np.testing.assert_array_equal(units.output[:4], -units.output[4:])
    np.testing.assert_array_equal(jnp.abs(units.recurrence), 0.7)
    np.testing.assert_array_equal(jnp.abs(units.output), 1.0)
    # Eight terms of order one cancel in pairs, in whichever order they are summed.
    assert abs(float(student(jnp.asarray(TOKENS)))) < 1e-15
    wider = IndRNN.symmetric(64, 3, recurrent=0.7, key=stream(0, "units")).units
    np.testing.assert_array_equal(wider.reading[:4], units.reading[:4])
    assert {float(x) for x in wider.recurrence} == {0.7, -0.7}
    assert {float(x) for x in wider.output[:32]} == {1.0, -1.0}
    # 96 normals: their mean square is 1 within 4.5·√(2/96); a draw of uniforms on [−1, 1] would
    # have ⅓.
    assert float(jnp.mean(wider.reading[:32] ** 2)) == pytest.approx(1.0, abs=4.5 * np.sqrt(2 / 96))
    small = IndRNN.symmetric(
        64, 3, recurrent=0.7, key=stream(0, "units"), signs="positive", scale=1e-3
    ).units
    np.testing.assert_allclose(small.reading, 1e-3 * wider.reading, rtol=1e-15)
    np.testing.assert_array_equal(small.recurrence, 0.7)


def test_training_leaves_the_start_alone():
    student = moved()
    marks = trainable(student)
    assert jax.tree.leaves(marks.units) == [True] * 3
    assert jax.tree.leaves(marks.start) == [False] * 3


def test_it_is_known_by_name():
    problem = build(
        Setting(
            Part("transported", dim=3, tokens=4, anchors=2, pool=8),
            rate=0.1,
            steps=1,
            inputs=Part("clipped_gaussian"),
            student=Part("indrnn", heads=6, recurrent=0.9),
            objective=Part("squared_loss", samples=3),
            measures=("loss",),
        )
    )
    assert isinstance(problem.student, IndRNN)
    assert problem.student.units.reading.shape == (6, 3)
    assert float(problem.objective(problem.student)) == pytest.approx(
        float(problem.objective.power()), rel=1e-15
    )


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"heads": 5}, "must be even"),
        ({"heads": 0}, "at least 2"),
        ({"recurrent": -1.0}, "zero or a positive"),
        ({"scale": 0.0}, "a positive"),
        ({"signs": "mixed"}, "no kind of signs"),
    ],
)
def test_bad_starts_are_refused(options, said):
    given = {"heads": 4, "recurrent": 1.0, **options}
    heads = given.pop("heads")
    with pytest.raises(Refused, match=said):
        IndRNN.symmetric(heads, 3, key=stream(0, "units"), **given)
