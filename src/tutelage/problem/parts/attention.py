"""Students with one layer of attention, and what they are measured against."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

from tutelage.problem.options import Matrix, Option
from tutelage.problem.parts.estimates import (
    size_content_attention,
    size_position_attention,
    size_two_layer,
)
from tutelage.problem.parts.vocabulary import (
    ATTENTION_SCALE,
    CODE_SIZE,
    HIDDEN,
    LEARNED,
    RESTART,
    START,
)
from tutelage.problem.registry import register
from tutelage.refuse import Refused, positive, whole

if TYPE_CHECKING:
    from tutelage.students.base import Student
    from tutelage.teachers.base import Teacher


def start_key(seed: int, restart: int) -> Any:
    """The key of a student's random start: another one each restart, while teacher and data stay
    those of the seed.
    """
    from tutelage.numerics.streams import stream

    restart = whole("restart", restart, least=0, reason="it counts the starts of one student")
    return stream(seed, f"start {restart}" if restart else "start")


@register(
    "student",
    "position_attention",
    label="position-only attention",
    sentence="One layer whose scores depend on positions only: the student of the theorem.",
    estimate=size_position_attention,
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
            f"`size` and `code_scale` belong to codes that are given by name. Got size={size!r}, "
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
    sentence="Scores depend on the tokens' content; trained on samples.",
    estimate=size_content_attention,
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
    estimate=size_position_attention,
)
def _known_selection(teacher: Teacher, seed: int) -> Student:
    from tutelage.students import KnownSelection
    from tutelage.teachers.base import BilinearClass

    if not isinstance(teacher, BilinearClass):
        raise Refused(
            "The student 'known_selection' needs a teacher σ(V* X S*), since it is given S*. "
            f"Got a {type(teacher).__name__}."
        )
    return KnownSelection.of(teacher)


@register(
    "student",
    "two_layer",
    label="two-layer network",
    sentence="No attention at all; trained on samples.",
    begin={"hidden": 32},
    estimate=size_two_layer,
)
def _two_layer(teacher: Teacher, seed: int, *, hidden: Annotated[int, HIDDEN]) -> Student:
    from tutelage.numerics.streams import stream
    from tutelage.students import TwoLayer

    return TwoLayer.random(teacher.shape, hidden, key=stream(seed, "start"))
