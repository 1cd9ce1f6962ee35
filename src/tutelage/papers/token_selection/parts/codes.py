"""Position codes, as a student whose scores are C·(codes of the subset) sees them."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from jaxtyping import Float

from tutelage.numerics.streams import generator
from tutelage.papers.token_selection.parts.kinds import CODES
from tutelage.refuse import Refused, one_of, whole

CHUNK = 2**24  # signs that are held at once


class Codes(NamedTuple):
    r"""What codes do to the scores: a token i has the score C·overlap_i,
    $overlap_i=\sum_{j\in y}\langle e_i,e_j\rangle$.

    One row per draw of the codes. Tokens with equal overlaps are one column, which `counts` says
    how many they are; `targets` is their weight in the mean over the subset.
    """

    overlaps: Float[np.ndarray, "draws groups"]
    counts: Float[np.ndarray, "groups"]
    targets: Float[np.ndarray, "groups"]
    modes: float  # N, the squared length of the direction of W that C multiplies


def make_codes(
    kind: str, tokens: int, support: int, width: int | None, draws: int, seed: int
) -> Codes:
    """Codes by their name: fixed and orthonormal; orthonormal, drawn anew at every step; random
    signs/√m, drawn anew at every step, as a mean over some draws.
    """
    one_of("kind of codes", kind, CODES)
    if kind == "fixed":
        return orthonormal_codes(tokens, support, tokens - 1)
    if width is None:
        raise Refused(
            f"Codes that are {kind} need a `width`, since it says how long they are. Got none."
        )
    width = whole("width", width, least=1, reason="a code has at least one entry")
    if kind == "fresh":
        if width < tokens:
            raise Refused(
                "`width` must be at least `tokens`, since no more than `width` codes are "
                f"orthonormal. Got width={width}, tokens={tokens}."
            )
        return orthonormal_codes(tokens, support, width)
    draws = whole("draws", draws, least=1, reason="the loss is a mean over draws of the codes")
    overlaps = draw_overlaps(tokens, support, width, draws, generator(seed, "sign codes"))
    chosen = np.arange(tokens) < support
    return Codes(overlaps, np.ones(tokens), chosen / support, float(width))


def orthonormal_codes(tokens: int, support: int, modes: float) -> Codes:
    """Scores C on the subset and 0 elsewhere."""
    counts = np.array([support, tokens - support], float)
    return Codes(np.array([[1.0, 0.0]]), counts, np.array([1.0 / support, 0.0]), float(modes))


def draw_overlaps(
    tokens: int, support: int, width: int, draws: int, draw: np.random.Generator
) -> Float[np.ndarray, "draws tokens"]:
    """Overlaps of random signs/√m with the first q codes, which are the subset."""
    found = []
    each = max(1, CHUNK // (width * tokens))
    for first in range(0, draws, each):
        count = min(each, draws - first)
        signs = draw.integers(0, 2, (count, width, tokens), dtype=np.int8) * np.int8(2) - np.int8(1)
        query = signs[:, :, :support].sum(2, dtype=np.float32)
        # Sums of signs are whole numbers, which single precision adds without rounding.
        found.append(np.einsum("rmt,rm->rt", signs.astype(np.float32), query))
    return np.concatenate(found).astype(float) / width
