"""What a user waits for before anything is seen: help, the first curve of a cold process, and
compilation that should not happen again.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import time
from typing import Any

from benchmarks.problems import RATE, START, D, K
from benchmarks.processes import ROOT
from tutelage.cli.programs import VARIABLE

STEPS = 1000
OURS = f"""
import tutelage as tt
teacher = tt.Part("convolution", tokens={D}, support={K}, outputs=8, dim=10, activation="relu")
student = tt.Part("position_attention", start={START})
(run,) = tt.execute([tt.Setting(teacher, rate={RATE}, steps={STEPS}, student=student)])
print(run.curves["excess_risk"][-1])
"""
KEPT = "from tutelage.cli.programs import keep_programs; keep_programs()"  # as commands do
COMMANDS = {
    "Python alone": ["-c", "pass"],
    "help": ["-m", "tutelage", "--help"],
    "importing JAX": ["-c", "import jax, jax.numpy as jnp; jnp.zeros(1)"],
    "importing both": ["-c", "import jax, jax.numpy as jnp; jnp.zeros(1); import tutelage"],
    "first curve": ["-c", OURS],
    "first curve, seen before": ["-c", KEPT + OURS],
    "first curve, JAX": [
        "-c",
        f"from benchmarks.scripts_jax import first_curve; first_curve(steps={STEPS})",
    ],
    "first curve, PyTorch": [
        "-c",
        f"from benchmarks.scripts_torch import first_curve; first_curve(steps={STEPS})",
    ],
}


def cold(rounds: int, torch: bool) -> dict[str, list[float]]:
    """Seconds of each command in a process of its own, one a round; the disk's cache has them,
    since all were imported before.
    """
    commands = {
        name: command for name, command in COMMANDS.items() if torch or "PyTorch" not in name
    }
    seen: dict[str, list[float]] = {name: [] for name in commands}
    with tempfile.TemporaryDirectory(prefix="tutelage-programs-") as programs:
        environment = os.environ | {VARIABLE: programs}
        _seconds(commands["first curve, seen before"], environment)  # compiles, and keeps
        for _ in range(rounds):
            for name, command in commands.items():
                seen[name].append(_seconds(command, environment))
    return seen


def _seconds(command: list[str], environment: dict[str, str]) -> float:
    begin = time.perf_counter()
    subprocess.run(
        [sys.executable, *command],
        cwd=ROOT,
        check=True,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        env=environment,
    )
    return time.perf_counter() - begin


def compilations() -> dict[str, Any]:
    """Programs that XLA compiles: for a first run, the same again, and with another V*, S*, rate,
    seed, horizon.
    """
    import jax
    import numpy as np

    import tutelage

    count = 0

    def heard(event: str, duration: float, **_: Any) -> None:
        nonlocal count
        count += event == "/jax/core/compile/backend_compile_duration"

    jax.monitoring.register_event_duration_secs_listener(heard)
    teacher = tutelage.Part(
        "convolution", tokens=D, support=K, outputs=8, dim=10, activation="relu"
    )
    first = tutelage.Setting(
        teacher, rate=RATE, steps=STEPS, student=tutelage.Part("position_attention", start=START)
    )
    changes = {
        "the same again": {},
        "another seed": {"seed": 7},
        "another rate": {"rate": 0.5 * RATE},
        "another S*": {"teacher.support": K + 2},
        "another horizon": {"steps": 2 * STEPS},
    }
    seen = {}

    def counted(name: str, run: Any) -> None:
        before = count
        run()
        seen[name] = count - before

    counted("first run", lambda: list(tutelage.execute([first])))
    for name, change in changes.items():
        counted(name, lambda change=change: list(tutelage.execute([first.change(**change)])))
    # V* is drawn with the seed; given by hand:
    value = np.random.default_rng(5).normal(size=(8, 10))
    problem = tutelage.build(first)
    other = tutelage.PopulationRisk(
        tutelage.BilinearTeacher(value, tutelage.pooling(D, K), activation="relu")
    )
    tutelage.train(problem.student, problem.objective, rate=RATE, steps=STEPS)
    counted("another V*", lambda: tutelage.train(problem.student, other, rate=RATE, steps=STEPS))
    return seen
