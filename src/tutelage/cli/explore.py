"""`explore`: a page in the browser that turns the knobs."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from cyclopts import Parameter

from tutelage.cli.options import Imports, StorePlace
from tutelage.refuse import Refused, positive, whole

if TYPE_CHECKING:
    from tutelage.explorer.limits import Limits

MISSING = "`tutelage explore` needs starlette and uvicorn: pip install 'tutelage[explore]'."


def explore(
    *,
    port: int = 0,
    host: str = "127.0.0.1",
    store: StorePlace = "out",
    open: Annotated[bool, Parameter(name="--open", negative="--no-open")] = True,
    seconds: float = 120.0,
    tokens: int = 256,
    export: Path | None = None,
    imports: Imports = (),
) -> int:
    """Open a page in the browser, served from this machine, to choose a setting, run it and watch
    it learn. Ctrl-C ends it.

    The stored runs can be browsed, and runs that you save go there.

    Parameters
    ----------
    port
        The port to listen on; 0 takes a free one.
    host
        The address to listen on. With any other than loopback, others on the network can start runs
        here.
    open
        Open the page in the browser.
    seconds
        How long one run may take.
    tokens
        How many tokens a run may have.
    export
        Write the page into this folder instead of serving it: one file that works from disk and on
        any web host. It has the prepared states and the runs of --store, and runs gradient descent
        on the exact risk in the browser. The folder must be new, empty or an earlier export.
    """
    try:
        import uvicorn  # noqa: F401
        from starlette import applications  # noqa: F401
    except ImportError:
        raise Refused(MISSING) from None
    from tutelage.cli.programs import keep_programs
    from tutelage.explorer.limits import Limits
    from tutelage.explorer.serving import serve
    from tutelage.plugins import import_all

    import_all(imports)  # here, on the command line: a link to the page can never name a file
    limits = Limits(
        tokens=whole("tokens", tokens, least=1, reason="a run has at least one"),
        seconds=positive("seconds", seconds, reason="a run takes some time"),
    )
    if export is not None:
        return _export(export, store, limits)
    whole("port", port, least=0, reason="it is the number of a TCP port")
    return serve(host, port, store, limits, browser=open, prepare=keep_programs)


def _export(folder: Path, store: str, limits: Limits) -> int:
    import sys

    from tutelage.cli.programs import keep_programs
    from tutelage.explorer.exporting import check_folder, export
    from tutelage.explorer.site import find_site

    check_folder(folder)
    keep_programs()
    page = export(
        folder,
        store,
        find_site(),
        limits,
        tell=lambda words: print(f"tutelage: {words}", file=sys.stderr),
    )
    size = page.stat().st_size / 1e6
    print(f"tutelage: the exported page is {page} ({size:.1f} MB); open it in a browser.")
    return 0
