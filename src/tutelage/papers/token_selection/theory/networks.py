r"""The least error of a fully connected network with m units in its first layer.

Its units see the tokens through m linear functions Ax, whatever the subset is. All that follows
can do no better than the mean of $f^*$ given Ax and y, and can come as near to it as one likes:
with large weights on y the units tell which subset it is. Hence the error
$E\|f-f^*\|^2 = \mathrm{tr}\,((I-P)M)$ with P the projection onto the rows of A and
$M = E[B_y^\top B_y] = E[uu^\top]\otimes I_d$, u = 1_y/q. $E[uu^\top]$ has the eigenvalue 1/T along
1 and $\lambda=\frac{T-q}{qT(T-1)}$ elsewhere, so that the best P takes the d directions of the
first and then any others:

$$\text{least error} = \lambda\,(Td-m) \quad\text{for } m\ge d,$$

zero if and only if m ≥ Td.
"""

from __future__ import annotations


def smallest_eigenvalue(tokens: int, support: int) -> float:
    """λ: what one more unit is worth."""
    return (tokens - support) / (support * tokens * (tokens - 1))


def least_error(tokens: int, support: int, dim: int, units: int) -> float:
    """The least of E‖f − f*‖² over all networks with so many units in their first layer."""
    each = smallest_eigenvalue(tokens, support)
    if units < dim:
        return (dim - units) / tokens + (tokens - 1) * dim * each
    return max(0, tokens * dim - units) * each


def random_error(tokens: int, support: int, dim: int, units: int) -> float:
    """The mean error of a first layer of random directions: each loses its share of d/q."""
    return dim / support * (1 - units / (tokens * dim))
