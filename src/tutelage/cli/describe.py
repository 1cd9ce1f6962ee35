"""`list`, `show`, `cite` and `plugins`: what there is, without running any of it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tutelage.cli.options import Imports

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rich.console import Console

    from tutelage.studies.study import AnyStudy, Case


def list_(*, imports: Imports = ()) -> None:
    """List the studies, one per line with its title. Studies marked as questions go beyond their
    paper and run only by name.
    """
    from tutelage.plugins import import_all
    from tutelage.studies.discovery import papers

    import_all(imports)
    lines = {}
    for paper in papers().values():
        for short, entry in paper.studies.items():
            question = "(question, run by name) " if entry.beyond else ""
            lines[f"{paper.name}/{short}"] = f"{question}{entry.title}"
    width = max(map(len, lines), default=0)
    for name, sentence in lines.items():
        print(f"{name:<{width}}  {sentence}")


def plugins(*, imports: Imports = ()) -> None:
    """List the papers found: where each comes from, its studies, or why it cannot be used."""
    from tutelage.plugins import PARTS, TROUBLES, import_all, import_parts
    from tutelage.studies.discovery import find_papers

    import_all(imports)
    import_parts()
    found = find_papers()
    names = [one.paper.name for one in found if one.paper is not None]
    for one in found:
        print(f"{one.paper.name if one.paper is not None else one.plugin.module}")
        print(f"  origin   {one.plugin.origin} ({one.plugin.module})")
        if one.paper is None:
            print(f"  trouble  {one.trouble}")
            continue
        print(f"  studies  {', '.join(one.paper.studies) or 'none'}")
        if trouble := TROUBLES.get(f"{one.plugin.module}.{PARTS}"):
            print(f"  trouble  its parts could not be imported: {trouble}")
        if names.count(one.paper.name) > 1:
            print("  trouble  another paper has the same name, so that neither can be used")


def cite(name: str = "", *, imports: Imports = ()) -> None:
    """Print the BibTeX entry of a paper, or of tutelage itself.

    Parameters
    ----------
    name
        A paper or one of its studies, such as `teacher-models`. If omitted, tutelage.
    """
    if not name:
        from tutelage.citation import format_bibtex

        print(format_bibtex())
        return
    from tutelage.plugins import import_all
    from tutelage.studies.discovery import papers, study_names

    import_all(imports)
    paper = study_names(name)[0].partition("/")[0]
    print(papers()[paper].bibtex)


def show(name: str, *, imports: Imports = ()) -> None:
    """Show a study without running it: statement, hypotheses, settings, choices, expected time, the
    file that checks it.

    Parameters
    ----------
    name
        A study such as `teacher-models/rates`, or a paper for all of its studies.
    """
    from rich.console import Console

    from tutelage.plugins import import_all
    from tutelage.studies.discovery import find_studies

    import_all(imports)
    console = Console(highlight=False)
    for study in find_studies(name):
        _show_study(study, console, imports)


def _show_study(study: AnyStudy, console: Console, imports: Sequence[str]) -> None:
    from rich.markup import escape
    from rich.padding import Padding

    from tutelage.durations import say_seconds
    from tutelage.studies.record import write_command
    from tutelage.studies.study import Plan

    console.print(f"[bold]{study.name}[/]  {escape(study.title)}\n")
    console.print(Padding(escape(study.statement), (0, 0, 1, 2)))
    console.print(Padding(escape(study.equation), (0, 0, 1, 2)))
    _hang(console, "  source      ", escape(study.source))
    if study.checked_in:
        _hang(console, "  checked in  ", escape(study.checked_in))
    times = [f"{name} about {say_seconds(p.seconds)}" for name, p in study.presets.items()]
    memory = [f"{name} about {p.gigabytes:g} GB" for name, p in study.presets.items()]
    _hang(console, "  time        ", f"{', '.join(times)} on two cores")
    _hang(console, "  memory      ", ", ".join(memory))
    ways = "or a path such as teacher.activation, rate"
    _hang(console, "  --set       ", f"{', '.join(study.letters)} ({ways})")
    console.print()
    preset = "quick" if "quick" in study.presets else next(iter(study.presets))
    cases, _ = study.plan(Plan(preset))
    console.print(f"  [bold]Cases[/], {preset} preset")
    _show_cases(cases, console)
    if study.choices:
        console.print("\n  [bold]Left open by the paper, and chosen here[/]")
    for choice in study.choices:
        _hang(console, "  · ", escape(choice))
    command = write_command(study.name, Plan(preset), out="out", imports=imports)
    console.print(f"\n  {escape(command)}\n", soft_wrap=True)


def _show_cases(cases: Sequence[Case], console: Console) -> None:
    from rich.markup import escape

    from tutelage.studies.record import describe_setting

    for case in cases:
        first = case.settings[0]
        ending = "" if len(case.settings) == 1 else "s"
        amount = f"{len(case.settings)} run{ending}, {first.steps:,} steps"
        if first.calculation is not None:
            amount = f"{len(case.settings)} calculation{ending}"
        said = f"  · {case.name}: {describe_setting(first)}; {amount}"
        console.print(escape(said), soft_wrap=True)
        if case.control:
            console.print(f"      negative control, breaks {escape(case.control)}", soft_wrap=True)
    console.print()
    console.print("  [bold]Claims[/]")
    claims = [claim for case in cases for claim in case.claims]
    for statement, source in dict.fromkeys((claim.statement, claim.source) for claim in claims):
        _hang(console, "  · ", f"{escape(statement)}  [dim]({escape(source)})[/]")
    for case in cases:
        if case.claims and case.claims[0].hypotheses is not None:
            console.print(f"\n  [bold]Hypotheses[/], at {case.name}")
            for h in case.claims[0].hypotheses(case.settings[0]):
                detail = f" ({h.detail})" if h.detail else ""
                _hang(console, "  · ", f"{escape(h.text)}: {h.word}{escape(detail)}")
            break


def _hang(console: Console, head: str, text: str) -> None:
    """Prints a line whose continuations stand below its text and not below its head."""
    from rich.table import Table

    grid = Table.grid()
    grid.add_column(no_wrap=True)
    grid.add_column(overflow="fold")
    grid.add_row(head, text)
    console.print(grid)
