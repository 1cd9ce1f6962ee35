"""The one place where names become objects, and where input is refused before any work.

A factory takes its options by keyword; a teacher's takes `seed` first, inputs the teacher, a student `(teacher, seed)`, an objective
`(teacher, inputs, seed)`. Nothing imports JAX until something is built.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np

from tutelage.refuse import Refused, one_of, positive, whole, yes_or_no
from tutelage.settings import KINDS, Part, Setting


@dataclass(frozen=True)
class Problem:
    """What a setting stands for, ready to train."""

    teacher: Any
    inputs: Any
    student: Any
    objective: Any
    optimiser: Any
    measures: tuple[Any, ...]
    key: Any = None  # of the batches, where the objective draws them


_FACTORIES: dict[str, dict[str, Callable[..., Any]]] = {kind: {} for kind in KINDS}


def register(kind: str, name: str) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Makes a factory known by name: `@register("teacher", "my-teacher")` above a function of keyword options.

    An optimiser's factory returns a function from a rate to an optax transformation; the others return the object itself.
    """
    one_of("kind of part", kind, KINDS)

    def known(factory: Callable[..., Any]) -> Callable[..., Any]:
        _FACTORIES[kind][name] = factory
        return factory

    return known


def options_of(kind: str, name: str) -> dict[str, inspect.Parameter]:
    """The options that a registered name takes."""
    factory = _FACTORIES[kind][one_of(kind, name, _FACTORIES[kind])]
    return {p.name: p for p in inspect.signature(factory).parameters.values() if p.kind is p.KEYWORD_ONLY}


def known(kind: str) -> tuple[str, ...]:
    """The names registered for a kind of part."""
    return tuple(sorted(_FACTORIES[kind]))


def _make(kind: str, part: Part, *given: Any) -> Any:
    factory = _FACTORIES[kind][one_of(kind, part.name, _FACTORIES[kind])]
    options = options_of(kind, part.name)
    for key in part.options:
        one_of(f"option of {kind} {part.name!r}", key, options)
    missing = [name for name, p in options.items() if p.default is p.empty and name not in part.options]
    if missing:
        raise Refused(f"The {kind} {part.name!r} needs {', '.join(f'`{m}`' for m in missing)}. Got {', '.join(part.options) or 'none'}.")
    return factory(*given, **part.options)


def teacher_of(setting: Setting) -> Any:
    """The teacher alone: what theory needs to predict."""
    return _make("teacher", setting.teacher, setting.seed)


def inputs_of(part: Part, teacher: Any) -> Any:
    """An input law alone, for a teacher: what it takes to look at a student on foreign inputs."""
    inputs = _make("inputs", part, teacher)
    _, dim, tokens, _ = teacher.shape
    inputs.check_shapes(tokens, dim)
    return inputs


def build(setting: Setting) -> Problem:
    """Objects from names, everything validated."""
    from tutelage.measure import REGISTERED
    from tutelage.streams import stream

    positive("rate", setting.rate, reason="a step of gradient descent moves against the gradient")
    whole("steps", setting.steps, least=1, reason="a run takes at least one step")
    whole("seed", setting.seed, least=0, reason="it seeds the random streams")
    teacher = teacher_of(setting)
    inputs = inputs_of(setting.inputs, teacher)
    student = _make("student", setting.student, teacher, setting.seed)
    objective = _make("objective", setting.objective, teacher, inputs, setting.seed)
    if hasattr(objective, "check"):
        objective.check(student)
    measures = tuple(REGISTERED[one_of("measure", name, REGISTERED)] for name in setting.measures)
    optimiser = _optimiser(setting.optimiser)
    key = stream(setting.seed, "batches") if hasattr(objective, "draw") else None
    return Problem(teacher, inputs, student, objective, optimiser, measures, key)


@cache
def _optimiser(part: Part) -> Any:
    """One object a setting of options, so that the compiled loop is found again."""
    return _make("optimiser", part)


def random_value(seed: int, outputs: int, dim: int, norm: float | None) -> np.ndarray:
    """V* with iid N(0, 1) entries, scaled to Frobenius norm `norm`, by default √(outputs·dim)."""
    whole("outputs", outputs, least=1, reason="V* has at least one row")
    whole("dim", dim, least=1, reason="tokens have at least one feature")
    length = np.sqrt(outputs * dim) if norm is None else positive("norm", norm, reason="it is the length of V*")
    from tutelage.streams import generator

    draw = generator(seed, "teacher").standard_normal((outputs, dim))
    return draw * (length / np.linalg.norm(draw))


@register("teacher", "convolution")
def _convolution(
    seed: int, *, tokens: int, support: int, outputs: int, dim: int, activation: str = "relu", norm: float | None = None, noise: float = 0.0
) -> Any:
    from tutelage.teachers import convolution

    kernels = random_value(seed, outputs, dim, norm)
    return convolution(kernels, tokens=tokens, support=support, activation=activation, noise=noise)


@register("teacher", "graph_convolution")
def _graph_convolution(
    seed: int,
    *,
    tokens: int,
    outputs: int,
    dim: int,
    graph: Any = "cycle",
    activation: str = "relu",
    norm: float | None = None,
    noise: float = 0.0,
) -> Any:
    from tutelage.teachers import cycle, graph_convolution

    if isinstance(graph, str):
        one_of("graph", graph, ("cycle",))
        graph = cycle(tokens)
    teacher = graph_convolution(random_value(seed, outputs, dim, norm), graph, activation=activation, noise=noise)
    nodes = teacher.shape[2]
    if nodes != tokens:
        raise Refused(f"`tokens` must be the number of nodes, since each token is one. Got tokens={tokens}, a graph of {nodes}.")
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
) -> Any:
    from tutelage.streams import generator
    from tutelage.teachers import random_subset, token_selection

    chosen = random_subset(tokens, support, generator(seed, "subset"))
    return token_selection(dim, tokens=tokens, chosen=chosen, queries=queries, scale=scale, activation=activation, noise=noise)


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
) -> Any:
    from tutelage.streams import generator
    from tutelage.teachers import group_sparse, random_subset

    token = int(random_subset(tokens, 1, generator(seed, "subset"))[0])
    direction = random_value(seed, 1, dim, norm)
    return group_sparse(direction, tokens=tokens, token=token, queries=queries, activation=activation, noise=noise)


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
) -> Any:
    from tutelage.teachers import BilinearTeacher

    if value is None:
        if outputs is None or dim is None:
            raise Refused("The teacher 'bilinear' needs `value`, or `outputs` and `dim` to draw one from. Got neither.")
        value = random_value(seed, outputs, dim, norm)
    return BilinearTeacher(value, selection, activation, noise)


@register("teacher", "image_cnn")
def _image_cnn(
    seed: int,
    *,
    data: str = "mnist-5000",
    outputs: int = 16,
    support: int = 9,
    activation: str = "relu",
    epochs: int = 20,
    rate: float = 0.001,
    batch: int = 64,
) -> Any:
    """Trained when it is asked for, once a process: the same options and seed give the same network."""
    from tutelage.pretraining import trained_cnn

    return trained_cnn(seed, data, outputs, support, activation, epochs, rate, batch)


@register("inputs", "gaussian")
def _gaussian(teacher: Any, *, covariance: Any = None, correlation: Any = None) -> Any:
    from tutelage.inputs import Gaussian

    return Gaussian(covariance, correlation)


@register("student", "position_attention")
def _position_attention(
    teacher: Any,
    seed: int,
    *,
    start: float = 0.0,
    key_codes: Any = None,
    query_codes: Any = None,
    size: int | None = None,
    code_scale: float = 1.0,
    learned: bool = False,
    attention_scale: float | None = None,
) -> Any:
    """`key_codes` is a matrix or the name of a kind of codes, which are then of length `size`, by default D, times `code_scale`."""
    from tutelage.streams import generator, stream
    from tutelage.students import PositionAttention
    from tutelage.students.codes import codes as coded

    tokens = teacher.shape[2]
    if isinstance(key_codes, str):
        factor = positive("code_scale", code_scale, reason="every code is multiplied by it")
        key_codes = factor * coded(key_codes, tokens if size is None else size, tokens, generator(seed, "codes"))
    elif size is not None or code_scale != 1.0:
        raise Refused(f"`size` and `code_scale` are of codes known by name. Got size={size!r}, code_scale={code_scale!r} without one.")
    codes: dict[str, Any] = {"key_codes": key_codes, "query_codes": query_codes, "attention_scale": attention_scale}
    codes["learned"] = yes_or_no("learned", learned, reason="the codes are trained or not")
    if start == 0:
        return PositionAttention.zeros(teacher, **codes)
    return PositionAttention.random(teacher, scale=start, key=stream(seed, "start"), **codes)


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
    attention_scale: float | None = None,
) -> Any:
    """`size` is the length of a code, by default D (d where codes are added); the scale is 1/√D (1/√d where they are added)."""
    from tutelage.streams import generator, stream
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
        attention_scale=(dim if mix == "added" else tokens) ** -0.5 if attention_scale is None else attention_scale,
        learned=yes_or_no("learned", learned, reason="the codes are trained or not"),
        key=stream(seed, "start"),
    )


@register("inputs", "independent")
def _independent(teacher: Any, *, law: str = "normal", shift: float = 0.0, scale: float = 1.0, freedom: float = 5.0) -> Any:
    from tutelage.inputs import Independent

    return Independent(law, shift=shift, scale=scale, freedom=freedom)


@register("inputs", "images")
def _images(teacher: Any, *, shuffled: bool = False) -> Any:
    """The images that the teacher was trained on."""
    from tutelage.inputs.images import ImageSet

    if not hasattr(teacher, "data"):
        raise Refused("The inputs 'images' need a teacher that was trained on some, such as 'image_cnn'. Got another.")
    return ImageSet(teacher.data, shuffled)


@register("student", "image_classifier")
def _image_classifier(teacher: Any, seed: int, *, start: str = "fresh", value: Any = None, scores: Any = None) -> Any:
    """Attention before a classifier. Both begin as a fresh network would, or as the teacher's; W_V and W_KQ may be given."""
    import equinox as eqx
    import jax.numpy as jnp

    from tutelage.pretraining import untrained
    from tutelage.streams import generator
    from tutelage.students import AttentionClassifier, PositionAttention

    one_of("start of a classifier", start, ("fresh", "teacher"))
    outputs, sigma = teacher.shape[0], teacher.activation.name
    network = teacher if start == "teacher" else untrained(teacher.data, outputs, teacher.support, sigma, generator(seed, "start"))
    zeros = PositionAttention.zeros(teacher)
    given = (network.value if value is None else value, zeros.key_query if scores is None else scores)
    for name, ours, theirs in zip(("value", "scores"), given, (zeros.value, zeros.key_query), strict=True):
        if ours.shape != theirs.shape:
            raise Refused(f"`{name}` must have shape {theirs.shape}, that of the teacher's student. Got {ours.shape}.")
    body = eqx.tree_at(lambda s: (s.value, s.key_query), zeros, tuple(jnp.asarray(g) for g in given))
    return AttentionClassifier(body, network.readout, network.bias)


@register("student", "image_cnn")
def _longer(teacher: Any, seed: int) -> Any:
    """The teacher itself, trained on."""
    return teacher


@register("objective", "distillation")
def _distillation(teacher: Any, inputs: Any, seed: int, *, batch: int = 32, strangers: bool = False) -> Any:
    """With `strangers` each image is taught by what the teacher makes of another."""
    from tutelage.objectives.images import Distillation

    train, test = _split(inputs, seed)
    return Distillation(teacher, train, test, batch, int(strangers))


@register("objective", "classification")
def _classification(teacher: Any, inputs: Any, seed: int, *, batch: int = 32) -> Any:
    from tutelage.objectives.images import Classification

    train, test = _split(inputs, seed)
    return Classification(teacher, train, test, batch)


def _split(inputs: Any, seed: int) -> Any:
    if not hasattr(inputs, "split"):
        raise Refused("This objective needs the inputs 'images', since it draws from a finite set of them. Got another law.")
    return inputs.split(seed)


@register("objective", "population")
def _population(teacher: Any, inputs: Any, seed: int, *, largest_std: float | None = None) -> Any:
    from tutelage.objectives import PopulationRisk

    return PopulationRisk(teacher, inputs, largest_std=largest_std)


@register("objective", "online")
def _online(teacher: Any, inputs: Any, seed: int, *, batch: int = 100, held_out: int = 0) -> Any:
    from tutelage.objectives import OnlineRisk
    from tutelage.objectives.sample import judge
    from tutelage.streams import stream

    return OnlineRisk(teacher, inputs, judge(teacher, inputs, held_out, key=stream(seed, "held out")), batch=batch)


@register("objective", "empirical")
def _empirical(teacher: Any, inputs: Any, seed: int, *, samples: int, held_out: int = 0) -> Any:
    from tutelage.objectives import EmpiricalRisk
    from tutelage.objectives.sample import draw_sample, judge
    from tutelage.streams import stream

    samples = whole("samples", samples, least=1, reason="the risk is a mean over them")
    sample = draw_sample(teacher, inputs, samples, key=stream(seed, "samples"))
    return EmpiricalRisk(teacher, sample, judge(teacher, inputs, held_out, key=stream(seed, "held out")))


@register("optimiser", "gradient_descent")
def _gradient_descent() -> Any:
    import optax

    return optax.sgd


@register("optimiser", "momentum")
def _momentum(*, decay: float, nesterov: bool = False) -> Any:
    from functools import partial

    import optax

    if not 0 <= decay < 1:
        raise Refused(f"`decay` must be in [0, 1), since the velocity must die out. Got decay={decay!r}.")
    return partial(optax.sgd, momentum=decay, nesterov=nesterov)


@register("optimiser", "adam")
def _adam(*, b1: float = 0.9, b2: float = 0.999, eps: float = 1e-8) -> Any:
    from functools import partial

    import optax

    return partial(optax.adam, b1=b1, b2=b2, eps=eps)


def resolve(setting: Setting, key: str, letters: Mapping[str, str]) -> str:
    """The path of a `--set` key: a letter of the paper (`D`), a path (`teacher.tokens`), or an option that one part has."""
    if key in letters:
        return letters[key]
    if "." in key or key in (*KINDS, "rate", "steps", "seed"):
        return key
    paths = {}
    for kind in KINDS:
        for option in options_of(kind, getattr(setting, kind).name):
            paths[option] = f"{kind}.{option}"
    return paths[one_of("setting", key, [*paths, *letters, "rate", "steps", "seed", *KINDS])]
