"""`calibrate`: how often the verdict rule is right, on families of known truth."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from rich.table import Table

    from tutelage.claims.calibration import Row

LEGEND = """
n: answers; ✗H: wrong HOLDS; ✗F: wrong FAILS
open: undecided where the class decides
cover: intervals that cover what they are about"""
MOST_WRONG = 0.01  # of the answers of a kind, in each direction


def calibrate(*, repetitions: int = 20, seed: int = 0, kind: str = "") -> int:
    """Judge families of known truth and count the wrong and undecided answers and the intervals
    that cover; exit 1 if more than 1% of the answers of a kind are wrong.

    Parameters
    ----------
    repetitions
        How often each family is drawn.
    seed
        The seed of the first draw.
    kind
        The kind of claim to judge; if omitted, every kind.
    """
    from rich.console import Console

    from tutelage.claims.calibration import calibrate as judge
    from tutelage.claims.calibration import summarise
    from tutelage.claims.development import FAMILIES
    from tutelage.refuse import one_of, whole

    kinds = list(dict.fromkeys(family.kind for family in FAMILIES))
    asked = [one_of("kind of claim", kind, kinds)] if kind else kinds
    rows = judge(
        [family for family in FAMILIES if family.kind in asked],
        whole("repetitions", repetitions, least=1, reason="each family is drawn that often"),
        seed,
    )
    console = Console(highlight=False)
    console.print(_table("family", rows))
    console.print()
    kept = summarise(rows)
    console.print(_table("families", kept))
    console.print(LEGEND)
    return 1 if any(_is_too_wrong(row) for row in kept) else 0


def _is_too_wrong(row: Row) -> bool:
    return max(row.wrong_holds, row.wrong_fails) > MOST_WRONG * row.answers


def _table(first: str, rows: list[Row]) -> Table:
    from rich.table import Table

    # Narrow enough for a terminal of 80 columns: the legend below it explains the heads.
    table = Table(box=None, pad_edge=False, padding=(0, 1, 0, 0))
    for name in ("kind", first, "truth", "n", "✗H", "✗F", "open", "cover"):
        table.add_column(name, no_wrap=True, overflow="fold" if name == first else "ellipsis")
    for row in rows:
        wrong = [
            f"[bold red]{number}[/]" if number else "0"
            for number in (row.wrong_holds, row.wrong_fails)
        ]
        table.add_row(
            row.kind,
            row.name,
            "" if row.truth is None else row.truth.value,
            str(row.answers),
            *wrong,
            f"{row.undecided_decidable}/{row.decidable}",
            f"{row.covering}/{row.intervals}" if row.intervals else "",
        )
    return table
