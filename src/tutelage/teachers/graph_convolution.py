"""Graph convolution, as a bilinear teacher, and the graphs known by name."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

import numpy as np
from jaxtyping import Float
from numpy.typing import ArrayLike

from tutelage.refuse import Refused, matrix, one_of, whole
from tutelage.teachers.bilinear import ActivationLike, BilinearTeacher

if TYPE_CHECKING:
    import networkx

NORMALISATIONS = ("columns", "symmetric")
REAL = ("karate", "les-miserables")
GRAPHS = ("cycle", "regular", *REAL)


def graph_convolution(
    weights: ArrayLike,
    graph: networkx.Graph | ArrayLike,
    *,
    normalisation: str = "columns",
    activation: ActivationLike = "relu",
    noise: float = 0.0,
) -> BilinearTeacher:
    """One layer of graph convolution, f*(X) = σ(V* X S*): each of the D nodes weighs its closed
    neighbourhood by S*, D×D, then come `weights` V*, M×d, then σ. `graph` may be its adjacency
    matrix (D×D).

    With `normalisation="symmetric"` on an irregular graph it lies outside the class, and says so
    (`teacher.outside`).
    """
    selection = neighbourhoods(graph, normalisation)
    return BilinearTeacher(
        weights, selection, activation, noise, outside=normalisation == "symmetric"
    )


def neighbourhoods(
    graph: networkx.Graph | ArrayLike, normalisation: str = "columns"
) -> Float[np.ndarray, "D D"]:
    """S* of graph convolution: column i weighs node i and its neighbours, K_i nodes in all.

    `graph` is a networkx graph or an adjacency matrix of 0s and 1s; D̃ = diag(K_i). "columns" is
    (A+I)D̃^-1, equal weights 1/K_i; "symmetric" is D̃^-½(A+I)D̃^-½, weights 1/√(K_j K_i). On a
    regular graph both are (A+I)/K; on an irregular one the columns of the second do not sum to 1,
    so that no softmax is it.
    """
    one_of("normalisation", normalisation, NORMALISATIONS)
    if (known := sys.modules.get("networkx")) and isinstance(graph, known.Graph):
        graph = known.to_numpy_array(graph, weight=None)
    adjacency = matrix("graph", graph, reason="it is an adjacency matrix")
    if adjacency.shape[0] != adjacency.shape[1]:
        raise Refused(
            "An adjacency matrix must be square, since it pairs nodes with nodes. Got "
            f"{adjacency.shape}."
        )
    if not np.isin(adjacency, (0.0, 1.0)).all() or (adjacency != adjacency.T).any():
        odd = (
            "entries other than 0 and 1"
            if not np.isin(adjacency, (0.0, 1.0)).all()
            else "an edge in one direction only"
        )
        raise Refused(
            "An adjacency matrix must be symmetric with entries 0 or 1, since neighbours count "
            f"equally here. Got {odd}."
        )
    closed = np.maximum(adjacency, np.eye(len(adjacency)))
    sizes = closed.sum(0)
    return (
        closed / sizes if normalisation == "columns" else closed / np.sqrt(np.outer(sizes, sizes))
    )


def cycle(tokens: int) -> Float[np.ndarray, "D D"]:
    """The adjacency matrix of the cycle graph, whose neighbourhoods have K = 3 members."""
    tokens = whole("tokens", tokens, least=3, reason="a cycle has at least three nodes")
    step = np.roll(np.eye(tokens), 1, axis=0)
    return np.maximum(step, step.T)


def regular(tokens: int, degree: int, seed: int) -> Float[np.ndarray, "D D"]:
    """The adjacency matrix of a random graph in which every node has `degree` neighbours, so K =
    degree + 1.
    """
    import networkx

    tokens, degree = regular_degrees(tokens, degree)
    drawn = networkx.random_regular_graph(degree, tokens, seed=seed)
    return networkx.to_numpy_array(
        drawn, nodelist=range(tokens)
    )  # it lists its nodes in the order of its edges


def regular_degrees(tokens: int, degree: int) -> tuple[int, int]:
    """D and the degree as whole numbers of which there is a regular graph."""
    tokens = whole("tokens", tokens, least=2, reason="an edge joins two nodes")
    degree = whole("degree", degree, least=1, reason="a node has neighbours")
    if degree >= tokens or degree * tokens % 2:
        raise Refused(
            "A regular graph needs a degree below its number of nodes, and an even sum of "
            "degrees, since every edge has two ends. "
            f"Got degree={degree}, tokens={tokens}."
        )
    return tokens, degree


def real_graph(name: str) -> Float[np.ndarray, "D D"]:
    """Zachary's karate club (34 members, 78 friendships) or Les Misérables (77 characters, 254
    pairs that meet), without weights.
    """
    import networkx

    one_of("real graph", name, REAL)
    graph = networkx.karate_club_graph() if name == "karate" else networkx.les_miserables_graph()
    return networkx.to_numpy_array(graph, weight=None)
