"""`calibrate`: how often the verdict rule is right, on families of known truth."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tutelage.cli.options import Flag

if TYPE_CHECKING:
    from rich.console import Console
    from rich.table import Table

    from tutelage.claims.calibration import Family, Row

LEGEND = """
n: answers; ✗H: wrong HOLDS; ✗F: wrong FAILS
open: undecided where the class decides
cover: intervals that cover what they are about"""
MOST_REPETITIONS = 10_000  # hours
MOST_WRONG = 0.01  # of the answers of a kind, in each direction


def calibrate(
    *,
    repetitions: int = 20,
    seed: int = 0,
    kind: str = "",
    families: Flag = False,
    development: Flag = False,
) -> int:
    """Test the verdict rule on curves of known truth, written by others who had not seen the rule:
    count wrong and undecided verdicts, and intervals that cover the truth.

    Exit 1 if more than 1% of the answers of a kind are wrong.

    Parameters
    ----------
    repetitions
        How often each family is drawn.
    seed
        The seed of the first draw.
    kind
        The kind of claim to judge; if omitted, every kind.
    families
        Print one row per family as well.
    development
        Judge the families on which the rule was developed instead.
    """
    from rich.console import Console

    from tutelage.claims.development import FAMILIES
    from tutelage.claims.evaluation import SETS, held_out
    from tutelage.refuse import one_of, whole

    whole(
        "repetitions",
        repetitions,
        least=1,
        reason="each family is drawn that often",
        most=MOST_REPETITIONS,
        beyond="more would take days",
    )
    kinds = list(dict.fromkeys(family.kind for family in FAMILIES))
    asked = [one_of("kind of claim", kind, kinds)] if kind else kinds
    console = Console(highlight=False)
    if development:
        said = "Families on which the rule was developed."
        wrong = _judge(said, list(FAMILIES), asked, (repetitions, seed), families, console)
    else:
        wrong = False
        for name, found in SETS.items():
            said = f"The {name} held-out set. {found.evaluated}"
            wrong |= _judge(said, held_out(name), asked, (repetitions, seed), families, console)
    console.print(LEGEND)
    return 1 if wrong else 0


def _judge(
    said: str,
    families: list[Family],
    kinds: list[str],
    draws: tuple[int, int],
    each: bool,
    console: Console,
) -> bool:
    """Prints the rows of some families; whether some kind is wrong too often."""
    from tutelage.claims.calibration import calibrate as judge
    from tutelage.claims.calibration import summarise

    rows = judge([family for family in families if family.kind in kinds], *draws)
    kept = summarise(rows)
    console.print(said, soft_wrap=True)
    console.print()
    if each:
        console.print(_table("family", rows))
        console.print()
    console.print(_table("families", kept))
    console.print()
    return any(_is_too_wrong(row) for row in kept)


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
