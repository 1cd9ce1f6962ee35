"""tutelage: runnable learning theory for transformers.

Names are loaded when first used, so that the command line answers before JAX is imported. Importing
the package sets double precision in JAX, and no other setting.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING

from tutelage import precision
from tutelage.version import __version__ as __version__

precision.enable_double()

_HOMES = {
    "activations": ("Erf", "Identity", "LeakyReLU", "Smooth", "activation"),
    "problem.collapse": ("collapsed",),
    "problem.build": ("build", "build_teacher"),
    "problem.registry": ("register",),
    "claims": (
        "Bound",
        "Claim",
        "Constant",
        "Curve",
        "Exponent",
        "Hypothesis",
        "Level",
        "Measured",
        "Number",
        "Order",
        "Rate",
        "Ratio",
        "Recovery",
        "Slope",
        "Status",
        "Verdict",
    ),
    "evidence.comparing": ("Comparison", "compare_forms"),
    "evidence.curves": ("curve",),
    "evidence.judging": ("check",),
    "export.dataset": ("dataset",),
    "export.watching": ("log_to",),
    "running.execute": ("execute",),
    "problem.room": ("allow_any_size",),
    "inputs": ("Gaussian", "Independent"),
    "objectives": ("EmpiricalRisk", "OnlineRisk", "PopulationRisk", "Sample"),
    "refuse": ("Refused",),
    "run": ("Outcome", "Run"),
    "settings": ("Part", "Setting"),
    "running.store": ("Store", "load", "table"),
    "numerics.streams": ("stream",),
    "students": ("ContentAttention", "PositionAttention"),
    "teachers": (
        "BilinearTeacher",
        "convolution",
        "cycle",
        "graph_convolution",
        "group_sparse",
        "neighbourhoods",
        "pooling",
        "random_subset",
        "same_subset",
        "token_selection",
    ),
    "numerics.grids": ("log_spaced",),
    "training.loop": ("train", "train_batch"),
    "layers": (
        "Columns",
        "Found",
        "Kind",
        "Nodes",
        "Patches",
        "Pixels",
        "Sequence",
        "attention_heads",
        "from_state_dict",
        "layer",
        "learn",
        "load_weights",
        "to_torch",
    ),
    "studies.reproduce": ("reproduce",),
    "studies.reproduced": ("Reproduced",),
    "studies.theorems": ("Theorem",),
    "training.method": ("Method",),
}
_HOME_OF = {name: home for home, names in _HOMES.items() for name in names}
_PACKAGES = ("claims", "papers", "studies")  # which can be called: `tutelage.papers()`

if TYPE_CHECKING:
    from tutelage.activations import Erf, Identity, LeakyReLU, Smooth, activation
    from tutelage.claims import (
        Bound,
        Claim,
        Constant,
        Curve,
        Exponent,
        Hypothesis,
        Level,
        Measured,
        Number,
        Order,
        Rate,
        Ratio,
        Recovery,
        Slope,
        Status,
        Verdict,
    )
    from tutelage.evidence.comparing import Comparison, compare_forms
    from tutelage.evidence.curves import curve
    from tutelage.evidence.judging import check
    from tutelage.export.dataset import dataset
    from tutelage.export.watching import log_to
    from tutelage.inputs import Gaussian, Independent
    from tutelage.layers import (
        Columns,
        Found,
        Kind,
        Nodes,
        Patches,
        Pixels,
        Sequence,
        attention_heads,
        from_state_dict,
        layer,
        learn,
        load_weights,
        to_torch,
    )
    from tutelage.numerics.grids import log_spaced
    from tutelage.numerics.streams import stream
    from tutelage.objectives import EmpiricalRisk, OnlineRisk, PopulationRisk, Sample
    from tutelage.problem.build import build, build_teacher
    from tutelage.problem.collapse import collapsed
    from tutelage.problem.registry import register
    from tutelage.problem.room import allow_any_size
    from tutelage.refuse import Refused
    from tutelage.run import Outcome, Run
    from tutelage.running.execute import execute
    from tutelage.running.store import Store, load, table
    from tutelage.settings import Part, Setting
    from tutelage.students import ContentAttention, PositionAttention
    from tutelage.studies.discovery import papers, studies
    from tutelage.studies.reproduce import reproduce
    from tutelage.studies.reproduced import Reproduced
    from tutelage.studies.theorems import Theorem, claims
    from tutelage.teachers import (
        BilinearTeacher,
        convolution,
        cycle,
        graph_convolution,
        group_sparse,
        neighbourhoods,
        pooling,
        random_subset,
        same_subset,
        token_selection,
    )
    from tutelage.training.loop import train, train_batch
    from tutelage.training.method import Method

__all__ = [
    "BilinearTeacher",
    "Bound",
    "Claim",
    "Columns",
    "Comparison",
    "Constant",
    "ContentAttention",
    "EmpiricalRisk",
    "Curve",
    "Erf",
    "Exponent",
    "Found",
    "Gaussian",
    "Hypothesis",
    "Identity",
    "Independent",
    "Kind",
    "LeakyReLU",
    "Level",
    "Measured",
    "Method",
    "Nodes",
    "Number",
    "Order",
    "OnlineRisk",
    "Outcome",
    "Part",
    "Patches",
    "Pixels",
    "PopulationRisk",
    "PositionAttention",
    "Rate",
    "Ratio",
    "Recovery",
    "Refused",
    "Reproduced",
    "Run",
    "Sample",
    "Sequence",
    "Setting",
    "Slope",
    "Smooth",
    "Status",
    "Store",
    "Theorem",
    "Verdict",
    "activation",
    "allow_any_size",
    "attention_heads",
    "build",
    "check",
    "claims",
    "collapsed",
    "compare_forms",
    "convolution",
    "curve",
    "cycle",
    "dataset",
    "execute",
    "from_state_dict",
    "graph_convolution",
    "group_sparse",
    "layer",
    "learn",
    "load",
    "load_weights",
    "log_spaced",
    "log_to",
    "neighbourhoods",
    "papers",
    "pooling",
    "random_subset",
    "register",
    "reproduce",
    "same_subset",
    "stream",
    "studies",
    "table",
    "build_teacher",
    "to_torch",
    "token_selection",
    "train",
    "train_batch",
]


def __getattr__(name: str) -> object:
    if name in _PACKAGES:
        return importlib.import_module(f"tutelage.{name}")
    if name not in _HOME_OF:
        raise AttributeError(f"module 'tutelage' has no attribute {name!r}")
    value: object = vars(importlib.import_module(f"tutelage.{_HOME_OF[name]}"))[name]
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return [*globals(), *_HOME_OF, *_PACKAGES]
