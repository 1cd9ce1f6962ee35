"""One number per replicate: the interval of its mean, by time-uniform confidence limits."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from jaxtyping import Float
from scipy.special import chdtri

from tutelage.claims.chance import (
    ERROR,
    MOST_SEEDS,
    are_one_run,
    confidence_limits,
    evidence_against_above,
    evidence_against_below,
    log_yes_or_no,
    seeds_needed,
    yes_or_no_limits,
)
from tutelage.refuse import Refused

SCALES = ("either", "linear", "log", "unit")


@dataclass(frozen=True)
class Mean:
    """The mean of one number per replicate, with its limits.

    On the scale "log" it is the geometric mean, with limits from logarithms. "either" is the mean,
    with the hull of its limits for normal and, where all numbers are positive, for lognormal ones:
    a few skewed numbers say less about their mean than their own spread suggests. Where all are 0
    or 1 it is a share, with exact limits: answers that are all alike still have chance in them.
    "unit" is the mean of numbers between 0 and 1, with the limits of a share: they are right for
    every law of such numbers, however skewed.
    """

    values: Float[np.ndarray, "replicates"]
    scale: str
    certain: bool = False  # whether there is no chance in it

    def __post_init__(self) -> None:
        if self.scale == "log" and (self.values <= 0).any():
            raise Refused(
                "Numbers on a logarithmic scale must be positive. Got "
                f"{float(self.values.min()):.6g}."
            )
        if self.scale == "unit" and not ((self.values >= 0) & (self.values <= 1)).all():
            raise Refused(
                'Numbers on the scale "unit" must lie between 0 and 1. Got numbers from '
                f"{float(self.values.min()):.6g} to {float(self.values.max()):.6g}."
            )

    @property
    def value(self) -> float:
        if self.scale == "log":
            return float(np.exp(np.log(self.values).mean()))
        return float(self.values.mean())

    @property
    def without_chance(self) -> bool:
        """Whether it is said to be certain, or is one run to rounding, made more than once."""
        if self.certain or len(self.values) < 2:
            return self.certain
        return are_one_run(self.values) and not self.is_share

    @property
    def is_share(self) -> bool:
        """Whether its limits are those of a share: each replicate only says yes or no, by 1 or 0,
        or something in between.
        """
        if self.scale == "unit":
            return True
        return self.scale == "either" and bool(np.isin(self.values, (0.0, 1.0)).all())

    @property
    def decides_nothing(self) -> bool:
        return len(self.values) == 1 and not self.certain

    @property
    def spread(self) -> tuple[float, float] | None:
        """The limits of chance; None where there is none, or where one replicate tells nothing."""
        if self.without_chance or len(self.values) < 2:
            return None
        if self.is_share:
            return yes_or_no_limits(float(self.values.sum()), len(self.values))
        found = [self._limits(logs) for logs in self._scales]
        return min(low for low, _ in found), max(high for _, high in found)

    @property
    def interval(self) -> tuple[float, float]:
        """Those limits, or all that was seen."""
        return self.spread or (float(self.values.min()), float(self.values.max()))

    @property
    def _scales(self) -> list[bool]:
        """The scales of the limits; True is the logarithmic one."""
        if self.scale == "either":
            return [False, True] if (self.values > 0).all() else [False]
        return [self.scale == "log"]

    def _limits(self, logs: bool) -> tuple[float, float]:
        low, high = confidence_limits(np.log(self.values) if logs else self.values, with_mean=True)
        if not logs:
            return float(low), float(high)
        return float(np.exp(low)), float(np.exp(min(float(high) + self._above, 700.0)))

    @property
    def _above(self) -> float:
        """By how much the logarithm of a lognormal mean, m + σ²/2, may be above m; 0 of a geometric
        mean.
        """
        if self.scale == "log":
            return 0.0
        freedom = len(self.values) - 1
        variance = float(np.log(self.values).var(ddof=1))
        return 0.5 * variance * freedom / float(chdtri(freedom, 1 - ERROR / 2))

    def evidence(self, least: float, most: float, holds: bool) -> float | None:
        """The e-value of a verdict that the mean is within [least, most], or outside."""
        if self.spread is None:
            return None
        if self.is_share:
            return self._share_evidence(least, most, holds)
        return min(self._evidence(logs, least, most, holds) for logs in self._scales)

    def _evidence(self, logs: bool, least: float, most: float, holds: bool) -> float:
        with np.errstate(divide="ignore", invalid="ignore"):
            values = np.log(self.values) if logs else self.values
            low, high = (
                (np.log(max(end, 0.0)) if logs else end) for end in (float(least), float(most))
            )
            # A lognormal mean of at least `most` may have an m that is lower by so much.
            high = high - self._above if logs and holds else high
            low = low - self._above if logs and not holds else low
        if holds:
            above = evidence_against_above(values, high) if np.isfinite(high) else np.inf
            below = evidence_against_below(values, low) if np.isfinite(low) else np.inf
            return min(above, below)
        # The infimum over the allowed means is at the one that is nearest to the sample's.
        nearest = float(np.clip(values.mean(), low, high))
        if nearest >= values.mean():
            return evidence_against_above(values, nearest)
        return evidence_against_below(values, nearest)

    def _share_evidence(self, least: float, most: float, holds: bool) -> float:
        """The infimum of the martingale over the shares that contradict the verdict."""
        yes, runs = float(self.values.sum()), len(self.values)
        if not holds:
            contradict = [float(np.clip(yes / runs, max(least, 0.0), min(most, 1.0)))]
        else:
            contradict = [end for end in (least, most) if 0.0 < end < 1.0]
        logs = [log_yes_or_no(yes, runs, share) for share in contradict]
        return float(np.exp(min([*logs, 600.0])))

    def would_decide(self, least: float, most: float) -> str:
        """How many replicates would decide whether the mean is within [least, most], if it is where
        it seems to be.
        """
        if len(self.values) < 2:
            return "more replicates would decide"
        needed: list[int | None] = []
        for logs in self._scales:
            with np.errstate(divide="ignore"):
                values = np.log(self.values) if logs else self.values
                low, high = (np.log(max(e, 0.0)) if logs else e for e in (least, most))
            mean = float(values.mean())
            room = max(min(mean - low, high - mean), low - mean, mean - high)
            spread = float(values.std(ddof=1))
            if self.is_share:
                likely = (values.sum() + 0.5) / (len(values) + 1)
                spread = float(np.sqrt(likely * (1 - likely)))
            needed.append(seeds_needed(spread, room) if room > 0 else None)
        if None in needed:
            return f"more than {MOST_SEEDS} replicates would be needed to decide"
        seeds = max(*(s for s in needed if s is not None), len(self.values) + 1)
        return f"about {seeds} replicates would decide"
