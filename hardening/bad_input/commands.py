"""The command line: every command, with odd arguments, unknown options and values that are none."""

from __future__ import annotations

from collections.abc import Mapping
from random import Random
from typing import ClassVar

from hardening.bad_input.odd import odd_name, odd_text, some
from hardening.bad_input.target import Target, call

PLAN = ("--set", "--case", "--seeds", "--steps", "--preset", "--import")
RUN = (
    *PLAN, "--out", "--workers", "--scheduler", "--slurm", "--tls-ca", "--tls-cert", "--tls-key",
    "--device", "--precision", "--literal", "--jobs",
)  # fmt: skip
# Every command with what it may be given first, and its options that take a value. What would
# serve, train for minutes or write into a paper's own folder is asked only in ways that end before.
COMMANDS: Mapping[str, tuple[tuple[str, ...], tuple[str, ...]]] = {
    "list": (("",), ("--import",)),
    "show": (("STUDY",), ("--import",)),
    "cite": (("STUDY", ""), ("--import",)),
    "docs": (("sweeps", "docs/store.md", ""), ()),
    "plugins": (("",), ("--import",)),
    "run --dry-run": (("STUDY",), RUN),
    "sweep --dry-run": (("STUDY",), (*RUN, "--axis", "--extend", "--shard")),
    "runs list": (("",), ("--out", "--where", "--columns", "--sort")),
    "runs show": (("0", "abc"), ("--out",)),
    "runs compare": (("0 1",), ("--out",)),
    "runs remove": (("0",), ("--out", "--where")),
    "runs check": (("",), ("--out",)),
    "runs lacking": (("STUDY",), (*PLAN, "--out", "--axis")),
    "check": (("log.csv",), ("--slope", "--order", "--x", "--y", "--tolerance", "--figure")),
    "learn": (("my.py:net", "my.py"), ("--inputs", "--shape", "--tokens", "--probes", "--fresh")),
    "report": (("out", ""), ("--out",)),
    "animate": (("0",), ("--out", "--store", "--seconds", "--fps")),
    "new-paper": (("my-paper",), ("--folder", "--title", "--authors")),
    "calibrate --kind nothing": (("",), ("--repetitions", "--seed")),
    "register nothing/at-all": (("",), ("--preset", "--case", "--out")),
    "explore --port=-1": (("",), ("--host", "--store", "--seconds", "--tokens")),
    "": (("",), ("--help", "--version")),
    "nothing": (("",), ()),
}
FOLDERS = ("--out", "--folder", "--figure", "--store")  # what a command writes to
STUDY = "teacher-models/rates"  # whose plan takes a tenth of a second, and others ten
KEYS = ("D", "K", "rate", "steps", "seed", "student", "teacher.norm", "optimiser.power", "measures")


class Commands(Target):
    """One command, with up to five arguments of which some are odd."""

    name: ClassVar[str] = "command line"
    share: ClassVar[int] = 16

    def attack(self, draw: Random) -> bool:
        command = draw.choice(list(COMMANDS))
        firsts, options = COMMANDS[command]
        first = draw.choice(firsts) if draw.random() < 0.8 else odd_text(draw)
        arguments = [*command.split(), STUDY if first == "STUDY" else first]
        for option in some(draw, options, 3):
            arguments.append(f"{option}={self._value(draw, option)}")
        if draw.random() < 0.15:
            arguments.append(odd_text(draw))
        if "--dry-run" not in arguments and arguments[:1] in (["run"], ["sweep"]):
            arguments.append("--dry-run")
        if draw.random() < 0.05:
            draw.shuffle(arguments)
            arguments = [word for word in arguments if word not in ("run", "register", "calibrate")]
        code, _ = call([word for word in arguments if word])
        return code == 0

    def _value(self, draw: Random, option: str) -> str:
        if option in FOLDERS:
            return odd_name(draw)
        odd = odd_text(draw)
        if option == "--set":
            return draw.choice((odd, f"{draw.choice(KEYS)}={odd}"))
        if option == "--axis":
            ends = f"{odd_text(draw)}..{odd_text(draw)}/{odd_text(draw)}"
            return f"{draw.choice(KEYS)}={draw.choice((odd, f'{odd},1', ends, '1..2/3'))}"
        if option == "--where":
            return f"{draw.choice(('steps', 'tokens', odd))}{draw.choice('=<>')}{odd}"
        return odd
