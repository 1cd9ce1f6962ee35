"""Runs as one dataset of xarray, with a dimension for everything in which they differ."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from jaxtyping import Int, Num

from tutelage.log import LOG
from tutelage.refuse import Refused
from tutelage.run import Run
from tutelage.running.store import Damaged, Store
from tutelage.running.store.tables import flat, look_through
from tutelage.settings import Value
from tutelage.version import __version__

if TYPE_CHECKING:
    import xarray

NOT_AXES = ("seed", "steps")  # a dimension of its own; and the horizon, which `step` has
MOST_EMPTY = 50  # cells of a grid per run, above which the axes do not make one
Key = tuple[Value, ...]  # where a run stands: its value on each axis, then its seed


@dataclass(frozen=True)
class _One:
    """What a dataset holds of one run."""

    asked: dict[str, Value]
    steps: Int[np.ndarray, "points"]
    curves: dict[str, Num[np.ndarray, "points ..."]]
    outcome: str
    identity: str


def dataset(source: Store | str | Path | Iterable[Run]) -> xarray.Dataset:
    """Every measure of runs as an array with the dimensions of the sweep's axes, `seed` and `step`.

    The axes are the options in which the settings differ, such as `teacher.tokens`; options that
    all have in common are attributes. Cells that were not measured are NaN. A measure with one
    entry per query has a dimension of its own for them. `outcome` and `identity` say how each run
    ended and under which name it is stored. Of several horizons of a setting the longest is taken.
    """
    try:
        import xarray
    except ImportError:
        raise Refused(
            "`dataset` needs xarray, which is not installed: pip install 'tutelage[xarray]'."
        ) from None
    runs = _longest(_from_store(source) if isinstance(source, Store | str | Path) else (
        _from_run(run) for run in look_through(source)
    ))  # fmt: skip
    axes = _axes(runs)
    levels = {name: _sorted({_hashable(one.asked.get(name)) for one in runs}) for name in axes}
    cells = int(np.prod([len(values) for values in levels.values()]))
    if cells > MOST_EMPTY * len(runs):
        raise Refused(
            "The runs of a dataset must fill a grid, since every axis is a dimension. Got "
            f"{len(runs)} runs for {cells:,} cells of {', '.join(axes)}. Give fewer runs at once, "
            "or take `tt.table(…, curves=True)`."
        )
    steps = np.unique(np.concatenate([one.steps for one in runs]))
    shape = tuple(len(values) for values in levels.values())
    places = [tuple(levels[n].index(_hashable(one.asked.get(n))) for n in axes) for one in runs]
    variables = {
        name: _fill(name, runs, places, shape, steps, axes)
        for name in dict.fromkeys(name for one in runs for name in one.curves)
    }
    for word in ("outcome", "identity"):
        texts = np.full(shape, "", dtype=object)
        for one, place in zip(runs, places, strict=True):
            texts[place] = one.outcome if word == "outcome" else one.identity
        variables[word] = (axes, texts.astype(str))
    coordinates = {name: _coordinate(values) for name, values in levels.items()} | {"step": steps}
    return xarray.Dataset(variables, coordinates, _attributes(runs, axes))


def _from_store(source: Store | str | Path) -> Iterable[_One]:
    store = source if isinstance(source, Store) else Store(source)
    for entry in store.entries():
        if entry.trouble or "files" not in entry.about:
            continue
        try:
            steps, curves = store.curves(entry)
        except Damaged as damage:
            LOG.warning("the stored run %s is left out: %s.", entry.name, damage)
            continue
        asked = flat(entry.about["setting"])
        yield _One(asked, steps, curves, entry.outcome, entry.name.partition("/")[0])


def _from_run(run: Run) -> _One:
    if run.setting is None:
        raise Refused(
            "The runs of a dataset must have a setting each, since its axes are what settings "
            "differ in. Got a run without one: make it with `execute`."
        )
    identity = run.setting.identity()
    return _One(flat(run.setting.plain()), run.steps, run.curves, run.outcome.name, identity)


def _longest(runs: Iterable[_One]) -> list[_One]:
    """One run per setting."""
    found: dict[str, _One] = {}
    for one in runs:
        if one.identity not in found or len(found[one.identity].steps) < len(one.steps):
            found[one.identity] = one
    if not found:
        raise Refused("A dataset needs at least one run that was measured. Got none.")
    return list(found.values())


def _axes(runs: Sequence[_One]) -> tuple[str, ...]:
    """The options in which runs differ, and the seed."""
    names = dict.fromkeys(name for one in runs for name in one.asked)
    differing = [
        name
        for name in names
        if name not in NOT_AXES and len({_hashable(one.asked.get(name)) for one in runs}) > 1
    ]
    return (*differing, "seed")


def _hashable(value: Value | list[str]) -> Value:
    return json.dumps(value) if isinstance(value, list | dict) else value


def _sorted(values: set[Value]) -> list[Value]:
    """Numbers by size, then words."""
    return sorted(
        values,
        key=lambda v: (
            isinstance(v, str),
            v is None,
            v if isinstance(v, int | float) else 0,
            str(v),
        ),
    )


def _coordinate(values: Sequence[Value]) -> np.ndarray:
    if all(isinstance(v, int | float) and not isinstance(v, bool) for v in values):
        return np.asarray(values)
    return np.asarray(["" if value is None else str(value) for value in values])


def _fill(
    name: str,
    runs: Sequence[_One],
    places: Sequence[tuple[int, ...]],
    shape: tuple[int, ...],
    steps: Int[np.ndarray, "all"],
    axes: Sequence[str],
) -> tuple[tuple[str, ...], np.ndarray]:
    """One measure on the whole grid."""
    entries = {one.curves[name].shape[1:] for one in runs if name in one.curves}
    # Runs of different shapes have different numbers of entries; the rest stays NaN.
    deep = max((len(entry) for entry in entries), default=0)
    most = tuple(max(e[i] for e in entries if len(e) > i) for i in range(deep))
    filled = np.full((*shape, len(steps), *most), np.nan)
    for one, place in zip(runs, places, strict=True):
        if name in one.curves:
            curve = one.curves[name]
            where = [np.searchsorted(steps, one.steps), *map(np.arange, curve.shape[1:])]
            filled[place][np.ix_(*where)] = curve
    extra = tuple(f"{name}_entry{i if i else ''}" for i in range(deep))
    return (*axes, "step", *extra), filled


def _attributes(runs: Sequence[_One], axes: Sequence[str]) -> dict[str, str | int | float]:
    """What all runs have in common, and the version that made the dataset."""
    common = {
        name: value
        for name, value in runs[0].asked.items()
        if name not in axes and name != "steps" and value is not None
    }
    plain = {k: v if isinstance(v, int | float) else str(v) for k, v in common.items()}
    return {**plain, "tutelage": __version__}
