"""Which code a registered part is made by, as a text that changes when the code does.

A part of the user's own is known by a hash of its source, one of an installed package by that
package's name and version. Tutelage's own parts have none: a change of their numbers is a new name
or option, so that runs stored before are found again.
"""

from __future__ import annotations

import hashlib
import inspect
import sys
from collections.abc import Callable
from functools import cache, partial
from importlib import metadata
from pathlib import Path
from types import FunctionType


def origin_of(factory: Callable[..., object]) -> str:
    """The code behind a factory; "" for what comes with tutelage."""
    while isinstance(factory, partial):
        factory = factory.func
    module = factory.__module__ or "__main__"
    package = module.partition(".")[0]
    if package == "tutelage":
        return ""
    if installed := _installed(package):
        return installed
    file = vars(sys.modules.get(module, object)).get("__file__") if module in sys.modules else None
    if file is None or not Path(file).exists():
        return _hashed(_source(factory).encode())
    root = Path(file)
    if "." in module or root.name == "__init__.py":  # a package that was not installed: all of it
        root = Path(sys.modules[package].__file__ or file).parent
        return _hashed(b"".join(path.read_bytes() for path in sorted(root.rglob("*.py"))))
    return _hashed(root.read_bytes())


@cache
def _installed(package: str) -> str:
    """Name and version of the distribution of a package; "" where it is edited in place."""
    for name in metadata.packages_distributions().get(package, ()):
        found = metadata.distribution(name)
        if "editable" not in (found.read_text("direct_url.json") or ""):
            return f"{name} {found.version}"
    return ""


def _source(factory: Callable[..., object]) -> str:
    """Of something typed into a session; its compiled code where even the source is gone."""
    try:
        return inspect.getsource(factory)
    except (OSError, TypeError):
        if not isinstance(factory, FunctionType):
            return repr(factory)
        code = factory.__code__
        return repr((code.co_code, code.co_consts, code.co_names))


def _hashed(data: bytes) -> str:
    return f"sha256:{hashlib.sha256(data).hexdigest()[:16]}"
