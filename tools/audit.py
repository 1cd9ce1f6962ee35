"""Known vulnerabilities in the pinned versions: `python -m tools.audit`.

pip-audit asks a public database. Without a network, or without pip-audit, this says that nothing
was checked and ends with 0, so that only a vulnerability that was found makes a build fail.
"""

from __future__ import annotations

import json
import subprocess
import sys

PINNED = "requirements.txt"
SECONDS = 300


def main() -> int:
    command = [
        *(sys.executable, "-m", "pip_audit", "--requirement", PINNED, "--format", "json"),
        *("--disable-pip", "--require-hashes", "--progress-spinner", "off", "--timeout", "10"),
    ]
    try:
        asked = subprocess.run(command, capture_output=True, text=True, timeout=SECONDS)
        answer = json.loads(asked.stdout)["dependencies"]
    except (subprocess.TimeoutExpired, json.JSONDecodeError):
        print(
            "Not audited: pip-audit is not installed (pip install pip-audit), or the database of "
            "vulnerabilities cannot be reached from here."
        )
        return 0
    found = [
        f"{one['name']} {one['version']}: {flaw['id']}, mended in "
        f"{', '.join(flaw['fix_versions']) or 'no version yet'}"
        for one in answer
        for flaw in one.get("vulns", ())
    ]
    print(*found, sep="\n", end="\n" if found else "")
    print(f"{len(answer)} pinned packages audited, {len(found)} known vulnerabilities.")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
