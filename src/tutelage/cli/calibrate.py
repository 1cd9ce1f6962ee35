"""`calibrate`: how often the verdict rule is right, on curves of known truth."""

from __future__ import annotations


def calibrate(*, repetitions: int = 20, seed: int = 0) -> int:
    """Judge curves of known truth and count the right, wrong and undecided answers; exit 1 if any
    is wrong.

    Parameters
    ----------
    repetitions
        How often each noisy curve is drawn, at each horizon.
    seed
        The seed of the noise.
    """
    from rich.console import Console
    from rich.table import Table

    from tutelage.claims.calibration import calibrate as judge
    from tutelage.refuse import whole

    rows = judge(
        whole("repetitions", repetitions, least=1, reason="each noisy curve is drawn that often"),
        seed,
    )
    table = Table(
        "curve", "claim", "truth", "right", "wrong", "undecided", box=None, pad_edge=False
    )
    for row in rows:
        marked = f"[bold red]{row.wrong}[/]" if row.wrong else "0"
        table.add_row(
            row.name, row.claim, row.truth.value, str(row.right), marked, str(row.undecided)
        )
    console = Console(highlight=False)
    console.print(table)
    right, wrong = sum(row.right for row in rows), sum(row.wrong for row in rows)
    undecided = sum(row.undecided for row in rows)
    console.print(
        f"\n{right} right, {wrong} wrong, {undecided} undecided, over {len(rows)} rows and "
        "several horizons each."
    )
    return 1 if wrong else 0
