"""Where the library says what a person should know: the logger "tutelage".

Nothing is printed unless the program that uses the library asks for it, as the command line does;
but for what a person waits for, at a terminal or in a notebook.
"""

from __future__ import annotations

import logging
import sys

LOG = logging.getLogger("tutelage")
LOG.addHandler(logging.NullHandler())


def tell_wait(sentence: str) -> None:
    """Says before it starts that something takes long: to the logger and, where nobody listens to
    that, to who sits at a terminal or a notebook.
    """
    LOG.warning(sentence)
    own = [handler for handler in LOG.handlers if not isinstance(handler, logging.NullHandler)]
    if own or logging.getLogger().handlers or not (sys.stderr.isatty() or _in_notebook()):
        return
    print(f"tutelage: {sentence}", file=sys.stderr)


def _in_notebook() -> bool:
    from tutelage.notebook import in_notebook

    return in_notebook()
