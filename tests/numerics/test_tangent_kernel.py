"""The tangent kernel against the Jacobian of the plain formula, contracted."""

from __future__ import annotations

from functools import partial
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from plain_heads import bent, case, plain
from twins import EPS, TIGHT

from tutelage.numerics import tangent_kernel
from tutelage.numerics.tangent_kernel import gram

pytestmark = pytest.mark.compiled


@partial(jax.jit, static_argnames="activation")
def twin(W: Any, U: Any, c: Any, X: Any, q: Any, activation: Any) -> Any:
    """K_c, K_u, K_w: the Jacobian of f in each block of weights, times its transpose."""
    jacobians = jax.jacrev(lambda weights: plain(*weights, X, q, activation))((W, U, c))
    return tuple(jnp.einsum("a...,b...->ab", j, j) for j in reversed(jacobians))


def same(got: Any, want: Any, tolerance: float = TIGHT) -> None:
    assert got.shape == want.shape
    assert np.linalg.norm(got - want) <= tolerance * np.linalg.norm(want)


@pytest.fixture(autouse=True)
def small_tiles(monkeypatch: pytest.MonkeyPatch) -> None:
    """Tiles of four samples and groups of two heads, so that the last ones of a small case are
    ragged.
    """
    for name, value in {"TILE": 4, "GROUP": 0, "HEADS": 2}.items():
        monkeypatch.setattr(tangent_kernel, name, value)


@pytest.mark.brief(1)
@pytest.mark.parametrize("n", [1, 4, 11])
def test_kernel_and_its_parts_are_the_contracted_jacobian(n: int) -> None:
    W, U, c, X, q, _ = case(n)
    parts = gram(W, U, X, q, activation=bent, output=c, parts=True)
    for got, want in zip(parts, twin(W, U, c, X, q, bent), strict=True):
        same(got, want)
    whole = gram(W, U, X, q, activation=bent, output=c)
    same(whole, sum(parts), 4 * EPS)
    assert (whole == whole.T).all()
    # Positive semidefinite: eigenvalues of a symmetric matrix are found to a few roundings of the
    # largest.
    eigenvalues = np.linalg.eigvalsh(whole)
    assert eigenvalues[0] >= -TIGHT * eigenvalues[-1]


def test_against_other_samples() -> None:
    W, U, c, X, q, _ = case(11)
    got = gram(W, U, X[:5], q[:5], X[2:], q[2:], activation=jnp.tanh, output=c)
    same(got, sum(twin(W, U, c, X, q, jnp.tanh))[:5, 2:])


@pytest.mark.depth
def test_tiles_and_groups_do_not_matter(monkeypatch: pytest.MonkeyPatch) -> None:
    W, U, c, X, q, _ = case(11, m=5)
    small = gram(W, U, X, q, activation=jnp.tanh, output=c)
    for name, value in {"TILE": 256, "GROUP": 2**23, "HEADS": 32}.items():
        monkeypatch.setattr(tangent_kernel, name, value)
    tangent_kernel._compiled.cache_clear()  # sizes are read when a program is made
    jax.clear_caches()
    same(gram(W, U, X, q, activation=jnp.tanh, output=c), small)


def test_at_a_symmetric_start_half_of_the_heads_will_do() -> None:
    W, U, c, X, q, _ = case(5)
    twice = [np.concatenate([x, x]) for x in (W, U)]
    signs = np.concatenate([np.sign(c), -np.sign(c)])
    want = sum(twin(*twice, signs, X, q, jnp.tanh))
    same(gram(*twice, X, q, activation=jnp.tanh), want)
    same(gram(W, U, X, q, activation=jnp.tanh), want)


def test_as_a_part_of_a_larger_program() -> None:
    W, U, c, X, q, _ = case(5)
    batch = np.stack([U, 2 * U])
    got = jax.jit(jax.vmap(lambda u: gram(W, u, X, q, activation=jnp.tanh, output=c)))(batch)
    same(got[1], sum(twin(W, 2 * U, c, X, q, jnp.tanh)))


def test_memory_beyond_the_result_does_not_grow_with_its_size() -> None:
    """What the compiled program asks for at 20,000 samples in double precision, whose kernel has
    3.2 GB; nothing is run.
    """
    n, m, d, T = 20_000, 1024, 8, 16
    tangent_kernel.TILE, tangent_kernel.GROUP, tangent_kernel.HEADS = 256, 2**23, 32
    shapes = (m, d, d), (m, d), (m,), (n, d, T), (n, d)
    W, U, c, X, q = (jax.ShapeDtypeStruct(shape, jnp.float64) for shape in shapes)
    program = (
        tangent_kernel._compiled("cpu")
        .lower(W, U, c, (X, q), None, activation=jnp.tanh, parts=False)
        .compile()
    )
    asked = program.memory_analysis()
    assert asked.output_size_in_bytes == pytest.approx(8 * n * n, rel=1e-6)
    # The features of 32 heads for all samples, 87 MB, the transposed tokens, 20 MB, and blocks and
    # tiles of some 10 MB.
    features = 8 * n * 32 * (2 * d + 1)
    assert features < asked.temp_size_in_bytes < 2 * features


@pytest.mark.parametrize(
    ("heads", "most", "size"),
    [(128, 51, 32), (100, 51, 51), (33, 32, 24), (512, 32, 32), (5, 32, 5), (1, 1, 1)],
)
def test_groups_of_heads_waste_the_fewest_vectors(heads: int, most: int, size: int) -> None:
    assert tangent_kernel._group_size(heads, most) == size


def test_heads_shared_out_over_cores_give_the_same_matrix(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tangent_kernel.os, "cpu_count", lambda: 3)
    monkeypatch.setattr(
        tangent_kernel, "HEADS", 2
    )  # so that 13 heads are enough to share: 5, 4 and 4
    W, U, c, X, q, _ = case(4, m=13)
    shared = gram(W, U, X, q, activation=jnp.tanh, output=c, parts=True)
    monkeypatch.setattr(tangent_kernel, "SHARED", 0)
    alone = gram(W, U, X, q, activation=jnp.tanh, output=c, parts=True)
    for got, want in zip(shared, alone, strict=True):
        assert np.abs(got - want).max() <= 1e-14 * np.abs(want).max()
