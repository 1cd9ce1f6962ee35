"""Layers for `learn`: functions that return, take or do what no layer does, and odd questions."""

from __future__ import annotations

from collections.abc import Callable
from random import Random
from typing import Any, ClassVar
from unittest.mock import patch

import numpy as np

from hardening.bad_input.odd import odd_value, odd_word
from hardening.bad_input.target import Target

SHAPES = ((2, 3), (1, 4), (3,), (1, 4, 4), (0, 3), (10**9, 10**9), (-1, 2), (2, 3, 4, 5, 6))
TOKENS = ("columns", "sequence", "nodes", "pixels", "patches:2", "pixels:HWC", "patches:0")
ODD = 0.4  # the share of what is odd, of each thing that is given
MOST_SLOPES = 2**16  # at once, as where memory is short: one who asks for 1e300 has so many
MOST_STEPS = 20  # a longer training would be no fault
Function = Callable[[Any], Any]


class Layers(Target):
    """`tutelage.learn` with a layer, a shape and options of which some are wrong."""

    name: ClassVar[str] = "layers"
    share: ClassVar[int] = 2
    seconds: ClassVar[float] = 60.0  # a sound one is analysed

    def attack(self, draw: Random) -> bool:
        from tutelage.layers import learn, learning, parse_tokens

        options: dict[str, Any] = {"probes": 2, "fresh": 16, "steps": 0, "seed": 0}
        for _ in range(draw.choice((0, 1, 2))):
            option = draw.choice(
                ("probes", "fresh", "steps", "seed", "framework", "batched", "output", "tolerance")
            )
            options[option] = odd_value(draw)
        if isinstance(options["steps"], int | float) and options["steps"] > MOST_STEPS:
            options["steps"] = MOST_STEPS
        inputs = _choose(
            draw,
            (None, "gaussian", "independent"),
            (odd_word(draw), odd_value(draw), np.ones((9, 2, 3))),
        )
        shape = _choose(draw, SHAPES[:1], (*SHAPES, odd_value(draw)))
        tokens = _choose(draw, ("columns",), (*TOKENS, odd_word(draw)))
        layer = _choose(draw, LAYERS[:3], (*LAYERS, odd_value(draw)))
        with patch.object(learning, "MOST_SLOPES", MOST_SLOPES):
            learn(layer, inputs, tokens=parse_tokens(tokens), shape=shape, **options)
        return True


def _choose(draw: Random, sound: tuple[Any, ...], odd: tuple[Any, ...]) -> Any:
    """One of either: with all of them odd, only the first would ever be looked at."""
    return draw.choice(odd if draw.random() < ODD else sound)


def _raise(x: Any) -> Any:
    raise RuntimeError("a layer of mine")


LAYERS: tuple[Function, ...] = (
    lambda x: x,
    lambda x: np.maximum(x, 0) @ np.ones((x.shape[-1], 2)),
    lambda x: x.T,
    lambda x: x.sum(),
    lambda x: None,
    lambda x: "words",
    lambda x: [x, x],
    lambda x: {"a": x},
    lambda x: {1: x},
    lambda x: x + 1j,
    lambda x: x * np.nan,
    lambda x: x / 0.0,
    lambda x: x[:0],
    lambda x: np.zeros((2, 2), object),
    lambda x: np.zeros((50, 50, 50)),
    lambda x: x > 0,
    lambda x: x.astype(np.float16),
    lambda x: np.random.default_rng().normal(size=x.shape),
    lambda x: x.__setitem__(..., 0),
    lambda x, y: x,  # type: ignore[list-item, misc]
    _raise,
)
