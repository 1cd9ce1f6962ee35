"""The shallow transformer again, in plain NumPy loops over heads and tokens, with nothing of
tutelage in it.

M is formed outright, softmax is taken without shifting, and every measure is written from its
definition: an independent path to each number that the package computes in closed form.
"""

from __future__ import annotations

import importlib
from typing import Any

import numpy as np


def head(W, U, X, q):
    """α, a, M of one head at one input."""
    weights = np.exp(X.T @ W @ q)
    weights = weights / weights.sum()
    a = X @ weights
    M = sum(w * np.outer(x, x) for w, x in zip(weights, X.T, strict=True)) - np.outer(a, a)
    return weights, a, M


def value(heads, X, q):
    """f(X) = m^(−½) Σ c σ(Uᵀa), σ = tanh."""
    W, U, c = (np.asarray(p) for p in (heads.attention, heads.reading, heads.output))
    return sum(c[i] * np.tanh(U[i] @ head(W[i], U[i], X, q)[1]) for i in range(len(c))) / np.sqrt(
        len(c)
    )


def gradient(heads, X, q):
    """(∂W, ∂U, ∂c) of f at one input."""
    W, U, c = (np.asarray(p) for p in (heads.attention, heads.reading, heads.output))
    root, parts = np.sqrt(len(c)), []
    for i in range(len(c)):
        _, a, M = head(W[i], U[i], X, q)
        h = np.tanh(U[i] @ a)
        slope = 1 - h**2
        parts.append(
            (c[i] * slope * np.outer(M @ U[i], q) / root, c[i] * slope * a / root, h / root)
        )
    return tuple(np.array(block) for block in zip(*parts, strict=True))


def linearised(now, start, X, q):
    """f₀ + ⟨∇f₀, θ − θ₀⟩."""
    slopes = gradient(start, X, q)
    gone = [
        np.asarray(a) - np.asarray(b) for a, b in zip(_blocks(now), _blocks(start), strict=True)
    ]
    return value(start, X, q) + sum(np.sum(s * g) for s, g in zip(slopes, gone, strict=True))


def directions(heads, anchors, weights, radii, diagonal=False):
    """v of the transported teacher at every head: (v_w, v_u, v_c)."""
    W, U = np.asarray(heads.attention), np.asarray(heads.reading)
    nu_c, nu_u, nu_w = radii
    found = []
    for i in range(len(U)):
        seen = np.diag(np.diag(W[i])) if diagonal else W[i]
        v_w, v_u, v_c = 0.0, 0.0, 0.0
        for X, weight in zip(np.asarray(anchors), np.asarray(weights), strict=True):
            q = X[:, -1]
            _, a, M = head(seen, U[i], X, q)
            h = np.tanh(U[i] @ a)
            phi_w = (1 - h**2) * np.outer(M @ U[i], q)
            phi_w = (
                phi_w * min(1.0, nu_w / np.linalg.norm(phi_w))
                if np.linalg.norm(phi_w) > 0
                else phi_w
            )
            v_w, v_u, v_c = (
                v_w + weight * phi_w,
                v_u + weight * nu_u * (1 - h**2) * a,
                v_c + weight * nu_c * h,
            )
        found.append((v_w / len(weights), v_u / len(weights), v_c / len(weights)))
    return tuple(np.array(block) for block in zip(*found, strict=True))


def label(heads, anchors, weights, radii, X, diagonal=False):
    """The terms, one a head, whose mean is the label of X."""
    v_w, v_u, v_c = directions(heads, anchors, weights, radii, diagonal)
    W, U, q, terms = np.asarray(heads.attention), np.asarray(heads.reading), X[:, -1], []
    for i in range(len(U)):
        _, a, M = head(np.diag(np.diag(W[i])) if diagonal else W[i], U[i], X, q)
        h = np.tanh(U[i] @ a)
        terms.append(h * v_c[i] + (1 - h**2) * (a @ v_u[i]) + (1 - h**2) * (M @ U[i]) @ v_w[i] @ q)
    return np.array(terms)


def _blocks(heads):
    return heads.attention, heads.reading, heads.output


def outputs(heads, inputs):
    return np.array([value(heads, X, X[:, -1]) for X in np.asarray(inputs)])


def _mean_square(heads, inputs, labels):
    return np.mean((outputs(heads, inputs) - np.asarray(labels)) ** 2)


def _farthest(now, start):
    root = np.sqrt(len(now.output))
    pairs = [
        (now.output, start.output),
        (now.reading, start.reading),
        (now.attention, start.attention),
    ]
    return [
        root
        * max(
            np.linalg.norm(np.ravel(a - b))
            for a, b in zip(np.asarray(p), np.asarray(s), strict=True)
        )
        for p, s in pairs
    ]


def _gap(now, start, inputs):
    gaps = [
        abs(value(now, X, X[:, -1]) - linearised(now, start, X, X[:, -1]))
        for X in np.asarray(inputs)
    ]
    return [max(gaps), np.mean(gaps)]


# Each measure of (student, objective, state of projected descent) from its definition.
MEASURES = {
    "loss": lambda s, o, t: _mean_square(s.heads, o.tokens, o.labels),
    "validation_loss": lambda s, o, t: _mean_square(
        s.heads, o.validation_tokens, o.validation_labels
    ),
    "label_power": lambda s, o, t: np.mean(np.asarray(o.labels) ** 2),
    "label_error": lambda s, o, t: np.sqrt(np.mean(np.asarray(o.errors) ** 2)),
    "least_loss": lambda s, o, t: min(float(t.least), _mean_square(s.heads, o.tokens, o.labels)),
    "averaged_loss": lambda s, o, t: _mean_square(t.mean.heads, o.tokens, o.labels),
    "displacement": lambda s, o, t: _farthest(s.heads, s.start),
    "linearisation_gap": lambda s, o, t: _gap(s.heads, s.start, o.tokens),
}


# ---- checks of whichever copy of the package is imported


def part(name: str) -> Any:
    return importlib.import_module(f"tutelage.{name}")


def some_heads(count: int, seed: int, dim: int = 3) -> Any:
    random = np.random.default_rng(seed)
    import jax.numpy as jnp

    return part("numerics.heads").Heads(
        *(
            jnp.asarray(random.standard_normal(shape))
            for shape in ((count, dim, dim), (count, dim), (count,))
        )
    )


def some_inputs(count: int, seed: int, tokens: int = 5, dim: int = 3) -> np.ndarray:
    drawn = np.random.default_rng(seed).standard_normal((count, dim, tokens))
    return drawn / np.maximum(1.0, np.linalg.norm(drawn, axis=1, keepdims=True))


def same(got: Any, want: Any, relative: float = 1e-12) -> None:
    got, want = np.asarray(got), np.asarray(want)
    assert got.shape == want.shape, f"shapes {got.shape} and {want.shape}"
    error = np.abs(got - want).max()
    assert error <= relative * np.abs(want).max(), f"off by {error / np.abs(want).max():.2g}"


def check_heads() -> None:
    """The gradient of f and the linearised student, against loops."""
    import jax.numpy as jnp

    X, tanh = some_inputs(1, 0)[0], part("activations").activation("tanh")
    now, start = some_heads(4, 1), some_heads(4, 2)
    ours = part("numerics.heads").gradient_of(now, jnp.asarray(X), jnp.asarray(X[:, -1]), tanh)
    for got, want in zip(_blocks(ours), gradient(now, X, X[:, -1]), strict=True):
        same(got, want)
    student = part("students.shallow_transformer").ShallowTransformer(now, start, None, tanh)
    same(student.linearised(jnp.asarray(X)), linearised(now, start, X, X[:, -1]))


def check_teacher() -> None:
    """Directions, labels and their errors, against loops; the radius of v_w is small enough to clip
    some heads and not all.
    """
    import jax.numpy as jnp

    anchors, weights, radii, pool = (
        some_inputs(2, 3),
        np.array([1.0, -1.0]),
        (3.0, 2.0, 0.4),
        some_heads(6, 4),
    )
    made = part("teachers.transported").TransportedTeacher(
        jnp.asarray(anchors), jnp.asarray(weights), pool, radii=radii
    )
    for got, want in zip(
        _blocks(made.directions(pool)), directions(pool, anchors, weights, radii), strict=True
    ):
        same(got, want)
    inputs = some_inputs(3, 5)
    terms = np.array([label(pool, anchors, weights, radii, X) for X in inputs])
    labels = made.labels(jnp.asarray(inputs))
    same(labels.values, terms.mean(1))
    same(labels.errors, terms.std(1, ddof=1) / np.sqrt(len(terms[0])))


def check_descent() -> None:
    """Two steps of projected descent along given slopes: where it lands and what it averages."""
    import jax
    import jax.numpy as jnp

    radii = {"output": 0.2, "reading": 0.6, "attention": 1.5}
    start, slopes = some_heads(4, 6), [some_heads(4, 7), some_heads(4, 8)]
    method = part("optimisers.projected").projected_descent(0.3, radii=radii)
    now, state, seen = start, method.init(start), []
    for slope in slopes:
        seen.append(now)
        move, state = method.update(slope, state, now, value=jnp.asarray(1.0))
        now = jax.tree.map(jnp.add, now, move)
    for name in radii:
        first, here = np.asarray(getattr(start, name)), np.asarray(getattr(start, name))
        iterates = []
        for slope in slopes:
            iterates.append(here)
            gone = here - 0.3 * np.asarray(getattr(slope, name)) - first
            gone = [g * min(1.0, radii[name] / 2 / np.linalg.norm(g)) for g in gone]  # √m = 2
            here = first + np.array(gone)
        same(getattr(now, name), here)
        same(getattr(state.mean, name), (iterates[0] + iterates[1]) / 2)
