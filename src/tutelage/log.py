"""Where the library says what a person should know: the logger "tutelage".

Nothing is printed unless the program that uses the library asks for it, as the command line does.
"""

from __future__ import annotations

import logging

LOG = logging.getLogger("tutelage")
LOG.addHandler(logging.NullHandler())
