"""Writes requirements.txt: the versions of constraints.txt with the hashes of their files.

`python -m tools.hashes` needs uv and a package index. No index address is written. With
`pip install --require-hashes -r requirements.txt` a file that was exchanged is refused.
"""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[1]
WRITTEN = ROOT / "requirements.txt"
HEAD = (
    "# Every pinned package with the hashes of its files; written by `make hashes` from\n"
    "# constraints.txt. Install with: pip install --require-hashes -r requirements.txt\n"
)
EXTRAS = ("dev", "images", "browser", "docs")


def main() -> int:
    command = [
        *("uv", "pip", "compile", "pyproject.toml", "-", "--constraint", "constraints.txt"),
        *("--universal", "--python-version", "3.11.5", "--generate-hashes", "--no-header"),
        *("--no-annotate", "--no-emit-index-url", "--no-emit-find-links", "--quiet"),
        *(word for extra in EXTRAS for word in ("--extra", extra)),
    ]
    # The build backend is installed before the package is built, from the same file.
    made = subprocess.run(
        command, cwd=ROOT, input="hatchling\neditables\n", capture_output=True, text=True
    )
    if made.returncode:
        print(made.stderr, file=sys.stderr)
        return made.returncode
    lines = made.stdout.splitlines(keepends=True)
    kept = "".join(line for line in lines if not line.startswith("tutelage"))
    WRITTEN.write_text(HEAD + kept, encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
