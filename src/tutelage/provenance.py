"""What made a figure: the command, the runs it shows, and the version."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass

from tutelage.version import __version__


@dataclass(frozen=True)
class Provenance:
    """Who draws it writes it into the metadata of the figure."""

    command: str = ""  # that makes it again
    identities: tuple[str, ...] = ()  # of the runs
    version: str = __version__

    @property
    def software(self) -> str:
        return f"tutelage {self.version}"


UNKNOWN = Provenance()  # of a figure that no command drew
_CURRENT: ContextVar[Provenance] = ContextVar("provenance", default=UNKNOWN)


@contextmanager
def made_by(command: str, identities: Sequence[str] = ()) -> Iterator[None]:
    """Figures that are written inside of the block say that this command made them."""
    token = _CURRENT.set(Provenance(command, tuple(dict.fromkeys(identities))))
    try:
        yield
    finally:
        _CURRENT.reset(token)


def current_provenance() -> Provenance:
    return _CURRENT.get()
