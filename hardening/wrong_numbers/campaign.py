"""A sample of mutants, each given to the tests of its module in a process of its own."""

from __future__ import annotations

import time
import tomllib
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from random import Random

from hardening.wrong_numbers.modules import LONGER, find_modules, find_rounds, locate
from hardening.wrong_numbers.mutants import Mutant, count_changes, make_mutant
from hardening.wrong_numbers.plant import run_tests

EQUIVALENT = Path(__file__).with_name("equivalent.toml")


@dataclass(frozen=True)
class Answer:
    """What the tests made of one mutant."""

    module: str
    mutant: Mutant
    kind: str  # caught, survived or equivalent
    reason: str = ""  # of one that is equivalent; of one that is caught the test that noticed
    seconds: float = 0.0


@dataclass(frozen=True)
class Equivalent:
    """A mutant that no test can notice, with the reason. `line` tells which of several changes that
    read alike is meant.
    """

    module: str
    change: str
    reason: str
    line: str = ""


def sample_mutants(count: int, seed: int, only: str = "") -> list[tuple[str, Mutant]]:
    """So many mutants of all modules (or of those whose name holds `only`), spread evenly over
    them: each has had its first before one has its second. The order is random, so that the first
    of a sample are a sample, too.
    """
    draw = Random(seed)
    sources = {
        module: locate(module).read_text(encoding="utf-8")
        for module in find_modules()
        if only in module
    }
    ranked = []
    for module, source in sources.items():
        places = [
            (place, number)
            for place, changes in enumerate(count_changes(source))
            for number in range(changes)
        ]
        draw.shuffle(places)
        ranked += [(turn, draw.random(), module, *one) for turn, one in enumerate(places)]
    return [
        (module, make_mutant(sources[module], place, number))
        for *_, module, place, number in sorted(ranked)[:count]
    ]


def try_mutants(chosen: Iterable[tuple[str, Mutant]]) -> Iterator[Answer]:
    """The answer to each: of the tests of its module, and where they see nothing, of all tests of
    its package or of longer ones.
    """
    asked = Asked()
    for module, mutant in chosen:
        if reason := find_reason(asked.equivalent, module, mutant):
            yield Answer(module, mutant, "equivalent", reason)
            continue
        start = time.monotonic()
        noticed = asked.find_failure(module, mutant)
        kind = "caught" if noticed else "survived"
        yield Answer(module, mutant, kind, noticed, time.monotonic() - start)


@dataclass
class Asked:
    """What is known from the mutants before: how long tests take, and which pass without one."""

    seconds: dict[str, float] = field(default_factory=dict)
    sound: set[str] = field(default_factory=set)
    equivalent: list[Equivalent] = field(default_factory=lambda: read_equivalent())

    def find_failure(self, module: str, mutant: Mutant) -> str:
        """The test that notices, or "". Refused if it fails on the module as it is, too."""
        for tests, marks in find_rounds(module):
            said = run_tests(tests, marks, module, mutant.source, self.seconds)
            self.seconds |= said.seconds
            if said.failed:
                self._refuse_unsound(said.failed, tests, marks)
                return said.failed
        return ""

    def _refuse_unsound(self, failed: str, tests: tuple[str, ...], marks: str) -> None:
        if failed in self.sound:
            return
        alone = (failed,) if "::" in failed else tests
        said = run_tests(alone, LONGER if "::" in failed else marks, known=self.seconds)
        if said.failed:
            raise RuntimeError(f"{said.failed} fails without a mutant.")
        self.seconds |= said.seconds
        self.sound |= {failed, *said.seconds}


def read_equivalent() -> list[Equivalent]:
    """Mutants that change no number, or none that anyone promised."""
    listed = tomllib.loads(EQUIVALENT.read_text(encoding="utf-8")).get("mutant", [])
    return [Equivalent(**one) for one in listed]


def find_reason(listed: list[Equivalent], module: str, mutant: Mutant) -> str:
    """Why a mutant is equivalent; "" where it is not listed."""
    for one in listed:
        if (module, mutant.change) == (one.module, one.change) and one.line in ("", mutant.text):
            return one.reason
    return ""
