"""Where papers are found: built in, installed through an entry point, or in a file of the user's.

Nothing is imported here until `load` is called, so that `tutelage --help` imports no plugin.
"""

from __future__ import annotations

import hashlib
import importlib
import importlib.util
import os
import pkgutil
import sys
import traceback
from collections.abc import Iterable
from dataclasses import dataclass
from functools import lru_cache
from importlib import metadata
from importlib.machinery import SourceFileLoader
from pathlib import Path
from types import CodeType, ModuleType

from tutelage.log import LOG
from tutelage.refuse import OWN_ERRORS, Refused

GROUP = "tutelage.papers"  # of the entry points by which installed packages bring a paper
BUILT_IN = "tutelage.papers"  # the package below which tutelage's own papers are
FILE_MODULE = "tutelage_file_"  # how the modules of imported files are named
PARTS = "parts"  # the module of a paper's package that registers its own parts


@dataclass(frozen=True)
class Plugin:
    """A package or a file that may bring a paper."""

    module: str  # what to import
    attribute: str  # where in it the `Paper` is
    origin: str  # said to the user

    def load(self) -> ModuleType:
        return importlib.import_module(self.module)


_MODULES: dict[Path, str] = {}  # files that were imported by `--import`, and their modules
_FILES: dict[str, Plugin] = {}  # these files and modules where they bring a paper, by module


def find_plugins() -> list[Plugin]:
    """All of them, none imported: tutelage's own, then installed ones, then files."""
    package = importlib.import_module(BUILT_IN)
    own = [
        Plugin(f"{BUILT_IN}.{found.name}", "paper", "built in")
        for found in pkgutil.iter_modules(package.__path__)
        if found.ispkg
    ]
    places = tuple((place, _read_time(place)) for place in sys.path)
    return [*own, *_find_installed(places), *_FILES.values()]


@lru_cache(maxsize=8)
def _find_installed(places: tuple[tuple[str, int], ...]) -> tuple[Plugin, ...]:
    """Plugins among the packages that are installed in `places`, each given with the time of its
    last change. The files of all packages are read, which takes 20 ms, so that it is done once.
    """
    found = []
    for entry in metadata.entry_points(group=GROUP):
        origin = f"package {entry.dist.name} {entry.dist.version}" if entry.dist else "installed"
        found.append(Plugin(entry.module, entry.attr or "paper", origin))
    return tuple(found)


def _read_time(place: str) -> int:
    """When a folder last gained or lost an entry, in nanoseconds; 0 where there is none."""
    try:
        return os.stat(place or ".").st_mtime_ns
    except (OSError, ValueError):
        return 0


_PARTS_IMPORTED: set[str] = set()
_REPORTED: set[tuple[str, str]] = set()
TROUBLES: dict[str, str] = {}  # modules of parts that could not be imported, and why


def import_parts() -> None:
    """Imports the part modules of all papers that are installed; each once."""
    for plugin in find_plugins():
        module = f"{plugin.module}.{PARTS}"
        if module in _PARTS_IMPORTED:
            continue
        _PARTS_IMPORTED.add(module)
        try:
            package = plugin.load()
        except OWN_ERRORS as error:
            report_once(plugin, describe_error(error))
            continue
        if "__path__" not in vars(package):
            continue  # a file registers its parts when it is imported
        try:
            if importlib.util.find_spec(module) is not None:
                importlib.import_module(module)
        except OWN_ERRORS as error:
            TROUBLES[module] = describe_error(error)
            LOG.warning(
                "the parts of %s (%s) are left out, since they could not be imported. %s",
                plugin.module,
                plugin.origin,
                TROUBLES[module],
            )


def report_once(plugin: Plugin, trouble: str) -> None:
    """Says that a plugin brings no paper, and why."""
    if (plugin.module, trouble) not in _REPORTED:
        _REPORTED.add((plugin.module, trouble))
        LOG.warning(
            "%s (%s) is left out, since it could not be used as a paper: %s.",
            plugin.module,
            plugin.origin,
            trouble,
        )


def describe_error(error: BaseException, within: str = "") -> str:
    """An error in one line: its type, what it says, and the last line of code that it came from,
    in the folder `within` if some of them are there.
    """
    frames = list(traceback.extract_tb(error.__traceback__))
    where = [frame for frame in frames if frame.filename.startswith(within)] or frames
    place = f" ({where[-1].filename}, line {where[-1].lineno})" if where else ""
    return f"{type(error).__name__}: {' '.join(str(error).split())}{place}"


def import_all(names: Iterable[str]) -> None:
    """Imports modules and files of the user's, which register parts or hold a `paper`. One that
    cannot be imported is refused in one sentence.
    """
    for name in names:
        try:
            if name.endswith(".py"):
                _import_file(Path(name))
            else:
                _import_module(name)
        except Refused:
            raise
        except OWN_ERRORS as error:
            raise _unusable(name, describe_error(error)) from error


def imported() -> list[str]:
    """What another process must give to `import_all` to know the same papers: files and modules
    that this one has imported by it.
    """
    modules = [name for name in _FILES if not name.startswith(FILE_MODULE)]
    return [*map(str, _MODULES), *modules]


def module_of(name: str) -> ModuleType:
    """The module of a file or a name that was imported by `import_all`."""
    return sys.modules[_MODULES[Path(name).resolve()] if name.endswith(".py") else name]


class _AsItIs(SourceFileLoader):
    """Compiles a file as it is now. Kept bytecode counts as that of a file with the same size and
    the same second of its last change, and so may be of what stood there before an edit.
    """

    def get_code(self, fullname: str) -> CodeType:
        path = self.get_filename(fullname)
        return self.source_to_code(self.get_data(path), path)


def _import_file(path: Path) -> None:
    """Once per process and content: a worker that has lived through an edit takes the new code."""
    if not os.path.exists(path):
        raise _unusable(str(path), "there is no such file")
    path = path.resolve()
    digest = hashlib.sha256(str(path).encode() + path.read_bytes()).hexdigest()[:16]
    name = f"{FILE_MODULE}{digest}"
    if _MODULES.get(path) == name:
        return
    spec = importlib.util.spec_from_file_location(name, path, loader=_AsItIs(name, str(path)))
    assert spec is not None
    assert spec.loader is not None
    module = sys.modules[name] = importlib.util.module_from_spec(spec)
    try:
        spec.loader.exec_module(module)
    except BaseException:
        del sys.modules[name]
        raise
    _FILES.pop(_MODULES.get(path, ""), None)
    _MODULES[path] = name
    if "paper" in vars(module):
        _FILES[name] = Plugin(name, "paper", f"file {path}")


def _import_module(name: str) -> None:
    module = importlib.import_module(name)
    if "paper" in vars(module) and all(name != found.module for found in find_plugins()):
        _FILES[name] = Plugin(name, "paper", f"module {name}")


def _unusable(name: str, reason: str) -> Refused:
    return Refused(
        f"`--import` takes a Python file or a module that can be imported. Got {name!r}: {reason}."
    )
