"""`calibrate`: how often the verdict rule is right, on families of known truth."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from rich.table import Table

    from tutelage.claims.calibration import Row

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
    return 1 if any(_is_too_wrong(row) for row in kept) else 0


def _is_too_wrong(row: Row) -> bool:
    return max(row.wrong_holds, row.wrong_fails) > MOST_WRONG * row.answers


def _table(first: str, rows: list[Row]) -> Table:
    from rich.table import Table

    table = Table(
        "kind",
        first,
        "truth",
        "answers",
        "wrong HOLDS",
        "wrong FAILS",
        "undecided",
        "where decidable",
        "covering",
        box=None,
        pad_edge=False,
    )
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
            str(row.undecided),
            f"{row.undecided_decidable} of {row.decidable}",
            f"{row.covering} of {row.intervals}" if row.intervals else "",
        )
    return table
