"""The labels of a verdict, which say nothing of its status: how the evidence came about, whose
claim it is, and how much of its source was read.
"""

from __future__ import annotations

import enum


class Evidence(enum.Enum):
    """How the claim and its evidence came about; the value is the word that readers see."""

    REGISTERED = "registered"  # the claim stood in the ledger before its evidence existed
    EXPLORATORY = "exploratory"  # something like its evidence was seen before the claim was made
    DERIVED = "derived"  # an exact identity, which evidence can only confirm to rounding


class ClaimedBy(enum.Enum):
    """Whose claim it is."""

    PAPER = "paper"  # the paper states it
    SHARPER = "sharper"  # it implies what the paper states, and says more
    BEYOND = "beyond"  # the paper says nothing of it

    @property
    def heading(self) -> str:
        """How a table of such claims is headed."""
        return {
            ClaimedBy.PAPER: "Claimed by the paper",
            ClaimedBy.SHARPER: "Sharper than the paper",
            ClaimedBy.BEYOND: "Beyond the paper",
        }[self]


class SourceText(enum.Enum):
    """How much of the text that states the claim was read."""

    READ = "read"
    PARTLY_READ = "partly read"
    RECONSTRUCTED = "reconstructed"
