"""Teachers: the bilinear class, its named members, and the selection matrices they are made of."""

from tutelage.teachers.bilinear import BilinearTeacher, column_stochastic
from tutelage.teachers.collapsed import CollapsedTeacher, Pattern, equal_weights, pattern_of
from tutelage.teachers.convolution import convolution, pooling
from tutelage.teachers.graph_convolution import (
    cycle,
    graph_convolution,
    neighbourhoods,
    real_graph,
    regular,
)
from tutelage.teachers.token_selection import (
    group_sparse,
    random_subset,
    same_subset,
    token_selection,
)

__all__ = [
    "BilinearTeacher",
    "CollapsedTeacher",
    "Pattern",
    "column_stochastic",
    "convolution",
    "cycle",
    "equal_weights",
    "graph_convolution",
    "group_sparse",
    "neighbourhoods",
    "pattern_of",
    "pooling",
    "random_subset",
    "real_graph",
    "regular",
    "same_subset",
    "token_selection",
]
