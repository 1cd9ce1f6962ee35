"""The small parts: activations, teachers' matrices, inputs, random streams, students."""

from __future__ import annotations

import jax
import jax.numpy as jnp
import networkx as nx
import numpy as np
import pytest
import twins

import tutelage as tt
from tutelage.activations import REGISTERED

# ---- activations


@pytest.mark.parametrize("slope", [0.0, 0.1, 0.25, 0.9])
def test_the_leaky_derivative_at_zero_is_the_average_of_its_sides(slope: float) -> None:
    twins.check_leaky_derivative(slope)
    act = tt.LeakyReLU(slope)
    # Forwards as backwards, and a whole array at once.
    at = jnp.asarray([-1.0, 0.0, 1.0])
    np.testing.assert_array_equal(
        jax.jvp(act, (at,), (jnp.ones(3),))[1], [slope, 0.5 * (1 + slope), 1.0]
    )
    np.testing.assert_array_equal(act(jnp.asarray([-2.0, -0.0, 3.0])), [-2.0 * slope, 0.0, 3.0])


@pytest.mark.parametrize("name", REGISTERED)
@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_an_activation_keeps_the_type_of_its_input(name: str, dtype: str) -> None:
    x = jax.ShapeDtypeStruct((5,), dtype)
    value, slope = jax.eval_shape(lambda x, dx: jax.jvp(tt.activation(name), (x,), (dx,)), x, x)
    assert value.dtype == slope.dtype == x.dtype


def test_an_activation_is_found_by_name_or_made_of_a_callable() -> None:
    x = jnp.linspace(-2, 2, 9)
    wanted = {
        "identity": x,
        "relu": np.maximum(x, 0),
        "leaky_relu": np.where(x > 0, x, 0.1 * x),
        "leaky_relu(0.3)": np.where(x > 0, x, 0.3 * x),
        "leaky_relu( 3e-1 )": np.where(x > 0, x, 0.3 * x),
        "erf": twins.NUMPY["erf"](np.asarray(x)),
        "tanh": np.tanh(x),
        "gelu": twins.NUMPY["gelu"](np.asarray(x)),
        "silu": twins.NUMPY["silu"](np.asarray(x)),
        "sigmoid": 1 / (1 + np.exp(-np.asarray(x))),
        "gelu_tanh": 0.5 * x * (1 + np.tanh(np.sqrt(2 / np.pi) * (x + 0.044715 * x**3))),
        "softplus": np.logaddexp(0, np.asarray(x)),
        "elu": np.where(x > 0, x, np.expm1(x)),
    }
    assert set(wanted) >= set(REGISTERED)
    for name, want in wanted.items():
        # Library functions of either side, each to a few eps.
        np.testing.assert_allclose(
            tt.activation(name)(x), want, rtol=4 * twins.EPS, atol=4 * twins.EPS, err_msg=name
        )
    act = tt.activation(jnp.cos)
    np.testing.assert_array_equal(act(x), jnp.cos(x))
    assert act == tt.activation(jnp.cos)
    assert hash(act) == hash(tt.activation(jnp.cos))
    assert tt.activation(act) is act
    assert tt.activation("relu") == tt.LeakyReLU(0.0)
    assert (tt.activation("relu").name, tt.activation("leaky_relu(0.30)").name) == (
        "relu",
        "leaky_relu(0.3)",
    )
    assert tt.activation("leaky_relu(0.3)") != tt.activation("leaky_relu(0.4)")


# ---- teachers


def test_pooling() -> None:
    want = np.zeros((6, 6))
    for group in ([0, 1, 2], [3, 4, 5]):
        want[np.ix_(group, group)] = 1 / 3
    np.testing.assert_array_equal(tt.pooling(6, 3), want)
    np.testing.assert_array_equal(tt.pooling(4, 1), np.eye(4))
    np.testing.assert_array_equal(tt.pooling(4, 4), np.full((4, 4), 0.25))


def test_cycle() -> None:
    want = [[0, 1, 0, 0, 1], [1, 0, 1, 0, 0], [0, 1, 0, 1, 0], [0, 0, 1, 0, 1], [1, 0, 0, 1, 0]]
    np.testing.assert_array_equal(tt.cycle(5), want)
    np.testing.assert_array_equal(tt.cycle(3), 1 - np.eye(3))
    np.testing.assert_array_equal(tt.cycle(7), nx.to_numpy_array(nx.cycle_graph(7)))


def test_neighbourhoods_of_a_regular_graph_are_its_symmetric_normalisation() -> None:
    graph = nx.random_regular_graph(3, 8, seed=1)
    closed = nx.to_numpy_array(graph, nodelist=list(graph.nodes)) + np.eye(8)
    root = np.diag(closed.sum(0) ** -0.5)
    for given in (graph, closed - np.eye(8), (closed - np.eye(8)).tolist()):
        np.testing.assert_allclose(
            tt.neighbourhoods(given), root @ closed @ root, rtol=4 * twins.EPS
        )
    np.testing.assert_array_equal(tt.neighbourhoods(tt.cycle(5)) > 0, tt.cycle(5) + np.eye(5) > 0)


def test_neighbourhoods_of_an_irregular_graph_have_columns_that_sum_to_one() -> None:
    star = nx.star_graph(3)  # node 0 in the middle
    want = np.array(
        [[0.25, 0.5, 0.5, 0.5], [0.25, 0.5, 0, 0], [0.25, 0, 0.5, 0], [0.25, 0, 0, 0.5]]
    )
    np.testing.assert_array_equal(tt.neighbourhoods(star), want)
    # Weights of edges and loops do not count, and a node without neighbours reads itself.
    star.add_edge(0, 1, weight=7.0)
    star.add_edge(0, 0)
    np.testing.assert_array_equal(tt.neighbourhoods(star), want)
    np.testing.assert_array_equal(tt.neighbourhoods(np.zeros((2, 2))), np.eye(2))


def test_same_subset() -> None:
    want = np.zeros((5, 5))
    want[[1, 4]] = 0.5
    np.testing.assert_array_equal(tt.same_subset(5, [4, 1]), want)
    np.testing.assert_array_equal(tt.same_subset(5, np.array([1, 4]), queries=2), want[:, :2])
    np.testing.assert_array_equal(tt.same_subset(3, [2], queries=1), [[0.0], [0.0], [1.0]])


def test_random_subsets_are_sorted_distinct_and_uniform() -> None:
    draw = np.random.default_rng(0)
    subsets = np.array([tt.random_subset(6, 3, draw) for _ in range(3000)])
    assert np.all(np.diff(subsets, axis=1) > 0)
    assert subsets.min() == 0
    assert subsets.max() == 5
    counts = np.bincount(subsets.ravel(), minlength=6)
    # Each token is in a subset with probability ½.
    assert np.abs((counts - 1500) / np.sqrt(3000 / 4)).max() < twins.LARGEST_Z
    np.testing.assert_array_equal(tt.random_subset(4, 4, draw), range(4))


def test_every_selection_makes_a_teacher() -> None:
    value = np.array([[1.0, -2.0], [0.5, 3.0]])
    for selection in (
        tt.pooling(36, 4),
        tt.neighbourhoods(tt.cycle(20)),
        tt.same_subset(20, [1, 5, 7, 11]),
        tt.same_subset(7, [3], 2),
    ):
        teacher = tt.BilinearTeacher(value, selection, "leaky_relu(0.1)", noise=0.2)
        assert teacher.shape == (2, 2, *selection.shape)
        assert teacher.value.dtype == teacher.selection.dtype == jnp.float64


def test_a_teacher_computes_its_formula() -> None:
    draw = np.random.default_rng(1)
    value, selection, X = (
        draw.normal(size=(2, 3)),
        twins.columns(draw, 4, 3),
        draw.normal(size=(3, 4)),
    )
    teacher = tt.BilinearTeacher(value, selection, "relu", noise=0.5)
    want = np.maximum(value @ X @ selection, 0)
    np.testing.assert_allclose(teacher(jnp.asarray(X)), want, rtol=0, atol=1e-14)
    key = tt.stream(3, "labels")
    noise = np.asarray(teacher.label(jnp.asarray(X), key=key) - want) / 0.5
    np.testing.assert_allclose(noise, jax.random.normal(key, (2, 3)), rtol=0, atol=1e-13)


# ---- students


def test_a_student_computes_its_formula() -> None:
    draw = np.random.default_rng(2)
    teacher = tt.BilinearTeacher(draw.normal(size=(2, 3)), twins.columns(draw, 4, 3), "relu")
    codes = {"key_codes": draw.normal(size=(5, 4)), "query_codes": draw.normal(size=(2, 3))}
    student = tt.PositionAttention.random(
        teacher, scale=0.8, key=tt.stream(0, "x"), attention_scale=0.3, **codes
    )
    X = draw.normal(size=(3, 4))
    weights = np.exp(
        0.3 * codes["key_codes"].T @ np.asarray(student.key_query) @ codes["query_codes"]
    )
    weights /= weights.sum(0)
    np.testing.assert_allclose(student.attention(), weights, rtol=1e-14)
    np.testing.assert_allclose(
        student(jnp.asarray(X)),
        np.maximum(np.asarray(student.value) @ X @ weights, 0),
        rtol=0,
        atol=1e-14,
    )


def test_the_start_at_zero() -> None:
    teacher = tt.BilinearTeacher(
        np.ones((2, 3)), twins.columns(np.random.default_rng(3), 4, 3), "erf"
    )
    start = tt.PositionAttention.zeros(teacher)
    assert not np.any(start.value)
    assert not np.any(start.key_query)
    assert start.key_query.shape == (4, 3)
    np.testing.assert_array_equal(start.attention(), 0.25)
    assert start.activation == teacher.activation
    twins.check_default_scale()


def test_the_random_start_has_the_stated_spread() -> None:
    teacher = tt.BilinearTeacher(np.ones((40, 50)), tt.pooling(50, 5), "identity")
    start = tt.PositionAttention.random(teacher, scale=0.2, key=tt.stream(4, "x"))
    value, scores = np.asarray(start.value), np.asarray(start.key_query)
    for block in (value, scores):
        n = block.size
        # The mean has variance s²/n, the variance 2s⁴/n.
        assert abs(float(block.mean())) / (0.2 / n**0.5) < twins.LARGEST_Z
        assert abs(float((block**2).mean()) - 0.04) / (0.04 * (2 / n) ** 0.5) < twins.LARGEST_Z
    assert abs(float(np.sum(value * scores[:40, :50]))) / 0.04 / 2000**0.5 < twins.LARGEST_Z


def test_attention_does_not_overflow() -> None:
    teacher = tt.BilinearTeacher(np.ones((1, 1)), tt.pooling(2, 1))
    start = tt.PositionAttention.zeros(teacher, attention_scale=1.0)
    far = jax.tree.map(lambda x: x, start)
    far = tt.PositionAttention(
        far.value,
        jnp.asarray([[1e4, -1e4], [-1e4, 1e4]]),
        None,
        None,
        far.attention_scale,
        far.activation,
    )
    np.testing.assert_array_equal(far.attention(), np.eye(2))


# ---- streams


def test_streams_are_independent_and_stay_what_they_are() -> None:
    twins.check_streams()


def test_a_stream_does_not_depend_on_whether_it_is_traced() -> None:
    keys = jax.jit(jax.vmap(lambda seed: jax.random.key_data(tt.stream(seed, "a"))))(jnp.arange(2))
    np.testing.assert_array_equal(keys[0], twins.PINNED[0, "a"])
    assert np.any(np.asarray(keys[1]) != np.asarray(keys[0]))


# ---- inputs


def test_the_law_is_seen_through_its_square_roots() -> None:
    draw = np.random.default_rng(5)
    covariance, correlation = twins.moments(draw, 3), twins.moments(draw, 4)
    inputs = tt.Gaussian(covariance, correlation)
    w, s = draw.normal(size=(2, 3)), draw.normal(size=(4, 2))
    rows, columns = inputs.whiten_rows(jnp.asarray(w)), inputs.whiten_columns(jnp.asarray(s))
    np.testing.assert_allclose(rows @ rows.T, w @ covariance @ w.T, rtol=1e-13)
    np.testing.assert_allclose(columns.T @ columns, s.T @ correlation @ s, rtol=1e-13)
    plain = tt.Gaussian()
    np.testing.assert_array_equal(plain.whiten_rows(jnp.asarray(w)), w)
    np.testing.assert_array_equal(plain.whiten_columns(jnp.asarray(s)), s)


def test_a_singular_covariance_is_allowed() -> None:
    one = np.ones((3, 1))
    inputs = tt.Gaussian(one @ one.T)
    # R^½ = R/√3 for a matrix of ones. The eigenvalues 0 are found to a few eps, and their roots to
    # √eps.
    np.testing.assert_allclose(inputs.feature_root, one @ one.T / 3**0.5, rtol=0, atol=1e-7)
    np.testing.assert_allclose(
        inputs.feature_root @ inputs.feature_root, one @ one.T, rtol=0, atol=1e-14
    )
