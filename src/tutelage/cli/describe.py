"""`list`, `show` and `cite`: what there is, without running any of it."""

from __future__ import annotations


def list_() -> None:
    """List the studies, one `paper/study` a line with a sentence; a question asked of a paper,
    which does not run with it, says so.
    """
    from tutelage.papers import PAPERS, questions, studies

    found = studies()
    asked = {study.name for known in PAPERS for study in questions(known)}
    width = max(len(study.name) for study in found)
    for study in found:
        print(
            f"{study.name:<{width}}  "
            f"{'(question, run by name) ' if study.name in asked else ''}{study.sentence}"
        )


def cite(name: str) -> None:
    """Print the BibTeX entry of a paper.

    Parameters
    ----------
    name
        A paper or one of its studies, such as `teacher-models`.
    """
    from tutelage.papers import paper, studies

    print(paper(studies(name)[0].name.split("/")[0]).BIBTEX)


def show(name: str) -> None:
    """Show a study without running it: statement, hypotheses, settings, choices, expected time, the
    file that checks it.

    Parameters
    ----------
    name
        A study such as `teacher-models/rates`, or a paper for all of its studies.
    """
    from rich.console import Console
    from rich.markup import escape
    from rich.padding import Padding

    from tutelage.papers import studies
    from tutelage.report import words
    from tutelage.studies.study import Plan, plan_cases

    console = Console(highlight=False)
    for study in studies(name):
        console.print(f"[bold]{study.name}[/]  {escape(study.sentence)}\n")
        console.print(Padding(escape(study.statement), (0, 0, 1, 2)))
        console.print(Padding(escape(study.equation), (0, 0, 1, 2)))
        console.print(f"  source      {escape(study.source)}")
        console.print(f"  checked in  {study.checked_in}")
        times = ", ".join(
            f"{preset} about {_duration(seconds)}" for preset, seconds in study.seconds.items()
        )
        console.print(f"  time        {times} on two cores")
        console.print(
            "  memory      "
            f"{', '.join(f'{preset} about {gb:g} GB' for preset, gb in study.gigabytes.items())}"
        )
        console.print(
            f"  --set       {', '.join(study.letters)} (or a path such as teacher.activation, "
            "rate)\n"
        )
        cases, _ = plan_cases(study, Plan())
        console.print("  [bold]Cases[/], quick preset")
        for case in cases:
            first = case.settings[0]
            amount = f"{len(case.settings)} runs, {first.steps:,} steps"
            console.print(f"  · {case.name}: {escape(words(first))}; {amount}", soft_wrap=True)
            if case.control:
                console.print(
                    f"      negative control, breaks {escape(case.control)}", soft_wrap=True
                )
        console.print()
        console.print("  [bold]Claims[/]")
        for claim in dict.fromkeys((c.statement, c.source) for case in cases for c in case.claims):
            console.print(f"  · {escape(claim[0])}  [dim]({escape(claim[1])})[/]")
        first_claim = cases[0].claims[0]
        if first_claim.hypotheses is not None:
            console.print(f"\n  [bold]Hypotheses[/], at {cases[0].name}")
            for h in first_claim.hypotheses(cases[0].settings[0]):
                detail = f" ({h.detail})" if h.detail else ""
                console.print(f"  · {escape(h.text)}: {h.word}{escape(detail)}")
        console.print("\n  [bold]Left open by the paper, and chosen here[/]")
        for choice in study.choices:
            console.print(f"  · {escape(choice)}")
        console.print(f"\n  tutelage run {study.name}\n")


def _duration(seconds: float) -> str:
    return f"{seconds:.0f} s" if seconds < 90 else f"{seconds / 60:.0f} min"
