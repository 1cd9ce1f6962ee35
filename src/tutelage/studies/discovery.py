"""All papers that are found, and their studies by name."""

from __future__ import annotations

import sys
from dataclasses import replace

from tutelage import plugins
from tutelage.refuse import Refused, one_of
from tutelage.studies.paper import Paper
from tutelage.studies.study import Study

_SAID: set[str] = set()


def papers() -> dict[str, Paper]:
    """Every paper by its name. One that cannot be imported is named on standard error, and left
    out.
    """
    found: dict[str, Paper] = {}
    for plugin in plugins.find_plugins():
        try:
            given = vars(plugin.load()).get(plugin.attribute)
        except Exception as error:
            _say_once(plugin, f"{type(error).__name__}: {error}")
            continue
        if not isinstance(given, Paper):
            _say_once(plugin, f"it has no `{plugin.attribute}` of the type Paper")
            continue
        paper = replace(given, module=plugin.module, origin=plugin.origin)
        if paper.name in found:
            raise Refused(
                f"Each paper has a name of its own, since that names its studies. Got "
                f"{paper.name!r} from {found[paper.name].module} ({found[paper.name].origin}) and "
                f"from {paper.module} ({paper.origin})."
            )
        found[paper.name] = paper
    return found


def find_paper(name: str) -> Paper:
    """A paper by its own name, or by that of one of its studies."""
    found = papers()
    return found[one_of("paper", name.partition("/")[0], found)]


def study_names(name: str | None = None) -> list[str]:
    """Names of studies: all, those that run with a paper (`teacher-models`), or one."""
    found = papers()
    every = [f"{paper.name}/{short}" for paper in found.values() for short in paper.studies]
    if name is None:
        return every
    if name in found:
        entries = found[name].studies.items()
        return [f"{name}/{short}" for short, entry in entries if not entry.beyond]
    return [one_of("study", name, [*every, *found])]


def find_study(name: str) -> Study:
    """One study by its full name, `paper/study`, loaded."""
    (full,) = [one_of("study", name, study_names())]
    return find_paper(full).study(full.partition("/")[2])


def find_studies(name: str) -> list[Study]:
    """The studies of a name: a paper's own, or the one."""
    return [find_study(full) for full in study_names(name)]


def _say_once(plugin: plugins.Plugin, trouble: str) -> None:
    if plugin.module not in _SAID:
        _SAID.add(plugin.module)
        print(
            f"tutelage: {plugin.module} ({plugin.origin}) is left out, since it could not be "
            f"used as a paper. {trouble}",
            file=sys.stderr,
        )
