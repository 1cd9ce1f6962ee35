"""Writes the table of docs/judge-a-curve.md: which forms curves of known form exclude.

python docs/make_forms.py [repetitions]
"""

from __future__ import annotations

import re
import sys
from collections import Counter
from collections.abc import Callable
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).parents[1]))

from tools.latex import to_latex

import tutelage as tt
from tutelage.evidence.laws import FORMS

PAGE = Path(__file__).parent / "judge-a-curve.md"
MARKED = re.compile(r"(<!-- forms -->\n).*?(<!-- /forms -->)", re.S)
NOISES = (0.0, 0.03, 0.2)
REPETITIONS = 40
SEED = 18
SHORT = ("power law", "floor", "log", "exponential", "stretched")  # the forms, as headings
Curve = Callable[[np.ndarray], np.ndarray]
# Each curve, and the form that it has.
CURVES: dict[str, tuple[str, Curve]] = {
    "(1 + t/50)^-1": ("power law", lambda t: (1 + t / 50) ** -1.0),
    "(1 + t/50)^-0.3": ("power law", lambda t: (1 + t / 50) ** -0.3),
    "0.02 + (1 + t/50)^-0.5": ("power law with a floor", lambda t: 0.02 + (1 + t / 50) ** -0.5),
    "log(e + t/50) / (1 + t/50)": (
        "log-corrected power law",
        lambda t: np.log(np.e + t / 50) / (1 + t / 50),
    ),
    "1 / ((1 + t/50) log(e + t/50))": (
        "log-corrected power law",
        lambda t: 1 / (1 + t / 50) / np.log(np.e + t / 50),
    ),
    "e^(-t/10^5)": ("exponential", lambda t: np.exp(-t / 1e5)),
    "e^(-(t/1000)^0.4)": ("stretched exponential", lambda t: np.exp(-((t / 1e3) ** 0.4))),
}


def count_excluded(name: str, noise: float, repetitions: int) -> tuple[Counter[str], int]:
    """How often each form is excluded, of how many curves; an exact one is drawn once."""
    steps = tt.log_spaced(10**6)[1:]
    generator = np.random.default_rng([SEED, list(CURVES).index(name), int(1000 * noise)])
    found: Counter[str] = Counter()
    times = repetitions if noise else 1
    for _ in range(times):
        drawn = np.exp(noise * generator.standard_normal(len(steps)))
        found.update(tt.compare_forms((steps, CURVES[name][1](steps) * drawn)).excluded)
    return found, times


def make_row(name: str, noise: float, repetitions: int) -> str:
    excluded, times = count_excluded(name, noise, repetitions)
    cells = []
    for form in FORMS:
        share = f"{excluded[form.name] / times:.0%}"
        cells.append(f"**{share}**" if form.name == CURVES[name][0] else share)
    return f"| ${to_latex(name)}$ | {noise:.0%} | {' | '.join(cells)} |"


def make_table(repetitions: int) -> str:
    """Shares of curves that exclude each form; bold, the form that the curve has."""
    head = f"| curve | noise | {' | '.join(SHORT)} |\n|---|---|{'---|' * len(SHORT)}"
    rows = [make_row(name, noise, repetitions) for noise in NOISES for name in CURVES]
    said = (
        f"Shares of {repetitions} draws that exclude each form (an exact curve is one); bold, the "
        "form that the curve has."
    )
    return "\n".join([head, *rows, "", said]) + "\n"


if __name__ == "__main__":
    text = make_table(int(sys.argv[1]) if len(sys.argv) > 1 else REPETITIONS)
    PAGE.write_text(MARKED.sub(lambda m: f"{m[1]}\n{text}\n{m[2]}", PAGE.read_text()))
