"""The IndRNN and the measures of gradients and saturation again, in plain NumPy loops; the
transformer's parts are in heads_twin.
"""

from __future__ import annotations

import heads_twin
import numpy as np


def trajectory(units, X):
    """h_t and 1 − h_t² at every token, σ = tanh."""
    W, u = np.asarray(units.reading), np.asarray(units.recurrence)
    h, states = np.zeros(len(u)), []
    for x in X.T:
        h = np.tanh([W[i] @ x + u[i] * h[i] for i in range(len(u))])
        states.append(h)
    states = np.array(states)
    return states, 1 - states**2


def value(units, X):
    c = np.asarray(units.output)
    return trajectory(units, X)[0][-1] @ c / np.sqrt(len(c))


def gradient(units, X):
    """(∂W_in, ∂u, ∂c) as explicit sums over the past: the slope at step s times the product of u·σ′
    after it.
    """
    u, c = np.asarray(units.recurrence), np.asarray(units.output)
    states, slopes = trajectory(units, X)
    T, m = states.shape
    before = np.vstack([np.zeros(m), states[:-1]])
    in_w, in_u = np.zeros((m, len(X))), np.zeros(m)
    for s in range(T):
        through = slopes[s] * np.prod([u * slopes[r] for r in range(s + 1, T)], axis=0)
        in_u = in_u + through * before[s]
        in_w = in_w + np.outer(through, X[:, s])
    root = np.sqrt(m)
    return c[:, None] * in_w / root, c * in_u / root, states[-1] / root


def _of(student, X):
    if hasattr(student, "units"):
        return value(student.units, X), gradient(student.units, X)
    return heads_twin.value(student.heads, X, X[:, -1]), heads_twin.gradient(
        student.heads, X, X[:, -1]
    )


def _blocks(parts):
    each = [np.sum(p**2) for p in parts]
    return np.array([*each, sum(each)])


def _squares(student, inputs):
    return np.array([_blocks(_of(student, X)[1]) for X in np.asarray(inputs)])


def _loss_gradient(student, objective):
    total = None
    for X, y in zip(np.asarray(objective.tokens), np.asarray(objective.labels), strict=True):
        f, slopes = _of(student, X)
        parts = [2 * (f - y) * p / len(objective.labels) for p in slopes]
        total = parts if total is None else [a + b for a, b in zip(total, parts, strict=True)]
    return np.sqrt(_blocks(total))


def _saturation(student, objective):
    seen = [trajectory(student.units, X) for X in np.asarray(objective.validation_tokens)]
    states, slopes = np.array([s for s, _ in seen]), np.array([s for _, s in seen])
    gain = np.log(
        np.maximum(np.abs(np.asarray(student.units.recurrence)) * slopes, np.finfo(float).tiny)
    )
    return [np.mean(np.abs(states) > 0.95), np.mean(slopes), np.mean(gain)]


def _reference(student, objective):
    tokens, labels = (
        np.asarray(objective.validation_tokens),
        np.asarray(objective.validation_labels),
    )
    lag, phi = objective.teacher.lag, objective.teacher.coefficient
    return [
        np.mean(labels**2),
        np.mean((phi * tokens[:, 0, tokens.shape[2] - lag] - labels) ** 2),
    ]  # for tokens that keep their values


# Each measure of (student, objective) from its definition.
MEASURES = {
    "function_gradient_sup": lambda s, o: np.sqrt(_squares(s, o.validation_tokens).max(0)),
    "function_gradient_square": lambda s, o: _squares(s, o.validation_tokens).mean(0),
    "loss_gradient": _loss_gradient,
    "saturation": _saturation,
    "reference_loss": _reference,
}
