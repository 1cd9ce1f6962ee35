"""Teachers: the bilinear class, and constructors of the selection matrices of its named members."""

from tutelage.teachers.bilinear import BilinearTeacher, column_stochastic
from tutelage.teachers.convolution import pooling
from tutelage.teachers.graph_convolution import cycle, neighbourhoods
from tutelage.teachers.token_selection import random_subset, same_subset

__all__ = [
    "BilinearTeacher",
    "column_stochastic",
    "cycle",
    "neighbourhoods",
    "pooling",
    "random_subset",
    "same_subset",
]
