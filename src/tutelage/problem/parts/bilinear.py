"""Teachers of the class σ(V* X S*), and the inputs, students and objectives that go with them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

import numpy as np

from tutelage.problem.options import Matrix, Option, Value
from tutelage.problem.parts.companions import IN_CLASS
from tutelage.problem.parts.vocabulary import (
    ACTIVATION,
    ATTENTION_SCALE,
    BATCH,
    CODE_SIZE,
    COLLAPSE,
    DIM,
    GROUP,
    HELD_OUT,
    HIDDEN,
    LEARNED,
    NOISE,
    NORM,
    OUTPUTS,
    QUERIES,
    RESTART,
    SAMPLES,
    SCALE,
    START,
    SUPPORT,
    TOKENS,
)
from tutelage.problem.registry import register
from tutelage.refuse import Refused, one_of, positive, whole

if TYPE_CHECKING:
    from tutelage.inputs.base import Inputs
    from tutelage.objectives.base import Objective
    from tutelage.students.base import Student
    from tutelage.teachers.base import Teacher


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
            f"`degree` and `graph_seed` are of the graph 'regular'. Got degree={degree!r}, "
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
    if collapse:
        return CollapsedTeacher(value, pattern_of(selection), activation, noise)
    return BilinearTeacher(value, selection, activation, noise)


@register(
    "inputs",
    "gaussian",
    label="normal tokens",
    sentence="Tokens N(0, I), or with a covariance of your own.",
)
def _gaussian(
    teacher: Teacher,
    *,
    covariance: Annotated[
        Matrix | None, Option("covariance of the features", "Σ", shape=True)
    ] = None,
    correlation: Annotated[
        Matrix | None, Option("correlation of the positions", shape=True)
    ] = None,
) -> Inputs:
    from tutelage.inputs import Gaussian

    return Gaussian(covariance, correlation)


@register(
    "inputs",
    "independent",
    label="another law",
    sentence="Entries iid of a law that is not normal; trained on samples.",
)
def _independent(
    teacher: Teacher,
    *,
    law: Annotated[
        str,
        Option(
            "law",
            shape=True,
            choices=("normal", "exponential", "gumbel", "rademacher", "student_t"),
        ),
    ] = "normal",
    shift: Annotated[float, Option("mean", "", -10, 10)] = 0.0,
    scale: Annotated[float, SCALE] = 1.0,
    freedom: Annotated[
        float, Option("degrees of freedom", "", 2.1, 100, log=True, shape=True)
    ] = 5.0,
) -> Inputs:
    from tutelage.inputs import Independent

    return Independent(law, shift=shift, scale=scale, freedom=freedom)


@register(
    "student",
    "position_attention",
    label="position-only attention",
    sentence="One layer, scores from positions alone: the student of the theorem.",
)
def _position_attention(
    teacher: Teacher,
    seed: int,
    *,
    start: Annotated[float, START] = 0.0,
    restart: Annotated[int, RESTART] = 0,
    key_codes: Annotated[
        str | Matrix | None,
        Option(
            "position codes", shape=True, choices=(None, "orthonormal", "sinusoidal", "gaussian")
        ),
    ] = None,
    query_codes: Annotated[Matrix | None, Option("codes of the queries", shape=True)] = None,
    size: Annotated[int | None, CODE_SIZE] = None,
    code_scale: Annotated[float, Option("scale of the codes", "", 0.01, 100, log=True)] = 1.0,
    learned: Annotated[bool, LEARNED] = False,
    attention_scale: Annotated[float | None, ATTENTION_SCALE] = None,
) -> Student:
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
    codes["learned"] = learned
    if start == 0:
        return PositionAttention.zeros(teacher, **codes)
    return PositionAttention.random(teacher, scale=start, key=start_key(seed, restart), **codes)


@register(
    "student",
    "content_attention",
    label="attention by content and position",
    sentence="Scores see what tokens hold; trained on samples.",
)
def _content_attention(
    teacher: Teacher,
    seed: int,
    *,
    form: Annotated[str, Option("form", shape=True, choices=("merged", "separate"))] = "merged",
    mix: Annotated[
        str, Option("content and position", shape=True, choices=("concatenated", "added", "none"))
    ] = "concatenated",
    codes: Annotated[
        str | Matrix,
        Option("position codes", shape=True, choices=("orthonormal", "sinusoidal", "gaussian")),
    ] = "orthonormal",
    size: Annotated[int | None, CODE_SIZE] = None,
    learned: Annotated[bool, LEARNED] = False,
    start: Annotated[float, START] = 0.01,
    restart: Annotated[int, RESTART] = 0,
    attention_scale: Annotated[float | None, ATTENTION_SCALE] = None,
) -> Student:
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
        learned=learned,
        key=start_key(seed, restart),
    )


@register(
    "student",
    "known_selection",
    label="S* known",
    sentence="Attention is given, and only W_V is learned.",
)
def _known_selection(teacher: Teacher, seed: int) -> Student:
    from tutelage.students import KnownSelection
    from tutelage.teachers.base import BilinearClass

    if not isinstance(teacher, BilinearClass):
        raise Refused(
            "The student 'known_selection' needs a teacher σ(V* X S*), since it is told S*. "
            f"Got a {type(teacher).__name__}."
        )
    return KnownSelection.of(teacher)


@register(
    "student",
    "two_layer",
    label="two-layer network",
    sentence="No attention at all; trained on samples.",
    begin={"hidden": 32},
)
def _two_layer(teacher: Teacher, seed: int, *, hidden: Annotated[int, HIDDEN]) -> Student:
    from tutelage.numerics.streams import stream
    from tutelage.students import TwoLayer

    return TwoLayer.random(teacher.shape, hidden, key=stream(seed, "start"))


@register(
    "objective",
    "population",
    label="population risk, exact",
    sentence="The expectation itself: no sample is drawn.",
    goes_with={"inputs": ("gaussian",), "student": ("position_attention", "known_selection")},
)
def _population(
    teacher: Teacher,
    inputs: Inputs,
    seed: int,
    *,
    largest_std: Annotated[
        float | None,
        Option("largest standard deviation of a pre-activation", "", 0.1, 100, log=True),
    ] = None,
) -> Objective:
    from tutelage.objectives import PopulationRisk

    return PopulationRisk(teacher, inputs, largest_std=largest_std)


@register("objective", "online", label="online", sentence="A fresh batch at every step.")
def _online(
    teacher: Teacher,
    inputs: Inputs,
    seed: int,
    *,
    batch: Annotated[int, BATCH] = 100,
    held_out: Annotated[int, HELD_OUT] = 0,
) -> Objective:
    from tutelage.numerics.streams import stream
    from tutelage.objectives import OnlineRisk
    from tutelage.objectives.sample import judge

    return OnlineRisk(
        teacher, inputs, judge(teacher, inputs, held_out, key=stream(seed, "held out")), batch=batch
    )


@register(
    "objective",
    "empirical",
    label="a fixed sample",
    sentence="The mean over n samples.",
    begin={"samples": 256, "held_out": 1000},
)
def _empirical(
    teacher: Teacher,
    inputs: Inputs,
    seed: int,
    *,
    samples: Annotated[int, SAMPLES],
    held_out: Annotated[int, HELD_OUT] = 0,
) -> Objective:
    from tutelage.numerics.streams import stream
    from tutelage.objectives import EmpiricalRisk
    from tutelage.objectives.sample import fixed_sample, judge

    samples = whole("samples", samples, least=1, reason="the risk is a mean over them")
    noisy = teacher.noisy
    sample = fixed_sample(teacher, inputs, samples, key=stream(seed, "samples"), noisy=noisy)
    return EmpiricalRisk(
        teacher, sample, judge(teacher, inputs, held_out, key=stream(seed, "held out"))
    )
