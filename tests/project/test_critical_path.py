"""The longest chain of `make reproduce`, on parts of known length."""

import pytest
from tools.critical_path import Part, plan_parts, schedule_parts

from tutelage.studies.discovery import reproduced_names

PARTS = [Part("a", 5.0), Part("b", 4.0), Part("c", 3.0), Part("d", 3.0)]


@pytest.mark.parametrize(
    ("cores", "seconds", "chain"),
    [(1, 15.0, "abcd"), (2, 8.0, "ad"), (4, 5.0, "a"), (9, 5.0, "a")],
)
def test_the_last_process_to_end_is_the_chain(cores, seconds, chain):
    found = schedule_parts(PARTS, cores)
    assert found.seconds == seconds
    assert "".join(part.name for part in found.chain) == chain


def test_measured_seconds_take_the_place_of_expected_ones():
    """A study in parts has its seconds once."""
    measured = dict.fromkeys(reproduced_names(), 1.0)
    longest = reproduced_names()[0]
    parts = plan_parts(8, measured | {longest: 100.0})
    of_longest = [part.seconds for part in parts if part.name.startswith(longest)]
    assert sum(of_longest) == pytest.approx(100.0)
    studies = {part.name.partition(",")[0] for part in parts}  # images need more than an install
    assert sum(part.seconds for part in parts) == pytest.approx(99.0 + len(studies))
