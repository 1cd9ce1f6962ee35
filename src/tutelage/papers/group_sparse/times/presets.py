"""The sizes at which waits and large steps are read."""

from __future__ import annotations

from dataclasses import dataclass

from tutelage.papers.group_sparse.setup import GroupPreset


@dataclass(frozen=True, kw_only=True)
class TimesPreset(GroupPreset):
    """Beside D: those at which asymptotics in D are read, and risks to come to."""

    many: tuple[int, ...]
    most: tuple[int, ...]
    large: tuple[int, ...]  # D of large steps
    target: float
    targets: tuple[float, ...]


PRESETS = {
    "quick": TimesPreset(
        seconds=40.0,
        groups=(5, 10, 20, 40, 80),
        many=(2000, 4000, 8000, 16000),
        most=(16000, 64000),
        large=(1000, 2000, 4000, 8000, 16000),
        target=0.003,
        targets=(1e-2, 3e-3, 1e-3, 3e-4),
    ),
    "confirm": TimesPreset(
        seconds=40.0,
        groups=(6, 12, 24, 48, 72),
        many=(3000, 6000, 12000, 24000),
        most=(24000, 48000),
        large=(1500, 3000, 6000, 12000, 24000),
        target=0.0025,
        targets=(8e-3, 2e-3, 5e-4, 2e-4),
    ),
    "paper": TimesPreset(
        seconds=120.0,
        groups=(4, 8, 16, 32, 64, 128),
        many=(4000, 16000, 64000, 256000),
        most=(64000, 256000),
        large=(1000, 4000, 16000, 64000),
        target=0.001,
        targets=(1e-2, 1e-3, 1e-4, 1e-5),
    ),
}
