"""The picture of the page on long horizons: excess·ηT over its sharp constant, to 10^12 steps, with
literal steps to 10^7 beside it.

    python src/tutelage/papers/teacher_models/docs/make_horizon.py docs

writes horizon.json and figures/horizon.png below the folder. Five minutes on two cores, half of
them for ten million literal steps of the CNN.
"""

from __future__ import annotations

import json
import sys
import time
from pathlib import Path
from typing import TypeAlias, Union

import numpy as np

from tutelage.figures import look
from tutelage.papers.teacher_models.setup import RUNS
from tutelage.papers.teacher_models.theory import counting_law
from tutelage.problem.build import build
from tutelage.run import Run
from tutelage.settings import Setting
from tutelage.training.loop import train
from tutelage.training.method import Method

SHOWN = ("cnn-relu", "gcn-relu", "token-selection", "group-sparse")
STEPS, LITERAL, CHECKED = 10**12, 10**6, 10**7
Results: TypeAlias = Union[float, "dict[str, Results]"]


def run_teacher(name: str, *, steps: int, literal: int) -> tuple[Run, float, float]:
    """A run of the paper's teacher, the constant its excess·ηT tends to, and the processor seconds
    it took.
    """
    setting = Setting(RUNS[name].teacher, RUNS[name].rate, steps=1)
    problem, begin = build(setting), time.process_time()
    method = Method(literal=literal)
    run = train(problem.student, problem.objective, rate=setting.rate, steps=steps, method=method)
    return run, counting_law(setting), time.process_time() - begin


def draw_horizon(folder: Path) -> dict[str, Results]:
    """Draws horizon.png, and gives what it shows in numbers."""
    results: dict[str, Results] = {}
    columns: dict[str, np.ndarray] = {}
    with look.figure(look.PAGE, 2.7, ncols=2) as (drawn, (left, right)):
        for i, name in enumerate(SHOWN):
            run, law, seconds = run_teacher(name, steps=STEPS, literal=LITERAL)
            assert run.continued is not None
            ratio = run.curves["excess_risk"][1:] * run.time[1:] / law
            steps = run.steps[1:]
            about = {"color": look.COLOURS[i], "ls": look.STYLES[i], "label": RUNS[name].label}
            left.plot(steps, ratio, **about)
            right.plot(steps, np.abs(ratio - 1), **about)
            columns |= {f"{name}: steps": steps, f"{name}: excess over law": ratio}
            results[name] = {
                "ratio": {f"1e{k}": float(ratio[steps == 10**k][0]) for k in range(6, 13)},
                "solver": run.continued.solver,
                "stepping": run.continued.stepping,
                "cpu_seconds": round(seconds, 1),
            }
            print(name, results[name], flush=True)
        later = np.geomspace(1.2 * LITERAL, STEPS, 100)
        right.plot(later, np.log(later / LITERAL) / (2 * later), color=look.THEORY, lw=0.7)
        right.text(1e9, 1.5e-9, "what finite steps do", fontsize=7, ha="right", va="top")
        left.axhline(1.0, color=look.THEORY, lw=0.7)
        left.set(ylabel=r"excess$\,\cdot\,4\eta T\;/\;\Sigma_i K_i(D-K_i)$", ylim=(0, 2.5))
        right.set(yscale="log", ylabel="distance from 1", ylim=(1e-11, 1e2))
        for axis in (left, right):
            axis.axvline(LITERAL, color="0.5", lw=0.7)
            axis.set(
                xscale="log",
                xlabel="steps $T$",
                xlim=(1, STEPS),
                xticks=10.0 ** np.arange(0, 13, 3),
            )
            axis.minorticks_off()
        left.text(LITERAL / 1.5, 2.45, "step by step", fontsize=7, ha="right", va="top")
        left.text(LITERAL * 1.5, 2.45, "by gradient flow", fontsize=7, va="top")
        right.legend(loc="upper right")
        _, *others = look.write(drawn, folder / "figures", "horizon", columns)
        for other in others:
            other.unlink()
    return results


def main(folder: Path) -> None:
    results = draw_horizon(folder) | {"literal steps to 10^7": compare_literal("cnn-relu")}
    (folder / "horizon.json").write_text(json.dumps(results, indent=1))


def compare_literal(name: str) -> Results:
    """How far curves by flow from 10^5 and 10^6 steps on lie from literal ones, at most, and
    the error that was reported.
    """
    literal, _, seconds = run_teacher(name, steps=CHECKED, literal=CHECKED)
    found: dict[str, Results] = {"cpu_seconds": round(seconds, 1)}
    for beginning in (10**5, 10**6):
        flowed, _, _ = run_teacher(name, steps=CHECKED, literal=beginning)
        assert flowed.continued is not None
        late = literal.steps > beginning
        apart: dict[str, Results] = {
            curve: float(np.abs(flowed.curves[curve][late] / literal.curves[curve][late] - 1).max())
            for curve in ("excess_risk", "value_error", "attention_error")
        }
        found[f"from 1e{len(str(beginning)) - 1}"] = apart | {
            "reported": flowed.continued.solver + flowed.continued.stepping
        }
        print(beginning, found, flush=True)
    return found


if __name__ == "__main__":
    main(Path(sys.argv[1]))
