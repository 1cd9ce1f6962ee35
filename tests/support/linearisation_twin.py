"""Plain-NumPy twins of the heads and of the measures of their start: loops over inputs and heads,
formulas as in the paper.
"""

from __future__ import annotations

import numpy as np

Heads = tuple[np.ndarray, np.ndarray, np.ndarray]  # W, U, c


def plain(heads) -> Heads:
    return tuple(np.asarray(leaf) for leaf in (heads.attention, heads.reading, heads.output))


def attend(W, X):
    scores = X.T @ W @ X[:, -1]
    weights = np.exp(scores - scores.max())
    return weights / weights.sum()


def output(heads: Heads, X) -> float:
    return sum(c * np.tanh(U @ X @ attend(W, X)) for W, U, c in zip(*heads, strict=True)) / np.sqrt(
        len(heads[2])
    )


def features(W, U, X):
    """φ_c, φ_u, φ_w with M formed outright."""
    alpha = attend(W, X)
    a = X @ alpha
    M = X @ np.diag(alpha) @ X.T - np.outer(a, a)
    slope = 1 - np.tanh(U @ a) ** 2
    return np.tanh(U @ a), slope * a, slope * np.outer(M @ U, X[:, -1])


def linearised(start: Heads, heads: Heads, X) -> float:
    total = output(start, X)
    for W0, U0, c0, W, U, c in zip(*start, *heads, strict=True):
        value, read, spread = features(W0, U0, X)
        total += (
            (c - c0) * value + c0 * (U - U0) @ read + c0 * np.sum((W - W0) * spread)
        ) / np.sqrt(len(start[2]))
    return total


def transported(start: Heads, anchors, weights, nu, *, diagonal: bool = False) -> Heads:
    """θ̃ from v = mean_r w_r (ν_c φ_c, ν_u φ_u, clip(φ_w, ν_w)), head by head."""
    root, moved = np.sqrt(len(start[2])), [[], [], []]
    for W, U, c in zip(*start, strict=True):
        v = [np.zeros_like(W), np.zeros_like(U), 0.0]
        for anchor, weight in zip(anchors, weights, strict=True):
            value, read, spread = features(np.diag(np.diag(W)) if diagonal else W, U, anchor)
            length = np.linalg.norm(spread)
            v[0] = v[0] + weight * spread * min(1.0, nu[2] / length) / len(weights)
            v[1] = v[1] + weight * nu[1] * read / len(weights)
            v[2] = v[2] + weight * nu[0] * value / len(weights)
        for block, new in zip(
            moved, (W + c * v[0] / root, U + c * v[1] / root, c + v[2] / root), strict=True
        ):
            block.append(new)
    return tuple(np.asarray(block) for block in moved)


def on_sphere(away: Heads, nu) -> Heads:
    """Each head's block brought to length ν/√m."""
    root = np.sqrt(len(away[2]))
    return tuple(
        np.stack([row * radius / root / np.linalg.norm(row) for row in block])
        for block, radius in zip(away, (nu[2], nu[1], nu[0]), strict=True)
    )


def boundary(start: Heads, nu, number: int) -> Heads:
    draw = np.random.default_rng(number)
    return add(start, on_sphere(tuple(draw.normal(size=block.shape) for block in start), nu))


def add(a: Heads, b: Heads, scale: float = 1.0) -> Heads:
    return tuple(x + scale * y for x, y in zip(a, b, strict=True))


def gaps(start: Heads, heads: Heads, inputs) -> np.ndarray:
    return np.asarray([abs(output(heads, X) - linearised(start, heads, X)) for X in inputs])


def slope_of(start: Heads, heads: Heads, inputs, step: float = 1e-6) -> Heads:
    """The gradient of the mean gap by central differences, entry by entry."""
    found = tuple(np.zeros_like(block) for block in heads)
    for block, out in zip(range(3), found, strict=True):
        for index in np.ndindex(heads[block].shape):
            sides = []
            for sign in (1, -1):
                moved = tuple(part.copy() for part in heads)
                moved[block][index] += sign * step
                sides.append(gaps(start, moved, inputs).mean())
            out[index] = (sides[0] - sides[1]) / (2 * step)
    return found


def ascended(start: Heads, heads: Heads, inputs, nu, steps: int, pace: float) -> Heads:
    for _ in range(steps):
        away = add(add(heads, start, -1.0), on_sphere(slope_of(start, heads, inputs), nu), pace)
        heads = add(start, on_sphere(away, nu))
    return heads
