"""The measures of the start against plain NumPy, and the law of the approximation error against
many draws of heads.
"""

import equinox as eqx
import jax
import jax.numpy as jnp
import linearisation_twin as twin
import numpy as np
import pytest

from tutelage.inputs.clipped import ClippedGaussian
from tutelage.measures import linearisation as measures
from tutelage.numerics.heads import draw_heads, mirrored
from tutelage.numerics.streams import stream
from tutelage.objectives.squared_loss import SquaredLoss
from tutelage.papers.shallow_transformers.theory.width import approximation_scale
from tutelage.students.shallow_transformer import ShallowTransformer
from tutelage.teachers.transported import TransportedTeacher

NU = (
    0.7,
    1.3,
    0.4,
)  # unequal, so that no radius can stand for another; the last small enough to clip


def tokens(count, name, dim=2, length=3):
    law, key = ClippedGaussian(), stream(0, name)
    return jax.vmap(lambda i: law.sample(length, dim, key=jax.random.fold_in(key, i)))(
        jnp.arange(count)
    )


def problem(scores="full", heads=4):
    teacher = TransportedTeacher(
        tokens(3, "anchors"),
        jnp.asarray([1.0, -1.0, 1.0]),
        draw_heads(8, 2, key=stream(0, "pool")),
        radii=NU,
        scores=scores,
    )
    inputs = tokens(5, "samples")
    student = ShallowTransformer.symmetric(heads, 2, key=stream(1, "heads"))
    return student, SquaredLoss(teacher, inputs, *teacher.labels(inputs))


def taken(measure, student, objective):
    return eqx.filter_jit(measure)(student, objective)


def moved(student):
    """The same student elsewhere: measures of the start must not see it."""
    return eqx.tree_at(lambda s: s.heads.reading, student, student.heads.reading + 1.0)


@pytest.mark.brief(1)
@pytest.mark.parametrize("scores", ["full", "diagonal"])
def test_the_error_at_the_transported_point(scores):
    student, objective = problem(scores)
    start, anchors = twin.plain(student.start), np.asarray(objective.teacher.anchors)
    there = twin.transported(start, anchors, [1.0, -1.0, 1.0], NU, diagonal=scores == "diagonal")
    gaps = [
        abs(float(y) - twin.linearised(start, there, np.asarray(X)))
        for X, y in zip(objective.tokens, objective.labels, strict=True)
    ]
    got = taken(measures.approximation_error, moved(student), objective)
    np.testing.assert_allclose(
        got, [np.max(gaps), np.mean(gaps), np.sqrt(np.mean(np.square(gaps)))], rtol=1e-12
    )


@pytest.mark.parametrize("scores", ["full", "diagonal"])
def test_narrower_students_are_read_from_the_widest(scores):
    """Each by the twin that transports and linearises it: its heads are the widest one's first
    half, cut short, and their twins.
    """
    (widest, objective), widths = problem(scores, 16), measures.nested_widths(16)
    assert (widths, measures.nested_widths(6), measures.nested_widths(1024)[-2:]) == (
        (8, 16),
        (6,),
        (512, 1024),
    )
    anchors, expected = np.asarray(objective.teacher.anchors), []
    for m in widths:
        start = twin.plain(problem(scores, m)[0].start)
        there = twin.transported(
            start, anchors, [1.0, -1.0, 1.0], NU, diagonal=scores == "diagonal"
        )
        pairs = zip(objective.tokens, objective.labels, strict=True)
        gaps = np.array(
            [abs(float(y) - twin.linearised(start, there, np.asarray(X))) for X, y in pairs]
        )
        expected.append([gaps.max(), gaps.mean(), np.sqrt(np.mean(gaps**2))])
    np.testing.assert_allclose(
        taken(measures.nested_approximation, moved(widest), objective),
        np.ravel(expected),
        rtol=1e-12,
    )


def test_random_points_of_the_boundary():
    student, objective = problem()
    start, inputs = twin.plain(student.start), np.asarray(objective.tokens)
    gaps = np.stack(
        [
            twin.gaps(start, twin.boundary(start, NU, number), inputs)
            for number in range(measures.POINTS)
        ]
    )
    got = taken(measures.random_linearisation, moved(student), objective)
    np.testing.assert_allclose(got, [gaps.max(1).mean(), gaps.mean()], rtol=1e-12)


@pytest.mark.depth
def test_points_found_by_ascent(monkeypatch):
    """Central differences know the gradient to 1e-10; three steps that divide by its length keep
    1e-7.
    """
    monkeypatch.setattr(measures, "ASCENT", 3)
    student, objective = problem()
    start, inputs = twin.plain(student.start), np.asarray(objective.tokens)

    def climbed(number, some):
        return twin.ascended(start, twin.boundary(start, NU, number), some, NU, 3, measures.PACE)

    gaps = [
        twin.gaps(start, climbed(number, inputs), inputs) for number in range(measures.RESTARTS)
    ]
    best = max(gaps, key=np.mean)
    got = taken(measures.adversarial_linearisation, moved(student), objective)
    np.testing.assert_allclose(got, [best.max(), best.mean()], rtol=1e-7)
    alone = max(
        twin.gaps(start, climbed(0, inputs[j : j + 1]), inputs[j : j + 1])[0]
        for j in range(len(inputs))
    )
    np.testing.assert_allclose(
        taken(measures.singled_out_linearisation, moved(student), objective), alone, rtol=1e-7
    )


def test_ascent_climbs():
    student, objective = problem()
    random, found = (
        taken(measures.random_linearisation, student, objective),
        taken(measures.adversarial_linearisation, student, objective),
    )
    assert (np.asarray(found) > np.asarray(random)).all()
    assert float(taken(measures.singled_out_linearisation, student, objective)) >= float(found[0])


@pytest.mark.depth
def test_the_mean_square_over_draws_of_heads_is_the_predicted_one():
    """E|y − f_lin(X; θ̃)|² = Var·(2/m + 1/pool) over heads and pool: 150 draws of both, by
    z-score.
    """
    inputs, anchors, weights, m, pool = (
        tokens(1, "samples"),
        tokens(2, "anchors"),
        jnp.ones(2),
        4,
        16,
    )

    def draws(heads):
        """v's function over blocks of heads of its own, as in f̃."""
        teacher = TransportedTeacher(anchors, weights, heads, radii=NU)
        one = jax.vmap(
            lambda *leaf: teacher.through(type(heads)(*(x[None] for x in leaf)), inputs).values[0]
        )
        return np.asarray(one(heads.attention, heads.reading, heads.output)), teacher

    count = 150
    every = draw_heads(count * (pool + m // 2), 2, key=stream(5, "draws"))
    terms, teacher = draws(every)
    labels = terms[: count * pool].reshape(count, pool).mean(1)
    ours = terms[count * pool :].reshape(count, m // 2).mean(1)
    squares = (labels - ours) ** 2
    expected = terms.var(ddof=1) * approximation_scale(m, pool) ** 2
    assert abs(squares.mean() - expected) < 4.5 * squares.std(ddof=1) / np.sqrt(count)
    # That f_lin at θ̃ is this mean over the first half of the heads: exactly.
    half = jax.tree.map(lambda leaf: leaf[-2:], every)
    student = ShallowTransformer(
        teacher.transport(mirrored(half)), mirrored(half), None, teacher.activation
    )
    np.testing.assert_allclose(student.linearised(inputs[0]), ours[-1], rtol=1e-12)


def test_every_block_of_every_head_of_a_boundary_point_lies_on_its_sphere():
    start = problem()[0].start
    there = measures._boundary(start, jnp.asarray(NU), 0)
    for block, radius in zip(("output", "reading", "attention"), NU, strict=True):
        gone = np.asarray(getattr(there, block) - getattr(start, block)).reshape(4, -1)
        assert np.linalg.norm(gone, axis=1) == pytest.approx(
            np.full(4, radius / 2), rel=1e-12
        )  # √m = 2
        if block != "output":
            assert (
                len(np.unique(np.round(gone, 9), axis=0)) == 4
            )  # every head its own way, a head and its mirror too
