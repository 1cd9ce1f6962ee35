"""`check_paper` says all that a paper lacks: each fault is planted once, into the skeleton."""

from __future__ import annotations

import importlib
import re
import shutil
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

import tutelage
from tutelage import plugins, settings
from tutelage.problem import registry
from tutelage.studies.discovery import papers
from tutelage.testing import check_paper

TEMPLATE = Path(tutelage.__file__).parent / "template" / "geometric_descent"
Planted = Callable[..., list[str]]


@pytest.fixture
def planted(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Planted]:
    """Checks the skeleton with some text of a file replaced, found as a built-in paper is."""
    parts = {kind: dict(known) for kind, known in registry._REGISTERED.items()}
    monkeypatch.setattr(registry, "_REGISTERED", parts)
    monkeypatch.setattr(plugins, "_PARTS_IMPORTED", set())
    origins = dict(settings.ORIGINS)
    monkeypatch.syspath_prepend(str(tmp_path))
    package = f"planted_{tmp_path.name.replace('-', '_')}"

    def plant(file: str, sound: str, broken: str, origin: str = "installed") -> list[str]:
        shutil.copytree(TEMPLATE, tmp_path / package)
        path = tmp_path / package / file
        text = path.read_text()
        assert text.count(sound) >= 1, f"{file} has no {sound!r}: plant this fault elsewhere"
        path.write_text(text.replace(sound, broken))
        plugin = plugins.Plugin(package, "paper", origin)
        monkeypatch.setattr(plugins, "find_plugins", lambda: [plugin])
        importlib.invalidate_caches()
        paper = vars(plugin.load())["paper"]
        return check_paper(paper)

    yield plant
    for name in [name for name in sys.modules if name.partition(".")[0] == package]:
        del sys.modules[name]
    settings.ORIGINS.clear()
    settings.ORIGINS.update(origins)


LACKING = re.compile(r"The study (\S+) has no control that tests ([\w ]+), .*")
# Planning this study draws twenty samples to know its step sizes, which are not looked at here.
STEP_SIZES = "tutelage.papers.teacher_models.inputs.study.with_stable_steps"


@pytest.mark.parametrize("name", [name for name, p in papers().items() if p.origin == "built in"])
def test_every_built_in_paper_has_everything(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """But for the controls that it is known to lack, which a file beside its tests lists."""
    monkeypatch.setattr(STEP_SIZES, tuple)
    file = Path(sys.modules[papers()[name].module].__file__).parent / "tests/controls_lacking.txt"
    known = file.read_text().splitlines() if file.exists() else []
    assert [LACKING.sub(r"\1: \2", trouble) for trouble in check_paper(name)] == known


def test_a_whole_paper_lacks_nothing(planted: Planted) -> None:
    assert planted("theory.py", "Theorem 1", "Theorem 1") == []


STUDY = "contraction/study.py"
FAULTS = {
    "no authors": ("__init__.py", '"The authors of tutelage"', '""', "no authors"),
    "no citation": ("__init__.py", '"@misc{', '"', "The paper has no citation"),
    "a name in capitals": ("__init__.py", '"geometric-descent"', '"Descent"', "Got 'Descent'"),
    "a letter for nothing": (
        "__init__.py",
        '"teacher.norm"',
        '"teacher.length"',
        "the letter V stands for teacher.length, which no setting has",
    ),
    "no title": ("__init__.py", 'Entry("Every', 'Entry("" and "Every', "has no title"),
    "theory that sees runs": (
        "theory.py",
        "import numpy as np",
        "import numpy as np\nfrom tutelage.run import Run",
        "theory.py of it imports tutelage.run.Run",
    ),
    "theory that trains": (
        "theory.py",
        "    tokens, norm",
        "    from tutelage.training import loop\n    tokens, norm",
        "imports tutelage.training.loop",
    ),
    "theory that judges": (
        "theory.py",
        "import numpy as np",
        "import numpy as np\nfrom tutelage.claims import check",
        "imports tutelage.claims.check",
    ),
    "no statement": (STUDY, "    statement=", '    statement="" and ', "has no statement"),
    "no equation": (STUDY, "    equation=", '    equation="" and ', "has no equation"),
    "no source": (STUDY, 'study = Study(\n    source="T', 'study = Study(\n    source="" and "T',
                  "has no source"),
    "no seconds": (STUDY, "seconds=5, seeds=2", "seconds=0, seeds=2", "its preset 'quick' takes"),
    "no control": (STUDY, ", CONTROL.case()]", "]",
                   "has no control that tests Curve of excess_risk, and so nothing shows"),
    "a control of another curve": (STUDY, "CLAIM, breaks",
                                   'Curve("value_error", theory.excess, 0.1), breaks',
                                   "has no control that tests Curve of excess_risk"),
    "a control of another kind": (STUDY, "CLAIM, breaks",
                                  '__import__("tutelage").Rate("excess_risk", -1.0), breaks',
                                  "has no control that tests Curve of excess_risk"),
    "one claim twice": (STUDY, "(CLAIM,)", "(CLAIM, CLAIM)", "has two claims 'excess'"),
    "one case twice": (STUDY, '"unequal", "un', '"equal", "un', "has two cases named 'equal'"),
    "a claim of two words": (STUDY, 'id="excess"', 'id="the excess"', "names a claim 'the excess'"),
    "a claim without source": (STUDY, 'statement=LAW, source="Theorem 1"', "statement=LAW",
                               "a claim 'excess' without a source"),
    "no caption": (STUDY, 'captions={"excess"', 'captions={"loss"', "draws the figure excess and"),
    "a caption too many": (STUDY, 'captions={', 'captions={"loss": "A loss.", ',
                           "a caption for the figure loss, which it does not draw"),
    "an empty caption": (STUDY, '"Excess risk, its', '" " or "Excess, its', "an empty caption"),
    "no claims at a setting": (STUDY, "    case_at=", "    # case_at=", "must have either"),
    "claims at a setting, and none": (STUDY, "    case_at=", '    compares="all", case_at=',
                                      "must have either"),
    "claims that cannot be given": (STUDY, "at_setting(setting, [CLAIM])", "setting.claims",
                                    "cannot give its claims at the setting of its case equal"),
    "other claims at a setting": (STUDY, "at_setting(setting, [CLAIM])", "at_setting(setting, [])",
                                  "of which `case_at` gives none"),
    "a study that fails": (STUDY, "def cases", "raise RuntimeError('no')\ndef cases",
                           "RuntimeError: no"),
    "a page of nobody": ("explore.py", '("averaging",)', '("nobody",)', "unregistered teacher"),
    "a page that reads nothing": ("explore.py", "theory.excess(", "theory.loss(", "cannot read"),
    "a page that fails": ("explore.py", "BEGIN = ", "BEGIN = nothing or ", "NameError"),
}  # fmt: skip


@pytest.mark.brief(10)
@pytest.mark.parametrize("fault", FAULTS)
def test_what_is_missing_is_said(fault: str, planted: Planted) -> None:
    file, sound, broken, said = FAULTS[fault]
    troubles = planted(file, sound, broken)
    assert any(said in trouble for trouble in troubles), troubles


def test_a_built_in_paper_has_its_page_and_its_results(planted: Planted) -> None:
    troubles = planted("theory.py", "Theorem 1", "Theorem 1", origin="built in")
    said = "has no results/contraction.json in the folder of its paper."
    assert troubles == [f"The study contraction {said}"]  # its page is there
