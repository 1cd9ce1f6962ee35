"""The tests of `make test` in the environment that runs this, on systems without make or .venv/bin:
`python -m tools.run_tests`. The selection is that of the Makefile.
"""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[1]


def read_selection() -> str:
    """The marks of `make test`, as pytest takes them."""
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    found = re.search(r"^ELSEWHERE := (.+)$", makefile, re.MULTILINE)
    assert found is not None, "the Makefile names the tests that run elsewhere as ELSEWHERE"
    return f"{found[1]} and not depth"


def main() -> int:
    command = [
        *(sys.executable, "-m", "pytest", "-n", "2", "--dist", "loadfile"),
        *("--no-loadscope-reorder", "-m", read_selection()),
    ]
    return subprocess.call(command, cwd=ROOT)


if __name__ == "__main__":
    sys.exit(main())
