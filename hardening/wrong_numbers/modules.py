"""Which modules are mutated, and which tests must notice."""

from __future__ import annotations

import ast
import re
from collections.abc import Mapping
from functools import cache
from pathlib import Path

ROOT = Path(__file__).parents[2]
SOURCE = ROOT / "src"
LONGER = "not paper_size and not cluster and not browser and not torch and not loggers"
QUICK = f"not depth and {LONGER}"
DEPTH = f"depth and {LONGER}"
BY_HAND = "tests/claims/test_rule_by_hand.py"
FITS_BY_HAND = "tests/claims/test_fits_by_hand.py"
SWEEPS_BY_HAND = "tests/claims/test_sweeps_by_hand.py"
HEADS_BY_HAND = "tests/numerics/test_heads_by_hand.py"
NUMERICS_BY_HAND = "tests/numerics/test_numerics_by_hand.py"
STEPS_BY_HAND = "tests/optimisers/test_steps_by_hand.py"

# The tests are those that a reader of the module would expect to fail; `make test` has many more.
CORE: Mapping[str, tuple[str, ...]] = {
    "tutelage.numerics.angle": ("tests/numerics/test_angle.py",),
    "tutelage.numerics.closed_forms": (
        NUMERICS_BY_HAND,
        "tests/numerics/test_closed_forms.py",
        "tests/objectives/test_gradients.py",
    ),
    "tutelage.numerics.softmax": ("tests/numerics/test_softmax.py", NUMERICS_BY_HAND),
    "tutelage.numerics.softmax_excess": ("tests/numerics/test_softmax_excess.py",),
    "tutelage.numerics.quadrature": ("tests/numerics/test_quadrature.py", NUMERICS_BY_HAND),
    "tutelage.numerics.least_norm": ("tests/numerics/test_least_norm.py",),
    "tutelage.numerics.limit_kernel": ("tests/numerics/test_kernel.py", HEADS_BY_HAND),
    "tutelage.numerics.tangent_kernel": (
        "tests/numerics/test_tangent_kernel.py",
        HEADS_BY_HAND,
        NUMERICS_BY_HAND,
    ),
    "tutelage.numerics.kernel_descent": (
        NUMERICS_BY_HAND,
        "tests/numerics/test_kernel.py",
        "tests/objectives/test_linearisation_measures.py",
    ),
    "tutelage.numerics.heads": ("tests/numerics/test_heads_gradient.py", HEADS_BY_HAND),
    "tutelage.numerics.heads_gradient": (
        "tests/numerics/test_heads_gradient.py",
        NUMERICS_BY_HAND,
    ),
    "tutelage.objectives.population": (
        "tests/objectives/test_risks_by_hand.py",
        "tests/objectives/test_wide.py",
        "tests/objectives/test_gradients.py",
        "tests/objectives/test_planted_faults.py",
    ),
    "tutelage.objectives.wide": ("tests/objectives/test_wide.py",),
    "tutelage.objectives.sample": ("tests/objectives/test_samples.py",),
    "tutelage.objectives.squared_loss": (
        "tests/objectives/test_samples.py",
        "tests/objectives/test_gradients.py",
    ),
    "tutelage.optimisers.projected": (
        STEPS_BY_HAND,
        "tests/optimisers/test_optimisers.py",
        "tests/students/test_shallow.py",
    ),
    "tutelage.optimisers.averaged": (STEPS_BY_HAND, "tests/optimisers/test_optimisers.py"),
    "tutelage.claims.contraction": ("tests/claims/test_contraction.py", BY_HAND),
    "tutelage.claims.chance": ("tests/claims/test_chance.py", BY_HAND),
    "tutelage.claims.replicates": ("tests/claims/test_chance.py", BY_HAND),
    "tutelage.claims.order": ("tests/claims/test_order.py", BY_HAND),
    "tutelage.claims.discoveries": ("tests/claims/test_discoveries.py", FITS_BY_HAND),
    "tutelage.claims.exponent": ("tests/claims/test_claims.py", FITS_BY_HAND, SWEEPS_BY_HAND),
    "tutelage.claims.sweep": (SWEEPS_BY_HAND, FITS_BY_HAND),
    "tutelage.claims.power_laws": ("tests/claims/test_claims.py", FITS_BY_HAND),
    "tutelage.claims.ratio": ("tests/claims/test_curve_and_ratio.py", FITS_BY_HAND),
    "tutelage.claims.above_floor": ("tests/claims/test_above_floor.py",),
}


@cache
def find_modules() -> dict[str, tuple[str, ...]]:
    """All of them: those of the core, and the theory of every paper with those of its tests that
    name the module or something that it makes public.
    """
    found = dict(CORE)
    for path in sorted((SOURCE / "tutelage" / "papers").glob("*/theory/*.py")):
        named = re.compile(rf"\b({'|'.join(_name_public(path))})\b")
        tests = sorted(path.parents[1].glob("tests/test_*.py"))
        fitting = [test for test in tests if named.search(test.read_text(encoding="utf-8"))]
        if fitting and path.stem != "__init__":
            module = ".".join(path.relative_to(SOURCE).with_suffix("").parts)
            found[module] = tuple(str(test.relative_to(ROOT)) for test in fitting)
    return found


def _name_public(path: Path) -> list[str]:
    """A module's own name and those of its functions, classes and constants without underscore."""
    names = [path.stem]
    for node in ast.parse(path.read_text(encoding="utf-8")).body:
        if isinstance(node, ast.FunctionDef | ast.ClassDef):
            names.append(node.name)
        elif isinstance(node, ast.Assign):
            names += [one.id for one in node.targets if isinstance(one, ast.Name)]
    return [name for name in names if not name.startswith("_")]


def find_rounds(module: str) -> list[tuple[tuple[str, ...], str]]:
    """Which tests are asked, with which marks, until some notice: those of its own that are worked
    out by hand, which take a moment; its other own; then of the core all of its package, and of a
    paper the longer runs among its own.
    """
    own, package = find_modules()[module], module.split(".")[1]
    last = (own, DEPTH) if package == "papers" else ((f"tests/{package}",), QUICK)
    by_hand = tuple(test for test in own if "by_hand" in test)
    others = tuple(test for test in own if test not in by_hand)
    return [*((tests, QUICK) for tests in (by_hand, others) if tests), last]


def locate(module: str) -> Path:
    """The file of a module."""
    return SOURCE.joinpath(*module.split(".")).with_suffix(".py")
