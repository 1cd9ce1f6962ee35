"""Who holds a lease: a process of a machine, as the lease's text names it."""

from __future__ import annotations

import os
import socket
from dataclasses import dataclass
from functools import cache


@dataclass(frozen=True)
class Owner:
    """Host, process, a random word, and where the number of the process counts.

    Two machines may have one name, and two containers of one machine have processes of their own.
    So a process is only looked for where `realm` is this one's. The oldest leases name none.
    """

    host: str = ""
    pid: int = 0  # 0 where the text names none
    word: str = ""
    realm: str = ""

    @classmethod
    def of_this_process(cls, word: str) -> Owner:
        return cls(socket.gethostname(), os.getpid(), word, _find_realm())

    @classmethod
    def read(cls, text: str) -> Owner:
        """The owner that a lease names; one without a process where it names none."""
        host, pid, word, realm = [*text.split(), "", "", "", ""][:4]
        if not (pid.isascii() and pid.isdigit() and len(pid) < 10):
            return cls()
        return cls(host, int(pid), word, realm)

    def __str__(self) -> str:
        return f"{self.host} {self.pid} {self.word} {self.realm}".rstrip()

    @property
    def sentence(self) -> str:
        return f"process {self.pid} on {self.host}" if self.pid else "a client without a name"

    @property
    def is_gone(self) -> bool:
        """Whether it was a process of this machine, and is no more."""
        here = self.host == socket.gethostname() and self.realm in ("", _find_realm())
        if not here or self.pid <= 0 or os.name != "posix":
            return False
        try:
            os.kill(self.pid, 0)
        except ProcessLookupError:
            return True
        except OSError:  # it is another user's
            pass
        return False


@cache
def _find_realm() -> str:
    """This boot of this machine and this space of process numbers; "" where neither is told."""
    try:
        with open("/proc/sys/kernel/random/boot_id") as file:
            boot = file.read().strip()
        return f"{boot}/{os.stat('/proc/self/ns/pid').st_ino}"
    except OSError:
        return ""
