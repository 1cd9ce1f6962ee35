"""Double precision for JAX in this process, and in no other.

The setting is made when JAX is imported, or at once where it has been. No environment variable is
set, since child processes would inherit it: a program that `subprocess` starts keeps its own
precision.
"""

from __future__ import annotations

import sys
import warnings
from collections.abc import Sequence
from importlib.abc import Loader, MetaPathFinder
from importlib.machinery import ModuleSpec
from types import ModuleType

SWITCHED = (
    "tutelage needs double precision and has set jax_enable_x64 for this process, because JAX was "
    "imported before in single precision. JAX arrays made from now on are float64; those made "
    "earlier stay float32. To avoid this warning, import tutelage before jax or set "
    "JAX_ENABLE_X64=1."
)


def enable_double() -> None:
    """Make JAX compute in float64: now if it is imported, otherwise as soon as it is."""
    jax = sys.modules.get("jax")
    if jax is None:
        sys.meta_path.insert(0, _WaitForJax())
    elif not jax.config.jax_enable_x64:
        jax.config.update("jax_enable_x64", True)
        warnings.warn(SWITCHED, stacklevel=3)


class _WaitForJax(MetaPathFinder):
    """Finds JAX as the other finders do, and has the setting made once it is imported."""

    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        if fullname != "jax":
            return None
        others = (finder for finder in sys.meta_path if finder is not self)
        found = (finder.find_spec(fullname, path, target) for finder in others)
        spec = next((spec for spec in found if spec is not None), None)
        if spec is not None and spec.loader is not None:
            spec.loader = _DoubleAfter(spec.loader, self)
        return spec


class _DoubleAfter(Loader):
    """Loads JAX with its own loader, then sets double precision."""

    def __init__(self, loader: Loader, finder: _WaitForJax) -> None:
        self.loader = loader
        self.finder = finder

    def create_module(self, spec: ModuleSpec) -> ModuleType | None:
        return self.loader.create_module(spec)

    def exec_module(self, module: ModuleType) -> None:
        if module.__spec__ is not None:  # what inspects JAX later sees its own loader
            module.__spec__.loader = module.__loader__ = self.loader
        self.loader.exec_module(module)
        vars(module)["config"].update("jax_enable_x64", True)
        sys.meta_path.remove(self.finder)
