"""A sample of mutants, each given to the tests of its module in a process of its own."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import time
import tomllib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from random import Random

from hardening.wrong_numbers.modules import QUICK, ROOT, find_modules, find_rounds, locate
from hardening.wrong_numbers.mutants import Mutant, count_changes, make_mutant

EQUIVALENT = Path(__file__).with_name("equivalent.toml")
PATIENCE = 5.0  # times what the tests take on the module as it is
LEAST_SECONDS = 60.0


@dataclass(frozen=True)
class Answer:
    """What the tests made of one mutant."""

    module: str
    mutant: Mutant
    kind: str  # caught, survived or equivalent
    reason: str = ""  # of one that is equivalent


def sample_mutants(count: int, seed: int, only: str = "") -> dict[str, list[Mutant]]:
    """So many mutants of all modules (or of those whose name holds `only`), by module."""
    sources = {
        module: locate(module).read_text(encoding="utf-8")
        for module in find_modules()
        if only in module
    }
    every = [
        (module, place, number)
        for module, source in sources.items()
        for place, changes in enumerate(count_changes(source))
        for number in range(changes)
    ]
    chosen = Random(seed).sample(every, min(count, len(every)))
    found: dict[str, list[Mutant]] = {}
    for module, place, number in sorted(chosen):
        found.setdefault(module, []).append(make_mutant(sources[module], place, number))
    return found


def try_mutants(chosen: dict[str, list[Mutant]]) -> Iterator[Answer]:
    """The answer to each: of the tests of its module, and where they see nothing, of all tests of
    its package or of longer ones. Refused where tests fail on a module as it is.
    """
    known = read_equivalent()
    with tempfile.TemporaryDirectory() as folder:
        times = Path(folder) / "times.json"
        patience: dict[tuple[tuple[str, ...], str], float] = {}

        def is_noticed(module: str, mutant: Mutant, tests: tuple[str, ...], marks: str) -> bool:
            if (tests, marks) not in patience:
                start = time.monotonic()
                source = locate(module).read_text(encoding="utf-8")
                if not run_tests(module, source, tests, 3600.0, times, marks):
                    raise RuntimeError(
                        f"The tests of {module} fail without a mutant: {', '.join(tests)}."
                    )
                patience[tests, marks] = max(LEAST_SECONDS, PATIENCE * (time.monotonic() - start))
            return not run_tests(module, mutant.source, tests, patience[tests, marks], times, marks)

        for module, mutants in chosen.items():
            for mutant in mutants:
                if reason := known.get((module, mutant.change), ""):
                    yield Answer(module, mutant, "equivalent", reason)
                    continue
                noticed = any(is_noticed(module, mutant, *asked) for asked in find_rounds(module))
                yield Answer(module, mutant, "caught" if noticed else "survived")


def run_tests(
    module: str,
    source: str,
    tests: tuple[str, ...],
    seconds: float,
    times: Path | None = None,
    marks: str = QUICK,
) -> bool:
    """Whether all tests with these marks pass with this source of a module; False also where they
    never end.

    `times`: where the seconds of each test are kept. The quickest come first, since most mutants
    are noticed by tests of a moment.
    """
    with tempfile.NamedTemporaryFile("w", suffix=".py", encoding="utf-8") as file:
        file.write(source)
        file.flush()
        environment = {
            **os.environ,
            "HARDENING_MODULE": module,
            "HARDENING_SOURCE": file.name,
            "HARDENING_TIMES": str(times or ""),
            "TUTELAGE_SHAPES": "off",  # whose hook would import the module from its own file
        }
        command = [sys.executable, "-B", "-m", "pytest", "-x", "-q", "-p", "no:cacheprovider"]
        plugin = ["-p", "hardening.wrong_numbers.plant", "-m", marks, *tests]
        try:
            done = subprocess.run(
                [*command, *plugin],
                cwd=ROOT,
                env=environment,
                timeout=seconds,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
                check=False,
            )
        except subprocess.TimeoutExpired:
            return False
        return done.returncode == 0


def read_equivalent() -> dict[tuple[str, str], str]:
    """Mutants that change no number, or none that anyone promised, with the reason."""
    listed = tomllib.loads(EQUIVALENT.read_text(encoding="utf-8")).get("mutant", [])
    return {(one["module"], one["change"]): one["reason"] for one in listed}
