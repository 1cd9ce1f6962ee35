"""The commands by name, and the help that lists them. Nothing else is imported for that."""

from __future__ import annotations

import shutil
import textwrap

# Every command: where it is, and the sentence of `tutelage --help`, which its docstring begins
# with. A module is imported when its command is asked for.
COMMANDS = {
    "list": (
        "describe:list_",
        "List the studies, one per line with its title. Studies marked as questions go beyond "
        "their paper and run only by name.",
    ),
    "show": (
        "describe:show",
        "Show a study without running it: statement, hypotheses, settings, choices, expected "
        "time, the file that checks it.",
    ),
    "run": (
        "run:run",
        "Run studies and check their claims: progress, a table of verdicts, figures, and files "
        "under OUT.",
    ),
    "sweep": (
        "sweep:sweep",
        "Run a sweep: every setting once, each saved when it is done. The same command again runs "
        "only what is missing.",
    ),
    "check": (
        "check:check",
        "Judge your own curve: HOLDS, FAILS or UNDECIDED, with an interval and what would decide "
        "it.",
    ),
    "runs": ("runs:runs", "List, show, compare, remove and check stored runs."),
    "learn": (
        "learn:learn",
        "Analyse your own layer: is it σ(VXS), and how much of it can a position-only student "
        "learn?",
    ),
    "report": (
        "report:report",
        "Write a report of all studies under some folders: a page per paper and one for all, or a "
        "summary, CSV or LaTeX.",
    ),
    "explore": (
        "explore:explore",
        "Open a page in the browser, served from this machine, to choose a setting, run it and "
        "watch it learn. Ctrl-C ends it.",
    ),
    "animate": (
        "animate:animate",
        "Show how a stored run learned, over log time: its attention beside the teacher's, their "
        "difference, and the excess risk.",
    ),
    "cite": ("describe:cite", "Print the BibTeX entry of a paper, or of tutelage itself."),
    "docs": ("docs:docs", "Print a page of the documentation, or list all pages."),
    "new-paper": (
        "new_paper:new_paper",
        "Write a package with one theorem that holds, a control that fails, a figure, tests, a "
        "page and a CI file. It installs and passes as it is; make it your paper file by file.",
    ),
    "plugins": (
        "describe:plugins",
        "List the papers found: where each comes from, its studies, or why it cannot be used.",
    ),
    "calibrate": (
        "calibrate:calibrate",
        "Test the verdict rule on curves of known truth, written by others who had not seen the "
        "rule: count wrong and undecided verdicts, and intervals that cover the truth.",
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
# What `tutelage` alone shows to someone who has just installed it.
FIRST_COMMANDS = {
    "tutelage list": "the theorems that you can run",
    "tutelage run scaling": "run one: under a minute on two cores",
    "tutelage explore": "a page in the browser: watch a run learn",
    "tutelage check loss.csv --slope -1": "judge your own curve",
}
WIDEST = 100  # columns of a line that is easily read


def format_greeting() -> str:
    """What `tutelage` alone prints."""
    width = min(WIDEST, max(40, shutil.get_terminal_size().columns))
    widest = max(map(len, FIRST_COMMANDS))
    lines = [f"  {command:<{widest}}  {does}" for command, does in FIRST_COMMANDS.items()]
    more = "`tutelage --help` lists all commands, `tutelage docs` all pages."
    return "\n".join([textwrap.fill(ABOUT, width), "", "Begin with:", "", *lines, "", more])


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
