"""The explorer on a real socket, in a thread of the test."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from tutelage.explorer.limits import Limits
from tutelage.explorer.server import Explorer
from tutelage.explorer.serving import listen, server_of

PATIENCE = 60.0  # seconds, on a machine that does other things


@contextmanager
def serving(slots: int, limits: Limits | None = None) -> Iterator[tuple[Explorer, str]]:
    explorer = Explorer(slots=slots, limits=limits)
    server, taken = server_of(explorer), listen("127.0.0.1", 0)
    thread = threading.Thread(target=server.run, kwargs={"sockets": [taken]})
    thread.start()
    try:
        wait(lambda: server.started)
        yield explorer, f"http://127.0.0.1:{taken.getsockname()[1]}"
    finally:
        server.should_exit = True
        thread.join(PATIENCE)
        taken.close()
        assert not thread.is_alive()


def wait(done: Callable[[], bool]) -> None:
    end = time.monotonic() + PATIENCE
    while not done():
        assert time.monotonic() < end
        time.sleep(0.01)
