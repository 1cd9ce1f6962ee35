"""The error of a fully connected network, of whose first layer alone something is known."""

from __future__ import annotations

import numpy as np
from jaxtyping import Float

from tutelage.calculations.base import Calculated, Calculation, Ingredients
from tutelage.numerics.streams import generator
from tutelage.papers.token_selection.parts.kinds import LAYERS
from tutelage.papers.token_selection.parts.students import list_subsets
from tutelage.papers.token_selection.parts.teacher import SubsetAverage
from tutelage.refuse import Refused, one_of, whole


class NetworkError(Calculation):
    r"""`error`, E‖f − f*‖² of the best network above a first layer of some units, from the second
    moment over all subsets.

    With `samples` also `sampled_error`: that of an explicit network, on drawn inputs. Its units
    are $Ax + s\,k\,e_1$, k the number of the subset; the next layers read k off the first unit,
    take it away, and answer with the mean of f* given Ax and y. `misread` is how often k is wrong.
    """

    def __init__(self, units: int, layer: str, shift: float, samples: int) -> None:
        self.units = whole("units", units, least=1, reason="a layer has a unit")
        self.layer = one_of("first layer", layer, LAYERS)
        self.shift, self.samples = shift, samples

    def __call__(self, given: Ingredients) -> Calculated:
        teacher = given.teacher
        if not isinstance(teacher, SubsetAverage):
            raise Refused(
                "The error of a network is taken of the teacher 'subset_average'. Got "
                f"{type(teacher).__name__}."
            )
        inputs = teacher.tokens * teacher.dim
        if self.units > inputs:
            raise Refused(
                "`units` must be at most Td, since no more directions of the tokens are there. "
                f"Got units={self.units}, Td={inputs}."
            )
        targets = list_subsets(teacher.tokens, teacher.support) / teacher.support
        maps = np.stack([np.kron(row, np.eye(teacher.dim)) for row in targets])  # B_y
        moment = np.einsum("sdi,sdj->ij", maps, maps) / len(maps)
        draw = generator(given.seed, "first layer and inputs")
        rows = make_layer(self.layer, moment, self.units, draw)
        found = {"error": float(np.trace(moment) - np.trace(rows @ moment @ rows.T))}
        if self.samples:
            sampled, misread = self._sample(rows, maps, draw)
            found |= {"sampled_error": sampled, "misread": misread}
        return Calculated.numbers(**found)

    def _sample(
        self,
        rows: Float[np.ndarray, "m Td"],
        maps: Float[np.ndarray, "S d Td"],
        draw: np.random.Generator,
    ) -> tuple[float, float]:
        tokens = draw.standard_normal((self.samples, rows.shape[1]))
        subset = draw.integers(0, len(maps), self.samples)
        units = tokens @ rows.T
        units[:, 0] += self.shift * subset
        read = np.clip(np.rint(units[:, 0] / self.shift), 0, len(maps) - 1).astype(int)
        units[:, 0] -= self.shift * read
        # Orthonormal rows: the mean of x given Ax is Aᵀ(Ax).
        answer = np.einsum("ndi,ni->nd", maps[read], units @ rows)
        wanted = np.einsum("ndi,ni->nd", maps[subset], tokens)
        error = float(np.mean(np.sum((answer - wanted) ** 2, axis=1)))
        return error, float(np.mean(read != subset))


def make_layer(
    kind: str, moment: Float[np.ndarray, "Td Td"], units: int, draw: np.random.Generator
) -> Float[np.ndarray, "m Td"]:
    """Orthonormal rows: along the largest eigenvalues of the second moment, or at random."""
    if kind == "best":
        _, vectors = np.linalg.eigh(moment)
        return np.ascontiguousarray(vectors[:, ::-1][:, :units].T)
    found, _ = np.linalg.qr(draw.standard_normal((len(moment), units)))
    return found.T
