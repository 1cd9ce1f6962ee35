"""The tangent kernel, its limit, its fluctuation, and descent in it, against plain loops."""

import equinox as eqx
import jax
import jax.numpy as jnp
import kernel_twin as twin
import numpy as np
import pytest

from tutelage import Part, Refused, Setting, build, stream
from tutelage.activations import activation
from tutelage.inputs.clipped import ClippedGaussian, draw_inputs
from tutelage.measures.kernel import KERNEL, PROBE, probed
from tutelage.numerics.heads import Heads, draw_heads
from tutelage.numerics.kernel_descent import KernelDescent, ridge
from tutelage.numerics.limit_kernel import BLOCK, head_response, head_spread, limit_kernel
from tutelage.optimisers.projected import projected_descent

pytestmark = pytest.mark.compiled

TANH = activation("tanh")


# Sums of at most some thousand products of numbers below 1: 1e-12 leaves a hundredfold room above
# rounding.
def close(got, want, rtol=1e-12):
    np.testing.assert_allclose(got, want, rtol=rtol, atol=rtol * np.abs(want).max())


def inputs(count, tokens=5, dim=3, seed=0):
    return draw_inputs(ClippedGaussian(), count, tokens, dim, key=stream(seed, "test inputs"))


@pytest.mark.depth
def test_measures_are_their_definitions():
    setting = Setting(
        Part("transported", dim=3, tokens=4, anchors=2, pool=8),
        0.2,
        1,
        inputs=Part("clipped_gaussian"),
        student=Part("shallow_transformer", heads=4),
        objective=Part("squared_loss", samples=PROBE + 2),
    )
    problem = build(setting)
    # Away from the start, with c no longer ±1: no factor of c can hide.
    moved = jax.tree.map(
        lambda leaf: leaf + 0.3 * jnp.cos(jnp.arange(leaf.size)).reshape(leaf.shape),
        problem.student.heads,
    )
    student = eqx.tree_at(lambda s: s.heads, problem.student, moved)
    assert set(twin.MEASURES) == {measure.__name__ for measure in KERNEL}, (
        "a measure without a definition in kernel_twin"
    )
    for measure in KERNEL:
        close(
            measure(student, problem.objective),
            twin.MEASURES[measure.__name__](student, problem.objective),
        )
    shaped = probed(np.asarray(KERNEL[1](student, problem.objective))[None])
    close(shaped[0, 1], twin.parts(student.heads, problem.objective.tokens[:PROBE])[1])


def test_the_limit_is_the_mean_over_its_blocks_and_the_error_their_spread():
    tokens, key = inputs(3), stream(0, "limit")
    found = limit_kernel(tokens, tokens[:, :, -1], heads=2 * BLOCK + 1, key=key, activation=TANH)
    assert found.heads == 3 * BLOCK
    drawn = [draw_heads(BLOCK, 3, key=jax.random.fold_in(key, b)) for b in range(3)]
    blocks = [twin.parts(Heads(d.attention, d.reading, jnp.ones(BLOCK)), tokens) for d in drawn]
    for part, got in enumerate(found.parts):
        close(got, np.mean([block[part] for block in blocks], axis=0))
    totals = np.array([sum(block) for block in blocks])
    close(found.kernel, totals.mean(0))
    close(
        found.error, totals.std(0, ddof=1) / np.sqrt(3), 1e-10
    )  # a difference of means a few percent apart
    cross = limit_kernel(
        tokens,
        tokens[:, :, -1],
        tokens[:2],
        tokens[:2, :, -1],
        heads=3 * BLOCK,
        key=key,
        activation=TANH,
    )
    close(cross.kernel, totals.mean(0)[:, :2])


@pytest.mark.depth
def test_the_limit_is_the_expectation_where_that_is_an_integral():
    """One token of one feature: α = 1, a = x and M = 0, so that K_c and K_u are integrals over U
    alone and K_w = 0.
    """
    x = np.array([0.9, -0.5, 0.2])
    tokens = jnp.asarray(x).reshape(3, 1, 1)
    found = limit_kernel(
        tokens, tokens[:, :, 0], heads=8192, key=stream(1, "limit"), activation=TANH
    )
    u = np.linspace(-9, 9, 2001)
    weight = np.exp(-(u**2) / 2) / np.sqrt(2 * np.pi) * (u[1] - u[0])
    h = np.tanh(np.outer(x, u))
    exact = (h * weight) @ h.T + ((1 - h**2) * weight) @ (1 - h**2).T * np.outer(x, x)
    scores = (np.asarray(found.kernel) - exact) / np.asarray(found.error)
    assert np.abs(scores).max() < 4.5
    assert np.abs(scores).max() > 1e-3  # a Monte Carlo mean, and not the integral by another name
    assert np.abs(found.parts[2]).max() < 1e-30  # the square of a rounded zero


def test_the_spread_of_one_head_is_its_definition():
    tokens, key = inputs(5), stream(0, "spread")
    drawn = draw_heads(6, 3, key=key)
    each = [
        sum(
            twin.parts(
                Heads(drawn.attention[i : i + 1], drawn.reading[i : i + 1], jnp.ones(1)), tokens
            )
        )
        for i in range(6)
    ]
    centre = np.mean(each, axis=0) + 0.1
    got = head_spread(
        tokens, tokens[:, :, -1], jnp.asarray(centre), heads=6, key=key, activation=TANH
    )
    close(got, np.mean([np.sum((k - centre) ** 2) for k in each]))
    draw = np.random.default_rng(0)
    basis, weights = np.linalg.qr(draw.normal(size=(5, 5)))[0], draw.normal(size=(5, 5))
    seen = [(weights * (basis.T @ (k - centre) @ basis)).sum(1) for k in each]
    given = (jnp.asarray(a) for a in (centre, basis, weights))
    got = head_response(tokens, tokens[:, :, -1], *given, heads=6, key=key, activation=TANH)
    close(got, np.mean([np.sum(v**2) for v in seen]))


def linear(samples=6, parameters=9, scale=1.0):
    draw = np.random.default_rng(3)
    features, others = (
        draw.normal(size=(samples, parameters)) * scale,
        draw.normal(size=(4, parameters)) * scale,
    )
    return features, others, draw.normal(size=samples)


# Fewer parameters than samples leave eigenvalues of zero; the larger step has 1 − 2ηλ/n < 0 along
# the first eigenvectors.
@pytest.mark.parametrize("parameters", [9, 4])
@pytest.mark.parametrize("rate", [0.01, 0.13])
def test_descent_is_that_of_a_linear_network(parameters, rate):
    features, others, labels = linear(parameters=parameters)
    found = KernelDescent(features @ features.T, labels, rate)
    assert rate < found.largest_rate
    assert (found.left(np.array([1])).min() < 0) == (rate == 0.13)
    times = np.array([0, 1, 7, 60])
    for row, steps in enumerate(times):
        here, there = twin.descent(features, labels, rate, steps, others)
        close(found.outputs(times)[row] + 1, here + 1)  # 1 more, since outputs begin at 0
        close(found.residual(times)[row], labels - here)
        close(found.loss(times)[row], np.mean((labels - here) ** 2))
        close(
            found.predict(others @ features.T, times)[row] + 1, there + 1, 1e-11
        )  # divides by small eigenvalues


def test_the_largest_rate_is_where_descent_begins_to_grow():
    features, _, labels = linear()
    edge = KernelDescent(features @ features.T, labels, 1.0).largest_rate
    below, above = (
        KernelDescent(features @ features.T, labels, f * edge).loss(np.array([2000, 4000]))
        for f in (0.99, 1.01)
    )
    assert below[1] < below[0]
    assert above[1] > above[0]


def test_ridge_is_the_normal_equations_and_ridgeless_the_end_of_descent():
    features, others, labels = linear()
    kernel, cross = features @ features.T, others @ features.T
    dual = np.linalg.solve(kernel + 6 * 0.3 * np.eye(6), labels)
    close(ridge(kernel, labels, cross, 0.3), cross @ dual, 1e-11)
    close(ridge(kernel, labels, cross), others @ np.linalg.pinv(features) @ labels, 1e-10)
    close(
        KernelDescent(kernel, labels, 0.1).predict(cross, np.array([100_000]))[0],
        ridge(kernel, labels, cross),
        1e-9,
    )
    few, beyond, labels = linear(parameters=4)  # the kernel has rank 4 of 6
    close(ridge(few @ few.T, labels, beyond @ few.T), beyond @ np.linalg.pinv(few) @ labels, 1e-9)


@pytest.mark.parametrize("step", [1, 2, 40])
def test_the_response_is_the_derivative_of_the_residual(step):
    features, _, labels = linear()
    features[1] = features[0][::-1]  # two inputs of the same length
    kernel = features @ features.T
    found = KernelDescent(kernel, labels, 0.05)
    move = np.cos(np.arange(36.0)).reshape(6, 6)
    move = move + move.T
    inner = found.basis.T @ move @ found.basis
    got = found.basis @ (found.response(step) * inner).sum(1)
    # d(Z^t) = Σ_s Z^s dZ Z^(t−1−s) with Z = I − 2ηK/n.
    turn = np.eye(6) - 2 * 0.05 * kernel / 6
    power = np.linalg.matrix_power
    want = (
        sum(
            power(turn, s) @ (-2 * 0.05 / 6 * move) @ power(turn, step - 1 - s) for s in range(step)
        )
        @ labels
    )
    close(got, want, 1e-9)  # quotients of differences down to 1e-6


def test_equal_eigenvalues_have_a_response_too():
    found = KernelDescent(2 * np.eye(3), np.array([1.0, 2.0, 3.0]), 0.1)
    z = 1 - 2 * 0.1 * 2 / 3
    close(
        found.response(5), -0.2 / 3 * 5 * z**4 * np.outer(np.ones(3), found.basis.T @ found.labels)
    )


def test_bad_input_is_refused():
    with pytest.raises(Refused, match="symmetric"):
        KernelDescent(np.array([[1.0, 2.0], [0.0, 1.0]]), np.ones(2), 0.1)
    with pytest.raises(Refused, match="reward"):
        ridge(np.eye(2), np.ones(2), np.eye(2), -1.0)
    with pytest.raises(Refused, match="spread"):
        limit_kernel(
            inputs(2), inputs(2)[:, :, -1], heads=1, key=stream(0, "limit"), activation=TANH
        )


def test_the_state_of_projected_descent_is_typed():
    """A weakly typed infinity would compile the whole loop a second time."""
    assert not projected_descent(0.1, radii={}).init({}).least.weak_type
