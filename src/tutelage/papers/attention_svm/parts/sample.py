"""The data of the paper: n sequences of T tokens, each with a query and a sign, and one fixed head.

Designs beside the paper's own make a hypothesis true by construction: equal scores of all tokens
but the best, or tokens and queries so orthogonal that every constraint supports.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property, lru_cache

import numpy as np
from jaxtyping import Float, Int

from tutelage.numerics.streams import generator
from tutelage.refuse import Refused, one_of, whole

DESIGNS = ("sphere", "equal_scores", "orthonormal")
BEST_SCORE = 0.5  # of the best token, where all others have the score 0

Selection = Int[np.ndarray, "n"]  # the token of each sequence that attention ends at


@dataclass(frozen=True, eq=False)
class Sample:
    """Tokens x_it, queries z_i, labels Y_i = ±1 and the head v, which is not trained."""

    tokens: Float[np.ndarray, "n T d"]
    queries: Float[np.ndarray, "n d"]
    labels: Float[np.ndarray, "n"]
    head: Float[np.ndarray, "d"]

    @cached_property
    def scores(self) -> Float[np.ndarray, "n T"]:
        """γ_it = Y_i vᵀx_it: what a sequence gains from attending to a token."""
        return self.labels[:, None] * (self.tokens @ self.head)

    @cached_property
    def best(self) -> Selection:
        """The token of the highest score in each sequence."""
        return self.scores.argmax(1)

    @cached_property
    def rows(self) -> Selection:
        return np.arange(len(self.queries))

    def attended(self, matrix: Float[np.ndarray, "d d"]) -> Float[np.ndarray, "n T"]:
        """x_itᵀ W z_i, before the softmax."""
        return (self.tokens @ (self.queries @ matrix.T)[:, :, None])[:, :, 0]


@lru_cache(maxsize=1024)
def draw_sample(seed: int, sequences: int, tokens: int, dim: int, design: str) -> Sample:
    """Unit tokens, queries and head, and fair labels, in one of the designs."""
    sequences = whole("sequences", sequences, least=1, reason="the loss is a mean over them")
    tokens = whole("tokens", tokens, least=2, reason="attention must have a choice")
    dim = whole("dim", dim, least=1, reason="tokens have at least one feature")
    one_of("design", design, DESIGNS)
    draw = generator(seed, "sequences")
    head = _unit(draw.standard_normal(dim))
    labels = np.where(draw.random(sequences) < 0.5, -1.0, 1.0)
    if design == "orthonormal":
        if dim < max(tokens, sequences):
            raise Refused(
                "`dim` must be at least `tokens` and `sequences`, since tokens of one sequence, "
                "and the queries, are orthonormal in this design. "
                f"Got dim={dim}, tokens={tokens}, sequences={sequences}."
            )
        bases = draw.standard_normal((sequences + 1, dim, dim))
        every = np.stack([np.linalg.qr(basis)[0].T for basis in bases])
        return Sample(every[:-1, :tokens], every[-1, :sequences], labels, head)
    given = _unit(draw.standard_normal((sequences, tokens, dim)))
    queries = _unit(draw.standard_normal((sequences, dim)))
    if design == "equal_scores":
        if dim < 2:
            raise Refused(
                "`dim` must be at least 2, since tokens of equal score differ in the other "
                f"features. Got dim={dim}."
            )
        across = _unit(given - (given @ head)[..., None] * head)
        score = np.zeros((sequences, tokens))
        score[np.arange(sequences), draw.integers(tokens, size=sequences)] = BEST_SCORE
        along = (labels[:, None] * score)[..., None] * head
        given = along + np.sqrt(1 - score**2)[..., None] * across
    return Sample(given, queries, labels, head)


def _unit(vectors: Float[np.ndarray, "... d"]) -> Float[np.ndarray, "... d"]:
    return vectors / np.linalg.norm(vectors, axis=-1, keepdims=True)
