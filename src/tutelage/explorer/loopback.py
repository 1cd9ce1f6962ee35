"""Addresses that only this machine reaches."""

from __future__ import annotations

import ipaddress

LOOPBACK = ("127.0.0.1", "localhost", "::1")


def is_loopback(name: str) -> bool:
    """Whether a name or number is this machine's own, whoever asks: 127.0.0.2 is, too."""
    if name in LOOPBACK:
        return True
    try:
        return ipaddress.ip_address(name).is_loopback
    except ValueError:
        return False
