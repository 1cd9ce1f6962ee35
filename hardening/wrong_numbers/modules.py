"""Which modules are mutated, and which tests must notice."""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path

ROOT = Path(__file__).parents[2]
SOURCE = ROOT / "src"
LONGER = "not paper_size and not cluster and not browser and not torch and not loggers"
QUICK = f"not depth and {LONGER}"

# The tests are those that a reader of the module would expect to fail; `make test` has many more.
CORE: Mapping[str, tuple[str, ...]] = {
    "tutelage.numerics.angle": ("tests/numerics/test_angle.py",),
    "tutelage.numerics.closed_forms": (
        "tests/numerics/test_closed_forms.py",
        "tests/objectives/test_gradients.py",
    ),
    "tutelage.numerics.softmax": ("tests/numerics/test_softmax.py",),
    "tutelage.numerics.softmax_excess": ("tests/numerics/test_softmax_excess.py",),
    "tutelage.numerics.quadrature": ("tests/numerics/test_quadrature.py",),
    "tutelage.numerics.least_norm": ("tests/numerics/test_least_norm.py",),
    "tutelage.numerics.limit_kernel": ("tests/numerics/test_kernel.py",),
    "tutelage.objectives.population": (
        "tests/objectives/test_gradients.py",
        "tests/objectives/test_planted_faults.py",
    ),
    "tutelage.objectives.wide": ("tests/objectives/test_wide.py",),
    "tutelage.optimisers.projected": ("tests/optimisers", "tests/students/test_shallow.py"),
    "tutelage.optimisers.averaged": ("tests/optimisers",),
    "tutelage.claims.contraction": ("tests/claims",),
    "tutelage.claims.chance": ("tests/claims",),
    "tutelage.claims.replicates": ("tests/claims",),
    "tutelage.claims.order": ("tests/claims",),
    "tutelage.claims.discoveries": ("tests/claims",),
}


def find_modules() -> dict[str, tuple[str, ...]]:
    """All of them: those of the core, and the theory of every paper with those of its tests that
    name the module.
    """
    found = dict(CORE)
    for path in sorted((SOURCE / "tutelage" / "papers").glob("*/theory/*.py")):
        named = re.compile(rf"\b{path.stem}\b")
        tests = sorted(path.parents[1].glob("tests/test_*.py"))
        fitting = [test for test in tests if named.search(test.read_text(encoding="utf-8"))]
        if fitting and path.stem != "__init__":
            module = ".".join(path.relative_to(SOURCE).with_suffix("").parts)
            found[module] = tuple(str(test.relative_to(ROOT)) for test in fitting)
    return found


def find_rounds(module: str) -> list[tuple[tuple[str, ...], str]]:
    """Which tests are asked, with which marks, until some notice: its own; then of the core all of
    its package, and of a paper the same ones with their longer runs.
    """
    own, package = find_modules()[module], module.split(".")[1]
    wider = (own, LONGER) if package == "papers" else ((f"tests/{package}",), QUICK)
    return list(dict.fromkeys([(own, QUICK), wider]))


def locate(module: str) -> Path:
    """The file of a module."""
    return SOURCE.joinpath(*module.split(".")).with_suffix(".py")
