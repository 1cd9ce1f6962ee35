"""`explore`: a page in the browser that turns the knobs."""

from __future__ import annotations

from typing import Annotated

from cyclopts import Parameter

from tutelage.cli.options import Imports
from tutelage.refuse import Refused, positive, whole

MISSING = "`tutelage explore` needs starlette and uvicorn: pip install 'tutelage[explore]'."


def explore(
    *,
    port: int = 0,
    host: str = "127.0.0.1",
    store: str = "out",
    open: Annotated[bool, Parameter(name="--open", negative="--no-open")] = True,
    seconds: float = 120.0,
    tokens: int = 256,
    imports: Imports = (),
) -> int:
    """Serve a page on this machine that chooses a setting, runs it and shows it learn; opens the
    browser. Ctrl-C ends it.

    Parameters
    ----------
    port
        The port to listen on; 0 takes a free one.
    host
        The address to listen on. Others than loopback let everyone on the network compute here.
    store
        The folder whose runs can be browsed, and into which runs are saved.
    open
        Open the page in the browser.
    seconds
        How long one run may take.
    tokens
        How many tokens a run may have.
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
    whole("port", port, least=0, reason="it numbers a place to listen on")
    return serve(host, port, store, limits, browser=open, prepare=keep_programs)
