r"""Which subsets a query can select: faces of the polytope of the codes.

A query w scores all codes of a subset equally and above all others if and only if the subset is
the vertex set of a face of the convex hull of the codes. All subsets of q are faces in a
q-neighbourly polytope. Points of the moment curve $(t, t^2, …, t^{2q})$ give one: the polynomial
$-\prod_{i\in y}(t-t_i)^2$ is zero on the subset and negative elsewhere. A polytope of dimension m
with more than m + 1 vertices is at most ⌊m/2⌋-neighbourly, so that width 2q is needed where
T ≥ 2q + 1. Of all polytopes the cyclic ones, those of the moment curve, have the most faces
(McMullen's upper bound theorem).
"""

from __future__ import annotations

from itertools import combinations


def is_cyclic_facet(chosen: tuple[int, ...], points: int) -> bool:
    """Gale's evenness: between any two points that are left out, the chosen ones are even."""
    inside = set(chosen)
    left_out = [i for i in range(points) if i not in inside]
    return all(
        sum(first < i < second for i in inside) % 2 == 0
        for first, second in combinations(left_out, 2)
    )


def count_cyclic_faces(points: int, width: int, support: int) -> int:
    """Faces of `support` vertices of the cyclic polytope with so many points in dimension
    `width`: the subsets of its facets, which are simplices.
    """
    found: set[tuple[int, ...]] = set()
    for facet in combinations(range(points), width):
        if is_cyclic_facet(facet, points):
            found |= set(combinations(facet, support))
    return len(found)
