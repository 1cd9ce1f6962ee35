"""How large, long and slow a run of the explorer may be; the command line has no such bounds."""

from __future__ import annotations

from dataclasses import dataclass

from tutelage.refuse import Refused
from tutelage.settings import KINDS, Setting

STEPS = 10_000_000
BYTES = 2**25  # of a sample, or of all the attention matrices of a run; dozens of either are kept
MOST = {  # of an option that is a size; `tokens` bounds D and Q
    "outputs": 64, "dim": 64, "hidden": 256, "size": 512, "heads": 2048, "batch": 2000, "samples": 20_000, "held_out": 20_000,
    "validation": 20_000, "pool": 8192, "anchors": 256, "channels": 64, "lag": 256,
}  # fmt: skip


@dataclass(frozen=True)
class Limits:
    """What one visitor's run may ask for."""

    tokens: int = 256
    steps: int = STEPS
    seconds: float = 120.0
    bytes: int = BYTES

    def check(self, setting: Setting) -> None:
        """Refuses a setting that is too large, before anything is built."""
        most = {**MOST, "tokens": self.tokens, "queries": self.tokens}
        sizes = {}
        for kind in KINDS:
            for name, value in getattr(setting, kind).options.items():
                if hasattr(value, "shape"):
                    if max(value.shape, default=0) > self.tokens:
                        self._refuse(
                            f"a matrix `{name}` of at most {self.tokens} rows and columns",
                            f"shape {value.shape}",
                        )
                elif (
                    name in most and isinstance(value, int | float) and not isinstance(value, bool)
                ):
                    sizes[name] = value
                    if value > most[name]:
                        self._refuse(f"`{name}` up to {most[name]:,}", f"{name}={value!r}")
        if isinstance(setting.steps, int | float) and setting.steps > self.steps:
            self._refuse(f"`steps` up to {self.steps:,}", f"steps={setting.steps!r}")
        drawn = max(
            sizes.get("samples", 0),
            sizes.get("held_out", 0),
            sizes.get("validation", 0),
            sizes.get("batch", 0),
        )
        needed = (
            8
            * drawn
            * sizes.get("tokens", sizes.get("lag", 0) + 1)
            * max(sizes.get("dim", 8), sizes.get("channels", 8))
        )
        if needed > self.bytes:
            self._refuse(
                f"samples of up to {self.bytes // 2**20} MB", f"one of {needed / 2**20:.0f} MB"
            )

    def _refuse(self, rule: str, got: str) -> None:
        raise Refused(
            f"The explorer takes {rule}, since one run must leave room for others; the command "
            f"line takes more. Got {got}."
        )
