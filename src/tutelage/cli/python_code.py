"""The Python that reads a stored run and repeats it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tutelage.running.store.about import Damaged
from tutelage.settings import MEASURES, NO_TEACHER, Part, Setting

if TYPE_CHECKING:
    from tutelage.running.store import Entry, Store


def write_python(store: Store, entry: Entry) -> str:
    """Python that reads a stored run, and that runs its setting anew."""
    path = f"{store.root}/{entry.name}"
    lines = ["import tutelage as tt", ""]
    whole = "files" in entry.about
    if whole:
        lines.append(f"run = tt.load({path!r})")
    try:
        setting = store.setting(entry)
    except Damaged as damage:
        return "\n".join([*lines, f"# {damage}"])
    if setting.arrays():  # which no line of code can hold
        lines.append("setting = run.setting  # with its arrays given by hand")
    else:
        lines.append(f"setting = {_write_code(setting)}")
    return "\n".join([*lines, "(again,) = tt.execute([setting])"])


def _write_code(setting: Setting) -> str:
    """A setting as Python, defaults left out."""
    usual = Setting(NO_TEACHER, rate=0.0, steps=0).parts
    parts = dict(setting.parts)
    seed = [f"seed={setting.seed!r}"] if setting.seed else []
    if setting.calculation is not None:
        make, said = "tt.Setting.of_calculation", [_write_part(parts.pop("calculation")), *seed]
    else:
        make, said = "tt.Setting", [_write_part(parts.pop("teacher"))]
        said += [f"rate={setting.rate!r}", f"steps={setting.steps!r}", *seed]
    said += [f"{kind}={_write_part(part)}" for kind, part in parts.items() if part != usual[kind]]
    if setting.calculation is None and setting.measures != MEASURES:
        said.append(f"measures={setting.measures!r}")
    return f"{make}(\n" + "".join(f"    {line},\n" for line in said) + ")"


def _write_part(part: Part) -> str:
    options = [f"{key}={value!r}" for key, value in part.options.items()]
    return f"tt.Part({', '.join([repr(part.name), *options])})"
