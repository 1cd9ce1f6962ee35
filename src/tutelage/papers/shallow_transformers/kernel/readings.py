"""The network beside kernel descent, step by step, and how the numbers of the study of the kernel
are read from that.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from tutelage.claims.claim import NotYet
from tutelage.measures.kernel import probed
from tutelage.papers.shallow_transformers.readings import Point, Reading, heads_of, setting_of
from tutelage.papers.shallow_transformers.theory import kernel as theory
from tutelage.run import Run
from tutelage.settings import Setting
from tutelage.studies.study import Case, Curves


@dataclass(frozen=True)
class BesideKernels:
    """The network beside descent in its own start's kernel K_m and in the limit kernel K, and how
    far its kernel is and goes.
    """

    limit_heads: int  # that stand for the expectation in K

    def __call__(self, run: Run) -> Curves:
        setting = setting_of(run)
        own, limit = theory.own(setting), theory.limit(setting, self.limit_heads)
        kernels = probed(run.curves["probe_kernel"]).sum(1)
        side = kernels.shape[1]
        reference = limit.descent.kernel[:side, :side]
        gap = np.linalg.norm(kernels - reference, axis=(1, 2)) / np.linalg.norm(reference)
        drift = np.linalg.norm(kernels - kernels[0], axis=(1, 2)) / np.linalg.norm(kernels[0])
        eigenvalues = np.linalg.eigvalsh(kernels)
        found = {
            "kernel_gap": gap,
            "kernel_drift": drift,
            "smallest": eigenvalues[:, 0] / np.linalg.eigvalsh(reference)[0],
            "least_share": eigenvalues[:, 0] / eigenvalues[:, -1],
        }
        size = np.linalg.norm(own.descent.labels)
        for name, kind in (("own", own), ("limit", limit)):
            away = run.curves["outputs"] - kind.descent.outputs(run.steps)
            found |= {
                f"{name}_loss": kind.descent.loss(run.steps),
                f"{name}_validation": kind.validation(run.steps),
                f"{name}_gap": np.linalg.norm(away, axis=1) / size,
                f"{name}_ridgeless": np.full(len(run.steps), kind.ridgeless()),
            }
        return found


def limit_heads_of(case: Case) -> int:
    """How many heads stand for the expectation in the case's limit kernel."""
    assert isinstance(case.derived, BesideKernels)
    return case.derived.limit_heads


def read_most(curve: str) -> Reading:
    """The largest value of a curve."""
    return lambda run: float(run.curves[curve].max())


def points(
    read: Reading, *, least: float = 0.0, chance: bool = False
) -> Callable[[Sequence[Run]], list[Point]]:
    """(m, y, seed) of every run of at least so many heads; `chance` marks a y that is a
    fluctuation, of which one seed tells nothing.
    """

    def found(runs: Sequence[Run]) -> list[Point]:
        taken = [(float(heads_of(run)), read(run), setting_of(run).seed) for run in runs]
        if chance and len({seed for _, _, seed in taken}) < 3:
            raise NotYet(
                "Too few to tell: what is measured is a fluctuation, and it takes three seeds or "
                "more to know its size."
            )
        wide = [point for point in taken if point[0] >= least]
        if len({m for m, _, _ in wide}) < 3:
            raise NotYet(
                f"Too narrow to tell: this is asked of three widths or more from m = {least:g} on."
            )
        return wide

    return found


def over_prediction(
    read: Reading, predicted: Callable[[Setting], float]
) -> Callable[[Sequence[Run]], list[float]]:
    """For each seed the root mean square over widths of measured over predicted; seeds are the
    replications, widths share heads.
    """

    def values(runs: Sequence[Run]) -> list[float]:
        seeds = sorted({setting_of(run).seed for run in runs})
        ratios = [(setting_of(run).seed, read(run) / predicted(setting_of(run))) for run in runs]
        return [math.sqrt(np.mean([x**2 for s, x in ratios if s == seed])) for seed in seeds]

    return values


def at_widest(read: Reading) -> Callable[[Sequence[Run]], list[float]]:
    """The number of every run of the largest width."""

    def values(runs: Sequence[Run]) -> list[float]:
        widest = max(map(heads_of, runs))
        return [read(run) for run in runs if heads_of(run) == widest]

    return values


def by_label_size(runs: Sequence[Run]) -> list[Point]:
    """(size of the labels, largest distance to descent in K_m, seed) of every run.

    The size is its geometric mean over seeds at the run's ν; the seeds differ in it by less than
    the scales do.
    """

    def nu_of(run: Run) -> float:
        return float(setting_of(run).teacher.options.get("nu_c", 3.0))

    def size_at(nu: float) -> float:
        logs = [np.log(run.curves["label_power"][0]) / 2 for run in runs if nu_of(run) == nu]
        return float(np.exp(np.mean(logs)))

    size = {nu: size_at(nu) for nu in {nu_of(run) for run in runs}}
    farthest = read_most("own_gap")
    return [(size[nu_of(run)], farthest(run), setting_of(run).seed) for run in runs]


def share_of_attention(run: Run) -> float:
    """tr K_w/tr K of the start: what the weights of attention have of the kernel."""
    parts = probed(run.curves["probe_kernel"])[0]
    traces = np.trace(parts, axis1=1, axis2=2)
    return float(traces[2] / traces.sum())


def farthest_in_radii(runs: Sequence[Run]) -> list[float]:
    """The farthest that any head of any run goes, over its radius."""

    def one(run: Run) -> float:
        options = setting_of(run).optimiser.options
        radii = [options[f"rho_{block}"] for block in "cuw"]
        return float((run.curves["displacement"] / radii).max())

    return [max(map(one, runs))]
