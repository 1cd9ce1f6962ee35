"""A run as named pieces of bytes, and back: Parquet for curves, safetensors for arrays, JSON for
the rest; nothing that executes.

    curves.parquet      one row per measured step, one column per measure (lists where a measure
                        has one entry per query)
    end.safetensors     the student and the optimiser's state after the last step; not there for a
                        calculation, which has neither
    given.safetensors   the arrays of the setting that were given by hand, by content hash (if any)
    run.json            setting, outcome, last values, what made it, and the size and hash of every
                        other piece; sealed by its own hash

`run.json` is written last, so that a run exists if it does; and it names the rest, so that a piece
that is cut or changed is found out.
"""

from __future__ import annotations

import hashlib
import math
import platform
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import asdict
from datetime import UTC, datetime
from functools import cache
from typing import TYPE_CHECKING, Any

import numpy as np

from tutelage.refuse import Refused
from tutelage.run import Continued, Outcome, Rest, Run
from tutelage.running.store.about import ABOUT, CURVES, END, FORMAT, GIVEN, Damaged, opened, sealed
from tutelage.settings import Setting
from tutelage.version import __version__

if TYPE_CHECKING:
    import jax
    import pyarrow
    from jaxtyping import PyTree
    from numpy.typing import ArrayLike

    from tutelage.students.base import Student


def encode(run: Run, setting: Setting) -> dict[str, bytes]:
    """The pieces of a run, `run.json` last."""
    from safetensors.numpy import save

    pieces = {CURVES: _curves(run)}
    if run.outcome is not Outcome.CALCULATED:
        pieces[END] = save(_arrays({"student": run.student, "state": run.rest and run.rest.state}))
    if given := setting.arrays():
        pieces[GIVEN] = save({key: _contiguous(array) for key, array in given.items()})
    taken = _taken(run)
    about = {
        "format": FORMAT,
        "identity": setting.identity(),
        "setting": setting.plain(),
        "outcome": run.outcome.name,
        "note": run.note,
        "taken": taken,
        "first": None if run.rest is None else run.rest.first,
        "continued": None if run.continued is None else asdict(run.continued),
        "last": {
            name: _number(float(np.mean(curve[-1])))
            for name, curve in run.curves.items()
            if len(curve)
        },
        "made": [
            *run.made,
            {"to": taken, "when": _now(), **made_by(setting), **_computed(run.student)},
        ],
        "files": {
            name: {"bytes": len(data), "sha256": hashlib.sha256(data).hexdigest()}
            for name, data in pieces.items()
        },
    }
    return {**pieces, ABOUT: sealed(about)}


def decode(pieces: Mapping[str, bytes]) -> Run:
    """The run of these pieces, every one of them checked."""
    about, setting = checked(pieces)
    steps, curves = read_curves(pieces[CURVES])
    outcome, made = Outcome[about["outcome"]], tuple(about["made"])
    if outcome is Outcome.CALCULATED:
        return Run(steps, curves, None, outcome, about["note"], setting=setting, made=made)
    arrays = _load(END, pieces[END])
    from tutelage.problem.build import build_optimiser, build_student

    with _reading("its student"):
        template = build_student(setting)
    student = _filled("student", template, arrays)
    rest = None
    if about["first"] is not None:
        from tutelage.training.literal import first_state

        with _reading("its optimiser's state"):
            begun = first_state(student, setting.rate, build_optimiser(setting))
        rest = Rest(about["taken"], _filled("state", begun, arrays), about["first"])
    continued = Continued(**about["continued"]) if about.get("continued") else None
    return Run(
        steps, curves, student, outcome, about["note"], setting.rate, setting, rest, made, continued
    )


def checked(pieces: Mapping[str, bytes]) -> tuple[dict[str, Any], Setting]:
    """What `run.json` says, and the setting, once every byte that it names was read and found to be
    as named. Needs no JAX.
    """
    if ABOUT not in pieces:
        raise Damaged(f"{ABOUT} is missing: it was never finished")
    about = opened(pieces[ABOUT])
    if about["outcome"] == Outcome.FAILED.name:
        raise Damaged(f"{ABOUT} is that of a setting that could not be run")
    for name in about["files"]:
        check_piece(about, name, pieces.get(name))
    return about, setting_of(about, given_arrays(pieces))


def check_piece(about: Mapping[str, Any], name: str, data: bytes | None) -> bytes:
    """One piece, if it has the bytes that `run.json` names."""
    if data is None:
        raise Damaged(f"{name} is missing")
    said = about["files"][name]
    if len(data) != said["bytes"] or hashlib.sha256(data).hexdigest() != said["sha256"]:
        raise Damaged(f"{name} does not have the bytes that {ABOUT} names")
    return data


def given_arrays(pieces: Mapping[str, bytes]) -> dict[str, np.ndarray]:
    """The arrays given by hand, by content hash."""
    return _load(GIVEN, pieces[GIVEN]) if GIVEN in pieces else {}


def setting_of(about: Mapping[str, Any], given: Mapping[str, np.ndarray]) -> Setting:
    """The setting of a `run.json`, with the arrays given by hand; it must hash to the identity it
    is stored under, with the code that its parts had then.
    """
    try:
        setting = Setting.from_plain(about["setting"], given)
    except (TypeError, ValueError) as error:  # options that no part can have
        raise Damaged(f"its setting is none: {error}") from None
    except KeyError:
        why = ", since it could not be run" if about["outcome"] == Outcome.FAILED.name else ""
        raise Damaged(f"its arrays given by hand are not stored{why}") from None
    if setting.identity(about["made"][-1].get("origins", {})) != about["identity"]:
        raise Damaged("its setting does not have the identity that it is stored under")
    return setting


def read_curves(data: bytes) -> tuple[np.ndarray, dict[str, np.ndarray]]:
    """The steps, and every curve by its name."""
    import pyarrow
    import pyarrow.parquet

    with _reading(CURVES):
        table = pyarrow.parquet.read_table(pyarrow.BufferReader(data))
        curves = {
            name: _array(table[name].combine_chunks(), len(table)) for name in table.column_names
        }
    wrong = [name for name, curve in curves.items() if curve.dtype.kind not in "fiub"]
    if wrong or "step" not in curves:
        raise Damaged(f"{CURVES} has no numbers for {wrong[0] if wrong else 'step'}")
    return curves.pop("step"), curves


def _load(name: str, data: bytes) -> dict[str, np.ndarray]:
    """The arrays of a safetensors file."""
    from safetensors.numpy import load

    with _reading(name):
        return load(data)


@contextmanager
def _reading(what: str) -> Iterator[None]:
    """Turns whatever errs inside into damage: the bytes are as named, and still cannot be used."""
    try:
        yield
    except Refused:  # a sentence of its own, such as for a part that is not imported
        raise
    except Exception as error:
        said = str(error).strip().partition("\n")[0]
        raise Damaged(f"{what} cannot be read: {type(error).__name__}: {said}") from None


@cache
def environment() -> dict[str, str]:
    """What makes a run here: recorded with it, never part of its identity. Asks the installed
    packages and does not import JAX.
    """
    from importlib.metadata import version

    return {
        "tutelage": __version__,
        "python": platform.python_version(),
        "jax": version("jax"),
        "jaxlib": version("jaxlib"),
        "numpy": np.__version__,
        "platform": platform.platform(),
    }


def made_by(setting: Setting) -> dict[str, Any]:
    """The environment, and the code of parts of the user's own, where there are some."""
    origins = setting.origins()
    return {**environment(), **({"origins": origins} if origins else {})}


def _now() -> str:
    """The moment, UTC: it tells what was registered before a run from what was after."""
    return datetime.now(UTC).isoformat(timespec="seconds")


def _computed(student: Student | None) -> dict[str, str]:
    """The device that a student lies on, and its precision; nothing where there is none."""
    import jax

    if student is None:
        return {}
    leaves = jax.tree.leaves(student)
    kinds = (
        str(device.device_kind)
        for leaf in leaves
        if isinstance(leaf, jax.Array)
        for device in leaf.devices()
    )
    precisions = (str(leaf.dtype) for leaf in leaves if np.issubdtype(leaf.dtype, np.floating))
    return {"device": next(kinds, "none"), "precision": next(precisions, "none")}


def _taken(run: Run) -> int:
    """How many steps a run took; a calculation takes none."""
    if run.rest is not None:
        return run.rest.taken
    trained = run.outcome is not Outcome.CALCULATED and len(run.steps)
    return int(run.steps[-1]) if trained else 0


def _number(value: float) -> float | None:
    """As JSON has it: NaN and infinity are no JSON, and not every reader takes them."""
    return value if math.isfinite(value) else None


def _curves(run: Run) -> bytes:
    import pyarrow
    import pyarrow.parquet

    columns = {"step": run.steps, **run.curves}
    sink = pyarrow.BufferOutputStream()
    table = pyarrow.table({name: _column(np.asarray(column)) for name, column in columns.items()})
    pyarrow.parquet.write_table(
        table, sink, compression="none", use_dictionary=False, write_statistics=False
    )
    return sink.getvalue().to_pybytes()


def _column(values: np.ndarray) -> pyarrow.Array:
    """A column of Arrow: numbers, or lists of fixed length, nested once an axis."""
    import pyarrow

    column = pyarrow.array(np.ascontiguousarray(values).reshape(-1))
    for length in values.shape[:0:-1]:
        column = pyarrow.FixedSizeListArray.from_arrays(column, length)
    return column


def _array(column: pyarrow.Array, rows: int) -> np.ndarray:
    import pyarrow

    shape = [rows]
    while isinstance(column.type, pyarrow.FixedSizeListType):
        shape.append(column.type.list_size)
        column = column.flatten()
    return column.to_numpy(zero_copy_only=False).reshape(shape)


def _arrays(trees: Mapping[str, PyTree]) -> dict[str, np.ndarray]:
    import jax

    named = {name: jax.tree_util.tree_leaves_with_path(tree) for name, tree in trees.items()}
    return {
        _key(name, path): _contiguous(leaf)
        for name, leaves in named.items()
        for path, leaf in leaves
    }


def _contiguous(leaf: ArrayLike) -> np.ndarray:
    """Which makes a vector of a lone number, and is undone there."""
    return np.ascontiguousarray(leaf).reshape(np.shape(leaf))


def _filled(name: str, template: PyTree, arrays: Mapping[str, np.ndarray]) -> PyTree:
    """The template's tree with the stored arrays as its leaves."""
    import jax
    import jax.numpy as jnp

    def leaf(path: tuple[jax.tree_util.KeyEntry, ...], _: PyTree) -> jax.Array:
        if (key := _key(name, path)) not in arrays:
            raise Damaged(f"end.safetensors holds no {key}, which this version's {name} has")
        return jnp.asarray(arrays[key])

    return jax.tree_util.tree_map_with_path(leaf, template)


def _key(name: str, path: tuple[jax.tree_util.KeyEntry, ...]) -> str:
    import jax

    return f"{name}/{jax.tree_util.keystr(path, simple=True, separator='/')}"
