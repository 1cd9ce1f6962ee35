"""Teachers of the class σ(V* X S*), and the inputs, students and objectives that go with them."""

from __future__ import annotations

from typing import Any

import numpy as np

from tutelage.problem.registry import register
from tutelage.refuse import Refused, one_of, positive, whole, yes_or_no

COLLAPSE = "tokens and queries that nothing tells apart are run as one, or each for itself"


def random_value(seed: int, outputs: int, dim: int, norm: float | None) -> np.ndarray:
    """V* with iid N(0, 1) entries, scaled to Frobenius norm `norm`, by default √(outputs·dim)."""
    whole("outputs", outputs, least=1, reason="V* has at least one row")
    whole("dim", dim, least=1, reason="tokens have at least one feature")
    length = (
        np.sqrt(outputs * dim)
        if norm is None
        else positive("norm", norm, reason="it is the length of V*")
    )
    from tutelage.numerics.streams import generator

    draw = generator(seed, "teacher").standard_normal((outputs, dim))
    return draw * (length / np.linalg.norm(draw))


def start_key(seed: int, restart: int) -> Any:
    """The key of a student's random start: another one each restart, while teacher and data stay
    those of the seed.
    """
    from tutelage.numerics.streams import stream

    restart = whole("restart", restart, least=0, reason="it counts the starts of one student")
    return stream(seed, f"start {restart}" if restart else "start")


@register("teacher", "convolution")
def _convolution(
    seed: int,
    *,
    tokens: int,
    support: int,
    outputs: int,
    dim: int,
    activation: str = "relu",
    norm: float | None = None,
    noise: float = 0.0,
    collapse: bool = False,
) -> Any:
    from tutelage.teachers import CollapsedTeacher, convolution, equal_weights
    from tutelage.teachers.convolution import pooling_groups

    kernels = random_value(seed, outputs, dim, norm)
    if yes_or_no("collapse", collapse, reason=COLLAPSE):
        return CollapsedTeacher(
            kernels, equal_weights(*pooling_groups(tokens, support)), activation, noise
        )
    return convolution(kernels, tokens=tokens, support=support, activation=activation, noise=noise)


@register("teacher", "graph_convolution")
def _graph_convolution(
    seed: int,
    *,
    tokens: int,
    outputs: int,
    dim: int,
    graph: Any = "cycle",
    degree: int | None = None,
    graph_seed: int | None = None,
    normalisation: str = "columns",
    activation: str = "relu",
    norm: float | None = None,
    noise: float = 0.0,
    collapse: bool = False,
) -> Any:
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
            f"`degree` and `graph_seed` are of the graph 'regular'. Got degree={degree!r}, "
            f"graph_seed={graph_seed!r} without it."
        )
    if random and degree is None:
        raise Refused(
            "The graph 'regular' needs `degree`, the number of neighbours of every node. Got none."
        )
    weights = random_value(seed, outputs, dim, norm)
    collapse = yes_or_no("collapse", collapse, reason=COLLAPSE)
    if (
        collapse and isinstance(graph, str) and graph in ("cycle", "regular")
    ):  # one kind of column, whichever the graph: it is not drawn
        one_of("normalisation", normalisation, NORMALISATIONS)
        nodes, neighbours = regular_degrees(tokens, degree if random else 2)
        return CollapsedTeacher(weights, equal_weights(nodes, neighbours + 1), activation, noise)
    if random:
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


@register("teacher", "token_selection")
def _token_selection(
    seed: int,
    *,
    tokens: int,
    support: int,
    dim: int,
    queries: int | None = None,
    activation: str = "identity",
    scale: float = 1.0,
    noise: float = 0.0,
    collapse: bool = False,
) -> Any:
    from tutelage.numerics.streams import generator
    from tutelage.teachers import CollapsedTeacher, equal_weights, random_subset, token_selection

    if yes_or_no("collapse", collapse, reason=COLLAPSE):
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


@register("teacher", "group_sparse")
def _group_sparse(
    seed: int,
    *,
    tokens: int,
    dim: int,
    queries: int | None = None,
    activation: str = "identity",
    norm: float | None = None,
    noise: float = 0.0,
    collapse: bool = False,
) -> Any:
    from tutelage.numerics.streams import generator
    from tutelage.teachers import CollapsedTeacher, equal_weights, group_sparse, random_subset

    if yes_or_no("collapse", collapse, reason=COLLAPSE):
        return CollapsedTeacher(
            random_value(seed, 1, dim, norm), equal_weights(tokens, 1, queries), activation, noise
        )
    token = int(random_subset(tokens, 1, generator(seed, "subset"))[0])
    direction = random_value(seed, 1, dim, norm)
    return group_sparse(
        direction, tokens=tokens, token=token, queries=queries, activation=activation, noise=noise
    )


@register("teacher", "bilinear")
def _bilinear(
    seed: int,
    *,
    selection: Any,
    value: Any = None,
    outputs: int | None = None,
    dim: int | None = None,
    activation: str = "identity",
    norm: float | None = None,
    noise: float = 0.0,
    collapse: bool = False,
) -> Any:
    from tutelage.teachers import BilinearTeacher, CollapsedTeacher, pattern_of

    if value is None:
        if outputs is None or dim is None:
            raise Refused(
                "The teacher 'bilinear' needs `value`, or `outputs` and `dim` to draw one from. "
                "Got neither."
            )
        value = random_value(seed, outputs, dim, norm)
    if yes_or_no("collapse", collapse, reason=COLLAPSE):
        return CollapsedTeacher(value, pattern_of(selection), activation, noise)
    return BilinearTeacher(value, selection, activation, noise)


@register("inputs", "gaussian")
def _gaussian(teacher: Any, *, covariance: Any = None, correlation: Any = None) -> Any:
    from tutelage.inputs import Gaussian

    return Gaussian(covariance, correlation)


@register("inputs", "independent")
def _independent(
    teacher: Any,
    *,
    law: str = "normal",
    shift: float = 0.0,
    scale: float = 1.0,
    freedom: float = 5.0,
) -> Any:
    from tutelage.inputs import Independent

    return Independent(law, shift=shift, scale=scale, freedom=freedom)


@register("student", "position_attention")
def _position_attention(
    teacher: Any,
    seed: int,
    *,
    start: float = 0.0,
    restart: int = 0,
    key_codes: Any = None,
    query_codes: Any = None,
    size: int | None = None,
    code_scale: float = 1.0,
    learned: bool = False,
    attention_scale: float | None = None,
) -> Any:
    """`key_codes` is a matrix or the name of a kind of codes, which are then of length `size`, by
    default D, times `code_scale`.
    """
    from tutelage.numerics.streams import generator
    from tutelage.students import CollapsedAttention, PositionAttention
    from tutelage.students.codes import codes as coded
    from tutelage.teachers import CollapsedTeacher

    tokens = teacher.shape[2]
    if isinstance(teacher, CollapsedTeacher):
        if (
            start != 0
            or learned
            or code_scale != 1.0
            or any(given is not None for given in (key_codes, query_codes, size))
        ):
            raise Refused(
                "The student of a collapsed teacher starts from zero and has orthonormal codes, "
                "which are those of no `key_codes`, since "
                f"any other start or code tells tokens apart. Got start={start!r}, "
                f"learned={learned!r}, code_scale={code_scale!r}, "
                f"key_codes={'none' if key_codes is None else 'given'}; leave the teacher whole."
            )
        return CollapsedAttention.zeros(teacher, attention_scale=attention_scale)
    if isinstance(key_codes, str):
        factor = positive("code_scale", code_scale, reason="every code is multiplied by it")
        key_codes = factor * coded(
            key_codes, tokens if size is None else size, tokens, generator(seed, "codes")
        )
    elif size is not None or code_scale != 1.0:
        raise Refused(
            f"`size` and `code_scale` are of codes known by name. Got size={size!r}, "
            f"code_scale={code_scale!r} without one."
        )
    codes: dict[str, Any] = {
        "key_codes": key_codes,
        "query_codes": query_codes,
        "attention_scale": attention_scale,
    }
    codes["learned"] = yes_or_no("learned", learned, reason="the codes are trained or not")
    if start == 0:
        return PositionAttention.zeros(teacher, **codes)
    return PositionAttention.random(teacher, scale=start, key=start_key(seed, restart), **codes)


@register("student", "content_attention")
def _content_attention(
    teacher: Any,
    seed: int,
    *,
    form: str = "merged",
    mix: str = "concatenated",
    codes: Any = "orthonormal",
    size: int | None = None,
    learned: bool = False,
    start: float = 0.01,
    restart: int = 0,
    attention_scale: float | None = None,
) -> Any:
    """`size` is the length of a code, by default D (d where codes are added); the scale is 1/√D
    (1/√d where they are added).
    """
    from tutelage.numerics.streams import generator
    from tutelage.students import ContentAttention
    from tutelage.students.codes import codes as coded

    _, dim, tokens, _ = teacher.shape
    length = size if size is not None else dim if mix == "added" else tokens
    return ContentAttention.random(
        teacher,
        codes=None if mix == "none" else coded(codes, length, tokens, generator(seed, "codes")),
        mix=mix,
        form=form,
        scale=start,
        attention_scale=(dim if mix == "added" else tokens) ** -0.5
        if attention_scale is None
        else attention_scale,
        learned=yes_or_no("learned", learned, reason="the codes are trained or not"),
        key=start_key(seed, restart),
    )


@register("student", "known_selection")
def _known_selection(teacher: Any, seed: int) -> Any:
    from tutelage.students import KnownSelection

    return KnownSelection.of(teacher)


@register("student", "two_layer")
def _two_layer(teacher: Any, seed: int, *, hidden: int) -> Any:
    from tutelage.numerics.streams import stream
    from tutelage.students import TwoLayer

    return TwoLayer.random(teacher.shape, hidden, key=stream(seed, "start"))


@register("objective", "population")
def _population(teacher: Any, inputs: Any, seed: int, *, largest_std: float | None = None) -> Any:
    from tutelage.objectives import PopulationRisk

    return PopulationRisk(teacher, inputs, largest_std=largest_std)


@register("objective", "online")
def _online(teacher: Any, inputs: Any, seed: int, *, batch: int = 100, held_out: int = 0) -> Any:
    from tutelage.numerics.streams import stream
    from tutelage.objectives import OnlineRisk
    from tutelage.objectives.sample import judge

    return OnlineRisk(
        teacher, inputs, judge(teacher, inputs, held_out, key=stream(seed, "held out")), batch=batch
    )


@register("objective", "empirical")
def _empirical(teacher: Any, inputs: Any, seed: int, *, samples: int, held_out: int = 0) -> Any:
    from tutelage.numerics.streams import stream
    from tutelage.objectives import EmpiricalRisk
    from tutelage.objectives.sample import fixed_sample, judge

    samples = whole("samples", samples, least=1, reason="the risk is a mean over them")
    noisy = float(getattr(teacher, "noise", 1.0)) > 0  # noise of size 0 need not be drawn
    sample = fixed_sample(teacher, inputs, samples, key=stream(seed, "samples"), noisy=noisy)
    return EmpiricalRisk(
        teacher, sample, judge(teacher, inputs, held_out, key=stream(seed, "held out"))
    )
