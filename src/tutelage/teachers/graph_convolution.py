"""Graph convolution, as a bilinear teacher."""

from __future__ import annotations

from typing import Any

import numpy as np
from jaxtyping import Float

from tutelage.refuse import Refused, matrix, whole
from tutelage.teachers.bilinear import ActivationLike, BilinearTeacher


def graph_convolution(weights: object, graph: Any, *, activation: ActivationLike = "relu", noise: float = 0.0) -> BilinearTeacher:
    """One layer of graph convolution: each node averages its closed neighbourhood, then `weights` (M×d), then σ."""
    return BilinearTeacher(weights, neighbourhoods(graph), activation, noise)


def neighbourhoods(graph: Any) -> Float[np.ndarray, "D D"]:
    """S* of graph convolution: column i averages node i and its neighbours with equal weight.

    `graph` is a networkx graph or an adjacency matrix of 0s and 1s. On a (K−1)-regular graph this is (A+I)/K, the
    symmetric normalisation D̃^-½(A+I)D̃^-½ itself; on an irregular one it is (A+I)D̃^-1, the column-stochastic choice,
    since the symmetric one has columns that do not sum to 1 and lies outside the class.
    """
    if hasattr(graph, "adjacency") and hasattr(graph, "nodes"):
        import networkx

        graph = networkx.to_numpy_array(graph, weight=None)
    adjacency = matrix("graph", graph, reason="it is an adjacency matrix")
    if adjacency.shape[0] != adjacency.shape[1]:
        raise Refused(f"An adjacency matrix must be square, since it pairs nodes with nodes. Got {adjacency.shape}.")
    if not np.isin(adjacency, (0.0, 1.0)).all() or (adjacency != adjacency.T).any():
        odd = "entries other than 0 and 1" if not np.isin(adjacency, (0.0, 1.0)).all() else "an edge in one direction only"
        raise Refused(f"An adjacency matrix must be symmetric with entries 0 or 1, since neighbours count equally here. Got {odd}.")
    closed = np.maximum(adjacency, np.eye(len(adjacency)))
    return closed / closed.sum(0)


def cycle(tokens: int) -> Float[np.ndarray, "D D"]:
    """The adjacency matrix of the cycle graph, whose neighbourhoods have K = 3 members."""
    tokens = whole("tokens", tokens, least=3, reason="a cycle has at least three nodes")
    step = np.roll(np.eye(tokens), 1, axis=0)
    return np.maximum(step, step.T)
