"""The page's own JavaScript in Node, where there is one: the very text that an exported page
carries.
"""

from __future__ import annotations

import json
import shutil
import subprocess
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tutelage.explorer.baking import list_edges
from tutelage.explorer.bundle import bundle
from tutelage.explorer.exporting import write_worker
from tutelage.explorer.fields import default_of
from tutelage.problem.registry import options_of
from tutelage.settings import Setting

NODE = shutil.which("node")
needs_node = pytest.mark.skipif(NODE is None, reason="the page's JavaScript is run by node")
GIVEN = 'import { readFileSync } from "node:fs";\nconst given = JSON.parse(readFileSync(0));\n'
# A worker's two globals, and a run from its first event to its last.
SHIM = """
const told = [];
globalThis.postMessage = (event) => told.push(event);
globalThis.onmessage = null;
"""
RUNS = """
const runs = given.map((message) => {
  told.length = 0;
  onmessage({ data: message });
  const run = { steps: [], curves: {} };
  for (const event of told) {
    if (event.event === "points") {
      run.steps.push(...event.steps);
      for (const [name, values] of Object.entries(event.curves)) {
        (run.curves[name] ??= []).push(...values);
      }
    }
    if (event.event === "frame") run.attention = [...event.matrices.attention_matrix.data];
    if (event.event === "end" || event.event === "error") run.end = event;
  }
  return run;
});
console.log(JSON.stringify(runs));
"""


def run_script(script: str, given: Any) -> Any:
    """What a module prints as JSON, given some on its standard input."""
    assert NODE is not None
    command = [NODE, "--input-type=module", "--eval", script]
    done = subprocess.run(command, input=json.dumps(given), capture_output=True, text=True)
    assert done.returncode == 0, done.stderr[-3000:]
    return json.loads(done.stdout)


def call_modules(modules: Mapping[str, Path], code: str, given: Any) -> Any:
    """What code prints that has the exports of some modules by their names."""
    loads = "".join(f'const {name} = await entries["{name}"]();\n' for name in modules)
    return run_script(GIVEN + bundle(modules, loads + code), given)


def run_in_worker(settings: list[Setting]) -> list[Any]:
    """Runs of the exported page's worker: steps, curves, the last attention, how each ended."""
    messages = [{"setting": plain_setting(setting), "graphs": graphs()} for setting in settings]
    return run_script(GIVEN + SHIM + write_worker() + RUNS, messages)


def graphs() -> dict[str, Any]:
    return {name: list_edges(name) for name in ("karate",)}


def plain_setting(setting: Setting) -> dict[str, Any]:
    """As the page gives it to its worker: with every option."""
    parts = {}
    for kind, part in setting.parts.items():
        declared = options_of(kind, part.name)
        options = {**{name: default_of(each) for name, each in declared.items()}, **part.options}
        plain = {n: v.tolist() if isinstance(v, np.ndarray) else v for n, v in options.items()}
        parts[kind] = {"name": part.name, "options": plain}
    return {**parts, "rate": setting.rate, "steps": setting.steps, "seed": setting.seed}
