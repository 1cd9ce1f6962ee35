"""All papers that are found, and their studies by name. No study is imported until it is loaded."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from tutelage import plugins
from tutelage.log import LOG
from tutelage.refuse import OWN_ERRORS, Refused, one_of, one_of_paths
from tutelage.studies.paper import Paper

if TYPE_CHECKING:
    from tutelage.studies.study import AnyStudy


@dataclass(frozen=True)
class Found:
    """A plugin, with the paper that it brings or the reason why there is none."""

    plugin: plugins.Plugin
    paper: Paper | None
    trouble: str = ""


def find_papers() -> list[Found]:
    """Every plugin that is built in, installed or imported, whether it works or not."""
    return [_load_paper(plugin) for plugin in plugins.find_plugins()]


def papers() -> dict[str, Paper]:
    """Every paper by its name: those of tutelage in the order of their names, then installed ones,
    then files. One that cannot be imported is reported once, and the rest is found; two of one name
    are refused.
    """
    found: dict[str, Paper] = {}
    for one in find_papers():
        if one.paper is None:
            plugins.report_once(one.plugin, one.trouble)
        elif one.paper.name in found:
            first = found[one.paper.name]
            raise Refused(
                "Paper names must be unique, since they name the studies. Got "
                f"{first.name!r} from {first.module} ({first.origin}) and from "
                f"{one.paper.module} ({one.paper.origin})."
            )
        else:
            found[one.paper.name] = one.paper
    return found


def studies() -> dict[str, AnyStudy]:
    """Every study by its full name, `paper/study`, loaded. One that cannot be imported is reported
    and left out.
    """
    loaded, broken = load_studies(study_names())
    for sentence in broken.values():
        LOG.warning("%s", sentence)
    return loaded


def load_studies(names: Iterable[str]) -> tuple[dict[str, AnyStudy], dict[str, str]]:
    """Studies by their full names, and why others could not be loaded."""
    found, loaded, broken = papers(), {}, {}
    for name in names:
        try:
            loaded[name] = _load_study(name, found)
        except Refused as refused:
            broken[name] = str(refused)
    return loaded, broken


def find_paper(name: str) -> Paper:
    """A paper by its own name, or by that of one of its studies."""
    found = papers()
    return found[one_of("paper", name.partition("/")[0], found)]


def find_study(name: str) -> AnyStudy:
    """One study by its name, `paper/study`, or `study` where only one paper has it; loaded."""
    found = papers()
    return _load_study(one_of_paths("study", name, list_studies(found)), found)


def find_studies(name: str) -> list[AnyStudy]:
    """The studies of a name, loaded: those that run with a paper, or the one."""
    found = papers()
    return [_load_study(full, found) for full in _select_studies(name, found)]


def find_full_name(name: str) -> str:
    """The full name of a study, or a paper's own. A study's last word is enough where only one
    paper has such a study.
    """
    return _find_full_name(name, papers())


def study_names(name: str | None = None) -> list[str]:
    """Names of studies: all, those that run with a paper (`teacher-models`), or one."""
    found = papers()
    return list_studies(found) if name is None else _select_studies(name, found)


def reproduced_names() -> list[str]:
    """Names of the studies that `make reproduce` runs, as their papers say: paper by paper, each
    in the order in which its paper lists them.
    """
    return [
        f"{paper.name}/{short}"
        for paper in papers().values()
        for short, entry in paper.studies.items()
        if entry.reproduce
    ]


def list_studies(found: Mapping[str, Paper]) -> list[str]:
    """Full names of all studies of these papers."""
    return [f"{paper.name}/{short}" for paper in found.values() for short in paper.studies]


def _select_studies(name: str, found: Mapping[str, Paper]) -> list[str]:
    name = _find_full_name(name, found)
    if name in found:
        entries = found[name].studies.items()
        return [f"{name}/{short}" for short, entry in entries if not entry.beyond]
    return [name]


def _find_full_name(name: str, found: Mapping[str, Paper]) -> str:
    return one_of_paths("study", name, [*list_studies(found), *found])


def _load_study(name: str, found: Mapping[str, Paper]) -> AnyStudy:
    paper, _, short = name.partition("/")
    return found[paper].study(short)


def _load_paper(plugin: plugins.Plugin) -> Found:
    try:
        given = vars(plugin.load()).get(plugin.attribute)
    except OWN_ERRORS as error:
        return Found(plugin, None, plugins.describe_error(error))
    if not isinstance(given, Paper):
        return Found(plugin, None, f"it has no `{plugin.attribute}` of the type Paper")
    return Found(plugin, replace(given, module=plugin.module, origin=plugin.origin))
