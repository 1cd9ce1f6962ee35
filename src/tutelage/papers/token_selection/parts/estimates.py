"""How large this paper's parts make a setting, before anything is built."""

from __future__ import annotations

from math import comb

from tutelage.problem.sizes import Options, Sizes, count, hold_student

MOST_SUBSETS = 1000  # that the risk of a whole head goes over in every step
MOST_COUNTED = 60  # tokens beyond which there are surely too many subsets


def size_average(options: Options, sizes: Sizes) -> Sizes:
    """d features and one row of marks per query, over T tokens; a label takes one row of T for each
    of the q tokens of a subset. It holds nothing itself.
    """
    T, d = count(options, "tokens", 1.0), count(options, "dim", 1.0)
    Q, q = count(options, "queries", 1.0), count(options, "support", 1.0)
    shaped = sizes._replace(outputs=d, dim=d + Q, tokens=T, queries=Q)
    return shaped._replace(per_draw=(d + Q + Q * q) * T, work_per_draw=(d + q) * T * Q)


def size_whole_head(options: Options, sizes: Sizes) -> Sizes:
    """V and M, and what is made of each of all subsets: at most `MOST_SUBSETS` are built."""
    T, d = sizes.tokens, sizes.outputs
    few = T <= MOST_COUNTED and comb(int(T), int(T) // 2) <= MOST_SUBSETS
    many = comb(int(T), int(T) // 2) if few else MOST_SUBSETS
    return hold_student(
        sizes, d**2 + T**2 + many * T, per_input=many * T * d**2, work_per_input=many * T * d**2
    )


def size_selection_head(options: Options, sizes: Sizes) -> Sizes:
    """Two numbers, and the overlaps of drawn codes."""
    drawn = options.get("codes") == "signs"
    overlaps = count(options, "draws", 1.0) * sizes.tokens if drawn else 2.0
    work = overlaps * count(options, "width", 1.0) if drawn else 0.0
    held = hold_student(sizes, 2 + overlaps, per_input=overlaps, work_per_input=overlaps)
    return held.hold(0.0, work)


def size_risk(options: Options, sizes: Sizes) -> Sizes:
    """One step over all that the student keeps; nothing is drawn."""
    return sizes.step(1.0)
