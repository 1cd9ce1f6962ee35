"""How long something takes, in words."""

from __future__ import annotations

MINUTES_FROM = 90  # seconds
HOURS_FROM = 5400


def say_seconds(seconds: float) -> str:
    """ "40 s", "12 min", "5.6 h", "42 h"."""
    if seconds < MINUTES_FROM:
        return f"{seconds:.0f} s"
    if seconds < HOURS_FROM:
        return f"{seconds / 60:.0f} min"
    hours = seconds / 3600
    return f"{hours:.1f} h" if hours < 10 else f"{hours:,.0f} h"
