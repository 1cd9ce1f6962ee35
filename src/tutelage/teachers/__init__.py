"""Teachers: the bilinear class, its named members, and the selection matrices they are made of."""

from tutelage.teachers.bilinear import BilinearTeacher, column_stochastic
from tutelage.teachers.convolution import convolution, pooling
from tutelage.teachers.graph_convolution import cycle, graph_convolution, neighbourhoods, real_graph, regular
from tutelage.teachers.token_selection import group_sparse, random_subset, same_subset, token_selection

__all__ = [
    "BilinearTeacher",
    "column_stochastic",
    "convolution",
    "cycle",
    "graph_convolution",
    "group_sparse",
    "neighbourhoods",
    "pooling",
    "random_subset",
    "real_graph",
    "regular",
    "same_subset",
    "token_selection",
]
