"""Layers of users: is this one σ(VXS), and what can a position-only student make of it?

A layer is any function of arrays, of any framework. PyTorch is imported only for a layer of its.
"""

from tutelage.layers.adapters import (
    Columns,
    Nodes,
    Patches,
    Pixels,
    Sequence,
    Tokens,
    parse_tokens,
)
from tutelage.layers.checkpoints import attention_heads, load_weights
from tutelage.layers.found import Explained, Fact, Found, Kind
from tutelage.layers.learning import learn
from tutelage.layers.state_dicts import from_state_dict, to_torch
from tutelage.layers.wrapping import layer

__all__ = [
    "Columns",
    "Explained",
    "Fact",
    "Found",
    "Kind",
    "Nodes",
    "Patches",
    "Pixels",
    "Sequence",
    "Tokens",
    "attention_heads",
    "from_state_dict",
    "layer",
    "learn",
    "load_weights",
    "parse_tokens",
    "to_torch",
]
