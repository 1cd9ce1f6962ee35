"""The commands by name, and the help that lists them. Nothing else is imported for that."""

from __future__ import annotations

import shutil
import textwrap

# Every command: where it is, and the sentence of `tutelage --help`, which its docstring begins
# with. A module is imported when its command is asked for.
COMMANDS = {
    "list": (
        "describe:list_",
        "List the studies, one `paper/study` per line with a sentence. A question asked of a "
        "paper, which does not run with it, says so.",
    ),
    "show": (
        "describe:show",
        "Show a study without running it: statement, hypotheses, settings, choices, expected "
        "time, the file that checks it.",
    ),
    "run": (
        "run:run",
        "Run studies and answer their claims: progress, a table of verdicts, figures, and files "
        "under OUT.",
    ),
    "sweep": (
        "sweep:sweep",
        "Run a sweep: every setting once, each kept as soon as it is done; the same command again "
        "runs only what is missing.",
    ),
    "check": (
        "check:check",
        "Judge a curve of your own: HOLDS, FAILS or UNDECIDED, with an interval and what would "
        "decide it.",
    ),
    "runs": ("runs:runs", "List, show, compare, remove and check stored runs."),
    "learn": (
        "learn:learn",
        "Look at a layer of your own: is it σ(VXS), and what can a position-only student learn of "
        "it?",
    ),
    "report": (
        "report:report",
        "Write one report of all studies under some folders: a page that opens without a network, "
        "Markdown, CSV or LaTeX.",
    ),
    "explore": (
        "explore:explore",
        "Serve a page on this machine that chooses a setting, runs it and shows it learn; opens "
        "the browser. Ctrl-C ends it.",
    ),
    "animate": (
        "animate:animate",
        "Show how a stored run learned, over log time: its attention beside the teacher's, their "
        "difference, and the excess risk.",
    ),
    "cite": ("describe:cite", "Print the BibTeX entry of a paper."),
    "new-paper": (
        "new_paper:new_paper",
        "Write a package with one theorem that holds, a control that fails, a figure, tests, a "
        "page and a CI file. It installs and passes as it is; make it your paper file by file.",
    ),
    "plugins": (
        "describe:plugins",
        "List where papers were found: each with its origin, its studies, or what is wrong with "
        "it.",
    ),
    "calibrate": (
        "calibrate:calibrate",
        "Judge families of known truth, which were written by others without a look at the rule, "
        "and count wrong and undecided answers and the intervals that cover.",
    ),
    "doctor": (
        "doctor:doctor",
        "Print versions, devices, precision and optional parts; exit 1 if something needed is "
        "broken.",
    ),
    "register": (
        "register:register",
        "Write the claims of studies to the ledger of their paper, `results/ledger.jsonl`.",
    ),
}
OPTIONS = {"--help": "Display this message and exit.", "--version": "Display the version."}
ABOUT = (
    "Runnable learning theory for transformers: theorems as claims, exact training, verdicts with "
    "intervals."
)
WIDEST = 100  # columns of a line that is easily read


def format_help() -> str:
    """What `tutelage --help` prints."""
    sentences = {name: sentence for name, (_, sentence) in sorted(COMMANDS.items())} | OPTIONS
    indent = 4 + max(map(len, sentences))
    width = max(indent + 20, min(WIDEST, shutil.get_terminal_size().columns))
    lines = ["Usage: tutelage COMMAND", "", textwrap.fill(ABOUT, width), "", "Commands:"]
    for name, sentence in sentences.items():
        wrapped = textwrap.wrap(sentence, width - indent, break_on_hyphens=False)
        lines.append(f"  {name:<{indent - 2}}" + f"\n{' ' * indent}".join(wrapped))
    return "\n".join([*lines, "", "`tutelage COMMAND --help` shows the options of a command."])
