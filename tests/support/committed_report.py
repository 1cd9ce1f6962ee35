"""The folder that `tutelage run PAPER` would leave, made of what is committed: verdicts, and each
figure as an SVG that holds its picture. A report of it has the length of the real one.
"""

from __future__ import annotations

import base64
import json
from pathlib import Path

from PIL import Image
from tools.committed import CommittedStudy, committed_studies

from tutelage.figures.look import DPI
from tutelage.studies.outputs import FIGURES, STUDY, VERDICTS, locate_study
from tutelage.studies.record import FORMAT, StudyRecord

POINTS_PER_INCH = 72


def write_committed(paper: str, out: Path) -> Path:
    """Writes all committed studies of a paper under `out`."""
    for committed in committed_studies().values():
        if committed.paper.name == paper:
            _write_study(committed, locate_study(out, committed.name))
    return out


def _write_study(committed: CommittedStudy, folder: Path) -> None:
    study = committed.paper.study(committed.short)
    record: StudyRecord = {
        "format": FORMAT,
        "name": committed.name,
        "sentence": study.title,
        "statement": study.statement,
        "equation": study.equation,
        "source": study.source,
        "choices": list(study.choices),
        "captions": dict(study.captions),
        "checked_in": study.checked_in,
        "preset": committed.preset,
        "command": f"tutelage run {committed.name}",
        "made": {"tutelage": "1"},
        "cases": [],
    }
    (folder / FIGURES).mkdir(parents=True)
    (folder / STUDY).write_text(json.dumps(record), encoding="utf-8")
    (folder / VERDICTS).write_bytes(committed.results.read_bytes())
    for name in study.captions:
        picture = committed.figures / f"{name}.png"
        if picture.is_file():
            text = _wrap_picture(picture)
            (folder / FIGURES / f"{name}.svg").write_text(text, encoding="utf-8")


def _wrap_picture(path: Path) -> str:
    with Image.open(path) as image:
        width, height = (size * POINTS_PER_INCH / DPI for size in image.size)
    data = base64.b64encode(path.read_bytes()).decode()
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width:g} {height:g}">'
        f'<image width="{width:g}" height="{height:g}" href="data:image/png;base64,{data}"/></svg>'
    )
