"""The map of `teacher-models/limits`: its teachers, its students, and what is known of their
cells.
"""

from __future__ import annotations

from dataclasses import dataclass

from tutelage.settings import Part


@dataclass(frozen=True)
class Labelled:
    """A teacher or student as the map names it."""

    label: str
    part: Part


SIZE = {"tokens": 6, "outputs": 2, "dim": 4}
TEACHERS = {
    "convolution": Labelled("convolution (the class)", Part("convolution", support=2, **SIZE)),
    "max-pooling": Labelled("max pooling", Part("max_pooling", support=2, **SIZE)),
    "top-k": Labelled("top-2 by content", Part("top_k", support=2, **SIZE)),
    "softmax": Labelled("softmax by content", Part("softmax_selection", sharpness=3.0, **SIZE)),
    "two-heads": Labelled("two heads", Part("two_heads", support=2, **SIZE)),
    "two-layers": Labelled("two layers", Part("two_layers", support=2, hidden=4, **SIZE)),
    "products": Labelled("products of tokens", Part("products", **SIZE)),
}
STUDENTS = {
    "position": Labelled("position, one head", Part("position_attention", start=0.5)),
    "heads": Labelled("position, two heads", Part("multi_head_position", heads=2, start=0.5)),
    "layers": Labelled("position, two layers", Part("two_layer_position", hidden=8, start=0.5)),
    "content": Labelled("content and position", Part("content_attention", start=0.5)),
}
# Cells whose teacher is a student of that kind, or a limit of such students: nothing is out of
# reach there.
INSIDE = {
    *(("convolution", student) for student in STUDENTS),
    ("softmax", "content"),
    ("two-heads", "heads"),
    ("two-layers", "layers"),
}
# Those of them that draws learn to anything between a rounding error and a hundredth: the mean over
# draws is then that of a few, and no interval by their spread is right.
SKEWED = {("convolution", "heads"), ("two-layers", "layers")}
# Students of which each output is σ of a linear form: a bound is proved for every teacher here.
BOUNDED = ("position", "heads")
# Cells that a control takes for learned.
TAUGHT = (
    ("max-pooling", "position"),
    ("softmax", "heads"),
    ("two-heads", "position"),
    ("products", "position"),
)


def name_cell(teacher: str, student: str) -> str:
    return f"{teacher}+{student}"


def label_cell(teacher: str, student: str) -> str:
    return f"{TEACHERS[teacher].label} | {STUDENTS[student].label}"
