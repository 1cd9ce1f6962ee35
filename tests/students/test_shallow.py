"""The shallow transformer: heads, symmetric start, transported teacher, projected descent, against
plain loops and as properties.
"""

import dataclasses
import subprocess
import sys
from pathlib import Path

import equinox as eqx
import heads_twin as twin
import jax
import jax.numpy as jnp
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tutelage import Part, Refused, Setting, build, execute, stream, train
from tutelage.activations import activation
from tutelage.inputs.clipped import ClippedGaussian, draw_inputs
from tutelage.measures import heads as head_measures
from tutelage.measures.base import as_measure
from tutelage.numerics.heads import (
    Heads,
    covariance,
    draw_heads,
    features,
    gradient_of,
    mirrored,
    output_of,
)
from tutelage.objectives.squared_loss import SquaredLoss
from tutelage.optimisers.projected import project, projected_descent
from tutelage.students.shallow_transformer import ShallowTransformer
from tutelage.teachers import transported
from tutelage.teachers.transported import TransportedTeacher

HEADS = tuple(as_measure(measure) for measure in head_measures.HEADS)

TANH = activation("tanh")
DIM, TOKENS = 3, 5


def close(got, want, rtol=1e-12):
    """Sums of at most a few hundred products: 1e-12 leaves a thousandfold room above rounding."""
    scale = np.abs(np.asarray(want)).max()
    np.testing.assert_allclose(np.asarray(got), np.asarray(want), rtol=rtol, atol=rtol * scale)


def inputs(count, tokens=TOKENS, dim=DIM, seed=0, **law):
    return draw_inputs(ClippedGaussian(**law), count, tokens, dim, key=stream(seed, "test inputs"))


def heads(count=4, seed=0):
    """Heads whose c is not ±1, so that no factor of c can hide."""
    drawn = draw_heads(count, DIM, key=stream(seed, "test heads"))
    return eqx.tree_at(lambda h: h.output, drawn, drawn.output * jnp.linspace(0.5, 1.5, count))


def teacher(pool=6, scores="full", radii=(3.0, 2.0, 0.4), anchors=3):
    weights = jnp.asarray([1.0, -1.0, 0.5])[:anchors]
    return TransportedTeacher(
        inputs(anchors, seed=1), weights, heads(pool, seed=1), radii=radii, scores=scores
    )


def setting(**changes):
    base = Setting(
        Part("transported", dim=DIM, tokens=TOKENS, anchors=2, pool=64),
        rate=0.2,
        steps=12,
        inputs=Part("clipped_gaussian"),
        student=Part("shallow_transformer", heads=6),
        objective=Part("squared_loss", samples=9, validation=4),
        optimiser=Part("projected_descent"),
        measures=tuple(measure.name for measure in HEADS if measure.name in twin.MEASURES),
    )
    return base.change(**changes)


# ---- heads and student


def test_a_head_reads_as_plain_loops_do():
    X = np.asarray(inputs(1)[0])
    q = X[:, -1]
    seen = eqx.filter_jit(features)(heads(), jnp.asarray(X), jnp.asarray(q), TANH)
    spreads = jax.jit(covariance)(heads(), jnp.asarray(X), jnp.asarray(q))
    for i, (W, U) in enumerate(
        zip(np.asarray(heads().attention), np.asarray(heads().reading), strict=True)
    ):
        _, a, M = twin.head(W, U, X, q)
        h = np.tanh(U @ a)
        close(seen.value[i], h)
        close(seen.read[i], (1 - h**2) * a)
        close(seen.spread[i], (1 - h**2) * M @ U)
        close(spreads[i], M)
    close(
        eqx.filter_jit(output_of)(heads(), jnp.asarray(X), jnp.asarray(q), TANH),
        twin.value(heads(), X, q),
    )


@pytest.mark.brief(1)
@pytest.mark.parametrize("name", ["tanh", "erf", "gelu"])
def test_the_closed_form_gradient_is_that_of_autodiff(name):
    X = inputs(1)[0]
    q = jnp.asarray([0.3, -1.0, 0.2])
    ours = gradient_of(heads(), X, q, activation(name))
    theirs = jax.grad(lambda h: output_of(h, X, q, activation(name)))(heads())
    jax.tree.map(close, ours, theirs)


def test_the_closed_form_gradient_is_that_of_plain_loops_and_of_differences():
    X = np.asarray(inputs(1)[0])
    ours = gradient_of(heads(), jnp.asarray(X), jnp.asarray(X[:, -1]), TANH)
    for got, want in zip(
        (ours.attention, ours.reading, ours.output),
        twin.gradient(heads(), X, X[:, -1]),
        strict=True,
    ):
        close(got, want)
    along = draw_heads(4, DIM, key=stream(3, "direction"))
    ahead, behind = (
        jax.tree.map(lambda p, d, e=e: p + e * d, heads(), along) for e in (1e-5, -1e-5)
    )
    slope = (twin.value(ahead, X, X[:, -1]) - twin.value(behind, X, X[:, -1])) / 2e-5
    inner = sum(
        float(jnp.sum(g * d))
        for g, d in zip(jax.tree.leaves(ours), jax.tree.leaves(along), strict=True)
    )
    assert inner == pytest.approx(
        slope, rel=1e-8
    )  # central differences of step 1e-5: error of order 1e-10


@jax.jit
def spread_norms(drawn, sharpness, X):
    sharp = eqx.tree_at(lambda h: h.attention, drawn, sharpness * drawn.attention)
    X = X * jnp.minimum(1.0, 1.0 / jnp.linalg.norm(X, axis=0))[None]
    return jnp.linalg.norm(covariance(sharp, X, X[:, -1]), axis=(1, 2))


# A few lengths, so that each compiles once; the numbers are any at all.
@settings(max_examples=60, deadline=None)
@given(
    st.sampled_from([1, 2, 7, 256]),
    st.floats(0.1, 30.0),
    st.floats(0.1, 9.0),
    st.integers(0, 2**31),
)
def test_the_covariance_of_attended_tokens_is_at_most_one_at_every_length(
    tokens, sharpness, scale, seed
):
    """‖M‖_F ≤ tr M ≤ max‖x_t‖² ≤ 1, whatever T and however sharp the attention."""
    random = np.random.default_rng(seed)
    drawn = Heads(
        *(jnp.asarray(random.standard_normal(shape)) for shape in ((3, 4, 4), (3, 4), (3,)))
    )
    norms = spread_norms(
        drawn, jnp.asarray(sharpness), jnp.asarray(scale * random.standard_normal((4, tokens)))
    )
    assert float(norms.max()) <= 1 + 1e-12


def test_the_bound_on_the_covariance_is_attained():
    """Two opposite unit tokens, attended alike: M = x xᵀ has norm 1, so no smaller bound is
    true.
    """
    x = jnp.asarray([0.6, 0.8, 0.0])
    flat = Heads(jnp.zeros((1, 3, 3)), jnp.ones((1, 3)), jnp.ones(1))
    close(jnp.linalg.norm(covariance(flat, jnp.stack([x, -x], 1), x)[0]), 1.0)


@pytest.mark.parametrize("query", [None, [0.1, -2.0, 0.5]])
def test_the_symmetric_start_is_zero_everywhere_and_moves(query):
    student = ShallowTransformer.symmetric(8, DIM, key=stream(0, "heads"), query=query)
    X = inputs(20)
    assert float(jnp.abs(each(student, X)).max()) < 1e-15
    assert float(jnp.abs(each(student.gradient, X).output).max()) > 0.01
    one = ShallowTransformer.symmetric(2, DIM, key=stream(0, "heads"), query=query)
    close(
        student.heads.reading[0], one.heads.reading[0]
    )  # a wider student begins with the heads of a narrower one


def test_a_given_query_is_used_and_the_last_token_otherwise():
    X, q = inputs(1)[0], jnp.asarray([0.1, -2.0, 0.5])
    last, fixed = (ShallowTransformer(heads(), heads(1), query, TANH) for query in (None, q))
    close(last(X), twin.value(heads(), np.asarray(X), np.asarray(X)[:, -1]))
    close(fixed(X), twin.value(heads(), np.asarray(X), np.asarray(q)))


@eqx.filter_jit
def each(function, X):
    return jax.vmap(function)(X)


def test_the_linearisation_is_a_directional_derivative_at_the_start():
    start, now = mirrored(heads(3)), heads(6, seed=5)
    student, X = ShallowTransformer(now, start, None, TANH), inputs(1)[0]
    gone = jax.tree.map(jnp.subtract, now, start)
    then, slope = jax.jvp(lambda h: output_of(h, X, X[:, -1], TANH), (start,), (gone,))
    close(student.linearised(X), then + slope)
    close(student.linearised(X), twin.linearised(now, start, np.asarray(X), np.asarray(X)[:, -1]))


# ---- teacher


@pytest.mark.parametrize("scores", ["full", "diagonal"])
def test_directions_and_labels_are_those_of_plain_loops(scores):
    made, X = teacher(scores=scores), np.asarray(inputs(4, seed=2))
    told = (made.anchors, made.weights, np.asarray(made.radii))
    found = made.directions(made.pool)
    for got, want in zip(
        (found.attention, found.reading, found.output),
        twin.directions(made.pool, *told, scores == "diagonal"),
        strict=True,
    ):
        close(got, want)
    labels = made.labels(jnp.asarray(X))
    terms = np.array([twin.label(made.pool, *told, x, scores == "diagonal") for x in X])
    close(labels.values, terms.mean(1))
    close(labels.errors, terms.std(1, ddof=1) / np.sqrt(terms.shape[1]))


@pytest.mark.depth
def test_a_pool_larger_than_a_block_is_summed_whole():
    many = draw_heads(1024, DIM, key=stream(4, "pool"))
    told = (inputs(1, seed=1), jnp.ones(1))
    X = inputs(2, seed=2)
    whole, part = (
        TransportedTeacher(*told, h).labels(X)
        for h in (many, jax.tree.map(lambda leaf: leaf[:700], many))
    )
    each = [
        TransportedTeacher(*told, jax.tree.map(lambda leaf, i=i: leaf[i::2], many)).labels(X).values
        for i in (0, 1)
    ]
    close(whole.values, (each[0] + each[1]) / 2)
    assert float(jnp.abs(whole.values - part.values).max()) > 1e-6


@pytest.mark.parametrize("scores", ["full", "diagonal"])
def test_many_labels_are_rounded_by_far_less_than_they_are_uncertain(monkeypatch, scores):
    """In single precision and blocks by threads, against the exact twin of one input at a time."""
    made, X = teacher(scores=scores), inputs(9, seed=2)
    exact = made.labels(X)
    monkeypatch.setattr(transported, "MANY", 1)
    found = made.labels(X)
    assert found.values.dtype == found.errors.dtype == jnp.float64
    gaps = np.abs(np.asarray(found.values - exact.values))
    assert 0 < gaps.max() < 1e-6 * float(jnp.abs(exact.values).max())
    assert (gaps < 1e-3 * np.asarray(exact.errors)).all()
    np.testing.assert_allclose(found.errors, exact.errors, rtol=1e-5)


@eqx.filter_jit
def directions_of(made, heads):
    return made.directions(heads)


@settings(max_examples=20, deadline=None)
@given(st.tuples(*[st.floats(0.0, 4.0)] * 3), st.integers(0, 1000))
def test_no_direction_is_longer_than_its_radius(radii, seed):
    made = TransportedTeacher(
        inputs(3, seed=1), jnp.asarray([1.0, -1.0, 1.0]), heads(2), radii=radii
    )
    random = np.random.default_rng(seed)
    v = directions_of(
        made,
        Heads(
            *(jnp.asarray(random.standard_normal(shape)) for shape in ((16, 3, 3), (16, 3), (16,)))
        ),
    )
    longest = [float(jnp.abs(v.output).max()), float(jnp.linalg.norm(v.reading, axis=1).max())]
    longest.append(float(jnp.linalg.norm(v.attention, axis=(1, 2)).max()))
    assert all(
        length <= radius * (1 + 1e-12) + 1e-300
        for length, radius in zip(longest, radii, strict=True)
    )


@pytest.mark.depth
def test_the_linearised_student_at_the_transported_point_is_the_teacher_seen_through_its_heads():
    """f_lin(X; θ̃) = (1/m)Σ[φ_c v_c + ⟨φ_u, v_u⟩ + ⟨φ_w, v_w⟩], since c² = 1 and f₀ = 0."""
    made, student = teacher(), ShallowTransformer.symmetric(8, DIM, key=stream(0, "heads"))
    there = dataclasses.replace(student, heads=made.transport(student.start))
    X = inputs(5, seed=3)
    close(each(there.linearised, X), made.through(student.start, X).values, 1e-11)


@pytest.mark.depth
def test_the_error_of_a_label_is_the_spread_between_pools():
    """z-scores of the difference of two independent pools: their mean square is 1 within five of
    its standard errors.
    """
    X, told, pairs = inputs(40, seed=2), (inputs(2, seed=1), jnp.ones(2)), 128
    drawn = draw_heads(2 * pairs * 256, DIM, key=stream(0, "pools"))
    pools = jax.tree.map(lambda leaf: leaf.reshape(2, pairs, 256, *leaf.shape[1:]), drawn)
    one, two = (
        jax.jit(jax.vmap(lambda pool: TransportedTeacher(*told, pool).labels(X)))(side)
        for side in _halves(pools)
    )
    # Inputs share a pool, so that a pair of pools is one draw.
    squares = np.mean((one.values - two.values) ** 2 / (one.errors**2 + two.errors**2), axis=1)
    error = squares.std(ddof=1) / np.sqrt(pairs)
    assert abs(squares.mean() - 1) < 5 * error
    assert error < 0.1  # so that a factor of two in the variance is ten of them


def _halves(pools):
    return [jax.tree.map(lambda leaf, i=i: leaf[i], pools) for i in range(2)]


# ---- projection, descent

RADII = {"output": 0.5, "reading": 1.0, "attention": 2.0}
numbers = st.floats(-3, 3)


def point(values):
    array = np.resize(np.asarray(values), 4 * (9 + 3 + 1))
    return Heads(
        jnp.asarray(array[:36].reshape(4, 3, 3)),
        jnp.asarray(array[36:48].reshape(4, 3)),
        jnp.asarray(array[48:]),
    )


def distance(a, b):
    return np.sqrt(
        sum(
            float(jnp.sum((x - y) ** 2))
            for x, y in zip(jax.tree.leaves(a), jax.tree.leaves(b), strict=True)
        )
    )


@pytest.mark.depth
@settings(max_examples=60, deadline=None)
@given(*[st.lists(numbers, min_size=52, max_size=52)] * 3)
def test_the_projection_is_idempotent_non_expansive_and_lands_in_the_balls(first, second, middle):
    centre = point(middle)
    a, b = project(point(first), centre, RADII), project(point(second), centre, RADII)
    jax.tree.map(
        lambda x, y: np.testing.assert_allclose(x, y, rtol=0, atol=1e-15 * 8),
        project(a, centre, RADII),
        a,
    )
    assert distance(a, b) <= distance(point(first), point(second)) + 1e-12
    for name, radius in RADII.items():
        gone = np.asarray(getattr(a, name) - getattr(centre, name)).reshape(4, -1)
        assert np.linalg.norm(gone, axis=1).max() <= radius / 2 * (1 + 1e-12)  # √m = 2


def test_the_projection_takes_the_nearest_point_of_each_ball():
    centre = point(np.zeros(52))
    out = eqx.tree_at(
        lambda h: h.reading,
        point(np.full(52, 1e-3)),
        jnp.asarray([[3.0, 4.0, 0.0], [0, 0, 0.1], [0, 0, 0], [1, 0, 0]]),
    )
    back = project(out, centre, RADII)
    np.testing.assert_allclose(
        back.reading, [[0.3, 0.4, 0], [0, 0, 0.1], [0, 0, 0], [0.5, 0, 0]], rtol=1e-15
    )
    assert np.array_equal(
        back.attention, out.attention
    )  # what is inside is not touched, not even in its last digit
    assert np.array_equal(back.output, out.output)


@pytest.mark.brief(1)
@pytest.mark.parametrize("radius", [3.0, 0.01])
def test_projected_descent_is_a_plain_loop_with_a_projection(radius):
    problem = build(
        setting(**{"optimiser.rho_c": radius, "optimiser.rho_u": radius, "optimiser.rho_w": radius})
    )
    student, objective, rate = problem.student, problem.objective, 0.2
    heads_now, seen, losses = student.heads, [], []
    X, y = np.asarray(objective.tokens), np.asarray(objective.labels)
    for _ in range(12):
        seen.append(heads_now)
        errors = twin.outputs(heads_now, X) - y
        losses.append(np.mean(errors**2))
        slopes = [twin.gradient(heads_now, x, x[:, -1]) for x in X]
        moved = []
        for block, name in enumerate(("attention", "reading", "output")):
            slope = sum(2 * e * s[block] for e, s in zip(errors, slopes, strict=True)) / len(y)
            gone = (
                np.asarray(getattr(heads_now, name))
                - rate * slope
                - np.asarray(getattr(student.start, name))
            )
            lengths = np.array([np.linalg.norm(g) for g in gone]).reshape(
                -1, *[1] * (gone.ndim - 1)
            )
            shrunk = gone * np.minimum(1, radius / np.sqrt(6) / np.maximum(lengths, 1e-300))
            moved.append(np.asarray(getattr(student.start, name)) + shrunk)
        heads_now = Heads(*map(jnp.asarray, moved))
    run = train(
        student,
        objective,
        rate=rate,
        steps=12,
        optimiser=problem.optimiser,
        measures=problem.measures,
    )
    jax.tree.map(lambda a, b: close(a, b, 1e-11), run.student.heads, heads_now)
    close(run.curves["loss"][-1], np.mean((twin.outputs(heads_now, X) - y) ** 2), 1e-10)
    close(run.curves["least_loss"][-1], min(*losses, run.curves["loss"][-1]), 1e-10)
    mean = jax.tree.map(lambda *parts: sum(parts) / 12, *seen)
    close(run.curves["averaged_loss"][-1], np.mean((twin.outputs(mean, X) - y) ** 2), 1e-10)
    assert (float(np.max(run.curves["displacement"][-1])) == pytest.approx(radius)) is (radius < 1)


def test_every_measure_of_heads_is_its_definition():
    problem = build(setting())
    student = eqx.tree_at(lambda s: s.heads, problem.student, heads(6, seed=7))
    optimiser = projected_descent(0.1, radii=RADII)
    moving = eqx.filter(student, jax.tree.map(lambda _: True, student))
    state = optimiser.init(moving)._replace(
        least=jnp.asarray(1e-9), mean=eqx.tree_at(lambda s: s.heads, moving, heads(6, seed=8))
    )
    measure_all = eqx.filter_jit(lambda *given: {each.name: each(*given) for each in HEADS})
    found = measure_all(student, problem.objective, state)
    for measure in HEADS:
        if measure.name not in twin.MEASURES:
            continue
        close(
            np.atleast_1d(found[measure.name]),
            np.atleast_1d(twin.MEASURES[measure.name](student, problem.objective, state)),
            1e-11,
        )
    assert set(twin.MEASURES) == {measure.name for measure in HEADS}, (
        "a measure without a definition in heads_twin"
    )


def test_single_sample_steps_descend_on_one_sample_each():
    problem = build(
        setting(
            objective=Part("single_sample", samples=9),
            measures=("loss", "averaged_loss", "least_loss"),
            steps=3,
        )
    )
    student, objective = problem.student, problem.objective
    run = train(
        student,
        objective,
        rate=0.2,
        steps=3,
        optimiser=problem.optimiser,
        measures=problem.measures,
        key=problem.key,
    )
    now = student
    for step in range(3):
        chosen = int(jax.random.randint(jax.random.fold_in(problem.key, step), (), 0, 9))
        x, y = objective.tokens[chosen], objective.labels[chosen]
        error = 2 * (now(x) - y)
        slope = jax.tree.map(lambda g, error=error: error * g, now.gradient(x))
        now = eqx.tree_at(
            lambda s: s.heads, now, jax.tree.map(lambda p, g: p - 0.2 * g, now.heads, slope)
        )
    jax.tree.map(close, run.student.heads, now.heads)
    close(run.curves["least_loss"], run.curves["loss"])  # a draw is not the loss of an iterate


def test_samples_of_a_seed_are_nested_and_validation_is_apart():
    small, large = (build(setting(**{"objective.samples": n})).objective for n in (4, 9))
    assert np.array_equal(small.tokens, large.tokens[:4])
    close(small.labels, large.labels[:4])
    assert not np.isin(np.asarray(large.validation_tokens), np.asarray(large.tokens)).any()
    assert not np.array_equal(build(setting(seed=1)).objective.tokens, large.tokens)


def test_runs_are_stored_and_loaded(tmp_path):
    from tutelage import Store

    store = Store(tmp_path)
    (fresh,) = execute([setting()], store=store)
    (again,) = execute([setting()], store=store)
    jax.tree.map(lambda a, b: np.testing.assert_array_equal(a, b), fresh.student, again.student)
    assert list(fresh.curves["least_loss"]) == list(again.curves["least_loss"])


def test_clipped_tokens_keep_their_direction_and_their_length_below_the_radius():
    free, cut = (
        ClippedGaussian(1.0, radius).sample(50, 3, key=stream(0, "x")) for radius in (1e9, 1.5)
    )
    lengths = jnp.linalg.norm(free, axis=0)
    close(cut, free * jnp.minimum(1.0, 1.5 / lengths)[None])
    assert float(jnp.linalg.norm(cut, axis=0).max()) <= 1.5 * (1 + 1e-15)
    assert 0 < int((lengths < 1.5).sum()) < 50


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"student.heads": 7}, "must be even"),
        ({"student.heads": 0}, "at least 2"),
        ({"student.query": [1.0, 2.0]}, "3 finite numbers"),
        ({"objective.samples": 0}, "samples=0"),
        ({"objective.validation": -1}, "validation=-1"),
        ({"teacher.anchors": 0}, "anchors=0"),
        ({"teacher.pool": 1}, "pool=1"),
        ({"teacher.scores": "diag"}, "Did you mean 'diagonal'"),
        ({"teacher.signs": "ranom"}, "Did you mean 'random'"),
        ({"teacher.nu_c": -1.0}, "nu_c=-1"),
        ({"teacher.query": [1.0, 2.0]}, "3 finite numbers"),
        (
            {"student": Part("indrnn", heads=4, recurrent=0.5), "measures": ("loss",)},
            "must have heads",
        ),
        ({"inputs.radius": 0.0}, "radius=0"),
        ({"optimiser.rho_w": 0.0}, "rho_w"),
        ({"teacher": Part("group_sparse", tokens=4, dim=3)}, "one label per input"),
        ({"optimiser": Part("gradient_descent")}, "projected_descent"),
    ],
)
@pytest.mark.usefixtures("shapes_unchecked")
def test_bad_input_is_refused_before_any_work(changes, said):
    with pytest.raises(Refused, match=said):
        build(setting(**changes))


@pytest.mark.usefixtures("shapes_unchecked")
def test_a_sample_of_the_wrong_shape_is_refused():
    with pytest.raises(Refused, match="one label each"):
        SquaredLoss(teacher(), inputs(3), jnp.zeros(2), jnp.zeros(2))
    with pytest.raises(Refused, match="no validation sample"):
        SquaredLoss(teacher(), inputs(3), jnp.zeros(3), jnp.zeros(3)).validation(None)


def test_one_run_of_every_shape_goes_first_so_that_no_core_waits_for_the_program_of_another():
    from tutelage.running.batches import Load, batches

    several = (setting(seed=seed).change(**{"student.heads": m}) for m in (4, 6) for seed in (0, 1))
    loads = {s: Load.of(s, build(s), jax.devices()) for s in several}
    widths = [batch[0].student.options["heads"] for batch in batches(loads, 2)]
    assert widths == [6, 4, 6, 4]


@pytest.mark.depth
def test_a_run_over_two_devices_is_the_run_on_one(tmp_path):
    """The whole loop, projection and measures included, with the samples dealt out: the same
    numbers to rounding.
    """
    code = (
        "import os; os.environ['XLA_FLAGS'] += ' --xla_force_host_platform_device_count=2'\n"
        "import sys; sys.path[:0] = sys.argv[2:]\n"
        "import tutelage, jax, numpy as np; from test_shallow import setting\n"
        "assert jax.device_count() == 2\n"
        "(run,) = tutelage.execute([setting()])\n"
        "np.savez(sys.argv[1], **run.curves)"
    )
    here = Path(__file__).parent
    done = subprocess.run(
        [
            sys.executable,
            "-c",
            code,
            str(tmp_path / "two.npz"),
            str(here),
            str(here.parent / "support"),
        ],
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr
    (alone,) = execute([setting()])
    two = np.load(tmp_path / "two.npz")
    for name, curve in alone.curves.items():
        close(two[name], curve, 1e-10)


@pytest.mark.parametrize(
    ("teachers", "students"),
    [(None, [1.0, 0.0, 0.0]), ([1.0, 0.0, 0.0], None), ([1.0, 0.0, 0.0], [0.0, 1.0, 0.0])],
)
def test_a_student_that_asks_with_another_query_than_its_teacher_is_refused(teachers, students):
    setting = Setting(
        Part("transported", dim=3, tokens=2, pool=4, anchors=1),
        rate=1.0,
        steps=1,
        measures=("loss",),
        inputs=Part("clipped_gaussian"),
        student=Part("shallow_transformer", heads=2),
        objective=Part("squared_loss", samples=2),
        optimiser=Part("projected_descent"),
    )
    build(setting.change(**{"teacher.query": students, "student.query": students}))
    with pytest.raises(Refused, match="must ask with the same `query`"):
        build(setting.change(**{"teacher.query": teachers, "student.query": students}))
