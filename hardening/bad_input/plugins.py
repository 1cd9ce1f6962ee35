"""Plugins: Python files that register odd parts or hold an odd paper, given by `--import`."""

from __future__ import annotations

import keyword
from pathlib import Path
from random import Random
from typing import ClassVar

from hardening.bad_input.odd import change_text, odd_value, odd_word
from hardening.bad_input.target import Target, call

SOUND = """import tutelage as tt
from tutelage.claims import Rate
from tutelage.problem.registry import register
from tutelage.studies.paper import Entry, Paper
from tutelage.studies.study import Case, Preset, Study, over_seeds

@register("teacher", "mine")
def _mine(seed, *, tokens: int = 4, outputs: int = 1, dim: int = 2):
    return tt.BilinearTeacher([[1.0, 2.0]], tt.pooling(tokens, 2))

@register("measure", "half")
def _half(student, objective):
    return 0.5

@register("activation", "bent")
def _bent(z):
    return z * z

def cases(plan, preset):
    setting = tt.Setting(tt.Part("mine"), rate=0.1, steps=5, measures=("half",))
    claim = Rate("half", -1.0, tolerance=0.1, id="rate", statement="one half")
    return [Case("one", "one", over_seeds(setting, 2), (claim,))]

study = Study(
    source="Theorem 1",
    statement="Something is learned.",
    equation="L(T) = 1/T",
    presets={"quick": Preset(seconds=1.0, seeds=2)},
    cases=cases,
)
paper = Paper(
    name="mine",
    title="A title",
    authors="Nobody",
    year=2026,
    bibtex="@misc{mine}",
    studies={"x": Entry("A study", study=study)},
)
"""
ENDS = (
    "raise SystemExit(3)", "import os; os.abort", "1 / 0", "def (", "raise KeyboardInterrupt_",
    "import nothing_of_that_name", "paper = None", "paper = 3", "from tutelage import nothing",
    "x = [" * 50, "import sys; sys.exit()", "class A(B): pass", "\x00",
    "# -*- coding: nothing -*-", "raise Exception('\\ud800')", "del paper", "raise MemoryError",
    "paper = type('P', (), {'name': 1})()", "def paper(): pass", "raise RecursionError",
)  # fmt: skip
WORTH = (
    "4", "1.0", "2", '"mine"', "0.5", '"A title"', "z * z", "2026", '"x"', "cases", "study",
    "(claim,)", '{"quick": Preset(seconds=1.0, seeds=2)}', '"one"', '"half"', "setting",
    '"Theorem 1"', "0.1",
)  # fmt: skip
COMMANDS = (
    ["list"],
    ["plugins"],
    ["show", "mine"],
    ["cite", "mine"],
    ["show", "mine/x"],
    ["run", "mine", "--dry-run"],
)
SWEEP = """[setting]
rate = 0.1
steps = 2
teacher = { name = "mine", tokens = 4 }
measures = ["half"]
"""


class Plugins(Target):
    """A file of the user's, broken in one way or another."""

    name: ClassVar[str] = "plugins"
    share: ClassVar[int] = 6

    def attack(self, draw: Random) -> bool:
        text = SOUND
        match draw.randrange(4):
            case 0:
                text = change_text(draw, text)
            case 1:
                text += draw.choice(ENDS) + "\n"
            case 2:
                old = draw.choice(WORTH)
                text = text.replace(old, repr(odd_value(draw)))
            case _:
                text = draw.choice(ENDS) + "\n" + text
        name = draw.choice(("mine.py", "mine.py", "a b.py", "é.py", "x-y.py", ".py"))
        Path(name).write_bytes(text.encode("utf-8", "surrogatepass"))
        Path("s.toml").write_text(SWEEP)
        given = name if draw.random() < 0.9 else odd_word(draw)
        if keyword.iskeyword(given) or given in ("con",):
            return False
        command = draw.choice((*COMMANDS, ["sweep", "s.toml", "--dry-run"]))
        try:
            code, _ = call([*command, f"--import={given}"])
        finally:
            _forget()
        return code == 0


def _forget() -> None:
    """Has this process know no more than what tutelage comes with, for the next case."""
    from tutelage import plugins
    from tutelage.problem import registry
    from tutelage.settings import ORIGINS

    for kind, name in ORIGINS:
        registry._REGISTERED[kind].pop(name, None)
    for known in (ORIGINS, plugins._FILES, plugins._MODULES):
        known.clear()  # type: ignore[attr-defined]
