"""The tangent kernel and descent in it again: gradients from `heads_twin`, sums over heads and
steps written out.
"""

from __future__ import annotations

import heads_twin
import numpy as np


def parts(heads, tokens):
    """K_c, K_u, K_w of heads as inner products of whole gradients; the query is the last token."""
    slopes = [heads_twin.gradient(heads, X, X[:, -1]) for X in np.asarray(tokens)]
    return [
        np.array([[np.sum(a[block] * b[block]) for b in slopes] for a in slopes])
        for block in (2, 1, 0)
    ]


def outputs(student, objective):
    return np.array(
        [heads_twin.value(student.heads, X, X[:, -1]) for X in np.asarray(objective.tokens)]
    )


def probe_kernel(student, objective):
    return np.concatenate(
        [part.ravel() for part in parts(student.heads, np.asarray(objective.tokens)[:32])]
    )


MEASURES = {"outputs": outputs, "probe_kernel": probe_kernel}


def descent(features, labels, rate, steps, others):
    """Gradient descent on (1/n)Σ(θ·x − y)² from θ = 0: outputs on the sample and on other
    inputs.
    """
    theta = np.zeros(features.shape[1])
    for _ in range(steps):
        theta = theta - rate * 2 / len(labels) * features.T @ (features @ theta - labels)
    return features @ theta, others @ theta
