"""A paper: its citation, its letters and the studies that it lists, loaded when they are needed.

Nothing here imports a study or JAX, so that `tutelage list` answers at once.
"""

from __future__ import annotations

import importlib
import importlib.util
import sys
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING

from tutelage.log import LOG
from tutelage.plugins import describe_error
from tutelage.refuse import OWN_ERRORS, Refused, one_of
from tutelage.studies.fields import check_fields, check_members, check_name

if TYPE_CHECKING:
    from tutelage.settings import Setting
    from tutelage.studies.pages import Page
    from tutelage.studies.study import AnyStudy


@dataclass(frozen=True)
class Entry:
    """A study as its paper lists it, before it is loaded."""

    title: str
    reproduce: bool = False  # whether `make reproduce` runs it
    beyond: bool = False  # asks what the paper does not; run by its own name, not with the paper
    study: AnyStudy | None = None  # where it is not in a module of its own

    def __post_init__(self) -> None:
        check_fields(self, {"title": str})


@dataclass(frozen=True)
class Paper:
    """A paper in a folder: `<study>/study.py` holds each study that it lists, under the name
    `study`; `explore.py` what the web page shows of it, `animate.py` what a film does; `docs`,
    `results` and `tests` the rest.
    """

    name: str
    title: str
    authors: str
    year: int
    bibtex: str
    studies: Mapping[str, Entry]
    letters: Mapping[str, str] = field(default_factory=dict)
    unavailable: str = ""  # which parts of its text were not read, and what rests on them
    pages: tuple[Page, ...] = ()  # where they are not in a module of their own, `explore.py`
    module: str = ""  # where it was found; filled in by discovery
    origin: str = ""  # said to the user; likewise

    def __post_init__(self) -> None:
        texts = dict.fromkeys(("title", "authors", "bibtex", "unavailable"), str)
        tables = dict.fromkeys(("studies", "letters"), Mapping)
        check_fields(self, {**texts, **tables, "year": int, "pages": tuple})
        check_members(self, "studies", Entry)
        check_name("paper", self.name)
        for name in self.studies:
            check_name("study", name)

    @property
    def citation(self) -> str:
        return f"{self.authors}, {self.title} ({self.year})"

    @property
    def folder(self) -> Path:
        """Where its pages, results and tests are."""
        return Path(sys.modules[self.module].__file__ or ".").parent

    def study(self, name: str) -> AnyStudy:
        """A study by its short name, loaded."""
        from tutelage.studies.study import Study

        entry = self.studies[one_of(f"study of {self.name}", name, self.studies)]
        found: object = entry.study
        if found is None:
            found = vars(self._import_study(name)).get("study")
        if not isinstance(found, Study):
            raise Refused(
                f"A study is a value of the type Study, under the name `study` in its module. "
                f"{self.name}/{name} has none."
            )
        letters = found.letters or self.letters
        return replace(found, name=f"{self.name}/{name}", title=entry.title, letters=letters)

    def shown_pages(self) -> tuple[Page, ...]:
        """What the web page shows of it: `pages` of its `explore.py`, where it has one."""
        module = None if self.pages else self._import_optional("explore")
        return self.pages if module is None else tuple(vars(module).get("pages", ()))

    def predict_limit(self, setting: Setting) -> float | None:
        """The limit of excess·ηT that a film draws: `predict_limit` of its `animate.py`, if any."""
        try:
            module = self._import_optional("animate")
            if module is None:
                return None
            limit: float | None = vars(module)["predict_limit"](setting)
        except OWN_ERRORS as error:
            LOG.warning(
                "%s (%s) predicts no limit for the film, since its animate.py failed. %s",
                self.name,
                self.origin,
                describe_error(error),
            )
            return None
        return limit

    def _import_optional(self, name: str) -> ModuleType | None:
        """A module of its package, where it is a package and has that one."""
        package = importlib.util.find_spec(self.module)
        if package is None or package.submodule_search_locations is None:
            return None
        module = f"{self.module}.{name}"
        if importlib.util.find_spec(module) is None:
            return None
        return importlib.import_module(module)

    def _import_study(self, name: str) -> ModuleType:
        module = f"{self.module}.{name.replace('-', '_')}.study"
        try:
            return importlib.import_module(module)
        except Refused:
            raise
        except OWN_ERRORS as error:
            raise Refused(
                f"The study {self.name}/{name} ({self.origin}) could not be imported: "
                f"{describe_error(error)}."
            ) from error
