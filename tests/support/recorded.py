"""A whole `study.json`, made without running a study."""

from __future__ import annotations

from typing import Any

from tutelage.studies.record import FORMAT


def a_record(name: str, *identities: str) -> dict[str, Any]:
    """The record of a study with one case, whose runs have these identities."""
    words = ("sentence", "statement", "equation", "source", "checked_in", "preset", "command")
    runs = [
        {"identity": identity, "seed": 0, "steps": 100, "outcome": "FINISHED"}
        for identity in identities
    ]
    case = {"name": "one", "label": "One", "control": "", "setting": "", "runs": runs}
    return {
        "format": FORMAT,
        "name": name,
        **dict.fromkeys(words, "said"),
        "choices": [],
        "made": {},
        "cases": [case],
    }
