"""The end of `run`: what was found, in three lines, and what to do next."""

from __future__ import annotations

import shlex
from collections.abc import Mapping, Sequence

from rich.console import Console
from rich.table import Table
from rich.text import Text

from tutelage.claims.verdict import Status, Verdict
from tutelage.durations import say_seconds
from tutelage.report.wording import say_claim, say_outcome
from tutelage.studies.counts import Counts
from tutelage.studies.reproduced import Reproduced

HEAD = 6  # columns of the word beside the lines


def print_findings(done: Sequence[Reproduced], out: str, console: Console) -> None:
    """Counts, one claim that fails (or holds), what is undecided; then commands to try."""
    verdicts = [verdict for found in done for verdict in found.verdicts]
    name = done[0].name if len(done) == 1 else f"{len(done)} studies"
    console.print()
    _print_lines("Found", describe_findings(name, verdicts), console)
    console.print()
    _print_lines("Next", _lay_out(list_next(done, out), console), console)


def describe_findings(name: str, verdicts: Sequence[Verdict]) -> list[str]:
    """Three sentences."""
    claims = [verdict for verdict in verdicts if verdict.kind == "claim"]
    by_status = {status: [v for v in claims if v.status is status] for status in Status}
    shown = next((s for s in (Status.FAILS, Status.HOLDS) if by_status[s]), None)
    lines = [f"{name}: {Counts.of(verdicts).sentence}"]
    if shown is None:
        lines.append("No claim holds or fails.")
    else:
        word = "Fails" if shown is Status.FAILS else "Holds, for example"
        lines.append(f"{word}: {_describe_first(by_status[shown], shown is Status.FAILS)}")
    if by_status[Status.UNDECIDED]:
        lines.append(f"Undecided: {_describe_first(by_status[Status.UNDECIDED], True)}")
    else:
        lines.append("No claim is undecided.")
    return lines


def list_next(done: Sequence[Reproduced], out: str) -> dict[str, str]:
    """Commands to try, each with what it does."""
    place = [] if out == "out" else [out]
    commands = [(["report", *place], "all of it as a page, with the figures")]
    if (longer := _find_longer(done)) is not None:
        found, preset, seconds = longer
        option = ["--full"] if preset == "full" else ["--preset", preset]
        where = ["--out", out] if place else []
        undecided = found.counts.undecided
        why = f"a longer preset, about {say_seconds(seconds)}"
        if undecided:
            why += f", for what is undecided ({undecided})"
        commands.append((["run", found.name, *option, *where], why))
    commands.append((["show", done[0].name], "what it claims, and under which hypotheses"))
    stored = ["--store", out] if place else []
    commands.append((["explore", *stored], "a page in the browser: turn the knobs, watch it learn"))
    return {f"tutelage {shlex.join(words)}": does for words, does in commands}


def _lay_out(commands: Mapping[str, str], console: Console) -> list[str]:
    """Commands with what they do beside them, or below where the terminal is too narrow."""
    width = max(map(len, commands))
    beside = [f"{command:<{width}}  {does}" for command, does in commands.items()]
    if not console.is_terminal or max(map(len, beside)) <= console.width - HEAD - 1:
        return beside
    return [line for command, does in commands.items() for line in (command, f"    {does}")]


def _find_longer(done: Sequence[Reproduced]) -> tuple[Reproduced, str, float] | None:
    """The next longer preset of the first study with something undecided, or of the first."""
    for found in sorted(done, key=lambda found: not found.counts.undecided):
        presets = found.study.presets
        seconds = presets[found.plan.preset].seconds
        longer = {name: p.seconds for name, p in presets.items() if p.seconds > seconds}
        if longer:
            name = min(longer, key=lambda name: longer[name])
            return found, name, longer[name]
    return None


def _describe_first(verdicts: Sequence[Verdict], counted: bool) -> str:
    """The first of some verdicts in a sentence, and how many more there are."""
    first, others = verdicts[0], len(verdicts) - 1
    more = f"; and {others} more" if counted and others else ""
    outcome = say_outcome(first)
    if first.measured is None:  # its sentence says why
        outcome = first.sentence.partition(". ")[0].rstrip(".")
    return f"{say_claim(first)}: {outcome} ({first.id}){more}."


def _print_lines(head: str, lines: Sequence[str], console: Console) -> None:
    """Lines beside a head, wrapped on a terminal and never elsewhere."""
    if not console.is_terminal:
        for i, line in enumerate(lines):
            print(f"{'' if i else head:<{HEAD}} {line}", file=console.file)
        return
    grid = Table.grid(padding=(0, 1))
    grid.add_column(width=HEAD, style="bold")
    grid.add_column(overflow="fold")
    for i, line in enumerate(lines):
        grid.add_row("" if i else head, Text(line))
    console.print(grid)
