"""An edited part never reuses old results: its code is part of a setting's identity."""

import os

import numpy as np
import pytest

import tutelage as tt
from tutelage.plugins import import_all, module_of
from tutelage.problem.origins import origin_of
from tutelage.problem.registry import registered
from tutelage.running.store.tables import row

PARTS = """
import jax.numpy as jnp
import tutelage as tt

@tt.register("teacher", "edited")
def edited(seed, *, tokens: int = 4):
    return tt.BilinearTeacher({size} * jnp.ones((1, 3)), tt.pooling(tokens, 2), "{sigma}")

@tt.register("measure", "edited_size")
def size(student, objective):
    return {factor} * jnp.sum(student.value**2)

@tt.register("activation", "edited_bend")
def bend(x):
    return {bend} * jnp.tanh(x)
"""
AT_FIRST = {"size": 1.0, "factor": 1.0, "sigma": "relu", "bend": 1.0}
pytestmark = pytest.mark.usefixtures("own_registrations")
CHANGES = [{"size": 2.0}, {"factor": 3.0}]


@pytest.fixture
def write(tmp_path):
    """Writes the user's file anew and imports it."""

    def write(**changes):
        path = tmp_path / "edited_parts.py"
        path.write_text(PARTS.format(**(AT_FIRST | changes)))
        import_all([str(path)])

    return write


def test_an_edit_within_a_second_that_keeps_the_size_is_seen(tmp_path, monkeypatch):
    """Python tells kept bytecode by the second and the size of its source."""
    monkeypatch.setattr("sys.dont_write_bytecode", False)
    path = tmp_path / "of_one_second.py"
    for number in (1, 2):
        path.write_text(f"number = {number}")
        os.utime(path, (1e9, 1e9))
        import_all([str(path)])
        assert module_of(str(path)).number == number


def asked(**changes):
    measures = ("excess_risk", "edited_size")
    return tt.Setting(tt.Part("edited"), 0.1, steps=30, measures=measures).change(**changes)


@pytest.mark.brief(1)
@pytest.mark.parametrize("change", CHANGES, ids=["teacher", "measure"])
def test_an_edited_part_is_run_anew_and_the_old_run_is_still_listed(tmp_path, write, change):
    write()
    store = tt.Store(tmp_path / "runs")
    (old,) = tt.execute([asked()], store=store)
    (again,) = tt.execute([asked()], store=store)
    assert len(list(store.entries())) == 1
    np.testing.assert_array_equal(again.curves["edited_size"], old.curves["edited_size"])
    kept = store.path(asked())

    write(**change)
    store = tt.Store(tmp_path / "runs")
    assert not store.holds(asked())
    (new,) = tt.execute([asked()], store=store)
    assert new.curves["edited_size"][-1] != old.curves["edited_size"][-1]
    assert len(list(store.entries())) == 2

    (entry,) = (entry for entry in store.entries() if entry.foreign)
    assert entry.name in kept
    assert "other code of teacher edited" in row(entry)["foreign"]
    assert store.verify(entry.name) == ""
    assert store.setting(entry) == asked()
    loaded = tt.load(kept)
    np.testing.assert_array_equal(loaded.curves["edited_size"], old.curves["edited_size"])
    with pytest.raises(tt.Refused, match="stored under the code that made it"):
        store.save(loaded)

    write()  # the old code again: its runs are its own again
    assert tt.Store(tmp_path / "runs").path(asked()) == kept
    assert tt.Store(tmp_path / "runs").holds(asked())


def test_run_json_says_by_which_code_and_only_where_it_is_the_users(tmp_path, write):
    write()
    store = tt.Store(tmp_path / "runs")
    own = tt.Setting(tt.Part("convolution", tokens=4, support=2, outputs=2, dim=3), 0.1, steps=9)
    list(tt.execute([asked(), own], store=store))
    made = {entry.identity: entry.about["made"][-1] for entry in store.entries()}
    assert set(made[asked().identity()]["origins"]) == {"teacher edited", "measure edited_size"}
    assert "origins" not in made[own.identity()]


def test_a_failure_of_old_code_is_listed_and_does_not_count(tmp_path, write):
    write(size="None")
    store = tt.Store(tmp_path / "runs")
    (failed,) = tt.execute([asked()], store=store, keep_going=True)
    assert failed.outcome.name == "FAILED"
    write()
    (run,) = tt.execute([asked()], store=store)
    assert run.outcome.name == "FINISHED"
    assert [store.setting(entry) for entry in store.entries()] == [asked(), asked()]


def bent():
    return tt.Setting(
        tt.Part(
            "convolution", tokens=4, support=2, outputs=2, dim=3, norm=0.2, activation="edited_bend"
        ),
        rate=0.1,
        steps=20,
        objective=tt.Part("population", largest_std=0.5),  # few nodes of the quadrature
        measures=("excess_risk",),
    )


def test_an_activation_of_ones_own_is_part_of_the_identity(write):
    write()
    first = bent().identity()
    assert first != bent().change(**{"teacher.activation": "tanh"}).identity()
    write(bend=0.5)
    assert bent().identity() != first


@pytest.mark.depth
def test_an_activation_of_ones_own_is_run_by_its_name(tmp_path, write):
    write()
    setting = bent()
    by_name = setting.change(**{"teacher.activation": "tanh"})
    store = tt.Store(tmp_path / "runs")
    run, known = (next(iter(tt.execute([s], store=store))) for s in (setting, by_name))
    np.testing.assert_array_equal(run.curves["excess_risk"], known.curves["excess_risk"])
    write(bend=0.5)
    (other,) = tt.execute([setting], store=store)
    assert other.curves["excess_risk"][0] != run.curves["excess_risk"][0]


def test_an_unknown_measure_is_refused_with_those_there_are(write):
    write()
    with pytest.raises(tt.Refused, match=r"no measure named 'edited_sice'\. Did you mean"):
        tt.build(asked(measures=("edited_sice",)))


def test_a_measure_in_a_list_of_words_is_part_of_the_identity(write):
    write()
    part = tt.Part("measures_at_start", measures="excess_risk,edited_size")
    setting = tt.Setting.of_calculation(part, teacher=tt.Part("edited"))
    first = setting.identity()
    write(factor=3.0)
    assert "measure edited_size" in setting.origins()
    assert setting.identity() != first


def test_an_edit_of_what_the_file_imports_from_its_folder_counts(tmp_path, monkeypatch):
    monkeypatch.syspath_prepend(tmp_path)
    text = "import sizes_of_parts\nimport tutelage as tt\n" + PARTS.format(**AT_FIRST)
    (tmp_path / "with_neighbour.py").write_text(text)
    origins = []
    for size in (1, 2, 1):
        (tmp_path / "sizes_of_parts.py").write_text(f"SIZE = {size}\n")
        import_all([str(tmp_path / "with_neighbour.py")])
        origins.append(origin_of(registered("teacher", "edited").factory))
    assert origins[0] == origins[2] != origins[1]


def test_two_files_that_register_one_name_are_refused_with_both(tmp_path):
    for name in ("one_of_two.py", "two_of_two.py"):
        (tmp_path / name).write_text(PARTS.format(**AT_FIRST).replace('"edited"', '"twice"'))
    import_all([str(tmp_path / "one_of_two.py")])
    with pytest.raises(tt.Refused, match=r"'twice' from .*one_of_two\.py and from .*two_of_two"):
        import_all([str(tmp_path / "two_of_two.py")])


def test_no_file_takes_the_place_of_a_part_that_comes_with_tutelage(tmp_path):
    (tmp_path / "taking.py").write_text(
        PARTS.format(**AT_FIRST).replace('"edited"', '"convolution"')
    )
    with pytest.raises(tt.Refused, match="'convolution' from "):
        import_all([str(tmp_path / "taking.py")])
