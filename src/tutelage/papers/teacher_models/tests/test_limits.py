"""teacher-models/limits: exact twins of the moments and bounds, students that attain them, and how
a cell of the map is read.
"""

import itertools
import math
from dataclasses import replace

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest
from scipy.integrate import quad

import tutelage as tt
from tutelage.claims import Status
from tutelage.claims.claim import NoPrediction
from tutelage.numerics.streams import stream
from tutelage.objectives.minibatch import MinibatchRisk
from tutelage.objectives.sample import Sample, draw_sample
from tutelage.papers.teacher_models import paper
from tutelage.papers.teacher_models.limits import readings
from tutelage.papers.teacher_models.limits.cells import INSIDE, STUDENTS, TEACHERS
from tutelage.papers.teacher_models.limits.claims import MEASURED
from tutelage.papers.teacher_models.limits.readings import Cell, Draw, relative_excess
from tutelage.papers.teacher_models.limits.study import study
from tutelage.papers.teacher_models.theory.limits import (
    floor,
    moments,
    outer,
    relu_products,
    softmax_square,
)
from tutelage.problem.build import build, build_student, build_teacher
from tutelage.refuse import Refused
from tutelage.settings import Part, Setting
from tutelage.students.multi_head import MultiHeadPosition
from tutelage.studies.answering import run_cases
from tutelage.studies.study import Plan
from tutelage.teachers.composed import ComposedTeacher
from tutelage.teachers.content_selection import ContentSelection
from tutelage.teachers.max_pooling import MaxPooling

pytestmark = pytest.mark.usefixtures("adam_allowed")
RNG = np.random.default_rng(0)
SAMPLE = 4096  # one size for all samples, since each size compiles its own draw
TOKENS = jnp.asarray(RNG.normal(size=(4, 6)))


def setting(teacher, student="position", seed=0):
    return Setting(TEACHERS[teacher].part, 0.05, steps=1, seed=seed, student=STUDENTS[student].part)


def made(teacher, seed=0):
    return build_teacher(setting(teacher, seed=seed))


# --- the teachers, in plain loops


def test_max_pooling_takes_the_largest_of_a_group():
    teacher, X = made("max-pooling"), np.asarray(TOKENS)
    V = np.asarray(teacher.value)
    for m, i in itertools.product(range(2), range(6)):
        group = [0, 1] if i < 2 else [2, 3] if i < 4 else [4, 5]
        assert float(teacher(TOKENS)[m, i]) == pytest.approx(
            max(0.0, *(V[m] @ X[:, j] for j in group)), rel=1e-14
        )


def test_selection_by_content_reads_the_best_tokens_whichever_they_are():
    top, soft, X = made("top-k"), made("softmax"), np.asarray(TOKENS)
    scores = np.asarray(top.direction) @ X
    best = np.argsort(scores)[-2:]
    np.testing.assert_allclose(
        top(TOKENS), np.tile((np.asarray(top.value) @ X[:, best].mean(1))[:, None], 6), rtol=1e-13
    )
    weights = np.exp(3.0 * np.asarray(soft.direction) @ X)
    np.testing.assert_allclose(
        soft(TOKENS)[:, 0], np.asarray(soft.value) @ X @ (weights / weights.sum()), rtol=1e-13
    )
    moved = TOKENS[:, ::-1]  # the order of the tokens is nothing to it
    np.testing.assert_allclose(top(moved), top(TOKENS), rtol=1e-13)
    for teacher in (top, soft):
        assert np.abs(teacher.value @ teacher.direction).max() < 1e-14
        assert np.linalg.norm(teacher.direction) == pytest.approx(1.0, rel=1e-14)


def test_composed_teachers_are_what_their_names_say():
    X = np.asarray(TOKENS)
    for name, join in (("two-heads", "heads"), ("two-layers", "layers"), ("products", "products")):
        teacher = made(name)
        (V, U), (S, R) = (
            [np.asarray(part) for part in pair] for pair in (teacher.values, teacher.selections)
        )
        first = V @ X @ S
        expected = {
            "heads": lambda a=first, U=U, R=R: a + U @ X @ R,
            "layers": lambda a=first, U=U, R=R: U @ np.maximum(a, 0) @ R,
            "products": lambda a=first, U=U, R=R: a * (U @ X @ R),
        }
        np.testing.assert_allclose(teacher(TOKENS), expected[join](), rtol=1e-12)
        assert teacher.shape == (2, 4, 6, 6)
        np.testing.assert_array_equal(
            teacher.label(TOKENS, key=stream(0, "labels")), teacher(TOKENS)
        )
    heads, products = made("two-heads"), made("products")
    assert abs(float(jnp.sum(heads.values[0] * heads.values[1]))) < 1e-13
    assert float(jnp.max(heads.selections[0] * heads.selections[1])) == 0
    assert float(jnp.max(products.selections[0] * products.selections[1])) == 0


def test_what_makes_no_such_teacher_or_student_is_refused():
    V, half = np.eye(2), np.full((2, 2), 0.5)
    for make, words in (
        (lambda: ContentSelection(V, [1, 0], tokens=3), "one of the two"),
        (lambda: ContentSelection(V, [1, 0], tokens=3, support=1, sharpness=1.0), "one of the two"),
        (lambda: ContentSelection(V, [0, 0], tokens=3, support=1), "not zero"),
        (lambda: ContentSelection(V, [1, 0], tokens=3, support=4), "between 1 and"),
        (lambda: ComposedTeacher("sum", (V, V), (half, half)), "layers"),
        (lambda: ComposedTeacher("heads", (V, np.eye(3)), (half, half)), "must fit"),
        (lambda: ComposedTeacher("layers", (V, np.eye(3)), (half, half)), "must fit"),
        (lambda: build_teacher(setting("two-heads").change(**{"teacher.support": 4})), "2·support"),
        (
            lambda: build_student(setting("products", "heads").change(**{"student.restart": -1})),
            "restart",
        ),
        (
            lambda: build_student(setting("products", "layers").change(**{"student.start": 0.0})),
            "nothing moves",
        ),
        (
            lambda: build(
                setting("products").change(
                    objective=Part("minibatch", samples=SAMPLE, held_out=SAMPLE, batch=SAMPLE + 1)
                )
            ),
            "batch=4097",
        ),
        (lambda: build(setting("top-k")), "population risk"),
    ):
        with pytest.raises(Refused, match=words):
            make()


# --- moments: exact twins


def polar(teacher, kinks, degree):
    """E‖Y‖², ‖EY‖² and E[Y ⊗ X] for two tokens of one feature, by Gauss–Legendre over an angle,
    from kink to kink.
    """
    nodes, weights = np.polynomial.legendre.leggauss(40)
    ends = np.unique(
        np.concatenate(
            [
                np.arange(9) * math.pi / 4,
                np.mod(kinks, 2 * math.pi),
                np.mod(kinks + math.pi, 2 * math.pi),
            ]
        )
    )
    angles = np.concatenate(
        [(b - a) / 2 * nodes + (a + b) / 2 for a, b in itertools.pairwise(ends)]
    )
    share = np.concatenate([(b - a) / 2 * weights for a, b in itertools.pairwise(ends)]) / (
        2 * math.pi
    )
    X = np.stack([np.cos(angles), np.sin(angles)], 1)
    Y = np.asarray(jax.vmap(teacher)(jnp.asarray(X[:, None, :])))

    def power(p):  # E r^p of a radius in the plane
        return 2 ** (p / 2) * math.gamma(1 + p / 2)

    square = power(2 * degree) * np.einsum("n,nmq->", share, Y**2)
    mean = power(degree) * np.einsum("n,nmq->mq", share, Y)
    linear = power(degree + 1) * np.einsum("n,nmq,nj->mjq", share, Y, X)
    return square, np.sum(mean**2), linear.reshape(len(Y[0]), -1)


def pair_of(seed):
    rng = np.random.default_rng(seed)
    return rng.dirichlet(np.ones(2), 2).T, rng.dirichlet(np.ones(2), 2).T


@pytest.mark.parametrize("kind", ["heads", "layers", "products", "max", "convolution"])
def test_moments_are_those_of_an_integral_over_an_angle(kind):
    rng, (S, R) = np.random.default_rng(7), pair_of(1)
    V, U = rng.normal(size=(3, 1)), rng.normal(size=(2, 3) if kind == "layers" else (3, 1))
    if kind == "max":
        teacher = MaxPooling(V, tokens=2, support=2)
    elif kind == "convolution":
        teacher = tt.BilinearTeacher(V, S, "relu")
    else:
        teacher = ComposedTeacher(kind, (V, U), (S, R))
    kinks = np.arctan2(-S[0], S[1])  # where a column of S is orthogonal to X
    found, (square, mean, linear) = (
        moments(teacher),
        polar(teacher, kinks, 2 if kind == "products" else 1),
    )
    assert found.square == pytest.approx(square, rel=1e-12)
    assert found.mean == pytest.approx(mean, rel=1e-12, abs=1e-14)
    np.testing.assert_allclose(found.linear, linear, atol=1e-12)
    assert found.variance == pytest.approx(square - mean, rel=1e-11)


def test_moments_of_top_k_by_enumeration_of_all_orders():
    """Which tokens are best is a uniformly random order, independent of V x since V u = 0."""
    teacher = made("top-k")
    V = np.asarray(teacher.value)
    weights = np.array(
        [np.isin(np.arange(6), order[:2]) / 2 for order in itertools.permutations(range(6))]
    )
    found = moments(teacher)
    assert found.square == pytest.approx(
        6 * np.sum(V**2) * np.mean(np.sum(weights**2, 1)), rel=1e-12
    )
    np.testing.assert_allclose(
        found.linear, outer(V, np.tile(weights.mean(0)[:, None], 6)), atol=1e-14
    )
    assert found.mean == 0


def test_the_square_of_a_softmax_by_direct_integration():
    def two(beta):  # the difference of two scores is N(0, 2)
        def inside(x):
            p = 1 / (1 + math.exp(-beta * math.sqrt(2) * x))
            return (p**2 + (1 - p) ** 2) * math.exp(-(x**2) / 2) / math.sqrt(2 * math.pi)

        return quad(inside, -12, 12, epsabs=1e-14, epsrel=1e-13, limit=200)[0]

    for beta in (0.5, 3.0):
        assert softmax_square(beta, 2) == pytest.approx(two(beta), rel=1e-12)
    s = np.arange(-8.4, 8.41, 0.3)
    grid = np.stack(np.meshgrid(s, s, s, indexing="ij"))
    density = np.prod(np.exp(-(grid**2) / 2) * 0.3 / math.sqrt(2 * math.pi), axis=0)
    weights = np.exp(2 * grid) / np.exp(2 * grid).sum(0)
    assert softmax_square(2.0, 3) == pytest.approx(
        float(np.sum(density * np.sum(weights**2, 0))), rel=1e-12
    )
    assert softmax_square(1e-6, 6) == pytest.approx(1 / 6, rel=1e-9)
    assert 1 / 6 < softmax_square(1.0, 6) < softmax_square(5.0, 6) < 1


def test_products_of_relus_on_the_diagonal_and_for_opposites():
    gram = np.array([[4.0, -4.0, 0.0], [-4.0, 4.0, 0.0], [0.0, 0.0, 1.0]])
    np.testing.assert_allclose(
        relu_products(gram),
        [[2, 0, 1 / math.pi], [0, 2, 1 / math.pi], [1 / math.pi, 1 / math.pi, 0.5]],
        atol=1e-15,
    )


def test_theory_is_silent_where_it_knows_nothing():
    for silent in (
        lambda: moments(ContentSelection(np.eye(2), [1, 0], tokens=3, support=1)),
        lambda: moments(MaxPooling(np.eye(2), tokens=6, support=3)),
        lambda: moments(tt.BilinearTeacher(np.eye(2), np.eye(3), "tanh")),
        lambda: floor(setting("top-k", "content")),
        lambda: floor(setting("top-k", "layers")),
        lambda: floor(setting("top-k").change(inputs=Part("independent", law="normal"))),
    ):
        with pytest.raises(NoPrediction):
            silent()


# --- bounds: attained, and never passed


def linear_excess(known, W, S):
    """E‖Y − W X S‖² over E‖Y − EY‖², from moments."""
    A = outer(W, S)
    return (known.square - 2 * np.sum(A * known.linear) + np.sum(A**2)) / known.variance


@pytest.mark.parametrize("name", ["top-k", "softmax", "two-heads", "two-layers", "products"])
def test_a_student_of_the_kind_attains_the_bound_and_none_passes_it(name):
    teacher, bound = made(name, seed=3), floor(setting(name, seed=3))
    if name in ("top-k", "softmax"):
        W, S = np.asarray(teacher.value), np.full((6, 6), 1 / 6)
    else:
        (V, U), (P, R) = (
            [np.asarray(part) for part in pair] for pair in (teacher.values, teacher.selections)
        )
        if name == "two-heads":
            W, S = V + U, (P + R) / 2
        else:
            W, S = (0.5 * U @ V, P @ R) if name == "two-layers" else (0 * V, P)
    np.testing.assert_allclose(S.sum(0), 1.0, rtol=1e-14)
    assert linear_excess(moments(teacher), W, S) == pytest.approx(bound, rel=1e-12)
    rng = np.random.default_rng(1)
    for _ in range(50):
        near = W + 0.1 * rng.normal(size=W.shape), 0.9 * S + 0.1 * rng.dirichlet(np.ones(6), 6).T
        assert linear_excess(moments(teacher), *near) > bound
    known = {
        "top-k": 1 - 2 / 6,
        "softmax": 1 - 1 / (6 * softmax_square(3.0, 6)),
        "two-heads": 0.5,
        "products": 1.0,
    }
    assert bound == pytest.approx(known.get(name, bound), rel=1e-12)


def test_two_heads_pass_the_bound_of_one_only_where_there_are_two_to_find():
    for name in TEACHERS:
        one, two = floor(setting(name, "position")), floor(setting(name, "heads"))
        assert two == (0 if name == "two-heads" else pytest.approx(one, rel=1e-12))
    assert floor(setting("convolution")) == 0


def test_the_bound_of_max_pooling_is_attained_and_no_direction_passes_it():
    """E[max(0, a, b) relu(z)] over the sphere of all unit forms z: two of the pair's own directions
    and one of the rest.
    """
    nodes, weights = np.polynomial.legendre.leggauss(120)
    angle, height = np.meshgrid(np.arange(720) * 2 * math.pi / 720, nodes, indexing="ij")
    root = np.sqrt(1 - height**2)
    a, b = root * np.cos(angle), root * np.sin(angle)
    pooled = np.maximum(0, np.maximum(a, b)) * weights / (2 * 720)

    def reached(turn, lift):
        z = math.cos(lift) * (math.cos(turn) * a + math.sin(turn) * b) + math.sin(lift) * height
        return 3 * float(np.sum(pooled * np.maximum(z, 0)))  # E r² = 3 in three dimensions

    best = (0.5 + 1 / math.pi) / math.sqrt(2)
    assert reached(math.pi / 4, 0.0) == pytest.approx(best, abs=2e-5)
    others = {
        (turn, lift): reached(turn * math.pi / 12, lift * math.pi / 12)
        for turn in range(24)
        for lift in range(7)
    }
    assert max(others, key=others.get) == (3, 0)
    assert (
        max(value for at, value in others.items() if at != (3, 0)) < best - 0.004
    )  # one step of the grid away, and F is convex in g
    exact = (
        2
        * quad(lambda t: math.cos(t) * math.cos(t - math.pi / 4), 0, math.pi / 2, epsabs=1e-15)[0]
        / math.pi
    )
    assert best == pytest.approx(exact, rel=1e-13)
    known = moments(made("max-pooling"))
    assert floor(setting("max-pooling")) == pytest.approx(
        known.square / known.variance * (1 - 2 * best**2 / (3 / 4 + 1 / (2 * math.pi))), rel=1e-12
    )


# --- cells inside: the student that is the teacher


def logs(selection):
    """Scores whose softmax, at scale 1/√6, is the selection."""
    return jnp.asarray(
        np.where(
            np.asarray(selection) > 0, np.log(np.maximum(np.asarray(selection), 1e-300)), -2000.0
        )
        * math.sqrt(6)
    )


def as_position(value, selection, teacher):
    return MultiHeadPosition(jnp.asarray(value)[None], logs(selection)[None], teacher.activation)


@pytest.mark.brief(2)
@pytest.mark.parametrize(("teacher", "student"), sorted(INSIDE))
def test_a_teacher_called_inside_is_a_student_of_that_kind(teacher, student):
    known, start = made(teacher), build_student(setting(teacher, student))
    if (teacher, student) == ("softmax", "content"):
        codes = np.asarray(start.codes)
        W = np.zeros((10, 10))
        W[:4, 4:] = 3.0 * math.sqrt(6) * np.outer(np.asarray(known.direction), codes @ np.ones(6))
        there = eqx.tree_at(
            lambda s: (s.value, s.key_query),
            start,
            (jnp.hstack([known.value, jnp.zeros((2, 6))]), jnp.asarray(W)),
        )
    elif student == "content":
        codes = np.asarray(start.codes)
        W = np.zeros((10, 10))
        W[4:, 4:] = codes @ np.asarray(logs(known.selection)) @ codes.T
        there = eqx.tree_at(
            lambda s: (s.value, s.key_query),
            start,
            (jnp.hstack([known.value, jnp.zeros((2, 6))]), jnp.asarray(W)),
        )
    elif student == "layers":
        V, U = known.values if teacher == "two-layers" else (known.value, jnp.eye(2))
        S, R = known.selections if teacher == "two-layers" else (known.selection, np.eye(6))
        wide = (
            jnp.concatenate([V, jnp.zeros((8 - len(V), 4))]),
            jnp.concatenate([U, jnp.zeros((2, 8 - len(V)))], axis=1),
        )
        there = eqx.tree_at(
            lambda s: (s.first_value, s.second_value, s.first_scores, s.second_scores),
            start,
            (*wide, logs(S), logs(R)),
        )
    elif student == "heads":
        values, selections = (
            (known.values, known.selections)
            if teacher == "two-heads"
            else ((known.value, 0 * known.value), [known.selection] * 2)
        )
        there = MultiHeadPosition(
            jnp.stack(values), jnp.stack([logs(s) for s in selections]), known.activation
        )
    else:
        there = eqx.tree_at(
            lambda s: (s.value, s.key_query), start, (known.value, logs(known.selection))
        )
    np.testing.assert_allclose(there(TOKENS), known(TOKENS), rtol=1e-11, atol=1e-12)


def test_one_head_of_many_is_the_student_of_the_paper():
    student = tt.PositionAttention.random(made("convolution"), scale=0.7, key=stream(0, "start"))
    alone = MultiHeadPosition(student.value[None], student.key_query[None], student.activation)
    np.testing.assert_allclose(alone(TOKENS), student(TOKENS), rtol=1e-14)


# --- training


def test_a_restart_changes_the_start_and_nothing_else():
    base = setting("products").change(
        objective=Part("minibatch", samples=SAMPLE, held_out=SAMPLE, batch=4)
    )
    for student in STUDENTS:
        one, two = (
            build(base.change(student=STUDENTS[student].part.change(restart=r))) for r in (0, 1)
        )
        assert any(
            (a != b).any()
            for a, b in zip(jax.tree.leaves(one.student), jax.tree.leaves(two.student), strict=True)
            if jnp.ndim(a)
        )
        assert one.objective.sample is two.objective.sample


def test_a_batch_is_drawn_from_the_sample_and_judged_by_what_is_held_out():
    rng = np.random.default_rng(2)
    sample, held = (
        Sample(jnp.asarray(rng.normal(size=(n, 1, 1))), jnp.zeros((n, 1, 1))) for n in (5, 3)
    )
    risk = MinibatchRisk(sample, held, batch=2)
    losses = np.asarray(sample.losses(lambda x: x))
    drawn = np.asarray(
        jax.vmap(lambda k: risk.draw(lambda x: x, key=k))(
            jax.random.split(stream(0, "batches"), 1000)
        )
    )
    possible = [np.mean(pair) for pair in itertools.product(losses, repeat=2)]
    assert np.abs(drawn[:, None] - np.array(possible)).min(1).max() < 1e-15
    assert abs(drawn.mean() - losses.mean()) < 5 * drawn.std() / math.sqrt(1000)
    assert float(risk.excess(lambda x: x)) == pytest.approx(
        float(np.mean(np.asarray(held.losses(lambda x: x)))), rel=1e-15
    )


def test_teachers_of_one_shape_share_a_program():
    objective = Part("minibatch", samples=SAMPLE, held_out=SAMPLE, batch=4)
    shapes = {
        jax.tree.structure((built.student, built.objective))
        for name in ("top-k", "two-heads", "products")
        for built in [build(setting(name, "layers").change(objective=objective))]
    }
    assert len(shapes) == 1


def test_annealed_adam_starts_at_its_rate_and_ends_at_rest():
    from tutelage.problem.build import build_optimiser

    transformation = build_optimiser(
        setting("products").change(optimiser=Part("annealed_adam", steps=4))
    )(0.1)
    at, state, moves = jnp.asarray(1.0), transformation.init(jnp.asarray(1.0)), []
    for _ in range(6):
        update, state = transformation.update(jnp.asarray(2.0), state, at)
        moves.append(float(update))
    assert moves == pytest.approx(
        [-0.1 * (1 + math.cos(math.pi * k / 4)) / 2 for k in range(4)] + [0.0, 0.0],
        rel=1e-6,
        abs=1e-15,
    )


# --- how a cell is read


def test_a_constant_has_relative_excess_one_and_the_error_is_that_of_a_ratio():
    sample = draw_sample(
        made("max-pooling"), tt.Gaussian(), SAMPLE, key=stream(0, "fresh"), noisy=False
    )
    middle = sample.labels.mean(0)
    found, error = relative_excess(jax.tree_util.Partial(lambda m, x: m, middle), sample)
    assert found == pytest.approx(1.0, rel=1e-12)
    assert error < 1e-12
    zero, error = relative_excess(jax.tree_util.Partial(lambda m, x: 0 * m, middle), sample)
    Y = np.asarray(sample.labels)
    rng = np.random.default_rng(0)
    again = [Y[i] for i in rng.integers(0, SAMPLE, (300, SAMPLE))]
    resampled = np.std([np.sum(y**2) / np.sum((y - y.mean(0)) ** 2) for y in again])
    assert zero == pytest.approx(np.sum(Y**2) / np.sum((Y - Y.mean(0)) ** 2), rel=1e-12)
    assert error == pytest.approx(
        resampled, rel=0.15
    )  # the bootstrap's own error with 300 resamples is 4%


def test_a_draw_counts_the_restarts_near_its_best():
    draw = Draw(np.array([0.109, 0.1, 0.5, 0.1101, np.inf]), best=0.1, error=0.0, gap=0.0)
    assert draw.near == 2
    assert not draw.alone
    assert Draw(np.array([0.5, 0.1, 0.4]), 0.1, 0.0, 0.0).alone
    assert not Draw(np.array([0.5, 0.001, 0.005]), 0.1, 0.0, 0.0).alone  # both have learned it
    assert MEASURED["median"][1](draw) == 0.1101
    assert MEASURED["worst"][1](draw) == np.inf


# --- the study


@pytest.fixture(scope="module")
def answered(adam_allowed):
    small = replace(study.presets["quick"], restarts=2, samples=SAMPLE)
    only = ("two-heads+position", "two-heads+heads", "taken-for-learned-two-heads+position")
    cases, _ = replace(study, presets={"quick": small}).plan(Plan(seeds=5, steps=300, only=only))
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(readings, "FRESH", SAMPLE)
        yield {a.case.name: a for a in run_cases("teacher-models/limits", cases)}


def planned(plan):
    return study.cases(plan, study.preset(plan))


def statuses(a):
    return {v.id.split("/")[-1]: v.status for v in a.verdicts}


@pytest.mark.depth
def test_one_head_reaches_the_bound_two_learn_and_the_control_fails(answered):
    one, two = (statuses(answered[f"two-heads+{student}"]) for student in ("position", "heads"))
    assert {one.pop("floor"), one.pop("reached")} <= {
        Status.HOLDS,
        Status.UNDECIDED,
    }  # two draws make a wide interval
    assert set(one.values()) == {Status.MEASURED}
    assert set(one) == set(MEASURED)
    best = next(v for v in answered["two-heads+position"].verdicts if v.id.endswith("/best"))
    assert best.measured == pytest.approx(0.5, rel=0.03)
    assert two["learned"] is Status.HOLDS
    assert statuses(answered["taken-for-learned-two-heads+position"]) == {"learned": Status.FAILS}


def test_the_best_is_chosen_on_one_sample_and_judged_on_another(answered):
    a = answered["two-heads+position"]
    draws = Cell().draws(a.runs)
    assert [len(draw.restarts) for draw in draws] == [2] * 5
    assert all(draw.best != draw.restarts.min() for draw in draws)
    assert all(abs(draw.best - draw.restarts.min()) < 0.03 for draw in draws)
    assert all(abs(draw.gap) < 0.02 for draw in draws)


def test_both_figures_show_what_was_measured(answered, tmp_path):
    paths = study.figures(list(answered.values()), tmp_path)
    assert [p.name for p in paths if p.suffix == ".png"] == [
        "limits-map.png",
        "limits-restarts.png",
    ]
    rows = (tmp_path / "limits-map.csv").read_text().splitlines()
    assert rows[0] == "teacher,student,best,second,median,worst,near,alone,error,gap,bound"
    assert [row.split(",")[1] for row in rows[1:]] == ["position", "heads"]


def test_the_table_has_one_row_per_cell_and_names_the_controls(answered):
    verdicts = [verdict for a in answered.values() for verdict in a.verdicts]
    rows = study.table(verdicts).splitlines()
    assert [row.split(" | ")[:2] for row in rows[2:4]] == [
        ["| two-heads", "position"],
        ["| two-heads", "heads"],
    ]
    assert "learned HOLDS" in rows[3]
    assert rows[-1].endswith("Controls: `taken-for-learned-two-heads+position` FAILS.")


def test_every_cell_is_measured_and_claimed_as_theory_allows():
    cases = {case.name: case for case in planned(Plan())}
    names = {name: {claim.id for claim in case.claims} for name, case in cases.items()}
    cells = {f"{t}+{s}": (t, s) for t in TEACHERS for s in STUDENTS}
    assert {name for name, said in names.items() if "floor" in said} == {
        name
        for name, (t, s) in cells.items()
        if s in ("position", "heads") and (t, s) not in INSIDE
    }
    assert {name for name in cells if "learned" in names[name]} == {f"{t}+{s}" for t, s in INSIDE}
    assert all(set(MEASURED) <= names[name] for name in cells)
    assert all(len({s.seed for s in case.settings}) == 6 for case in cases.values())
    assert all(
        floor(cases[f"{t}+{s}"].settings[0]) > 0
        for t, s in cells.values()
        if "floor" in names[f"{t}+{s}"]
    )
    assert (
        cases["taken-for-learned-products+position"].settings == cases["products+position"].settings
    )
    assert paper.studies["limits"].beyond


def test_changes_reach_every_cell_and_leave_the_controls_out():
    changed = [case for case in planned(Plan(changes={"D": 8})) if not case.left_out]
    assert len(changed) == len(TEACHERS) * len(STUDENTS)
    assert all(s.teacher.options["tokens"] == 8 for case in changed for s in case.settings)
    shorter = planned(Plan(steps=7))[0].settings[0]
    assert shorter.steps == shorter.optimiser.options["steps"] == 7
