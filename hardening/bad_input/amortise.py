"""What a command works out at its start, kept from one case to the next.

A process that is started for one command reads the signatures of its functions and the metadata of
all installed packages. Neither depends on the input, so a process with thousands of cases does it
once. What is kept is copied before it is used: nothing that a case did reaches the next.
"""

from __future__ import annotations

import copy
import functools
from collections.abc import Callable
from importlib import metadata
from typing import Any

from cyclopts.argument import ArgumentCollection

Key = tuple[object, ...]


@functools.cache
def amortise() -> None:
    """Keeps these for the rest of this process."""
    from tutelage.cli import app

    app.make_app = functools.lru_cache(64)(app.make_app)
    collect = ArgumentCollection._from_callable.__func__  # type: ignore[attr-defined]
    ArgumentCollection._from_callable = classmethod(_keep(collect))  # type: ignore[assignment]
    for name in ("entry_points", "packages_distributions"):
        setattr(metadata, name, functools.cache(getattr(metadata, name)))


def _keep(collect: Callable[..., ArgumentCollection]) -> Callable[..., ArgumentCollection]:
    """The arguments of a function, collected once for each way in which they are asked for."""
    kept: dict[Key, tuple[ArgumentCollection, object]] = {}

    def collect_once(
        cls: type[ArgumentCollection], function: Any, *defaults: Any, **options: Any
    ) -> ArgumentCollection:
        options["reserved"] = tuple(options.get("reserved") or ())
        given = (function, *defaults, *options.values())
        key = (*options, *map(_name, given))
        if key not in kept:
            # `given` is held, so that no other object is given the same id.
            kept[key] = collect(cls, function, *defaults, **options), given
        return _copy(kept[key][0])

    return collect_once


def _name(value: object) -> object:
    return value if isinstance(value, bool | tuple | None) else id(value)


def _copy(collection: ArgumentCollection) -> ArgumentCollection:
    """As it was before anything was typed. Those that are part of another stand beside it too."""
    copied = {id(argument): copy.copy(argument) for argument in collection}
    for one in copied.values():
        one.tokens = []
        one.children = ArgumentCollection(copied[id(child)] for child in one.children)
    return ArgumentCollection(copied.values())
