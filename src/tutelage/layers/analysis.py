"""From probes to the form σ(Σ_h V_h X S_h + b), as far as the layer has it."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from jaxtyping import Bool, Float

from tutelage.layers.facts import Pair, Probes, Ridge, Shares, find_pairs, find_ridges
from tutelage.layers.heads import Heads, find_heads
from tutelage.layers.links import Link, Seen, find_link


@dataclass(frozen=True)
class Analysis:
    """What the Jacobians say; `link` and `heads` only where ridge holds."""

    probes: Probes
    ridge: Ridge
    pair: Pair
    link: Link | None
    heads: Heads | None
    shared: Shares | None
    seen: Bool[np.ndarray, "M Q"]  # outputs that some probe saw move

    def forms(self, tokens: Float[np.ndarray, "n d D"], heads: int) -> Float[np.ndarray, "n M Q"]:
        """Σ_h V_h X S_h."""
        assert self.heads is not None
        V, S = self.heads.values[:heads], self.heads.selections[:heads]
        return np.einsum("hmi,nij,hjq->nmq", V, tokens, S, optimize=True)

    def predict(self, tokens: Float[np.ndarray, "n d D"], heads: int) -> Float[np.ndarray, "n M Q"]:
        """What a layer of that form says."""
        assert self.link is not None
        # An output that no probe saw move is a constant, as far as is known.
        forms = np.where(self.seen[None], self.forms(tokens, heads), 0.0)
        return self.link.predict(forms.reshape(len(tokens), -1)).reshape(forms.shape)


def analyse(probes: Probes, tolerance: float) -> Analysis:
    """Ridge and pair of the Jacobians; then, if every output moves along one direction only, the
    function it is of that direction, and the heads.
    """
    ridge = find_ridges(probes)
    pair = find_pairs(ridge)
    n, M, Q, _, _ = probes.jacobians.shape
    along = Seen(
        np.einsum("mqij,nij->nmq", ridge.directions, probes.tokens, optimize=True).reshape(n, -1),
        ridge.slopes.reshape(n, -1),
        probes.labels.reshape(n, -1),
        probes.sound.reshape(n, -1),
        probes.error,
    )
    alive = along.alive.reshape(M, Q)
    if ridge.shares.residual > tolerance:
        return Analysis(probes, ridge, pair, None, None, None, alive)
    link = find_link(along, tolerance)
    scale = link.scale.reshape(M, Q)
    forms = scale[..., None, None] * ridge.directions
    heads = find_heads(forms, alive)
    return Analysis(probes, ridge, pair, link, heads, _shared(ridge, forms, heads, scale), alive)


def _shared(
    ridge: Ridge,
    forms: Float[np.ndarray, "M Q d D"],
    heads: Heads,
    scale: Float[np.ndarray, "M Q"],
) -> Shares:
    """What one head leaves of the forms, each counted as often as its gate is open."""
    gates = np.divide(
        ridge.slopes, scale[None], out=np.zeros_like(ridge.slopes), where=scale[None] != 0
    )
    one = np.einsum("mi,jq->mqij", heads.values[0], heads.selections[0])
    left = np.sum((forms - one) ** 2, (2, 3))
    total = np.sum(forms**2, (2, 3))
    return Shares(np.einsum("nmq,mq->n", gates**2, left), np.einsum("nmq,mq->n", gates**2, total))
