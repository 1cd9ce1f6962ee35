"""Students: what is trained. A student names in `fixed` the fields that training leaves alone."""

from tutelage.students.classifier import AttentionClassifier
from tutelage.students.collapsed_attention import CollapsedAttention
from tutelage.students.content_attention import ContentAttention
from tutelage.students.position_attention import PositionAttention

__all__ = ["AttentionClassifier", "CollapsedAttention", "ContentAttention", "PositionAttention"]
