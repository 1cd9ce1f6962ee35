"""Runs of earlier random draws stay valid, are shown as such, and are never gone on from."""

import numpy as np
import pytest

import tutelage as tt
from tutelage import settings
from tutelage.running.store.tables import row

ONLINE = tt.Setting(
    tt.Part("convolution", tokens=4, support=2, outputs=2, dim=3, noise=0.1),
    rate=0.1,
    steps=30,
    objective=tt.Part("online", batch=5),
)


@pytest.fixture
def store(tmp_path):
    return tt.Store(tmp_path / "runs")


@pytest.fixture
def earlier(store):
    """A run as it was stored before the versions of draws were told apart."""
    with pytest.MonkeyPatch.context() as patch:
        patch.delitem(settings.DRAWS, "online")
        (run,) = tt.execute([ONLINE], store=store)
        name = store.path(ONLINE)
    return run, name


def test_the_draws_are_part_of_the_identity_of_online_settings_alone(monkeypatch):
    exact = ONLINE.change(objective="population")
    now = ONLINE.identity(), exact.identity()
    monkeypatch.delitem(settings.DRAWS, "online")
    assert ONLINE.identity() != now[0]
    assert exact.identity() == now[1]


def test_an_earlier_run_is_whole_and_listed_as_such(store, earlier):
    run, name = earlier
    (entry,) = store.entries()
    assert entry.trouble == ""
    assert store.verify(entry.name) == ""
    assert entry.foreign == "earlier draws of objective online"
    assert row(entry)["foreign"] == entry.foreign
    again = tt.load(name)
    np.testing.assert_array_equal(again.curves["excess_risk"], run.curves["excess_risk"])
    assert again.setting == ONLINE


def test_a_run_of_these_draws_is_not_foreign(store):
    list(tt.execute([ONLINE], store=store))
    (entry,) = store.entries()
    assert entry.foreign == ""
    assert entry.about["made"][-1]["origins"] == {"objective online": "draws 2"}


def test_other_draws_are_told_from_other_code(store, monkeypatch):
    list(tt.execute([ONLINE], store=store))
    monkeypatch.setitem(settings.DRAWS, "online", "draws 3")
    (entry,) = store.entries()
    assert entry.foreign == "other draws of objective online"


def test_a_longer_run_starts_anew_and_does_not_go_on_from_earlier_draws(store, earlier):
    assert store.begun(ONLINE.change(steps=60)) is None
    (longer,) = tt.execute([ONLINE.change(steps=60)], store=store)
    (fresh,) = tt.execute([ONLINE.change(steps=60)])
    np.testing.assert_array_equal(longer.curves["excess_risk"], fresh.curves["excess_risk"])
    assert len(list(store.entries())) == 2


def test_going_on_by_hand_from_earlier_draws_is_refused(earlier):
    problem = tt.build(ONLINE)
    with pytest.raises(tt.Refused, match=r"random draws that began it.*start it anew"):
        tt.train(
            problem.student,
            problem.objective,
            rate=0.1,
            steps=60,
            measures=problem.measures,
            key=problem.key,
            begin=tt.load(earlier[1]),
        )
