"""How large this paper's parts make a setting, before anything is built."""

from __future__ import annotations

from tutelage.problem.sizes import Options, Sizes, count, hold_student

HAAR_DRAWS = 2000  # matrices over which moments are taken where they are not counted
COUNTS = 10  # numbers per prefix, while monomials that agree are counted
LOSS_COPIES = 4  # of R matrices C, one per prefix, while the loss and its gradient are taken


def size_rotations(options: Options, sizes: Sizes) -> Sizes:
    """T tokens of d complex features."""
    d, T = 2 * count(options, "dim", 1.0), count(options, "tokens", 1.0)
    shaped = sizes._replace(outputs=d, dim=d, tokens=T, queries=1.0)
    return shaped._replace(per_draw=d * T, work_per_draw=d)


def size_augmented(options: Options, sizes: Sizes) -> Sizes:
    """N + 1 tokens of d complex features."""
    d, T = 2 * count(options, "dim", 1.0), count(options, "prefixes", 1.0) + 1
    shaped = sizes._replace(outputs=d, dim=d, tokens=T, queries=1.0)
    return shaped._replace(per_draw=d * T, work_per_draw=d)


def size_attention(options: Options, sizes: Sizes) -> Sizes:
    """A and B of H×d, and P of T×T."""
    d, T = sizes.dim / 2, sizes.tokens
    heads = count(options, "heads", d)
    work = heads * d**2 + d * T * (d + 2)
    return hold_student(sizes, 2 * heads * d + T**2, per_input=3 * d * T, work_per_input=work)


def size_next_token(options: Options, sizes: Sizes) -> Sizes:
    """One matrix of d×d per prefix."""
    d, T = sizes.dim / 2, sizes.tokens
    return sizes.hold(LOSS_COPIES * T * (d**2 + T), T * d**2)


def size_scalars(options: Options, sizes: Sizes) -> Sizes:
    """Six numbers."""
    d, T = sizes.dim / 2, sizes.tokens
    return hold_student(sizes, 6, per_input=3 * d * T, work_per_input=6 * d * T)


def size_moments(options: Options, sizes: Sizes) -> Sizes:
    """Moments of eight terms; of Haar matrices, means over a sample that holds four sums of d×d."""
    if options.get("matrices") != "haar":
        return sizes.hold(64 + COUNTS * sizes.tokens, 64 * COUNTS * sizes.tokens)
    d, T = sizes.dim / 2, sizes.tokens
    return sizes.hold(HAAR_DRAWS * (6 * d**2 + d * T), HAAR_DRAWS * T * 12 * d**2)


def size_positions(options: Options, sizes: Sizes) -> Sizes:
    """P of T×T."""
    return hold_student(
        sizes, sizes.tokens**2, per_input=3 * sizes.tokens, work_per_input=3 * sizes.tokens
    )
