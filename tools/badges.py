"""Colab badges of the notebooks: `python -m tools.badges` writes them, or takes them away.

Each notebook gets, below its title, a badge that opens it in Colab, and a cell that installs
tutelage there. Both come from the public address, and are absent while that is empty.
"""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

from tutelage.address import PUBLIC_ADDRESS, make_colab_link

ROOT = Path(__file__).parents[1]
DOCS = ROOT / "docs"
PICTURE = DOCS / "figures" / "open-in-colab.svg"
TAG = "colab"  # of the cells that this file writes
INSTALL = """\
import subprocess
import sys

if "google.colab" in sys.modules:
    command = [sys.executable, "-m", "pip", "install", "--quiet", "git+{address}"]
    subprocess.run(command, check=True)"""


def list_notebooks() -> list[Path]:
    return [DOCS / "tutorial.ipynb", *sorted((DOCS / "notebooks").glob("*.ipynb"))]


def write_badge(notebook: dict[str, Any], path: Path, address: str) -> dict[str, Any]:
    """The notebook with the cells that its address asks for, and no older ones."""
    kept = [cell for cell in notebook["cells"] if TAG not in cell["metadata"].get("tags", ())]
    link = make_colab_link(path.relative_to(ROOT).as_posix(), address)
    return {**notebook, "cells": [kept[0], *make_cells(link, path, address), *kept[1:]]}


def make_cells(link: str, path: Path, address: str) -> list[dict[str, Any]]:
    if not link:
        return []
    picture = Path(os.path.relpath(PICTURE, path.parent)).as_posix()
    badge = f"[![Open in Colab]({picture})]({link})"
    code = {"cell_type": "code", "execution_count": None, "outputs": []}
    return [
        {"cell_type": "markdown", "id": "open-in-colab", **write_source(badge)},
        {**code, "id": "install-in-colab", **write_source(INSTALL.format(address=address))},
    ]


def write_source(text: str) -> dict[str, Any]:
    return {"metadata": {"tags": [TAG]}, "source": text.splitlines(keepends=True)}


def main() -> None:
    for path in list_notebooks():
        notebook = json.loads(path.read_text(encoding="utf-8"))
        written = write_badge(notebook, path, PUBLIC_ADDRESS)
        text = json.dumps(written, indent=1, sort_keys=True, ensure_ascii=False)
        path.write_text(f"{text}\n", encoding="utf-8")


if __name__ == "__main__":
    main()
