"""A run as named pieces of bytes, and back: Parquet for curves, safetensors for arrays, JSON for the rest; nothing that executes.

    curves.parquet        a row a measured step, a column a measure (lists where a measure has one entry a query)
    end.safetensors       the student and the optimiser's state after the last step
    given.safetensors     the arrays of the setting that were given by hand, by content hash (if any)
    run.json              setting, outcome, last values, what made it, and the size and hash of every other piece; sealed by its own

`run.json` is written last, so that a run exists if it does; and it names the rest, so that a piece that is cut or changed is found out.
"""

from __future__ import annotations

import hashlib
import json
import platform
from collections.abc import Mapping
from dataclasses import replace
from functools import cache
from typing import Any

import numpy as np

from tutelage.refuse import Refused
from tutelage.run import Outcome, Rest, Run
from tutelage.settings import Setting

FORMAT = 2
ABOUT = "run.json"
_SEAL = b'{"seal": "'


class Damaged(Exception):
    """Why a folder is not a whole run."""


def encode(run: Run, setting: Setting) -> dict[str, bytes]:
    """The pieces of a run, `run.json` last."""
    from safetensors.numpy import save

    pieces = {
        "curves.parquet": _curves(run),
        "end.safetensors": save(_arrays({"student": run.student, "state": run.rest and run.rest.state})),
    }
    if given := setting.arrays():
        pieces["given.safetensors"] = save({key: np.ascontiguousarray(array) for key, array in given.items()})
    taken = run.rest.taken if run.rest is not None else int(run.steps[-1]) if len(run.steps) else 0
    about = {
        "format": FORMAT,
        "identity": setting.identity(),
        "setting": setting.plain(),
        "outcome": run.outcome.name,
        "note": run.note,
        "taken": taken,
        "first": None if run.rest is None else run.rest.first,
        "last": {name: float(np.mean(curve[-1])) for name, curve in run.curves.items() if len(curve)},
        "made": [*run.made, {"to": taken, **environment(), "precision": _precision(run.student)}],
        "files": {name: {"bytes": len(data), "sha256": hashlib.sha256(data).hexdigest()} for name, data in pieces.items()},
    }
    return {**pieces, ABOUT: sealed(about)}


def decode(pieces: Mapping[str, bytes]) -> Run:
    """The run of these pieces, every one of them checked."""
    from safetensors.numpy import load

    about = opened(pieces[ABOUT])
    for name, said in about["files"].items():
        if name not in pieces:
            raise Damaged(f"{name} is missing")
        if len(pieces[name]) != said["bytes"] or hashlib.sha256(pieces[name]).hexdigest() != said["sha256"]:
            raise Damaged(f"{name} does not have the bytes that {ABOUT} names")
    setting = setting_of(about, load(pieces["given.safetensors"]) if "given.safetensors" in about["files"] else {})
    steps, curves = read_curves(pieces["curves.parquet"])
    arrays = load(pieces["end.safetensors"])
    from tutelage.registry import optimiser_of, student_of

    student = _filled("student", student_of(setting), arrays)
    rest = None
    if about["first"] is not None:
        from tutelage.training import first_state

        state = _filled("state", first_state(student, setting.rate, optimiser_of(setting)), arrays)
        rest = Rest(about["taken"], state, about["first"])
    return Run(steps, curves, student, Outcome[about["outcome"]], about["note"], setting.rate, setting, rest, tuple(about["made"]))


def setting_of(about: Mapping[str, Any], given: Mapping[str, np.ndarray]) -> Setting:
    """The setting of a `run.json`, with the arrays given by hand; it must hash to the identity it is stored under."""
    setting = Setting.from_plain(about["setting"], given)
    if setting.identity() != about["identity"]:
        raise Damaged("its setting does not have the identity that it is stored under")
    return setting


def sealed(about: Mapping[str, Any]) -> bytes:
    """JSON whose first entry is the hash of all that follows it."""
    rest = json.dumps(about, ensure_ascii=False).encode()[1:]
    return _SEAL + hashlib.sha256(rest).hexdigest().encode() + b'", ' + rest


def opened(data: bytes) -> dict[str, Any]:
    """What was sealed, if it is whole and of this format."""
    seal, rest = data[len(_SEAL) : len(_SEAL) + 64], data[len(_SEAL) + 67 :]
    if not data.startswith(_SEAL) or hashlib.sha256(rest).hexdigest().encode() != seal:
        raise Damaged(f"{ABOUT} is cut short or was changed")
    about = json.loads(b"{" + rest)
    if about["format"] != FORMAT:
        raise Refused(f"This version reads format {FORMAT} of stored runs. Got format {about['format']}.")
    return about


def read_curves(data: bytes) -> tuple[np.ndarray, dict[str, np.ndarray]]:
    import pyarrow
    import pyarrow.parquet

    table = pyarrow.parquet.read_table(pyarrow.BufferReader(data))
    curves = {name: _array(table[name].combine_chunks(), len(table)) for name in table.column_names}
    return curves.pop("step"), curves


@cache
def environment() -> dict[str, str]:
    """What makes a run here: recorded with it, never part of its identity."""
    from importlib.metadata import version

    import jax

    import tutelage

    return {
        "tutelage": tutelage.__version__,
        "python": platform.python_version(),
        "jax": jax.__version__,
        "jaxlib": version("jaxlib"),
        "numpy": np.__version__,
        "platform": platform.platform(),
        "device": str(jax.devices()[0].device_kind),
    }


def _precision(student: Any) -> str:
    import jax

    return next((str(leaf.dtype) for leaf in jax.tree.leaves(student) if np.issubdtype(leaf.dtype, np.floating)), "none")


def _curves(run: Run) -> bytes:
    import pyarrow
    import pyarrow.parquet

    columns = {"step": run.steps, **run.curves}
    sink = pyarrow.BufferOutputStream()
    table = pyarrow.table({name: _column(np.asarray(column)) for name, column in columns.items()})
    pyarrow.parquet.write_table(table, sink, compression="none", use_dictionary=False, write_statistics=False)
    return sink.getvalue().to_pybytes()


def _column(values: np.ndarray) -> Any:
    """A column of Arrow: numbers, or lists of fixed length, nested once an axis."""
    import pyarrow

    column = pyarrow.array(np.ascontiguousarray(values).reshape(-1))
    for length in values.shape[:0:-1]:
        column = pyarrow.FixedSizeListArray.from_arrays(column, length)
    return column


def _array(column: Any, rows: int) -> np.ndarray:
    shape = [rows]
    while hasattr(column.type, "list_size"):
        shape.append(column.type.list_size)
        column = column.flatten()
    return column.to_numpy(zero_copy_only=False).reshape(shape)


def _arrays(trees: Mapping[str, Any]) -> dict[str, np.ndarray]:
    import jax

    named = {name: jax.tree_util.tree_leaves_with_path(tree) for name, tree in trees.items()}
    return {_key(name, path): np.ascontiguousarray(leaf).reshape(np.shape(leaf)) for name, leaves in named.items() for path, leaf in leaves}


def _filled(name: str, template: Any, arrays: Mapping[str, np.ndarray]) -> Any:
    """The template's tree with the stored arrays as its leaves."""
    import jax
    import jax.numpy as jnp

    def leaf(path: Any, _: Any) -> Any:
        if (key := _key(name, path)) not in arrays:
            raise Damaged(f"end.safetensors holds no {key}, which this version's {name} has")
        return jnp.asarray(arrays[key])

    return jax.tree_util.tree_map_with_path(leaf, template)


def _key(name: str, path: Any) -> str:
    import jax

    return f"{name}/{jax.tree_util.keystr(path, simple=True, separator='/')}"


def without_student(pieces: Mapping[str, bytes], about: Mapping[str, Any]) -> Run:
    """Curves and outcome alone, for tables: no student is built."""
    steps, curves = read_curves(pieces["curves.parquet"])
    return replace(Run(steps, curves, None, Outcome[about["outcome"]], about["note"]), made=tuple(about["made"]))
