"""A paper in a file of its own, as a user would give it to `--import`: a claim and a control that
take a moment. Tests write it to a folder of theirs, or install it there.
"""

from __future__ import annotations

from pathlib import Path

SOURCE = '''
"""Pooling is learned at the rate 1/T."""

from tutelage.claims import Rate
from tutelage.settings import Part, Setting
from tutelage.studies.changes import changed
from tutelage.studies.paper import Entry, Paper
from tutelage.studies.study import Case, Control, Preset, Study, over_seeds

LETTERS = {"D": "teacher.tokens"}
TEACHER = Part(
    "convolution", tokens=4, support=2, outputs=1, dim=2, norm=8.0, activation="identity"
)
SETTING = Setting(TEACHER, rate=0.2, steps=3000, measures=("excess_risk",))
CLAIM = Rate("excess_risk", -1.0, tolerance=0.1, id="rate", statement="excess = Θ(1/T)")
CONTROL = Control(
    "all-tokens",
    "K = D",
    SETTING.change(**{"teacher.support": 4}),
    CLAIM,
    "K < D: with K = D attention is right from the start",
)


def cases(plan, preset):
    setting = changed(SETTING.change(steps=plan.steps or SETTING.steps), plan.changes, LETTERS)
    seeds = over_seeds(setting, plan.seeds or preset.seeds)
    return [Case("pooling", "pooling", seeds, (CLAIM,)), CONTROL.case()]


def draw(answered, folder):
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "excess.svg").write_text("<svg/>")
    return [folder / "excess.svg"]


study = Study(
    source="Theorem 1",
    statement="Pooling is learned.",
    equation="L(T) = Θ(1/T)",
    presets={"quick": Preset(seconds=1.0, seeds=2), "full": Preset(seconds=2.0, seeds=3)},
    cases=cases,
    figures=draw,
)
paper = Paper(
    name="NAME",
    title="A tiny paper",
    authors="Nobody",
    year=2026,
    bibtex="@misc{tiny}",
    letters=LETTERS,
    studies={
        "pooling": Entry("Pooling is learned", study=study),
        "further": Entry("A question asked of it", beyond=True, study=study),
    },
)
'''


def write_paper(path: Path, name: str = "tiny") -> Path:
    """The paper as one file, under this name."""
    path.write_text(SOURCE.replace("NAME", name))
    return path


def install(folder: Path, package: str, source: str) -> None:
    """A module with the metadata of an installed package, whose entry point is its `paper`."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / f"{package}.py").write_text(source)
    about = folder / f"{package}-1.5.dist-info"
    about.mkdir()
    (about / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {package}\nVersion: 1.5\n")
    (about / "entry_points.txt").write_text(f"[tutelage.papers]\n{package} = {package}:paper\n")


def install_paper(folder: Path, package: str, name: str) -> None:
    install(folder, package, SOURCE.replace("NAME", name))
