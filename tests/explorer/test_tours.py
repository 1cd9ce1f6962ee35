"""Tours: every stop can be built, and what its sentence says is true of its run. The runs
themselves are `depth`; that a stop is a state of its page is quick.
"""

from __future__ import annotations

import numpy as np
import pytest

import tutelage as tt
from tutelage.explorer.catalogue import prepared_query
from tutelage.explorer.site import find_site
from tutelage.explorer.states import read_state
from tutelage.refuse import Refused
from tutelage.run import Outcome, Run
from tutelage.studies.pages import Page, fit_slope
from tutelage.studies.tours import Stop

SITE = find_site()
STOPS = [
    pytest.param(placed, stop, id=f"{placed.page.name}-{place}")
    for placed in SITE.pages
    for place, stop in enumerate(placed.page.tour, 1)
]


def test_every_paper_has_a_tour_whose_stops_are_states_of_its_page():
    for placed in SITE.pages:
        if not placed.paper:
            continue
        assert placed.page.theorem
        assert len(placed.page.tour) >= 5, placed.page.name
        for stop in placed.page.tour:
            for query in (prepared_query(stop), *stop.also):
                state = read_state(f"{query}&page={placed.page.name}", SITE)
                assert state.placed == placed
            state = read_state(prepared_query(stop), SITE)
            wanted = {*stop.last, *([stop.show.partition(".")[0]] if stop.show else [])}
            assert wanted <= set(state.setting.measures), stop.name


@pytest.mark.depth
@pytest.mark.parametrize(("placed", "stop"), STOPS)
def test_what_a_stop_says_is_true_of_its_run(placed, stop):
    setting = read_state(f"{stop.query}&page={placed.page.name}", SITE).setting
    (run,) = tt.execute([setting], threads=1)
    reading = placed.page.reading(setting)
    assert list(stop.find_untrue(run, reading.verdicts(run))) == []
    if stop.axis == "plateau":
        assert reading.plateau() is not None
    if stop.view == "ratio":
        shown = stop.show or "excess_risk"
        assert shown in {line.curve for line in reading.predicted()}


def test_an_untrue_stop_is_found():
    stop = Stop("one", "It ends at 2.", "Look.", "", last={"loss": (1.9, 2.1)})
    run = Run(np.array([0, 1]), {"loss": np.array([1.0, 2.0])}, None, Outcome.FINISHED)
    assert list(stop.find_untrue(run, [])) == []
    high = Run(np.array([0, 1]), {"loss": np.array([1.0, 3.0])}, None, Outcome.FINISHED)
    assert list(stop.find_untrue(high, [])) == ["one: loss ends at 3, not in [1.9, 2.1]"]
    judged = Stop("two", "It HOLDS.", "Look.", "", verdicts={"rate": "HOLDS"})
    assert list(judged.find_untrue(run, [])) == ["two: rate is None, not HOLDS"]


def test_a_tour_that_says_nothing_or_is_too_short_is_refused():
    with pytest.raises(Refused, match="names a verdict or a last value"):
        Stop("one", "Look.", "Try.", "")
    stop = Stop("one", "Look.", "Try.", "", last={"loss": (0, 1)})
    with pytest.raises(Refused, match="5 to 8 stops"):
        Page("short", "Short", ("convolution",), tour=(stop,))
    with pytest.raises(Refused, match="a name of its own"):
        Page("same", "Same", ("convolution",), tour=(stop,) * 5)


def test_a_slope_is_fitted_to_a_power_law_only():
    steps = np.unique(np.logspace(2, 4, 30).astype(int))
    slope, level = fit_slope(steps, 7.0 * steps**-1.5)
    assert slope == pytest.approx(-1.5, abs=1e-12)
    assert np.exp(level) == pytest.approx(7.0, rel=1e-10)
    wiggle = np.exp(0.02 * np.sin(np.arange(len(steps))))
    assert fit_slope(steps, steps**-1.0 * wiggle) is not None
    assert fit_slope(steps, np.exp(-steps / 300)) is None  # an exponential
    late = np.unique(np.logspace(3.88, 3.95, 6).astype(int))  # a narrow window
    assert fit_slope(late, np.exp(-late / 200)) is None
    assert fit_slope(late, late**-1.0) is not None
    floor = 1 + 0.3 * np.sin(3.0 * np.arange(len(steps)))
    assert fit_slope(steps, floor) is None  # a noise floor
    assert fit_slope(steps, np.ones(len(steps)) - 1) is None
