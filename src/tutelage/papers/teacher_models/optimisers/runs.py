"""The optimisers of `teacher-models/optimisers`, with their step sizes and horizons."""

from __future__ import annotations

from dataclasses import dataclass

from tutelage.settings import Part

HEAVY, NESTEROV = Part("momentum", decay=0.9), Part("momentum", decay=0.5, nesterov=True)
BELOW, ABOVE = 0.95, 1.05  # times the largest stable step


@dataclass(frozen=True)
class OptimiserRun:
    """One optimiser, its step sizes, and the steps of the quick preset."""

    label: str
    optimiser: Part
    rates: tuple[float, ...]
    steps: int


RUNS = {
    "plain": OptimiserRun("plain descent", Part("gradient_descent"), (0.2,), 60_000),
    "heavy-ball": OptimiserRun("heavy ball, β = 0.9", HEAVY, (0.04,), 60_000),
    "nesterov": OptimiserRun("Nesterov, β = 0.5", NESTEROV, (0.1,), 60_000),
    "decaying-quarter": OptimiserRun(
        "steps ∝ T^-¼", Part("gradient_descent", power=0.25, onset=10.0), (0.4,), 100_000
    ),
    "decaying-one": OptimiserRun(
        "steps ∝ 1/T", Part("gradient_descent", power=1.0, onset=1000.0), (0.4,), 100_000
    ),
    "normalised": OptimiserRun("normalised", Part("normalised"), (0.7, 1.0, 1.4), 100_000),
    "normalised-decaying": OptimiserRun(
        "normalised, ∝ T^-¾", Part("normalised", power=0.75), (1.0,), 100_000
    ),
    "sign": OptimiserRun("sign", Part("sign"), (0.003, 0.01, 0.03), 50_000),
    "sign-decaying": OptimiserRun("sign, ∝ T^-½", Part("sign", power=0.5), (0.03,), 100_000),
    "adam": OptimiserRun("Adam", Part("adam"), (0.1, 0.2, 0.4), 50_000),
    "adam-decaying": OptimiserRun("Adam, ∝ T^-½", Part("adam", power=0.5), (0.1,), 50_000),
    "lion": OptimiserRun("Lion (optax)", Part("optax", transformation="lion"), (0.003,), 50_000),
    "adagrad": OptimiserRun(
        "Adagrad (optax)", Part("optax", transformation="adagrad"), (0.3,), 100_000
    ),
}
