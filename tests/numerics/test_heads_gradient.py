"""The closed-form gradient of a shallow transformer against automatic differentiation of the plain
formula, and finite differences.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
from functools import partial
from pathlib import Path
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from plain_heads import bent, case, plain
from twins import TIGHT

import tutelage as tt
from tutelage.numerics import few_tokens, heads_gradient
from tutelage.numerics.heads import draw_heads
from tutelage.numerics.heads_gradient import (
    laid_out,
    loss_and_gradient,
    predict,
    sharded_loss_and_gradient,
)

pytestmark = pytest.mark.compiled

# Tokens, which have the layout of one product a sample; the usual case has five, and the other one.
MANY = few_tokens.FEW + 1
BLOCK = 4  # samples of MANY tokens
ours = jax.jit(loss_and_gradient, static_argnames="activation")


@partial(jax.jit, static_argnames="activation")
def twin(W: Any, U: Any, c: Any, X: Any, q: Any, y: Any, activation: Any) -> Any:
    return jax.value_and_grad(
        lambda weights: jnp.mean((plain(*weights, X, q, activation) - y) ** 2)
    )((W, U, c))


def same(got: Any, want: Any, tolerance: float = TIGHT) -> None:
    """Each array to `tolerance` of its own norm."""
    for ours, theirs in zip(jax.tree.leaves(got), jax.tree.leaves(want), strict=True):
        assert ours.shape == theirs.shape
        assert np.linalg.norm(np.asarray(ours) - np.asarray(theirs)) <= tolerance * np.linalg.norm(
            theirs
        )


@pytest.fixture(autouse=True)
def small_blocks(monkeypatch: pytest.MonkeyPatch) -> None:
    """Four samples of many tokens in double precision, or eight of few, so that a few samples make
    several blocks.
    """
    monkeypatch.setattr(heads_gradient, "BLOCK", BLOCK * 3 * MANY * 8)
    monkeypatch.setattr(few_tokens, "MOST", 8)


# One sample; one block; one more, where blocks overlap; several, the last ragged.
@pytest.mark.brief(2)
@pytest.mark.parametrize(("n", "block"), [(1, 1), (4, 4), (5, 3), (11, 4)])
def test_loss_and_gradient_of_many_tokens_are_those_of_the_plain_formula(
    n: int, block: int
) -> None:
    assert heads_gradient.block_size(case(n, T=MANY)[3], 3) == block
    same(ours(*case(n, T=MANY), activation=jnp.tanh), twin(*case(n, T=MANY), jnp.tanh))


@pytest.mark.brief(3)
@pytest.mark.parametrize(("n", "block"), [(1, 1), (8, 8), (9, 8), (19, 8)])
@pytest.mark.parametrize("T", [5, few_tokens.FEW])
def test_loss_and_gradient_of_few_tokens_are_those_of_the_plain_formula(
    n: int, block: int, T: int
) -> None:
    assert few_tokens.block_size(n, T, 3, 8) == block
    same(ours(*case(n, T=T), activation=jnp.tanh), twin(*case(n, T=T), jnp.tanh))


def test_a_block_is_whole_vectors_within_the_cache(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.undo()
    monkeypatch.setattr(few_tokens, "CACHE", 3 * 2**16)  # of a cache of 512 kB
    assert few_tokens.block_size(2000, 16, 8, 4) == 96  # 21 blocks of 95.2, in vectors of eight
    assert few_tokens.block_size(5000, 16, 64, 4) == 48
    assert few_tokens.block_size(5000, 16, 256, 4) == 32
    assert few_tokens.block_size(5, 16, 8, 4) == 5


@pytest.mark.parametrize("T", [5, MANY])
def test_tokens_laid_out_beforehand(T: int) -> None:
    given = case(11, T=T)
    same(ours(*given, activation=jnp.tanh, laid=laid_out(given[3])), twin(*given, jnp.tanh))


@pytest.mark.brief(1)
@pytest.mark.parametrize("activation", [bent, tt.activation("relu")], ids=["a function", "ReLU"])
def test_any_activation(activation: Any) -> None:
    for T in (5, MANY):
        same(ours(*case(11, T=T), activation=activation), twin(*case(11, T=T), activation))


@pytest.mark.parametrize("n", [1, 11])
def test_predictions_are_those_of_the_plain_formula(n: int) -> None:
    *given, _ = case(n)
    same(jax.jit(partial(predict, activation=jnp.tanh))(*given), plain(*given, jnp.tanh))


@pytest.mark.parametrize(
    ("m", "d", "T"),
    [(1, 1, 5), (40, 2, MANY)],
    ids=["one head, one dimension", "blocks of one sample"],
)
def test_odd_sizes(m: int, d: int, T: int) -> None:
    same(ours(*case(6, m, d, T), activation=bent), twin(*case(6, m, d, T), bent))


def test_one_token_leaves_nothing_to_attend_to() -> None:
    loss, (in_w, *rest) = ours(*case(6, T=1), activation=bent)
    want, (zero, *others) = twin(*case(6, T=1), bent)
    same((loss, rest), (want, others))
    # M = xxᵀ − xxᵀ; u − ū is a rounding of u = U·x, which is below 10 here.
    assert jnp.abs(zero).max() == 0
    assert jnp.abs(in_w).max() <= TIGHT


def test_gradient_is_the_slope_of_the_loss() -> None:
    weights, data, direction = case(11)[:3], case(11)[3:], case(11, seed=1)[:3]
    _, gradient = ours(*weights, *data, activation=jnp.tanh)
    claimed = sum(np.vdot(g, v) for g, v in zip(gradient, direction, strict=True))

    def central(t: float) -> Any:
        ahead, behind = (
            [p + s * v for p, v in zip(weights, direction, strict=True)] for s in (t, -t)
        )
        return (
            ours(*ahead, *data, activation=jnp.tanh)[0]
            - ours(*behind, *data, activation=jnp.tanh)[0]
        ) / (2 * t)

    # Extrapolated from steps of 1e-3 and 2e-3: 4e-12 times a fifth derivative of some hundred
    # losses, and roundings of 1e-13.
    assert abs((4 * central(1e-3) - central(2e-3)) / 3 / claimed - 1) <= 1e-8


@pytest.mark.parametrize("T", [5, MANY])
def test_large_scores_do_not_overflow(T: int) -> None:
    W, *rest = case(11, T=T)
    got, want = ours(1e4 * W, *rest, activation=jnp.tanh), twin(1e4 * W, *rest, jnp.tanh)
    same((got[0], got[1][1:]), (want[0], want[1][1:]))
    # Attention is all on one token, so that M and with it the gradient in W are zero but for
    # roundings.
    assert jnp.abs(got[1][0]).max() <= TIGHT


@pytest.mark.parametrize("T", [5, MANY])
def test_single_precision_stays_single(T: int) -> None:
    arrays = case(11, T=T, dtype=np.float32)
    got = ours(*arrays, activation=jnp.tanh)
    assert {str(x.dtype) for x in jax.tree.leaves(got)} == {"float32"}
    # Some hundred roundings of 6e-8.
    same(got, twin(*(x.astype(np.float64) for x in arrays), jnp.tanh), 1e-5)


def test_inside_a_loop_and_over_a_batch_of_students() -> None:
    own = [np.stack([a, b]) for a, b in zip(case(11), case(11, seed=1), strict=True)]

    def descended(by: Any, W: Any, U: Any, c: Any, *data: Any) -> Any:
        def step(weights: Any, _: Any) -> Any:
            loss, gradient = by(*weights, *data, activation=jnp.tanh)
            return jax.tree.map(lambda p, g: p - 0.1 * g, weights, gradient), loss

        return jax.lax.scan(step, (W, U, c), length=3)

    shared = jax.vmap(partial(descended, loss_and_gradient), in_axes=(0, 0, 0, None, None, None))
    got = jax.jit(shared)(*own[:3], *case(11)[3:])
    for member in range(2):
        want = jax.jit(partial(descended, twin))(*(x[member] for x in own[:3]), *case(11)[3:])
        same(jax.tree.map(lambda x, member=member: x[member], got), want)
    # Each student with data of its own.
    got = jax.jit(jax.vmap(partial(loss_and_gradient, activation=jnp.tanh)))(*own)
    same(jax.tree.map(lambda x: x[1], got), twin(*case(11, seed=1), jnp.tanh))


def sharded(devices: int, *sizes: int) -> None:
    """Run by a process that has that many devices."""
    assert jax.device_count() == devices
    heads_gradient.BLOCK, few_tokens.MOST = BLOCK * 3 * MANY * 8, 8
    jax.config.update(
        "jax_numpy_dtype_promotion", "strict"
    )  # kinds of whole numbers must not meet either
    mesh = jax.make_mesh((devices,), ("samples",), axis_types=(jax.sharding.AxisType.Auto,))
    for n, T in ((sizes[0], MANY), (sizes[1], MANY), *((n, 5) for n in sizes)):
        # Not tanh: that is 0 at the zeros that fill up a share, and would forgive counting them.
        step = (
            jax.jit(partial(sharded_loss_and_gradient, mesh, activation=bent))
            .lower(*case(n, T=T))
            .compile()
        )
        # Of one array: devices wait for one another at each.
        (summed,) = re.findall(r" all-reduce\(([^)]*)\)", step.as_text())
        assert "," not in summed
        with jax.numpy_dtype_promotion("standard"):
            want = twin(*case(n, T=T), bent)
        same(step(*case(n, T=T)), want)


@pytest.mark.parametrize(
    ("samples", "share", "missing", "counts"),
    [(18, 6, 0, [6, 6, 6]), (17, 6, 1, [6, 6, 5]), (1, 1, 2, [1, 0, 0]), (4, 2, 2, [2, 2, 0])],
)
def test_samples_are_dealt_out_over_three_devices(samples, share, missing, counts) -> None:
    assert heads_gradient._deal(samples, 3) == (share, missing)
    found = [int(heads_gradient._count(samples, share, jnp.asarray(k))) for k in range(3)]
    assert found == counts


def test_zeros_fill_up_the_last_share() -> None:
    x = jnp.ones((2, 1, 3))
    np.testing.assert_array_equal(heads_gradient._pad(1, x), [*np.ones((2, 1, 3)), [[0] * 3]])
    np.testing.assert_array_equal(heads_gradient._pad(2, x, 2), [[[1, 1, 1, 0, 0]]] * 2)
    np.testing.assert_array_equal(heads_gradient._pad(0, x, 2), x)


# With three devices, 18 samples share evenly, 17 leave the last share one short, and of one sample
# two shares have none.
@pytest.mark.parametrize(("devices", "sizes"), [(3, (18, 17, 1))])
@pytest.mark.depth
def test_samples_over_several_devices(devices: int, sizes: tuple[int, ...]) -> None:
    here = Path(__file__).parent
    paths = [str(here), str(here.parent / "support")]
    code = (
        f"import sys; sys.path[:0] = {paths!r}; import tutelage; from test_heads_gradient "
        f"import sharded; sharded{(devices, *sizes)}"
    )
    flags = f"{os.environ.get('XLA_FLAGS', '')} --xla_force_host_platform_device_count={devices}"
    done = subprocess.run(
        [sys.executable, "-c", code],
        env=os.environ | {"XLA_FLAGS": flags},
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize("count", [3, 64, 70])
def test_each_head_is_drawn_from_its_own_number(count: int) -> None:
    """The stream of a head: its key is folded with its number, from 0 on, and split in three."""
    key = jax.random.key(5)
    drawn = draw_heads(count, 2, key=key)
    for number in (0, 1, count - 1):
        first, second, third = jax.random.split(jax.random.fold_in(key, number), 3)
        np.testing.assert_allclose(
            drawn.attention[number], jax.random.normal(first, (2, 2)), rtol=TIGHT
        )
        np.testing.assert_allclose(
            drawn.reading[number], jax.random.normal(second, (2,)), rtol=TIGHT
        )
        sign = jax.random.rademacher(third, (), jnp.float64)
        np.testing.assert_array_equal(drawn.output[number], sign)
    assert len(drawn.output) == count
