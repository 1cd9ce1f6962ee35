"""Compiled programs, kept from one command to the next: a shape that was run before starts in half
the time.
"""

from __future__ import annotations

import hashlib
import os
import platform
from importlib import metadata
from pathlib import Path

from tutelage.refuse import Refused

VARIABLE = "TUTELAGE_PROGRAMS"  # a folder instead of the usual one, or `off`
CPU = Path("/proc/cpuinfo")
KEPT_BYTES = 2**28  # of programs, the newest; one takes about 2**16


def keep_programs() -> None:
    """Has JAX keep what it compiles from now on. To be called by a command before it computes,
    never on import of the library.

    A program is machine code. It is found again only under the same versions on a processor with
    the same instructions, since elsewhere it may not run; and one that cannot be read is compiled
    again, with a warning. A cache that the user gave to JAX stays.
    """
    import jax

    given = os.environ.get(VARIABLE, "")
    if given == "off" or getattr(jax.config, "jax_compilation_cache_dir", None):
        return
    caches = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")
    usual = caches / "tutelage" / "programs"
    folder = (Path(given) if given else usual) / _describe_machine(jax.__version__)
    try:
        folder.mkdir(parents=True, exist_ok=True)
        _trim(folder)
    except OSError as error:
        if given:
            raise Refused(
                f"`{VARIABLE}` must name a folder that can be written to, or be `off`. Got "
                f"{given}: {error.strerror}."
            ) from None
        return  # a home that cannot be written to costs time and nothing else
    jax.config.update("jax_compilation_cache_dir", str(folder))
    # The many small ones take longer to read than to make.
    jax.config.update("jax_persistent_cache_min_compile_time_secs", 0.1)
    jax.config.update("jax_persistent_cache_min_entry_size_bytes", -1)


def _describe_machine(version: str) -> str:
    try:
        flags = next(
            line for line in CPU.read_text().splitlines() if line.startswith(("flags", "Features"))
        )
    except (OSError, StopIteration):
        flags = platform.processor()
    said = (
        version,
        metadata.version("jaxlib"),
        platform.system(),
        platform.machine(),
        " ".join(sorted(flags.split())),
    )
    return hashlib.sha256("\n".join(said).encode()).hexdigest()[:16]


def _trim(folder: Path) -> None:
    """Removes the oldest programs where there are too many; another process may do the same."""
    files = sorted(
        ((file.stat().st_mtime, file.stat().st_size, file) for file in folder.iterdir()),
        reverse=True,
    )
    total = 0
    for _, size, file in files:
        total += size
        if total > KEPT_BYTES:
            file.unlink(missing_ok=True)
