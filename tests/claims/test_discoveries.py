"""The verdicts of a report, taken together."""

from dataclasses import replace

import numpy as np

from tutelage.claims import Number, Status, check
from tutelage.claims.discoveries import find_discoveries
from tutelage.run import Outcome, Run

RUN = Run(np.array([1]), {"x": np.ones(1)}, None, Outcome.FINISHED)


def verdict_of(name, e_value, status=Status.HOLDS, control=""):
    made = check(Number(lambda runs: [1.0], 1.0, "it", 0.1, certain=True, id=name), RUN)
    return replace(made, e_value=e_value, status=status, control=control)


def test_weak_verdicts_among_many_are_not_kept_and_are_marked():
    given = [verdict_of(f"a/{k}", 25.0) for k in range(3)] + [verdict_of("a/strong", 1e6)]
    found = find_discoveries(given)  # 25 < 4/(0.05·4) = 20 fails only below 20
    assert len(found.kept) == 4
    weak = [*given, verdict_of("a/weak", 12.0)]
    found = find_discoveries(weak)
    assert found.dropped == {"a/weak"}
    assert found.mark(weak[-1]) == "not kept"
    assert found.mark(weak[0]) == ""
    assert "at most 5%" in found.sentence
    assert "not kept: a/weak." in found.sentence


def test_only_decided_claims_with_chance_count():
    given = [
        verdict_of("exact", None),
        verdict_of("open", 30.0, Status.UNDECIDED),
        verdict_of("control", 30.0, Status.FAILS, "K < D"),
    ]
    found = find_discoveries(given)
    assert not found.kept | found.dropped
    assert found.sentence == ""
