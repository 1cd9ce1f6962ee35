"""Looks for secrets in all files that git tracks, or in those given: `python -m tools.secrets`.

A line is reported by file, number and kind, never with the secret itself. Nothing is downloaded.
"""

from __future__ import annotations

import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

KINDS = {
    "private key": re.compile(r"-----BEGIN (?:[A-Z]+ )*PRIVATE KEY-----"),
    "cloud access key": re.compile(r"\b(?:AKIA|ASIA)[0-9A-Z]{16}\b"),
    "code host token": re.compile(r"\b(?:gh[pousr]_[A-Za-z0-9]{36}|github_pat_\w{60,})"),
    "registry token": re.compile(r"\b[a-z]+-AgE[A-Za-z0-9_-]{50,}"),
    "model host token": re.compile(r"\bhf_[A-Za-z0-9]{30,}\b"),
    "chat token": re.compile(r"\bxox[abprs]-[A-Za-z0-9-]{20,}"),
    "service key": re.compile(r"\bsk-[A-Za-z0-9_-]{32,}"),
    "signed web token": re.compile(r"\beyJ[\w-]{20,}\.eyJ[\w-]{20,}\.[\w-]{20,}"),
    "password in an address": re.compile(r"[a-z][a-z0-9+.-]*://[^\s/:@'\"{}<>]+:[^\s/@'\"{}<>]+@"),
    "assigned secret": re.compile(
        r"(?i)\b\w*(?:api_?key|secret|password|passwd|auth_?token)\w*\s*[:=]\s*"
        r"['\"][A-Za-z0-9+/_=-]{20,}['\"]"
    ),
}
ALLOWED = "secret: allow"  # in a comment on the line, where an example only looks like one


def find_secrets(text: str) -> Iterator[tuple[int, str]]:
    """Line number and kind of everything in a text that looks like a secret."""
    for number, line in enumerate(text.splitlines(), start=1):
        if ALLOWED not in line:
            yield from ((number, kind) for kind, pattern in KINDS.items() if pattern.search(line))


def list_tracked() -> list[Path]:
    listed = subprocess.run(["git", "ls-files", "-z"], capture_output=True, text=True, check=True)
    return [Path(name) for name in listed.stdout.split("\0") if name]


def read_text(path: Path) -> str:
    """The text of a file; nothing of one that is binary or gone."""
    try:
        return path.read_text(encoding="utf-8")
    except (UnicodeDecodeError, FileNotFoundError, IsADirectoryError):
        return ""


def main() -> int:
    paths = [Path(name) for name in sys.argv[1:]] or list_tracked()
    found = [
        f"{path}:{number}: {kind}"
        for path in paths
        for number, kind in find_secrets(read_text(path))
    ]
    print(*found, sep="\n", end="\n" if found else "")
    print(f"{len(paths)} files searched for secrets, {len(found)} found.", file=sys.stderr)
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
