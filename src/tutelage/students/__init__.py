"""Students: what is trained. A student names in `fixed` the fields that training leaves alone."""

from tutelage.students.base import Student
from tutelage.students.classifier import AttentionClassifier
from tutelage.students.collapsed_attention import CollapsedAttention
from tutelage.students.content_attention import ContentAttention
from tutelage.students.known_selection import KnownSelection
from tutelage.students.position_attention import PositionAttention
from tutelage.students.two_layer import TwoLayer

__all__ = [
    "AttentionClassifier",
    "CollapsedAttention",
    "ContentAttention",
    "KnownSelection",
    "PositionAttention",
    "Student",
    "TwoLayer",
]
