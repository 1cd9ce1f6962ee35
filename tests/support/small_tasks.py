"""Tasks for processes that take a moment; each is given plain data, and may tell some."""

import os
import signal
import time
from pathlib import Path

from tutelage.log import LOG
from tutelage.refuse import Refused


def answer(given, tell):
    """What it was given, with the threads and the process that it ran in."""
    print("this is no answer")  # on standard output, where answers go
    tell({"half": given["number"]})
    LOG.warning("number %s is odd", given["number"])
    return {"number": given["number"], "pool": os.environ.get("NPROC"), "process": os.getpid()}


def err(given, tell):
    raise ValueError("no ink")


def refuse(given, tell):
    raise Refused("`number` must be odd. Got number=2.")


def die(given, tell):
    os.kill(os.getpid(), signal.SIGKILL)


def wait_for_the_end(given, tell):
    """Says where it is, then waits; leaves a note when it is stopped."""
    folder = Path(given["folder"])
    try:
        (folder / "process").write_text(str(os.getpid()))
        tell("begun")
        time.sleep(60)
    finally:
        (folder / "saved").write_text("what was under way")
