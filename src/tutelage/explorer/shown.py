"""What the explorer shows of the registry: labels, sentences, where a slider begins and ends, and
which parts go together.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

ACTIVATIONS = ("relu", "leaky_relu(0.1)", "identity", "erf", "tanh", "gelu", "silu")


@dataclass(frozen=True)
class Shown:
    """A part as the page names it; `begin` are the page's own values for options that a query
    leaves out.
    """

    label: str
    sentence: str
    begin: dict[str, Any] = field(default_factory=dict)
    page: str = "main"


@dataclass(frozen=True)
class Hint:
    """An option as the page shows it. `shape` says that another value is another program to
    compile.
    """

    label: str
    kind: str = "float"
    letter: str = ""
    least: float | None = None
    most: float | None = None
    log: bool = False
    shape: bool = False
    choices: tuple[Any, ...] = ()


_SMALL = {"tokens": 6, "outputs": 2, "dim": 4}  # the sizes of teacher-models/limits

PARTS: dict[str, dict[str, Shown]] = {
    "teacher": {
        "convolution": Shown(
            "convolution with average pooling",
            "Each output averages K neighbouring tokens.",
            {"tokens": 36, "support": 4, "outputs": 8, "dim": 10, "norm": 50.0},
        ),
        "graph_convolution": Shown(
            "graph convolution",
            "Each node averages itself and its neighbours, on a graph known by name, drawn or "
            "uploaded.",
            {"tokens": 20, "outputs": 8, "dim": 10, "norm": 30.0},
        ),
        "token_selection": Shown(
            "token selection",
            "Every query averages the same K random tokens.",
            {"tokens": 20, "support": 4, "dim": 10, "scale": 5.0},
        ),
        "group_sparse": Shown(
            "group-sparse regression",
            "One token alone matters.",
            {"tokens": 20, "dim": 10, "norm": 15.0},
        ),
        "bilinear": Shown(
            "a matrix S* of your own",
            "Any matrix whose columns are weights over the tokens.",
            {
                "selection": [
                    [0.5, 0, 0, 0.5],
                    [0.5, 0.5, 0, 0],
                    [0, 0.5, 0.5, 0],
                    [0, 0, 0.5, 0.5],
                ],
                "outputs": 4,
                "dim": 6,
                "norm": 8.0,
            },
        ),
        "max_pooling": Shown(
            "max pooling",
            "Outside the class: the largest of K tokens, entry by entry.",
            {**_SMALL, "support": 2},
        ),
        "top_k": Shown(
            "top-K by content",
            "Outside the class: the K tokens that score highest are averaged.",
            {**_SMALL, "support": 2},
        ),
        "softmax_selection": Shown(
            "softmax by content",
            "Outside the class: weights depend on what tokens hold.",
            {**_SMALL, "sharpness": 3.0},
        ),
        "two_heads": Shown(
            "two heads",
            "Outside the class: a sum of two heads that read different tokens.",
            {**_SMALL, "support": 2},
        ),
        "two_layers": Shown(
            "two layers",
            "Outside the class: one layer after another.",
            {**_SMALL, "support": 2, "hidden": 4},
        ),
        "products": Shown(
            "products of tokens",
            "Outside the class: products of projections of two tokens.",
            {**_SMALL},
        ),
        "transported": Shown(
            "transported features",
            "The target of the shallow-transformer theorems.",
            {"pool": 1024},
            page="shallow",
        ),
        "autoregression": Shown(
            "autoregression",
            "A series whose next value depends on one long ago.",
            {"lag": 12},
            page="shallow",
        ),
    },
    "inputs": {
        "gaussian": Shown("normal tokens", "Tokens N(0, I), or with a covariance of your own."),
        "independent": Shown(
            "another law", "Entries iid of a law that is not normal; trained on samples."
        ),
        "clipped_gaussian": Shown(
            "clipped normal tokens", "Standard normal, clipped to a ball.", page="shallow"
        ),
        "series": Shown(
            "windows of a series", "The teacher's own series, cut into windows.", page="shallow"
        ),
    },
    "student": {
        "position_attention": Shown(
            "position-only attention",
            "One layer, scores from positions alone: the student of the theorem.",
        ),
        "content_attention": Shown(
            "attention by content and position", "Scores see what tokens hold; trained on samples."
        ),
        "known_selection": Shown("S* known", "Attention is given, and only W_V is learned."),
        "two_layer": Shown(
            "two-layer network", "No attention at all; trained on samples.", {"hidden": 32}
        ),
        "multi_head_position": Shown(
            "position-only, several heads", "A sum of heads; trained on samples."
        ),
        "two_layer_position": Shown(
            "position-only, two layers",
            "One layer after another; trained on samples.",
            {"hidden": 8},
        ),
        "shallow_transformer": Shown(
            "shallow transformer", "m heads and a linear readout.", {"heads": 64}, page="shallow"
        ),
        "indrnn": Shown(
            "independent recurrent units",
            "The recurrent network that it is compared with.",
            {"heads": 64},
            page="shallow",
        ),
    },
    "objective": {
        "population": Shown(
            "population risk, exact", "The expectation itself: no sample is drawn."
        ),
        "online": Shown("online", "A fresh batch at every step."),
        "empirical": Shown(
            "a fixed sample", "The mean over n samples.", {"samples": 256, "held_out": 1000}
        ),
        "minibatch": Shown(
            "minibatches of a fixed sample",
            "A batch of n samples at every step.",
            {"samples": 2000, "held_out": 1000},
        ),
        "squared_loss": Shown(
            "squared loss on a sample",
            "All n samples at every step.",
            {"samples": 200},
            page="shallow",
        ),
        "single_sample": Shown(
            "one sample a step",
            "One of the n samples at every step.",
            {"samples": 200},
            page="shallow",
        ),
    },
    "optimiser": {
        "gradient_descent": Shown("gradient descent", "Plain steps, constant or falling."),
        "momentum": Shown("momentum", "With a velocity.", {"decay": 0.9}),
        "adam": Shown("Adam", "Steps rescaled entry by entry."),
        "normalised": Shown("normalised descent", "Steps of constant length."),
        "sign": Shown("sign descent", "Every entry moves by the same amount."),
        "projected_descent": Shown(
            "projected descent", "Every head is kept in a ball around its start.", page="shallow"
        ),
    },
}


def _size(label: str, letter: str = "", least: int = 1, most: int = 256, log: bool = False) -> Hint:
    return Hint(label, "int", letter, least, most, log, shape=True)


def _number(
    label: str, letter: str = "", least: float = 1e-3, most: float = 1e3, log: bool = True
) -> Hint:
    return Hint(label, "float", letter, least, most, log)


def _choice(label: str, *choices: Any, shape: bool = True) -> Hint:
    return Hint(label, "choice", choices=choices, shape=shape)


def _flag(label: str) -> Hint:
    return Hint(label, "bool", shape=True)


# By "kind.part.option", or by the option alone where all parts mean the same by it.
HINTS: dict[str, Hint] = {
    "tokens": _size("tokens", "D", 1, 256),
    "teacher.transported.tokens": _size(
        "tokens", "T", 1, 256
    ),  # the second paper's letter, as that of the steps below
    "teacher.autoregression.tokens": _size("tokens", "T", 1, 256),
    "support": Hint("tokens that an output reads", "int", "K", 1, 256),
    "outputs": _size("outputs", "M", 1, 64),
    "dim": _size("features of a token", "d", 1, 64),
    "queries": _size("queries", "Q", 1, 256),
    "hidden": _size("hidden units", "", 1, 256),
    "activation": _choice("activation σ", *ACTIVATIONS),
    "norm": _number("length of V*", "‖V*‖", 0.1, 1000),
    "scale": _number("scale", "", 0.01, 100),
    "noise": Hint("label noise", "float", "τ", 0, 100),
    "graph": Hint("graph", "graph", shape=True),
    "degree": Hint("neighbours of a node", "int", "", 1, 32),
    "graph_seed": Hint("seed of the graph", "int", "", 0, 1000),
    "normalisation": _choice("normalisation", "columns", "symmetric", shape=False),
    "selection": Hint("S*, a column a query", "matrix", "S*", shape=True),
    "value": Hint("V*", "matrix", "V*", shape=True),
    "sharpness": _number("sharpness", "", 0.1, 100),
    "covariance": Hint("covariance of the features", "matrix", "Σ", shape=True),
    "correlation": Hint("correlation of the positions", "matrix", "", shape=True),
    "law": _choice("law", "normal", "exponential", "gumbel", "rademacher", "student_t"),
    "shift": Hint("mean", "float", "", -10, 10),
    "freedom": Hint("degrees of freedom", "float", "", 2.1, 100, True, shape=True),
    "start": Hint("size of the random start", "float", "", 0, 10),
    "restart": Hint("number of the start", "int", "", 0, 100),
    "key_codes": _choice("position codes", None, "orthonormal", "sinusoidal", "gaussian"),
    "query_codes": Hint("codes of the queries", "matrix", shape=True),
    "size": _size("length of a code", "p", 1, 512),
    "code_scale": _number("scale of the codes", "", 0.01, 100),
    "learned": _flag("codes are learned"),
    "attention_scale": _number("scale of the scores", "c", 0.001, 100),
    "form": _choice("form", "merged", "factored"),
    "mix": _choice("content and position", "concatenated", "added", "none"),
    "codes": _choice("position codes", "orthonormal", "sinusoidal", "gaussian"),
    "heads": _size("width", "m", 1, 2048, log=True),
    "student.multi_head_position.heads": _size("heads", "", 1, 16),
    "largest_std": _number("largest standard deviation of a pre-activation", "", 0.1, 100),
    "batch": _size("batch", "N", 1, 2000, log=True),
    "samples": _size("samples", "n", 1, 20_000, log=True),
    "held_out": _size("inputs held out", "", 0, 20_000),
    "validation": _size("inputs held out", "", 0, 20_000),
    "power": Hint("power by which steps fall", "float", "", 0, 2, shape=True),
    "onset": Hint("steps until they fall", "float", "", 1, 1e6, True, shape=True),
    "decay": Hint("momentum", "float", "β", 0, 0.999, shape=True),
    "nesterov": _flag("Nesterov's form"),
    "b1": Hint("decay of the mean", "float", "β₁", 0, 0.999, shape=True),
    "b2": Hint("decay of the square", "float", "β₂", 0, 0.9999, shape=True),
    "eps": Hint("ε", "float", "ε", 1e-16, 1, True, shape=True),
    "anchors": _size("anchors", "R", 1, 256),
    "signs": _choice("signs", "plain", "random", shape=False),
    "student.indrnn.signs": _choice(
        "signs of the recurrent weights", "random", "plain", shape=False
    ),
    "scores": _choice("what the teacher reads of W", "full", "diagonal"),
    "nu_c": Hint("radius ν_c of the target", "float", "ν_c", 0.01, 30, True, shape=True),
    "nu_u": Hint("radius ν_u of the target", "float", "ν_u", 0.01, 30, True, shape=True),
    "nu_w": Hint("radius ν_w of the target", "float", "ν_w", 0.01, 30, True, shape=True),
    "pool": _size("heads that stand for an expectation", "", 2, 8192, log=True),
    "token_scale": _number("scale of the anchors' tokens", "", 0.01, 10),
    "token_radius": _number("radius of the anchors' tokens", "", 0.01, 10),
    "query": Hint("query vector", "matrix", shape=True),
    "radius": _number("radius", "", 0.01, 10),
    "lag": _size("lag", "L", 1, 256),
    "channels": _size("channels", "P", 1, 64),
    "coefficient": Hint("coefficient", "float", "", -0.999, 0.999, shape=True),
    "norms": _choice("norms of the tokens", "free", "unit"),
    "stride": Hint("steps between windows", "int", "", 1, 256, shape=True),
    "recurrent": Hint("|u| at the start", "float", "|u|", 0.01, 3),
    "labels": _choice("labels", "own", "foreign", shape=False),
    "rho_c": Hint("radius ρ_c", "float", "ρ_c", 0.001, 30, True, shape=True),
    "rho_u": Hint("radius ρ_u", "float", "ρ_u", 0.001, 30, True, shape=True),
    "rho_w": Hint("radius ρ_w", "float", "ρ_w", 0.001, 30, True, shape=True),
}
FIELDS: dict[str, Hint] = {
    "rate": Hint("step size", "float", "η", 1e-4, 10, True),
    "steps": Hint("steps", "int", "T", 1, 1e7, True),
    "seed": Hint("seed", "int", "", 0, 1000),
}
LETTERED = {"shallow": {"steps": "τ"}}  # where a page has another letter for a field
HIDDEN = ("collapse",)  # the page shows S token by token

_CLASS = ("convolution", "graph_convolution", "token_selection", "group_sparse", "bilinear")
_BEYOND = ("max_pooling", "top_k", "softmax_selection", "two_heads", "two_layers", "products")
_PLAIN = ("gradient_descent", "momentum", "adam", "normalised", "sign")
_DRAWN = ("online", "empirical", "minibatch")

_IN_CLASS = {
    "inputs": ("gaussian", "independent"),
    "student": (
        "position_attention",
        "content_attention",
        "known_selection",
        "two_layer",
        "multi_head_position",
        "two_layer_position",
    ),
    "objective": ("population", *_DRAWN),
    "optimiser": _PLAIN,
}
_OUTSIDE = {
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
# What goes with a teacher; the first of each kind is what the page begins with.
GOES_WITH: dict[str, dict[str, tuple[str, ...]]] = {
    **dict.fromkeys(_CLASS, _IN_CLASS),
    **dict.fromkeys(_BEYOND, _OUTSIDE),
    "transported": {
        "inputs": ("clipped_gaussian",),
        "student": ("shallow_transformer",),
        "objective": ("squared_loss", "single_sample"),
        "optimiser": ("projected_descent", *_PLAIN),
    },
    "autoregression": {
        "inputs": ("series",),
        "student": ("shallow_transformer", "indrnn"),
        "objective": ("squared_loss", "single_sample"),
        "optimiser": _PLAIN,
    },
}
# What the exact risk needs; every other student or law is trained on samples.
EXACT = {"inputs": ("gaussian",), "student": ("position_attention", "known_selection")}
BEGIN: dict[str, dict[str, Any]] = {
    "main": {"rate": 0.2, "steps": 100_000, "seed": 0},
    "shallow": {"rate": 0.05, "steps": 400, "seed": 0},
}
# Where a teacher needs another step size or horizon than its page begins with.
BEGIN_WITH: dict[str, dict[str, Any]] = {
    "group_sparse": {"rate": 0.04},
    **{teacher: {"rate": 0.01, "steps": 2000} for teacher in _BEYOND},
    "autoregression": {"rate": 0.3, "steps": 200},
}
# Those of teachers/graph_convolution.py, which imports JAX, with their number of nodes where it is
# given.
GRAPHS: dict[str, int | None] = {"cycle": None, "regular": None, "karate": 34, "les-miserables": 77}
