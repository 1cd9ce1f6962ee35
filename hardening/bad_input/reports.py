"""Files of finished studies, forged or cut, from which `tutelage report` makes its pages."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from random import Random
from typing import Any, ClassVar

from hardening.bad_input.odd import change_bytes, change_json, odd_name
from hardening.bad_input.target import Target, call
from hardening.bad_input.yard import Yard

VERDICT: dict[str, Any] = {
    "id": "paper/study/case/rate",
    "statement": "L(T) = Θ(1/T)",
    "source": "Theorem 1",
    "predicted": -1.0,
    "measured": -1.01,
    "interval": [-1.02, -1.0],
    "tolerance": 0.03,
    "status": "HOLDS",
    "sentence": "The slope tends to -1.",
    "hypotheses": [{"text": "D is large", "met": None, "word": "not known", "detail": "D = 8"}],
    "seeds": [0, 2],
    "horizon": None,
    "spread": None,
    "control": "",
    "measurement": False,
    "preset": "quick",
}
STUDY: dict[str, Any] = {
    "format": 1,
    "name": "paper/study",
    "sentence": "A sentence.",
    "statement": "A statement.",
    "equation": "L(T) = Θ(1/T)",
    "source": "A paper",
    "choices": ["d = 10."],
    "checked_in": "theory.py",
    "preset": "quick",
    "command": "tutelage run paper/study",
    "made": {"tutelage": "0.1"},
    "cases": [
        {
            "name": "case",
            "label": "case",
            "control": "",
            "setting": "teacher(a=1); rate=0.1",
            "runs": [{"identity": "abc123", "seed": 0, "steps": 1000, "outcome": "FINISHED"}],
        }
    ],
}
ENDINGS = ("html", "md", "csv", "tex", "nothing", "")


class Reports(Target):
    """A folder of one study, with something wrong in it."""

    name: ClassVar[str] = "reports"
    share: ClassVar[int] = 6

    def __init__(self, yard: Yard) -> None:
        super().__init__(yard)
        self.sound = yard.kept / "report"
        folder = self.sound / "paper" / "study"
        folder.mkdir(parents=True)
        (folder / "study.json").write_text(json.dumps(STUDY))
        (folder / "verdicts.json").write_text(json.dumps([VERDICT]))

    def attack(self, draw: Random) -> bool:
        shutil.copytree(self.sound, "out")
        file = Path("out/paper/study") / draw.choice(("study.json", "verdicts.json"))
        if draw.random() < 0.7:
            changed = change_json(draw, json.loads(file.read_text()))
            try:
                file.write_text(json.dumps(changed))
            except (ValueError, UnicodeError):
                return False  # nothing that JSON holds
        else:
            file.write_bytes(change_bytes(draw, file.read_bytes()))
        ending = draw.choice(ENDINGS)
        asked = draw.choice(([], [f"--out=report.{ending}"], [f"--out={odd_name(draw)}"]))
        return call(["report", "out", *asked])[0] == 0
