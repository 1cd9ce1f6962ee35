"""A verdict whose interval is open on one side reaches the page as JSON."""

import json
import math

from tutelage.claims import Status, Verdict
from tutelage.explorer.reading import plain_verdict


def test_infinite_ends_are_null_in_what_the_page_gets():
    verdict = Verdict(
        id="a/b/c/d",
        statement="",
        source="",
        predicted=-1.0,
        measured=-0.9,
        interval=(-math.inf, 1.0),
        tolerance=0.1,
        status=Status.UNDECIDED,
        sentence="",
        e_value=math.inf,
    )
    sent = json.loads(json.dumps(plain_verdict(verdict.plain()), allow_nan=False))
    assert sent["interval"] == [None, 1.0]
    assert sent["e_value"] is None
