"""How large this paper's parts make a setting, before anything is built."""

from __future__ import annotations

from tutelage.problem.sizes import Options, Sizes, count, hold_student

SAMPLE_COPIES = 3  # of the sample: its own, that of the loss, and one while it is made
PROGRAMME_COPIES = 4  # of the constraints of W^mm, while it is solved


def size_sequences(options: Options, sizes: Sizes) -> Sizes:
    """n sequences of T tokens and a query; with the constraints of W^mm, n·T rows of d² numbers."""
    n, T, d = (count(options, name, 1.0) for name in ("sequences", "tokens", "dim"))
    shaped = sizes._replace(outputs=1.0, dim=d, tokens=T + 1, queries=1.0)
    held = SAMPLE_COPIES * n * (T + 1) * (d + 1) + PROGRAMME_COPIES * n * T * d**2
    made = shaped.hold(held, n * T * d)
    return made._replace(per_draw=d * (T + 1), work_per_draw=d * T)


def size_matrix(options: Options, sizes: Sizes) -> Sizes:
    """W of d×d, and the head."""
    return _size_student(1, sizes)


def size_factors(options: Options, sizes: Sizes) -> Sizes:
    """K and Q of d×d, and the head."""
    return _size_student(2, sizes)


def _size_student(factors: int, sizes: Sizes) -> Sizes:
    d, T = sizes.dim, sizes.tokens
    numbers = factors * d**2 + d
    return hold_student(sizes, numbers, per_input=T * d + T, work_per_input=d**2 + T * d)


def size_loss(options: Options, sizes: Sizes) -> Sizes:
    """W^mm; the sample itself is counted with the teacher."""
    return sizes.hold(sizes.dim**2).step(1.0)
