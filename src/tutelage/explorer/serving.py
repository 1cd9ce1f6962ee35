"""Brings the explorer up on an address and takes it down again."""

from __future__ import annotations

import gc
import os
import secrets
import socket
import sys
import threading
import webbrowser
from collections.abc import Callable
from contextlib import suppress

import uvicorn

from tutelage.explorer.limits import Limits
from tutelage.explorer.loopback import is_loopback
from tutelage.explorer.server import Explorer
from tutelage.refuse import Refused

WIDE = (
    "tutelage: {host} is not loopback: everyone who has the address below, with its token, can "
    "start runs and save them here. It is sent unencrypted."
)
TOKEN_BYTES = 16
MOST_CONNECTIONS = 256  # at once; a page has one, and one more for each run


class Server(uvicorn.Server):
    """Ends all runs before it waits for their connections."""

    explorer: Explorer

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        self.explorer.close()
        await super().shutdown(sockets)


def server_of(explorer: Explorer) -> Server:
    config = uvicorn.Config(
        explorer.app(),
        http="h11",
        ws="none",
        lifespan="off",
        log_level="warning",
        access_log=False,
        server_header=False,
        timeout_graceful_shutdown=2,
        limit_concurrency=MOST_CONNECTIONS,
        h11_max_incomplete_event_size=2**20,  # a matrix given by hand may stand in the address
    )
    server = Server(config)
    server.explorer = explorer
    return server


def listen(host: str, port: int) -> socket.socket:
    """A socket that listens there; refused where it cannot."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    taken = socket.socket(family, socket.SOCK_STREAM)
    taken.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        taken.bind((host, port))
        taken.listen(64)
    except (OSError, OverflowError) as error:
        taken.close()
        raise Refused(
            "`--host` and `--port` must be an address that is free here; --port 0 takes any. "
            f"Got {host}:{port}: {error}."
        ) from None
    return taken


def serve(
    host: str,
    port: int,
    store: str,
    limits: Limits,
    *,
    browser: bool,
    prepare: Callable[[], None] = lambda: None,
) -> int:
    """Serves until Ctrl-C. The page is there at once; `prepare`, JAX and the first program come in
    a thread meanwhile.
    """
    taken = listen(host, port)
    token = "" if is_loopback(host) else secrets.token_urlsafe(TOKEN_BYTES)
    try:
        explorer = Explorer(host=host, store=store, limits=limits, token=token)
    except Refused:
        taken.close()
        raise
    shown = "127.0.0.1" if host in ("0.0.0.0", "") else host
    address = f"http://{f'[{shown}]' if ':' in shown else shown}:{taken.getsockname()[1]}/"
    if token:
        address += f"?token={token}"
        print(WIDE.format(host=host), file=sys.stderr)
    print(f"tutelage: the explorer is at {address} (Ctrl-C ends it)", flush=True)

    def ready() -> None:
        try:
            prepare()
        except Refused as refused:
            print(f"tutelage: {refused}", file=sys.stderr)
        explorer.warm()

    # Programs are kept by the hundred, and each collection walks over all that they are made of.
    gc.set_threshold(100_000, 50, 100)
    explorer.start(ready)
    if browser:
        threading.Thread(target=webbrowser.open, args=(address,), daemon=True).start()
    with suppress(KeyboardInterrupt):  # uvicorn raises the signal again once it has shut down
        server_of(explorer).run(sockets=[taken])
    print("tutelage: the explorer has ended.", file=sys.stderr, flush=True)
    if explorer.busy:
        # A program that compiles cannot be stopped, and an interpreter that is taken down under it
        # aborts. Nothing is left to write.
        sys.stdout.flush()
        os._exit(0)
    return 0
