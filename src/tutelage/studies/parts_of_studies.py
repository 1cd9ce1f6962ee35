"""Into which parts the cases of a study are cut, so that processes can do them side by side."""

from __future__ import annotations

from collections.abc import Sequence

from tutelage.settings import Setting
from tutelage.studies.study import Case
from tutelage.studies.weights import weigh_cases


def cut_cases(cases: Sequence[Case], parts: int) -> list[tuple[Case, ...]]:
    """Up to so many parts of about the same weight; cases that need one another stay together."""
    groups = sorted(group_cases(cases), key=weigh_cases, reverse=True)
    cut: list[tuple[Case, ...]] = [() for _ in range(min(parts, len(groups)))]
    for group in groups:
        smallest = min(range(len(cut)), key=lambda number: weigh_cases(cut[number]))
        cut[smallest] += group
    return cut


def group_cases(cases: Sequence[Case]) -> list[tuple[Case, ...]]:
    """Cases that share a setting, or go on from one another's runs, together; others apart."""
    groups: list[tuple[tuple[Case, ...], set[Setting]]] = []
    for case in cases:
        members: tuple[Case, ...] = (case,)
        settings = {*case.settings, *case.after, *case.after.values()}
        apart = []
        for others, theirs in groups:
            if settings.isdisjoint(theirs):
                apart.append((others, theirs))
            else:
                members, settings = others + members, settings | theirs
        groups = [*apart, (members, settings)]
    return [members for members, _ in groups]
