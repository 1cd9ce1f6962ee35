"""`--import`: files and modules of the user's, imported before a command looks for a name."""

from __future__ import annotations

from collections.abc import Sequence

from tutelage.plugins import describe_error, import_all
from tutelage.refuse import Refused


def import_files(names: Sequence[str]) -> None:
    """Imports what `--import` names; a file that cannot be imported is refused in one sentence."""
    for name in names:
        try:
            import_all([name])
        except Refused:
            raise
        except Exception as error:
            raise Refused(
                f"`--import` takes a Python file or a module that can be imported. Got {name!r}: "
                f"{describe_error(error)}."
            ) from error
