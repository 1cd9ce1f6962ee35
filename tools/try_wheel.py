"""A wheel and an sdist as users get them: `python -m tools.try_wheel FOLDER [STUDY]`.

Builds both into FOLDER, installs each into an empty environment with nothing else of this
repository in reach, and runs the main job from another folder: STUDY (the first one, if omitted),
its report, the pages that commands name, and the citation.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
import venv
from pathlib import Path

from tutelage.studies.discovery import study_names

ROOT = Path(__file__).parents[1]


def list_commands(study: str) -> list[tuple[str, ...]]:
    return [
        ("--version",),
        ("doctor",),
        ("list",),
        ("docs", "sweeps"),
        ("docs", study),
        ("cite", study),
        ("run", study, "--out", "out"),
        ("report", "out"),
    ]


def build(folder: Path) -> list[Path]:
    """Both distributions of this tree."""
    folder.mkdir(parents=True, exist_ok=True)
    for kind in ("sdist", "wheel"):
        call(sys.executable, "-m", "hatchling", "build", "-t", kind, "-d", folder, inside=ROOT)
    return sorted(folder.glob("tutelage-*"))


def try_out(distribution: Path, study: str, folder: Path) -> None:
    """Install one distribution in a new environment under `folder`, and run the commands there."""
    uv = shutil.which("uv")
    venv.create(folder / "env", with_pip=uv is None)
    python = folder / "env" / ("Scripts" if os.name == "nt" else "bin") / "python"
    pip = (python, "-m", "pip", "install") if uv is None else (uv, "pip", "install", "-p", python)
    call(*pip, "--quiet", "-c", ROOT / "constraints.txt", distribution, inside=folder)
    elsewhere = folder / "elsewhere"
    elsewhere.mkdir()
    for words in list_commands(study):
        print(f"{distribution.name}: tutelage {' '.join(words)}", flush=True)
        call(python, "-m", "tutelage", *words, inside=elsewhere)
    pages = list((elsewhere / "out").rglob("*.html"))
    assert pages, "the report was not written"


def call(*command: str | Path, inside: Path) -> None:
    """Run a command; its output is shown only if it fails."""
    bare = {name: value for name, value in os.environ.items() if not name.startswith("PYTHON")}
    done = subprocess.run(
        list(map(str, command)), cwd=inside, env=bare, capture_output=True, text=True
    )
    if done.returncode:
        raise SystemExit(f"{' '.join(map(str, command))}\n{done.stdout}\n{done.stderr}")


def main() -> None:
    made = build(Path(sys.argv[1]).resolve())
    study = sys.argv[2] if len(sys.argv) > 2 else study_names()[0]
    for distribution in made:
        with tempfile.TemporaryDirectory() as folder:
            try_out(distribution, study, Path(folder))
    print(f"{len(made)} distributions installed and ran: {', '.join(one.name for one in made)}")


if __name__ == "__main__":
    main()
