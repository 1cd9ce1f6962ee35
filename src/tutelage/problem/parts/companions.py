"""Which parts go with which teachers; the first of each kind is the one to begin with, or the
first that itself goes with what was chosen before.
"""

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
    "objective": ("population", "empirical", "online", "minibatch"),
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
# Students that look at no part of the teacher but its sizes, and risks that only ask for labels.
ANY_TEACHER = {
    "inputs": ("gaussian", "independent"),
    "student": (
        "content_attention",
        "position_attention",
        "multi_head_position",
        "two_layer_position",
        "two_layer",
    ),
    "objective": ("minibatch", "empirical"),
    "optimiser": ("adam", "gradient_descent", "momentum", "normalised", "sign"),
}
