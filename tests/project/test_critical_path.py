"""The longest chain of `make reproduce`, on parts of known length."""

import pytest
from tools.critical_path import Part, schedule_parts

PARTS = [Part("a", 5.0), Part("b", 4.0), Part("c", 3.0), Part("d", 3.0)]


@pytest.mark.parametrize(
    ("cores", "seconds", "chain"),
    [(1, 15.0, "abcd"), (2, 8.0, "ad"), (4, 5.0, "a"), (9, 5.0, "a")],
)
def test_the_last_process_to_end_is_the_chain(cores, seconds, chain):
    found = schedule_parts(PARTS, cores)
    assert found.seconds == seconds
    assert "".join(part.name for part in found.chain) == chain
