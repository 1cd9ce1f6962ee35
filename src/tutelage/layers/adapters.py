"""How a layer's own input and output are read as tokens X (d×D) and labels Y (M×Q)."""

from __future__ import annotations

import abc
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from jaxtyping import Float

from tutelage.refuse import Refused, is_whole, one_of, whole

Sizes = tuple[int, ...]  # of one input or output of a layer, without the batch
IMAGES = {"CHW": (0, 1, 2), "HWC": (2, 0, 1)}  # where channels, height and width stand


class TokenShape(NamedTuple):
    """How many features a token has, and how many tokens there are."""

    dim: int  # d
    tokens: int  # D


class Tokens(abc.ABC):
    """A bijection between a layer's own input and X, and from its own output to Y.

    All maps act on batches: the first axis counts inputs. A pooled output, one vector for all
    tokens, is Y with one column.
    """

    takes: str  # what an input must be, in words

    @abc.abstractmethod
    def shape_of(self, own: Sizes) -> TokenShape:
        """(d, D) of an input of the layer's own shape; refused where they do not fit."""

    @abc.abstractmethod
    def to_tokens(self, own: Float[np.ndarray, "n ..."]) -> Float[np.ndarray, "n d D"]:
        """X of each input."""

    @abc.abstractmethod
    def to_own(self, tokens: Float[np.ndarray, "n d D"], own: Sizes) -> Float[np.ndarray, "n ..."]:
        """The layer's own inputs, from X."""

    @abc.abstractmethod
    def to_labels(self, own: Float[np.ndarray, "n ..."]) -> Float[np.ndarray, "n M Q"]:
        """Y of each output."""

    def _wrong(self, own: Sizes, rule: str) -> Refused:
        return Refused(f"`{type(self).__name__}` needs {rule}. Got an input of shape {own}.")


def _spread(own: Float[np.ndarray, "n ..."]) -> Float[np.ndarray, "n M 1"]:
    """Pooled outputs (M numbers, or a single one) as one column."""
    return own.reshape(len(own), -1, 1)


@dataclass(frozen=True)
class Columns(Tokens):
    """The layer takes X itself, one column per token, and gives Y."""

    def shape_of(self, own: Sizes) -> TokenShape:
        if len(own) != 2:
            raise self._wrong(
                own,
                "inputs with two axes (d×D), since the columns are the tokens; images take "
                "Pixels() or Patches(size) (`--tokens pixels`, `patches:3`)",
            )
        return TokenShape(*own)

    def to_tokens(self, own: Float[np.ndarray, "n ..."]) -> Float[np.ndarray, "n d D"]:
        return own

    def to_own(self, tokens: Float[np.ndarray, "n d D"], own: Sizes) -> Float[np.ndarray, "n ..."]:
        return tokens

    def to_labels(self, own: Float[np.ndarray, "n ..."]) -> Float[np.ndarray, "n M Q"]:
        return own if own.ndim == 3 else _spread(own)


@dataclass(frozen=True)
class Sequence(Tokens):
    """The layer takes T×d, one row per token, as transformers do, and gives T'×M or M numbers."""

    def shape_of(self, own: Sizes) -> TokenShape:
        if len(own) != 2:
            raise self._wrong(own, "inputs with two axes (tokens × features), one row per token")
        return TokenShape(own[1], own[0])

    def to_tokens(self, own: Float[np.ndarray, "n ..."]) -> Float[np.ndarray, "n d D"]:
        return own.swapaxes(1, 2)

    def to_own(self, tokens: Float[np.ndarray, "n d D"], own: Sizes) -> Float[np.ndarray, "n ..."]:
        return tokens.swapaxes(1, 2)

    def to_labels(self, own: Float[np.ndarray, "n ..."]) -> Float[np.ndarray, "n M Q"]:
        return own.swapaxes(1, 2) if own.ndim == 3 else _spread(own)


@dataclass(frozen=True)
class Nodes(Sequence):
    """The layer takes one row of features per node of a graph, and gives one row per node, or one
    vector for the whole graph. The graph itself is fixed, inside of the layer.
    """


@dataclass(frozen=True)
class _Images(Tokens):
    """What layers of images share: where the channels stand."""

    layout: str = "CHW"

    def __post_init__(self) -> None:
        one_of("layout of an image", self.layout, IMAGES)

    def _sizes(self, own: Sizes) -> Sizes:
        """Channels, height and width."""
        if len(own) != 3:
            axes = " × ".join(self.layout)
            raise self._wrong(own, f"images with three axes ({axes}), also where C is 1")
        return tuple(own[axis] for axis in IMAGES[self.layout])

    def _channels_first(self, own: Float[np.ndarray, "n ..."]) -> Float[np.ndarray, "n C H W"]:
        return own if self.layout == "CHW" else own.transpose(0, 3, 1, 2)

    def _own_layout(self, images: Float[np.ndarray, "n C H W"]) -> Float[np.ndarray, "n ..."]:
        return images if self.layout == "CHW" else images.transpose(0, 2, 3, 1)

    def to_labels(self, own: Float[np.ndarray, "n ..."]) -> Float[np.ndarray, "n M Q"]:
        """A map of features: its channels are the outputs, its pixels the queries. Anything else
        is taken as M numbers for the whole image.
        """
        if own.ndim != 4:
            return _spread(own)
        maps = self._channels_first(own)
        return maps.reshape(*maps.shape[:2], -1)


@dataclass(frozen=True)
class Pixels(_Images):
    """A token is a pixel, its features the channels."""

    def shape_of(self, own: Sizes) -> TokenShape:
        channels, height, width = self._sizes(own)
        return TokenShape(channels, height * width)

    def to_tokens(self, own: Float[np.ndarray, "n ..."]) -> Float[np.ndarray, "n d D"]:
        images = self._channels_first(own)
        return images.reshape(*images.shape[:2], -1)

    def to_own(self, tokens: Float[np.ndarray, "n d D"], own: Sizes) -> Float[np.ndarray, "n ..."]:
        return self._own_layout(tokens.reshape(len(tokens), *self._sizes(own)))


@dataclass(frozen=True)
class Patches(_Images):
    """A token is a patch of `size`×`size` pixels; patches do not overlap. Its features are the
    pixels of the patch, channel by channel, as a convolution's kernel holds them.
    """

    size: int = 1

    def __init__(self, size: int, layout: str = "CHW") -> None:
        object.__setattr__(self, "layout", layout)
        object.__setattr__(
            self, "size", whole("size", size, least=1, reason="a patch has that many pixels a side")
        )
        self.__post_init__()

    def shape_of(self, own: Sizes) -> TokenShape:
        channels, height, width = self._sizes(own)
        if height % self.size or width % self.size:
            raise self._wrong(
                own,
                f"height and width that {self.size} divides, since patches of {self.size}×"
                f"{self.size} pixels tile the image",
            )
        return TokenShape(channels * self.size**2, (height // self.size) * (width // self.size))

    def to_tokens(self, own: Float[np.ndarray, "n ..."]) -> Float[np.ndarray, "n d D"]:
        images = self._channels_first(own)
        count, channels, height, width = images.shape
        p = self.size
        cut = images.reshape(count, channels, height // p, p, width // p, p)
        return cut.transpose(0, 1, 3, 5, 2, 4).reshape(count, channels * p * p, -1)

    def to_own(self, tokens: Float[np.ndarray, "n d D"], own: Sizes) -> Float[np.ndarray, "n ..."]:
        channels, height, width = self._sizes(own)
        p = self.size
        cut = tokens.reshape(len(tokens), channels, p, p, height // p, width // p)
        return self._own_layout(
            cut.transpose(0, 1, 4, 2, 5, 3).reshape(len(tokens), channels, height, width)
        )


NAMES: dict[str, type[Columns] | type[Sequence] | type[Pixels]] = {
    "columns": Columns,
    "sequence": Sequence,
    "nodes": Nodes,
    "pixels": Pixels,
}


def parse_tokens(text: str) -> Tokens:
    """`columns`, `sequence`, `nodes`, `pixels` or `patches:SIZE`; `:HWC` after it where the
    channels come last.
    """
    name, *words = text.split(":")
    one_of("way to read tokens", name, (*NAMES, "patches"))
    layout = "CHW"
    if words and words[-1].upper() in IMAGES:
        layout = words.pop().upper()
    if name == "patches":
        if len(words) != 1 or not is_whole(words[0]):
            raise Refused(f"`patches` takes its size, as in patches:3. Got {text!r}.")
        return Patches(int(words[0]), layout)
    if words or (layout != "CHW" and name != "pixels"):
        raise Refused(f"`{name}` takes no further word here. Got {text!r}.")
    return Pixels(layout) if name == "pixels" else NAMES[name]()
