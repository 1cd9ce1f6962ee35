"""How large this paper's parts make a setting, before anything is built."""

from __future__ import annotations

from tutelage.papers.group_sparse.theory.risk import NODES
from tutelage.problem.sizes import Options, Sizes, count, hold_student

NODE_ROWS = 4  # nodes, weights, the bell and the terms


def size_signs(options: Options, sizes: Sizes) -> Sizes:
    """v*; an input is D groups of d features."""
    D, d = count(options, "groups", 10.0), count(options, "dim", 4.0)
    shaped = sizes._replace(outputs=1.0, dim=d, tokens=D, queries=1.0)
    return shaped.hold(d)._replace(per_draw=d * D, work_per_draw=d)


def size_attention(options: Options, sizes: Sizes) -> Sizes:
    """v of d, and W of D×D."""
    D, d = sizes.tokens, sizes.dim
    return hold_student(sizes, D**2 + d, per_input=D**2 + d, work_per_input=D**2 + d * D)


def size_risk(options: Options, sizes: Sizes) -> Sizes:
    """v*, and one step: S forwards and backwards, and rows of the nodes of one integral. No input
    is drawn.
    """
    nodes = float(NODE_ROWS * len(NODES))
    return sizes.hold(sizes.dim).step(1.0).hold(nodes, nodes)
