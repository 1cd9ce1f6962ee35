"""What the library says, on standard error: one line per message, `tutelage: …`."""

from __future__ import annotations

import logging
import sys

from tutelage.log import LOG


class _Messages(logging.Handler):
    """Prints to what is standard error at that moment."""

    def emit(self, record: logging.LogRecord) -> None:
        print(f"tutelage: {record.getMessage()}", file=sys.stderr)


def install_messages() -> None:
    """Has messages printed from now on; a second call changes nothing."""
    if not any(isinstance(handler, _Messages) for handler in LOG.handlers):
        LOG.addHandler(_Messages())
