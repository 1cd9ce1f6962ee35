"""Calculations are executed, stored, swept, checked and listed like runs."""

import threading

import jax.numpy as jnp
import numpy as np
import pytest

import tutelage as tt
from tutelage.calculations import Calculated, Calculation
from tutelage.run import Outcome
from tutelage.running import work
from tutelage.running.store.choosing import meeting
from tutelage.running.store.tables import row
from tutelage.running.work import Work

CALLS = []


class Powers(Calculation):
    def __init__(self, base, count, fault):
        self.base, self.count, self.fault = base, count, fault

    def __call__(self, given):
        CALLS.append(self.base)
        if self.fault == "error":
            raise ArithmeticError("too large")
        if self.fault == "type":
            return {"power": 1.0}
        axis = np.arange(1, self.count + 1)
        powers = np.asarray(jnp.asarray(self.base) ** jnp.asarray(axis, jnp.float64))
        return Calculated(axis, {"power": powers, "pair": np.stack([powers, -powers], 1)})


@pytest.fixture(autouse=True)
def _powers():
    @tt.register("calculation", "powers")
    def powers(*, base: float, count: int = 5, fault: str = ""):
        return Powers(base, count, fault)

    CALLS.clear()


SETTING = tt.Setting.of_calculation(tt.Part("powers", base=0.5))
TRAINED = tt.Setting(
    tt.Part("convolution", tokens=4, support=2, outputs=2, dim=3), rate=0.1, steps=20
)


def test_a_calculation_gives_a_run_without_student_and_rate():
    (run,) = tt.execute([SETTING])
    assert run.outcome is Outcome.CALCULATED
    assert run.sentence == "Calculated without training."
    assert (run.student, run.rate, run.rest, run.setting) == (None, None, None, SETTING)
    np.testing.assert_array_equal(run.steps, [1, 2, 3, 4, 5])
    np.testing.assert_array_equal(run.curves["power"], 0.5 ** np.arange(1, 6))
    assert run.complete
    assert "CALCULATED" in repr(run)
    assert "powers" in run._repr_html_()
    assert list(run.table()) == ["step", "power", "pair.0", "pair.1"]


def test_it_is_stored_under_no_steps_and_found_again(tmp_path):
    store = tt.Store(tmp_path, sync=True)
    (run,) = tt.execute([SETTING], store=store)
    (again,) = tt.execute([SETTING], store=store)
    assert CALLS == [0.5]
    assert [entry.name for entry in store.entries()] == [f"{SETTING.identity()}/0"]
    assert again.outcome is Outcome.CALCULATED
    assert (again.student, again.rate, again.setting) == (None, None, SETTING)
    for name, curve in run.curves.items():
        np.testing.assert_array_equal(again.curves[name], curve)
    loaded = tt.load(store.path(SETTING))
    np.testing.assert_array_equal(loaded.steps, run.steps)
    assert store.verify(f"{SETTING.identity()}/0") == ""
    assert not store.foreign
    assert tt.Store(tmp_path, method=tt.Method(precision="float32")).holds(SETTING)
    assert store.begun(SETTING) is None


def test_a_damaged_one_is_calculated_again(tmp_path, caplog):
    store = tt.Store(tmp_path)
    list(tt.execute([SETTING], store=store))
    path = tmp_path / SETTING.identity() / "0" / "curves.parquet"
    path.write_bytes(path.read_bytes()[:-1])
    (run,) = tt.execute([SETTING], store=tt.Store(tmp_path))
    assert "is not used" in caplog.text
    assert run.outcome is Outcome.CALCULATED
    assert len(CALLS) == 2


def test_options_are_swept_one_by_one_beside_runs_that_train(tmp_path, monkeypatch):
    batches, real = [], Work.__call__
    monkeypatch.setattr(
        Work, "__call__", lambda self, batch: (batches.append(list(batch)), real(self, batch))[1]
    )
    swept = [SETTING.change(**{"calculation.base": base}) for base in (0.1, 0.2, 0.3)]
    store = tt.Store(tmp_path)
    runs = {run.setting: run for run in tt.execute([*swept, TRAINED], store=store)}
    assert set(runs) == {*swept, TRAINED}
    assert sorted(len(batch) for batch in batches) == [1, 1, 1, 1]
    assert [runs[setting].curves["power"][0] for setting in swept] == [0.1, 0.2, 0.3]
    assert runs[TRAINED].outcome is Outcome.FINISHED
    assert len({setting.identity() for setting in swept}) == 3


def test_a_calculation_is_watched():
    seen = []
    list(tt.execute([SETTING], watch=lambda setting, step, curves: seen.append((setting, step))))
    assert seen == [(SETTING, 0)]


@pytest.mark.parametrize(
    ("fault", "said"), [("error", "ArithmeticError: too large"), ("type", "must return")]
)
def test_a_failure_is_kept_and_others_go_on(tmp_path, fault, said):
    bad, store = SETTING.change(**{"calculation.fault": fault}), tt.Store(tmp_path)
    runs = {r.setting: r for r in tt.execute([bad, SETTING], store=store, keep_going=True)}
    assert runs[SETTING].outcome is Outcome.CALCULATED
    assert runs[bad].outcome is Outcome.FAILED
    assert said in runs[bad].note
    assert runs[bad].rate is None
    assert (tmp_path / bad.identity() / "failed.json").exists()
    with pytest.raises((ArithmeticError, tt.Refused), match=said.partition(": ")[2] or said):
        list(tt.execute([bad]))


def test_tables_show_the_calculation_and_only_the_parts_it_was_given(tmp_path):
    store = tt.Store(tmp_path)
    given = SETTING.change(teacher=TRAINED.teacher)
    runs = list(tt.execute([SETTING, given, TRAINED], store=store))
    frame = tt.table(store).set_index("run")
    plain, taught = (frame.loc[f"{s.identity()}/0"].dropna() for s in (SETTING, given))
    assert plain["calculation"] == "powers"
    assert plain["calculation.base"] == 0.5
    assert plain["power"] == 0.5**5
    assert not {"teacher", "student", "rate", "objective"} & set(plain.index)
    assert taught["teacher.tokens"] == 4
    assert len(tt.table(runs, curves=True)) == len(tt.table(store, curves=True))
    rows = [row(entry) for entry in store.entries()]
    assert len(meeting(rows, ["base=0.5", "power<1"])) == 2


def test_a_claim_is_checked_against_it():
    runs = list(tt.execute([SETTING.change(seed=seed) for seed in range(2)]))
    claim = tt.Number(
        id="last-power",
        values=lambda runs: [run.curves["power"][-1] for run in runs],
        value=0.5**5,
        of="the last power",
        tolerance=1e-9,
    )
    assert tt.check(claim, runs).status.name == "HOLDS"


def test_nothing_is_calculated_after_a_stop():
    stop = threading.Event()
    stop.set()
    (run,) = tt.execute([SETTING], stop=stop)
    assert run.outcome is Outcome.STOPPED
    assert not CALLS
    assert work.unbegun(SETTING).rate is None
