"""Papers: each a package with its citation, the choices it leaves open, its theory (predictions
only) and a file a study.
"""

from __future__ import annotations

import importlib
from types import ModuleType

from tutelage.refuse import one_of
from tutelage.studies.study import Study

PAPERS = {
    "teacher-models": "tutelage.papers.teacher_models",
    "shallow-transformers": "tutelage.papers.shallow_transformers",
}


def paper(name: str) -> ModuleType:
    """The package of a paper."""
    return importlib.import_module(PAPERS[one_of("paper", name, PAPERS)])


def studies(name: str | None = None) -> list[Study]:
    """All studies; a paper's own (`teacher-models`), without the questions asked of it; or one
    (`teacher-models/rates`) of either.
    """
    every = [study for known in PAPERS for study in (*paper(known).STUDIES, *questions(known))]
    if name is None:
        return every
    if name in PAPERS:
        return list(paper(name).STUDIES)
    one_of("study", name, [study.name for study in every] + list(PAPERS))
    return [study for study in every if study.name == name]


def questions(name: str) -> list[Study]:
    """Studies that ask of a paper what it does not: run by their own names, and not with the
    paper.
    """
    return list(getattr(paper(name), "QUESTIONS", ()))
