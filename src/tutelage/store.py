"""One folder a run: setting, curves, arrays, verdicts and the environment that made it, in files that other tools read.

<root>/<identity>/setting.json          what was run
                  setting.safetensors   the arrays in it that were given by hand, by content hash (if any)
                  curves.parquet        a row a measured step, a column a measure (lists for one entry a query)
                  student.safetensors   the student at the end
                  run.json              outcome, note, environment, format version
                  verdicts.json         the verdicts that this run served (if any)
"""

from __future__ import annotations

import json
import os
import platform
import shutil
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from tutelage.refuse import Refused
from tutelage.run import Outcome, Run
from tutelage.settings import Setting

if TYPE_CHECKING:
    from tutelage.claims.verdict import Verdict

FORMAT = 1


class Store:
    """Runs below one folder, each found by the identity of its setting."""

    def __init__(self, root: str | Path) -> None:
        self.root = Path(root)

    def path(self, setting: Setting) -> Path:
        return self.root / setting.identity()

    def find(self, setting: Setting) -> Run | None:
        """The stored run of this setting with this horizon, or None."""
        path = self.path(setting)
        if not (path / "run.json").exists():
            return None
        if json.loads((path / "setting.json").read_text())["steps"] != setting.steps:
            return None
        return load(path)

    def save(self, run: Run) -> Path:
        """Writes a run aside and renames it into place, so that a folder under its own name is always whole."""
        import pyarrow
        import pyarrow.parquet
        from safetensors.numpy import save_file

        if run.setting is None:
            raise Refused("Only a run made from a setting can be stored, since the setting is what repeats it. Got one without.")
        self.root.mkdir(parents=True, exist_ok=True)
        aside = Path(tempfile.mkdtemp(prefix=".writing-", dir=self.root))
        (aside / "setting.json").write_text(json.dumps(run.setting.plain(), indent=1, sort_keys=True))
        if given := run.setting.arrays():
            save_file({key: np.ascontiguousarray(array) for key, array in given.items()}, aside / "setting.safetensors")
        columns: dict[str, Any] = {"step": run.steps, **{name: list(curve) for name, curve in run.curves.items()}}
        pyarrow.parquet.write_table(pyarrow.table(columns), aside / "curves.parquet")
        save_file(_arrays(run.student), aside / "student.safetensors")
        about = {"format": FORMAT, "outcome": run.outcome.name, "note": run.note, "environment": environment()}
        (aside / "run.json").write_text(json.dumps(about, indent=1))
        place = self.path(run.setting)
        if place.exists():
            shutil.rmtree(place)
        os.replace(aside, place)
        return place

    def attach(self, runs: Sequence[Run], verdicts: Sequence[Verdict]) -> None:
        """Writes beside each run the verdicts that it served."""
        text = json.dumps([verdict.plain() for verdict in verdicts], indent=1)
        for run in runs:
            assert run.setting is not None
            (self.path(run.setting) / "verdicts.json").write_text(text)


def load(path: str | Path) -> Run:
    """A stored run, which measures and checks like a fresh one."""
    import pyarrow.parquet
    from safetensors.numpy import load_file

    from tutelage.registry import build

    path = Path(path)
    if not (path / "run.json").exists():
        raise Refused(f"A stored run is a folder with a run.json in it. Got {path}.")
    about = json.loads((path / "run.json").read_text())
    if about["format"] != FORMAT:
        raise Refused(f"This version reads format {FORMAT} of stored runs. Got format {about['format']} in {path}.")
    arrays = load_file(path / "setting.safetensors") if (path / "setting.safetensors").exists() else {}
    setting = Setting.from_plain(json.loads((path / "setting.json").read_text()), arrays)
    table = pyarrow.parquet.read_table(path / "curves.parquet")
    curves = {name: np.asarray(table[name].to_pylist()) for name in table.column_names}
    steps = curves.pop("step")
    student = _filled(build(setting).student, load_file(path / "student.safetensors"))
    return Run(steps, curves, student, Outcome[about["outcome"]], about["note"], setting.rate, setting)


def environment() -> dict[str, str]:
    """What made a run: recorded with it, never part of its identity."""
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
        "precision": "float64" if jax.config.jax_enable_x64 else "float32",  # type: ignore[attr-defined]
    }


def _arrays(student: Any) -> dict[str, np.ndarray]:
    import jax

    leaves = jax.tree_util.tree_leaves_with_path(student)
    return {jax.tree_util.keystr(path, simple=True): np.ascontiguousarray(leaf) for path, leaf in leaves}


def _filled(template: Any, arrays: dict[str, np.ndarray]) -> Any:
    import jax
    import jax.numpy as jnp

    return jax.tree_util.tree_map_with_path(lambda path, _: jnp.asarray(arrays[jax.tree_util.keystr(path, simple=True)]), template)
