r"""How many heads a layer is: the Kronecker rank of its pre-activation's matrix.

Where every output is a function of one linear form, z_mq = ⟨A_mq, X⟩, the layer is
σ(Σ_h V_h X S_h) with as few heads as the rearranged matrix R[(m,i),(j,q)] = A_mq[i,j] has rank:
each head is a rank-one part vec(V_h) vec(S_h)ᵀ. Van Loan and Pitsianis 1993, "Approximation with
Kronecker products".
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from jaxtyping import Bool, Float

Forms = Float[np.ndarray, "M Q d D"]


def rearrange(forms: Forms) -> Float[np.ndarray, "Md DQ"]:
    """R[(m,i),(j,q)] = A_mq[i,j]."""
    M, Q, d, D = forms.shape
    return forms.transpose(0, 2, 3, 1).reshape(M * d, D * Q)


@dataclass(frozen=True)
class Heads:
    """Σ_h V_h X S_h, largest head first, with ‖V_h‖ = σ_h and ‖S_h‖ = 1."""

    values: Float[np.ndarray, "H M d"]
    selections: Float[np.ndarray, "H D Q"]
    singular: Float[np.ndarray, "r"]  # all singular values of R

    def left_after(self, heads: int) -> float:
        """The share of ‖R‖² that the best `heads` heads leave."""
        squares = self.singular**2
        total = squares.sum()
        return float(squares[heads:].sum() / total) if total > 0 else 0.0

    def count(self, tolerance: float) -> int:
        """The least number of heads that leave no more than `tolerance`."""
        return next(h for h in range(len(self.singular) + 1) if self.left_after(h) <= tolerance)


def find_heads(forms: Forms, seen: Bool[np.ndarray, "M Q"], most: int = 16) -> Heads:
    """The heads of some forms; those that no probe has seen are filled in by what the others say,
    as far as they say it.
    """
    M, Q, d, D = forms.shape
    filled = forms if seen.all() else _fill(forms, seen)
    left, singular, right = np.linalg.svd(rearrange(filled), full_matrices=False)
    kept = min(most, len(singular))
    return Heads(
        (singular[:kept, None] * left[:, :kept].T).reshape(kept, M, d),
        right[:kept].reshape(kept, D, Q),
        singular,
    )


def _fill(forms: Forms, seen: Bool[np.ndarray, "M Q"], rounds: int = 200) -> Forms:
    """Unseen A_mq (of outputs that no probe switched on) by the rank that the seen block has:
    filled with zeros, then by the truncated SVD of the result, repeatedly.
    """
    rows, columns = _seen_block(seen)
    if not len(rows):
        return np.where(seen[..., None, None], forms, 0.0)
    block = np.linalg.svd(rearrange(forms[np.ix_(rows, columns)]), compute_uv=False)
    total = (block**2).sum()
    rank = 1 + int(np.sum(np.cumsum(block**2) < (1 - 1e-10) * total))
    M, Q, d, D = forms.shape
    filled = np.where(seen[..., None, None], forms, 0.0)
    for _ in range(rounds):
        left, values, right = np.linalg.svd(rearrange(filled), full_matrices=False)
        low = (left[:, :rank] * values[:rank]) @ right[:rank]
        guess = low.reshape(M, d, D, Q).transpose(0, 3, 1, 2)
        step = np.where(seen[..., None, None], forms, guess)
        moved = np.linalg.norm(step - filled)
        filled = step
        if moved <= 1e-14 * np.linalg.norm(filled):
            break
    return filled


def _seen_block(seen: Bool[np.ndarray, "M Q"]) -> tuple[np.ndarray, np.ndarray]:
    """Rows and columns all of whose pairs were seen: the emptiest one is dropped until none is
    missing.
    """
    rows, columns = np.arange(seen.shape[0]), np.arange(seen.shape[1])
    while len(rows) and len(columns):
        part = seen[np.ix_(rows, columns)]
        if part.all():
            return rows, columns
        by_row, by_column = part.mean(1), part.mean(0)
        if by_row.min() <= by_column.min():
            rows = np.delete(rows, by_row.argmin())
        else:
            columns = np.delete(columns, by_column.argmin())
    return rows[:0], columns[:0]


def split_residual(heads: Heads, tolerance: float) -> tuple[float, Heads] | None:
    r"""r and the other heads, where one head is r·X itself: a residual connection before σ.

    R − r e gᵀ, with e = vec(I_d) and g = vec(I_D), has one rank less than R for r = 1/(gᵀR⁺e), if e
    is among R's columns and g among its rows (Wedderburn's rank reduction); else there is none.
    """
    H, M, d = heads.values.shape
    _, D, Q = heads.selections.shape
    rank = heads.count(tolerance)
    if (d, D) != (M, Q) or rank < 2 or rank > H:
        return None
    left = heads.values[:rank].reshape(rank, -1) / heads.singular[:rank, None]
    right = heads.selections[:rank].reshape(rank, -1)
    e, g = np.eye(d).ravel(), np.eye(D).ravel()
    along_e, along_g = left @ e, right @ g
    missed = max(
        1 - float(along_e @ along_e) / d,
        1 - float(along_g @ along_g) / D,
    )
    inverse = float(along_g @ (along_e / heads.singular[:rank]))
    if missed > max(tolerance, 1e-10) or inverse == 0:
        return None
    factor = 1.0 / inverse
    core = np.diag(heads.singular[:rank]) - factor * np.outer(along_e, along_g)
    inner_left, values, inner_right = np.linalg.svd(core)
    kept = rank - 1
    rest = Heads(
        (values[:kept, None] * (inner_left[:, :kept].T @ left)).reshape(kept, M, d),
        (inner_right[:kept] @ right).reshape(kept, D, Q),
        values[:kept],
    )
    return factor, rest
