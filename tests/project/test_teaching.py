"""docs/teaching.md: its states run in the explorer, and show what the plan says about them."""

import re
from pathlib import Path

import pytest

import tutelage as tt

pytest.importorskip("starlette", reason="the states are those of the explorer")

from tutelage.explorer.site import find_site
from tutelage.explorer.states import setting_of
from tutelage.run import Outcome

PAGE = (Path(__file__).parents[2] / "docs" / "teaching.md").read_text(encoding="utf-8")
STATES = re.findall(r"`/\?([^`]+)`", PAGE)
# What the rows of the plan say, in their order: how the run ends, and some of its verdicts.
SHOWN = (
    (Outcome.FINISHED, {"excess-rate": "HOLDS", "excess-constant": "HOLDS"}),
    (Outcome.CONVERGED, {}),
    (Outcome.FINISHED, {"excess-constant": "HOLDS"}),
    (Outcome.FINISHED, {"excess-constant": "FAILS", "excess-rate": "OUTSIDE"}),
    (Outcome.FINISHED, {}),
)


def test_every_state_is_one_of_the_explorer():
    assert len(STATES) == len(SHOWN)
    for query in STATES:
        assert setting_of(query).seed == 0


@pytest.mark.docs
@pytest.mark.parametrize(("query", "shown"), [*zip(STATES, SHOWN, strict=True)])
def test_a_state_shows_what_the_plan_says(query, shown):
    outcome, expected = shown
    setting = setting_of(query)
    (run,) = tt.execute([setting])
    assert run.outcome is outcome
    found = find_site().pages[0].page.reading(setting).verdicts(run)
    statuses = {verdict.id.rsplit("/", 1)[1]: verdict.status.value for verdict in found}
    assert {name: statuses[name] for name in expected} == expected
