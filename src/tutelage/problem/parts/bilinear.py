"""Teachers of the class σ(V* X S*)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

import numpy as np

from tutelage.problem.options import Matrix, Option, Value
from tutelage.problem.parts.companions import IN_CLASS
from tutelage.problem.parts.estimates import size_bilinear, size_token_selection
from tutelage.problem.parts.vocabulary import (
    ACTIVATION,
    COLLAPSE,
    DIM,
    GROUP,
    NOISE,
    NORM,
    OUTPUTS,
    QUERIES,
    SCALE,
    SUPPORT,
    TOKENS,
)
from tutelage.problem.registry import register
from tutelage.refuse import Refused, one_of, positive, whole

if TYPE_CHECKING:
    from tutelage.teachers.base import Teacher


def random_value(seed: int, outputs: int, dim: int, norm: float | None) -> np.ndarray:
    """V* with iid N(0, 1) entries, scaled to Frobenius norm `norm`, by default √(outputs·dim)."""
    whole("outputs", outputs, least=1, reason="V* has at least one row")
    whole("dim", dim, least=1, reason="tokens have at least one feature")
    length = (
        np.sqrt(outputs * dim)
        if norm is None
        else positive("norm", norm, reason="it is the norm of V*")
    )
    from tutelage.numerics.streams import generator

    draw = generator(seed, "teacher").standard_normal((outputs, dim))
    return draw * (length / np.linalg.norm(draw))


@register(
    "teacher",
    "convolution",
    label="convolution with average pooling",
    sentence="Each output averages K neighbouring tokens.",
    begin={"tokens": 36, "support": 4, "outputs": 8, "dim": 10, "norm": 50.0},
    goes_with=IN_CLASS,
)
def _convolution(
    seed: int,
    *,
    tokens: Annotated[int, TOKENS],
    support: Annotated[int, GROUP],
    outputs: Annotated[int, OUTPUTS],
    dim: Annotated[int, DIM],
    activation: Annotated[str, ACTIVATION] = "relu",
    norm: Annotated[float | None, NORM] = None,
    noise: Annotated[float, NOISE] = 0.0,
    collapse: Annotated[bool, COLLAPSE] = False,
) -> Teacher:
    from tutelage.teachers import CollapsedTeacher, convolution, equal_weights
    from tutelage.teachers.convolution import pooling_groups

    kernels = random_value(seed, outputs, dim, norm)
    if collapse:
        return CollapsedTeacher(
            kernels, equal_weights(*pooling_groups(tokens, support)), activation, noise
        )
    return convolution(kernels, tokens=tokens, support=support, activation=activation, noise=noise)


_NOT_RANDOM: dict[str, Value] = {"degree": None, "graph_seed": None}
GRAPH = Option(
    "graph",
    shape=True,
    widget="graph",
    choices=("cycle", "regular", "karate", "les-miserables"),
    brings={
        "cycle": _NOT_RANDOM,
        "regular": {"degree": 4},
        "karate": {"tokens": 34, **_NOT_RANDOM},
        "les-miserables": {"tokens": 77, **_NOT_RANDOM},
    },
)


@register(
    "teacher",
    "graph_convolution",
    label="graph convolution",
    sentence="Each node averages itself and its neighbours, on a graph known by name, drawn or "
    "uploaded.",
    begin={"tokens": 20, "outputs": 8, "dim": 10, "norm": 30.0},
    goes_with=IN_CLASS,
)
def _graph_convolution(
    seed: int,
    *,
    tokens: Annotated[int, TOKENS],
    outputs: Annotated[int, OUTPUTS],
    dim: Annotated[int, DIM],
    graph: Annotated[str | Matrix, GRAPH] = "cycle",
    degree: Annotated[int | None, Option("neighbours of a node", "", 1, 32)] = None,
    graph_seed: Annotated[int | None, Option("seed of the graph", "", 0, 1000)] = None,
    normalisation: Annotated[
        str, Option("normalisation", choices=("columns", "symmetric"))
    ] = "columns",
    activation: Annotated[str, ACTIVATION] = "relu",
    norm: Annotated[float | None, NORM] = None,
    noise: Annotated[float, NOISE] = 0.0,
    collapse: Annotated[bool, COLLAPSE] = False,
) -> Teacher:
    """`graph` is a name or an adjacency matrix; "regular" takes `degree`, and is drawn by
    `graph_seed`, by default the setting's seed.
    """
    from tutelage.teachers import (
        CollapsedTeacher,
        cycle,
        equal_weights,
        graph_convolution,
        neighbourhoods,
        pattern_of,
        real_graph,
        regular,
    )
    from tutelage.teachers.graph_convolution import GRAPHS, NORMALISATIONS, regular_degrees

    random = isinstance(graph, str) and graph == "regular"
    if not random and (degree is not None or graph_seed is not None):
        raise Refused(
            f"`degree` and `graph_seed` belong to the graph 'regular'. Got degree={degree!r}, "
            f"graph_seed={graph_seed!r} without it."
        )
    if random and degree is None:
        raise Refused(
            "The graph 'regular' needs `degree`, the number of neighbours of every node. Got none."
        )
    weights = random_value(seed, outputs, dim, norm)
    if (
        collapse and isinstance(graph, str) and graph in ("cycle", "regular")
    ):  # one kind of column, whichever the graph: it is not drawn
        one_of("normalisation", normalisation, NORMALISATIONS)
        nodes, neighbours = regular_degrees(tokens, 2 if degree is None else degree)
        return CollapsedTeacher(weights, equal_weights(nodes, neighbours + 1), activation, noise)
    if random and degree is not None:
        drawn = (
            seed
            if graph_seed is None
            else whole("graph_seed", graph_seed, least=0, reason="it seeds the graph")
        )
        graph = regular(tokens, degree, drawn)
    elif isinstance(graph, str):
        one_of("graph", graph, GRAPHS)
        graph = cycle(tokens) if graph == "cycle" else real_graph(graph)
    if collapse:
        teacher: Any = CollapsedTeacher(
            weights,
            pattern_of(neighbourhoods(graph, normalisation)),
            activation,
            noise,
            outside=normalisation == "symmetric",
        )
    else:
        teacher = graph_convolution(
            weights, graph, normalisation=normalisation, activation=activation, noise=noise
        )
    nodes = teacher.shape[2]
    if nodes != tokens:
        raise Refused(
            "`tokens` must be the number of nodes, since each token is one. Got "
            f"tokens={tokens}, a graph of {nodes}."
        )
    return teacher


@register(
    "teacher",
    "token_selection",
    label="token selection",
    sentence="Every query averages the same K random tokens.",
    begin={"tokens": 20, "support": 4, "dim": 10, "scale": 5.0},
    goes_with=IN_CLASS,
    estimate=size_token_selection,
)
def _token_selection(
    seed: int,
    *,
    tokens: Annotated[int, TOKENS],
    support: Annotated[int, SUPPORT],
    dim: Annotated[int, DIM],
    queries: Annotated[int | None, QUERIES] = None,
    activation: Annotated[str, ACTIVATION] = "identity",
    scale: Annotated[float, SCALE] = 1.0,
    noise: Annotated[float, NOISE] = 0.0,
    collapse: Annotated[bool, COLLAPSE] = False,
) -> Teacher:
    from tutelage.numerics.streams import generator
    from tutelage.teachers import CollapsedTeacher, equal_weights, random_subset, token_selection

    if collapse:
        factor = positive("scale", scale, reason="V* is that multiple of the identity")
        identity = factor * np.eye(
            whole("dim", dim, least=1, reason="tokens have at least one feature")
        )
        return CollapsedTeacher(
            identity, equal_weights(tokens, support, queries), activation, noise
        )
    chosen = random_subset(tokens, support, generator(seed, "subset"))
    return token_selection(
        dim,
        tokens=tokens,
        chosen=chosen,
        queries=queries,
        scale=scale,
        activation=activation,
        noise=noise,
    )


@register(
    "teacher",
    "group_sparse",
    label="group-sparse regression",
    sentence="One token alone matters.",
    begin={"tokens": 20, "dim": 10, "norm": 15.0},
    goes_with=IN_CLASS,
)
def _group_sparse(
    seed: int,
    *,
    tokens: Annotated[int, TOKENS],
    dim: Annotated[int, DIM],
    queries: Annotated[int | None, QUERIES] = None,
    activation: Annotated[str, ACTIVATION] = "identity",
    norm: Annotated[float | None, NORM] = None,
    noise: Annotated[float, NOISE] = 0.0,
    collapse: Annotated[bool, COLLAPSE] = False,
) -> Teacher:
    from tutelage.numerics.streams import generator
    from tutelage.teachers import CollapsedTeacher, equal_weights, group_sparse, random_subset

    if collapse:
        return CollapsedTeacher(
            random_value(seed, 1, dim, norm), equal_weights(tokens, 1, queries), activation, noise
        )
    token = int(random_subset(tokens, 1, generator(seed, "subset"))[0])
    direction = random_value(seed, 1, dim, norm)
    return group_sparse(
        direction, tokens=tokens, token=token, queries=queries, activation=activation, noise=noise
    )


@register(
    "teacher",
    "bilinear",
    label="a matrix S* of your own",
    sentence="Any matrix whose columns are weights over the tokens.",
    begin={
        "selection": np.array(
            [[0.5, 0, 0, 0.5], [0.5, 0.5, 0, 0], [0, 0.5, 0.5, 0], [0, 0, 0.5, 0.5]]
        ),
        "outputs": 4,
        "dim": 6,
        "norm": 8.0,
    },
    goes_with=IN_CLASS,
    estimate=size_bilinear,
)
def _bilinear(
    seed: int,
    *,
    selection: Annotated[Matrix, Option("S*, one column per query", "S*", shape=True)],
    value: Annotated[Matrix | None, Option("V*", "V*", shape=True)] = None,
    outputs: Annotated[int | None, OUTPUTS] = None,
    dim: Annotated[int | None, DIM] = None,
    activation: Annotated[str, ACTIVATION] = "identity",
    norm: Annotated[float | None, NORM] = None,
    noise: Annotated[float, NOISE] = 0.0,
    collapse: Annotated[bool, COLLAPSE] = False,
) -> Teacher:
    from tutelage.teachers import BilinearTeacher, CollapsedTeacher, pattern_of

    if value is None:
        if outputs is None or dim is None:
            raise Refused(
                "The teacher 'bilinear' needs `value`, or `outputs` and `dim` to draw one from. "
                "Got neither."
            )
        value = random_value(seed, outputs, dim, norm)
    elif (outputs, dim, norm) != (None, None, None):
        raise Refused(
            "`outputs`, `dim` and `norm` say how V* is drawn, and a `value` is V* itself: beside "
            "one they would give the same run a second name. "
            f"Got outputs={outputs!r}, dim={dim!r}, norm={norm!r} and a `value`."
        )
    if collapse:
        return CollapsedTeacher(value, pattern_of(selection), activation, noise)
    return BilinearTeacher(value, selection, activation, noise)
