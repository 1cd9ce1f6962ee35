"""Which parts go with which teachers; the first of each kind is the one to begin with."""

from __future__ import annotations

PLAIN_OPTIMISERS = ("gradient_descent", "momentum", "adam", "normalised", "sign")
IN_CLASS = {
    "inputs": ("gaussian", "independent"),
    "student": (
        "position_attention",
        "content_attention",
        "known_selection",
        "two_layer",
        "multi_head_position",
        "two_layer_position",
    ),
    "objective": ("population", "online", "empirical", "minibatch"),
    "optimiser": PLAIN_OPTIMISERS,
}
OUTSIDE_CLASS = {
    "inputs": ("gaussian", "independent"),
    "student": (
        "content_attention",
        "position_attention",
        "multi_head_position",
        "two_layer_position",
    ),
    "objective": ("minibatch",),
    "optimiser": ("adam", "gradient_descent", "momentum", "normalised", "sign"),
}
