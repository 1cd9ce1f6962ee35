"""A process that is killed at its n-th change to the file system.

A child is forked for every point of death: before each folder made, file opened, rename and
removal, and before and in the middle of each write to a file. What it does must touch neither JAX
nor its threads.
"""

import builtins
import io
import os
import signal
import sys
import warnings

CHANGES = {
    "os.mkdir",
    "os.rename",
    "os.remove",
    "os.rmdir",
    "os.link",
    "os.symlink",
    "os.chmod",
    "os.truncate",
    "os.utime",
}


class Death:
    """Kills this process at its n-th change to the file system; a write to a file is two, so that
    half of it may be there.
    """

    def __init__(self, point):
        self.left = point

    def tick(self):
        if self.left == 0:
            os.kill(os.getpid(), signal.SIGKILL)
        self.left -= 1

    def arm(self):
        sys.addaudithook(self._see)  # of the child alone, which ends with it
        real = builtins.open

        def opening(file, mode="r", *args, **options):
            handle = real(file, mode, *args, **options)
            return Dying(handle, self) if set(mode) & set("wax+") else handle

        builtins.open = io.open = opening

    def _see(self, event, args):
        if event in CHANGES or (
            event == "open" and args[2] & (os.O_WRONLY | os.O_RDWR | os.O_CREAT)
        ):
            self.tick()


class Dying:
    """A file whose process may die in the middle of a write."""

    def __init__(self, handle, death):
        self.handle, self.death = handle, death

    def write(self, data):
        self.death.tick()
        half = len(data) // 2
        self.handle.write(data[:half])
        self.handle.flush()
        self.death.tick()
        return half + self.handle.write(data[half:])

    def __enter__(self):
        return self

    def __exit__(self, *error):
        self.handle.close()

    def __getattr__(self, name):
        return getattr(self.handle, name)


def dies(act, point):
    """Whether a child that does `act` was killed at this point; False once there are no more
    points.
    """
    with warnings.catch_warnings():
        warnings.simplefilter(
            "ignore"
        )  # JAX and Python warn of forks beside threads, of which the child uses none
        child = os.fork()
    if child == 0:
        try:
            Death(point).arm()
            act()
            os._exit(0)
        except BaseException:
            os._exit(1)
    status = os.waitpid(child, 0)[1]
    assert status in (0, signal.SIGKILL), "the child erred"
    return status == signal.SIGKILL
