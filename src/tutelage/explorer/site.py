"""Which pages there are: those of the papers, one for teachers of a user that no page lists, and a
list of studies for each paper without a page.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property

from tutelage.log import LOG
from tutelage.problem.parts.companions import ANY_TEACHER
from tutelage.problem.registry import Names, Registered, registered, registered_names
from tutelage.refuse import OWN_ERRORS, Refused, one_of
from tutelage.settings import KINDS, ORIGINS
from tutelage.studies.discovery import papers
from tutelage.studies.pages import Page
from tutelage.studies.paper import Paper

OWN_PARTS = "your-own-parts"  # the page of the user's teachers that no other lists

_SAID: set[str] = set()  # papers whose pages could not be imported, each named once


@dataclass(frozen=True)
class Placed:
    """A page and where it comes from."""

    page: Page
    address: str
    paper: str = ""  # "" for the page of teachers that no paper shows


@dataclass(frozen=True)
class Site:
    """All that can be seen at one time. A server makes it once, when it starts."""

    papers: Mapping[str, Paper]
    pages: tuple[Placed, ...]
    troubles: Mapping[str, str] = field(default_factory=dict)  # why a paper shows no page

    @cached_property
    def bare(self) -> tuple[Paper, ...]:
        """Papers that have no page of their own: a list of their studies is shown."""
        shown = {placed.paper for placed in self.pages}
        return tuple(paper for name, paper in self.papers.items() if name not in shown)

    @cached_property
    def studies(self) -> Names:
        """The full names of all studies."""
        return tuple(f"{name}/{short}" for name, p in self.papers.items() for short in p.studies)

    @cached_property
    def teachers(self) -> Names:
        """All that are shown, in the order of the pages."""
        listed = [teacher for placed in self.pages for teacher in placed.page.teachers]
        return tuple(dict.fromkeys(listed))

    @cached_property
    def companions(self) -> dict[str, dict[str, Names]]:
        """For each teacher and kind the parts that go with it, the first to begin with."""
        kinds = {
            kind: [registered(kind, name) for name in registered_names(kind)] for kind in KINDS[1:]
        }
        return {
            teacher: {kind: _go_along(teacher, kind, parts) for kind, parts in kinds.items()}
            for teacher in self.teachers
        }

    def shown(self, kind: str) -> Names:
        """Every part of a kind that can be chosen with some teacher."""
        if kind == "teacher":
            return self.teachers
        names = [name for kinds in self.companions.values() for name in kinds[kind]]
        return tuple(dict.fromkeys(names))

    def find_paper(self, name: str) -> Paper:
        return self.papers[one_of("paper", name, self.papers)]

    def find_page(self, name: str) -> Placed:
        named = {placed.page.name: placed for placed in self.pages}
        return named[one_of("page", name, named)]

    def page_of(self, teacher: str, page: str = "") -> Placed | None:
        """The page that shows a teacher: the one that is asked for if it does, else the first."""
        lists = [placed for placed in self.pages if teacher in placed.page.teachers]
        asked = [placed for placed in lists if placed.page.name == page]
        return next(iter([*asked, *lists]), None)

    def choose_parts(self, chosen: Mapping[str, str], first: str) -> dict[str, str]:
        """A part of every kind: the chosen one, or the first that goes with the teacher and with
        what was chosen before. `first` is the teacher where none was chosen.
        """
        names = {"teacher": chosen.get("teacher", first)}
        for kind in KINDS[1:]:
            names[kind] = chosen.get(kind) or self._usual(kind, names)
        return names

    def _usual(self, kind: str, names: Mapping[str, str]) -> str:
        fitting = self.companions[names["teacher"]][kind]
        agreeing = (name for name in fitting if _agrees(registered(kind, name), names))
        return next(agreeing, fitting[0])


def find_site() -> Site:
    """The pages of all papers that are found, as they are now."""
    found, placed, troubles = papers(), [], {}
    for paper in found.values():
        pages, trouble = _pages_of(paper)
        if trouble:
            troubles[paper.name] = trouble
        placed += [(page, paper.name) for page in pages]
    listed = {teacher for page, _ in placed for teacher in page.teachers}
    unlisted = [
        name
        for name in registered_names("teacher")
        if name not in listed and ("teacher", name) in ORIGINS  # not one of tutelage's own
    ]
    if own := tuple(name for name in unlisted if not registered("teacher", name).slow):
        placed.append((Page(OWN_PARTS, "Your own parts", own), ""))
    _check_names(placed, found)
    placed.sort(key=lambda pair: not pair[0].start)  # the others stay in their order
    return Site(
        found,
        tuple(
            Placed(page, f"/{page.name}" if place else "/", paper)
            for place, (page, paper) in enumerate(placed)
        ),
        troubles,
    )


def _pages_of(paper: Paper) -> tuple[tuple[Page, ...], str]:
    """The pages of a paper, or why there are none."""
    try:
        pages = paper.shown_pages()
        for page in pages:
            if not isinstance(page, Page):
                raise Refused(f"`pages` of explore.py holds values of the type Page. Got {page!r}.")
            for teacher in page.teachers:
                registered("teacher", teacher)
    except OWN_ERRORS as error:
        trouble = f"Its page could not be shown. {type(error).__name__}: {error}"
        if paper.name not in _SAID:
            _SAID.add(paper.name)
            LOG.warning("%s (%s): %s", paper.name, paper.origin, trouble)
        return (), trouble
    return tuple(pages), ""


def _check_names(placed: Sequence[tuple[Page, str]], found: Mapping[str, Paper]) -> None:
    """An address leads to one page: two of one name are refused, and one named like a paper that
    has no page.
    """
    taken = {name: name for name in found if name not in {paper for _, paper in placed}}
    for page, paper in placed:
        if page.name in taken:
            raise Refused(
                f"Page names must be unique, since a page's name is its address. Got {page.name!r} "
                f"from {taken[page.name] or 'tutelage'} and from {paper or 'tutelage'}."
            )
        taken[page.name] = paper


def _go_along(teacher: str, kind: str, parts: Sequence[Registered]) -> Names:
    """What a teacher's registration names, and parts of users and of installed papers that go with
    it or say nothing.
    """
    known, given = {part.name for part in parts}, registered("teacher", teacher).goes_with
    names = [name for name in given.get(kind, ()) if name in known] or ANY_TEACHER[kind]
    own = [part for part in parts if (kind, part.name) in ORIGINS and not part.slow]
    further = [part.name for part in own if _agrees(part, {"teacher": teacher})]
    return tuple(dict.fromkeys([*names, *further]))


def _agrees(part: Registered, chosen: Mapping[str, str]) -> bool:
    """Whether a part goes with those that were chosen, as far as it says."""
    return all(
        name in part.goes_with[kind] for kind, name in chosen.items() if kind in part.goes_with
    )
