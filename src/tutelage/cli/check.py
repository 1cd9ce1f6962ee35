"""`check`: a curve from anywhere, judged."""

from __future__ import annotations

import json as json_format
import shlex
import sys
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

from cyclopts import Parameter

from tutelage.cli.options import Flag
from tutelage.refuse import Refused

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from rich.console import Console

    from tutelage.claims import Verdict
    from tutelage.evidence.comparing import Comparison
    from tutelage.evidence.selecting import Selected

FORMAT = 1  # of what `--json` prints
Number = Annotated[float | None, Parameter(allow_leading_hyphen=True)]
Floor = Annotated[float | Literal["estimated"] | None, Parameter(allow_leading_hyphen=True)]


def check(
    log: Path,
    *,
    slope: Number = None,
    order: Number = None,
    bound: Number = None,
    constant: Number = None,
    floor: Floor = None,
    x: str | None = None,
    y: str | None = None,
    by: str | None = None,
    rate: float = 1.0,
    plateau: float | None = None,
    tolerance: float | None = None,
    approach: float | None = None,
    noise: str = "",
    forms: Flag = False,
    begin: Annotated[float | None, Parameter(name="--from")] = None,
    figure: Path | None = None,
    json: Flag = False,
    strict: Flag = False,
) -> int:
    """Judge your own curve: HOLDS, FAILS or UNDECIDED, with an interval and what would decide it.

    Without a claim the exponent of the curve is measured.

    Parameters
    ----------
    log
        CSV, Parquet, JSON lines, NPZ, an event file of TensorBoard, an export of W&B or MLflow, or
        a folder of event files or of MLflow's runs.
    slope
        Claim that the local slope in log-log tends to this: -1 for 1/t.
    order
        Claim that the curve is Θ(t^p) for this p, without an extra power of log t.
    bound
        Claim that the local slope tends to this or below.
    constant
        Claim that curve / t^p tends to this value, with the p of --slope, --order or --bound.
    floor
        Claim that the curve tends to this value. With `estimated` the floor is unknown: the slope
        is that of the curve above it, and the floor is measured.
    x
        The column of steps; by default one named `step` or similar.
    y
        The column of values, where there are several.
    by
        The column that tells runs apart, such as seed.
    rate
        The step size. Time is rate × step; only --constant uses it.
    plateau
        The step at which the first plateau ends, by default where the curve has halved.
    tolerance
        How far a limit may be from the claim, by default 0.02 for slopes and 3% for constants.
    approach
        The assumed class of curves: the distance to the limit falls at least as fast as
        t^-APPROACH; by default 0.25.
    noise
        `independent` if the errors of the measured points are, so that a single noisy run can be
        judged.
    forms
        Also say which forms the curve excludes: power law, with a floor, log-corrected,
        exponential, stretched exponential.
    begin
        Where forms are compared from, by default where the curve has halved.
    figure
        Draw the curve, the claim and the verdict into this file (.png, .svg, .pdf).
    json
        Print everything as JSON on standard output, and nothing else there.
    strict
        Exit with 1 if a claim fails.
    """
    from rich.console import Console

    from tutelage.claims.contraction import DELTA
    from tutelage.claims.verdict import pack_verdicts
    from tutelage.evidence.assuming import assumed
    from tutelage.evidence.claiming import Asked, claims_asked
    from tutelage.evidence.comparing import compare_runs
    from tutelage.evidence.files import read_table
    from tutelage.evidence.judging import check as judge
    from tutelage.evidence.selecting import Choice, select

    wanted = () if y is None else (y,)
    selected = select(read_table(log), Choice(x, wanted, by), rate=rate)
    if len(selected.y) > 1:
        raise Refused(
            f"The column of values must be named (`--y`) where there are several. Got "
            f"{', '.join(selected.y)} in {log}."
        )
    curve, runs = selected.y[0], list(selected.runs)
    level = None if floor == "estimated" else floor
    asked = Asked(
        slope, order, bound, constant, level,
        None if plateau is None else plateau / selected.unit, tolerance,
        DELTA if approach is None else approach, noise, floor == "estimated",
    )  # fmt: skip
    claims = claims_asked(curve, asked)
    verdicts = [judge(claim, runs) for claim in claims]
    if selected.unit != 1:  # sentences count steps, and a reader knows the column
        counted = f"One step is {selected.unit:g} of {selected.x}."
        verdicts = [replace(one, sentence=f"{one.sentence} {counted}") for one in verdicts]
    told = assumed(runs, curve, asked, verdicts)
    compared = compare_runs(runs, curve, begin, unit=selected.unit) if forms else None
    if figure is not None:
        from tutelage.figures.judged import Judged, draw_judged
        from tutelage.provenance import made_by

        labels = [f"{selected.by} {label}" if selected.by else "" for label in selected.labels]
        judged = Judged(
            runs, labels, selected.x, curve, claims, verdicts,
            asked.exponent, level, compared, selected.unit,
        )  # fmt: skip
        with made_by(shlex.join(["tutelage", *sys.argv[1:]])):
            draw_judged(judged, figure)
    if json:
        document = {
            **pack_verdicts([verdict.plain() for verdict in verdicts]),
            "read": _describe(log, selected),
            "assumed": told,
            **({} if compared is None else {"forms": _plain_forms(compared)}),
        }
        print(json_format.dumps(document, indent=1, ensure_ascii=False))
    else:
        console = Console(highlight=False)
        _print_answer(log, selected, verdicts, told, console)
        if compared is not None:
            _print_forms(compared, console)
        if figure is not None:
            console.print(f"\nfigure     {figure}")
    return 1 if strict and any(verdict.surprising for verdict in verdicts) else 0


def _describe(log: Path, selected: Selected) -> dict[str, str | int | list[str] | None]:
    return {
        "log": str(log),
        "x": selected.x,
        "y": selected.y[0],
        "by": selected.by,
        "runs": list(selected.labels),
        "points": sum(len(run.steps) for run in selected.runs),
        "rows_left_out": selected.left_out,
    }


def _print_answer(
    log: Path,
    selected: Selected,
    verdicts: Sequence[Verdict],
    told: Mapping[str, str],
    console: Console,
) -> None:
    from rich.markup import escape

    from tutelage.cli.terminal import MARK

    runs = selected.runs
    number = f"{len(runs)} runs by {selected.by}" if selected.by else "one run"
    points = f"{min(len(run.steps) for run in runs):,} points"
    last = max(int(run.steps[-1]) for run in runs)
    until = f"{last:,}" if selected.unit == 1 else f"{selected.unit * last:g}"
    console.print(
        escape(f"{log}: {selected.y[0]} against {selected.x}, {number} of {points}, up to {until}"),
        soft_wrap=True,
    )
    if selected.left_out:
        console.print(
            f"{selected.left_out:,} rows without a value of {escape(selected.y[0])} are left out"
        )
    for note in dict.fromkeys(run.note for run in runs if run.note):
        console.print(escape(note))
    for verdict in verdicts:
        colour, word = MARK[verdict.status]
        console.print(f"\n[{colour}]{word}[/]  {escape(verdict.statement)}")
        if verdict.interval is not None and verdict.measured is not None:
            low, high = verdict.interval
            console.print(
                f"  measured   {verdict.measured:.5g}; under what is assumed below the limit lies "
                f"in \\[{low:.5g}, {high:.5g}]",
                soft_wrap=True,
            )
        console.print(f"  {escape(verdict.sentence)}", soft_wrap=True)
    console.print("\nassumed")
    for name, sentence in told.items():
        console.print(f"  {name:<9}  {escape(sentence)}", soft_wrap=True)


def _print_forms(compared: Comparison, console: Console) -> None:
    from rich.markup import escape
    from rich.table import Table

    from tutelage.evidence.comparing import say_off

    table = Table("form", "", "misfit", "allowed", "forecast", "fit", box=None, pad_edge=False)
    for answer in compared.answers:
        word = f"[red]{answer.word}[/]" if answer.excluded else f"[green]{answer.word}[/]"
        fitted = ", ".join(f"{k} = {v:.3g}" for k, v in answer.fits[0].parameters.items())
        numbers = (say_off(off) for off in (answer.misfit, answer.allowed, answer.forecast))
        table.add_row(answer.form.name, word, *numbers, escape(fitted))
    console.print()
    console.print(table)
    console.print(f"\n{escape(compared.sentence)}", soft_wrap=True)


def _plain_forms(compared: Comparison) -> dict[str, object]:
    return {
        "sentence": compared.sentence,
        "begin": compared.begin,
        "end": compared.end,
        "noise": compared.noise,
        "tolerance": compared.tolerance,
        "forms": [
            {
                "form": answer.form.name,
                "excluded": answer.excluded,
                "misfit": answer.misfit,
                "allowed": answer.allowed,
                "forecast": answer.forecast,
                "parameters": [fit.parameters for fit in answer.fits],
            }
            for answer in compared.answers
        ],
    }
