"""Counts that no machine and no patience has room for are refused before anything is made of them:
no process aborts, and no command goes on for ever.
"""

import math
from types import SimpleNamespace

import numpy as np
import pytest

import tutelage as tt
from tutelage.calculations import Calculation
from tutelage.cli import main
from tutelage.cli.options import RunOptions
from tutelage.layers import learning
from tutelage.problem import room as rooms
from tutelage.problem.build import build_calculation
from tutelage.problem.registry import make, options_of, register, registered_names
from tutelage.problem.room import Room, check_room
from tutelage.studies.pages import measured_matrices
from tutelage.studies.planning import make_plan
from tutelage.studies.study import MOST_SEEDS, over_seeds
from tutelage.studies.sweep_files import read_sweep
from tutelage.studies.sweeps import MOST_SETTINGS, Sweep

HUGE = 10**12
STUDY = "teacher-models/rates"
BASE = tt.Setting(tt.Part("convolution", tokens=4, support=2, outputs=1, dim=2), rate=0.1, steps=5)


@pytest.fixture
def refuse(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)

    def call(*arguments):
        with pytest.raises(SystemExit) as ended:
            main([str(argument) for argument in arguments])
        said = " ".join(capsys.readouterr().err.split())
        assert ended.value.code == 2, said
        assert not any(tmp_path.iterdir())
        return said

    return call


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("run", STUDY, "--seeds", HUGE, "--dry-run"), "`seeds` must be at most 100,000"),
        (("run", STUDY, "--jobs", HUGE), "`jobs` must be at most 1,024"),
        (("sweep", STUDY, "--jobs", 10**30), "`jobs` must be at most 1,024"),
        (("sweep", STUDY, "--seeds", HUGE, "--dry-run"), "`seeds` must be at most"),
        (("run", STUDY, "--literal", "1e13", "--dry-run"), "`literal` must be at most"),
        (("calibrate", "--repetitions", HUGE), "`repetitions` must be at most 10,000"),
    ],
)
def test_counts_on_the_command_line(refuse, arguments, words):
    assert words in refuse(*arguments)


def test_workers_are_counted_before_dask_is_asked():
    options = RunOptions(workers=HUGE)
    with (
        pytest.raises(tt.Refused, match="`workers` must be at most 1,024"),
        options.open_engine(()),
    ):
        pass


def test_seeds_of_a_sweep_file(tmp_path):
    path = tmp_path / "many.toml"
    path.write_text(f'study = "{STUDY}"\nseeds = {HUGE}\n')
    with pytest.raises(tt.Refused, match="`seeds` must be at most 1,000,000"):
        read_sweep(path)


def test_settings_of_a_sweep_are_counted_before_they_are_made(monkeypatch):
    many = {"rate": range(1, 1001), "teacher.norm": range(1, 1002)}
    monkeypatch.setattr(Sweep, "points", lambda self: pytest.fail("they were gone through"))
    with pytest.raises(tt.Refused, match=r"1,000 of rate × 1,001 of teacher.norm"):
        Sweep("many", BASE, axes=many).plan()
    with pytest.raises(tt.Refused, match="600 of rate × 2,000 of seeds"):
        Sweep("many", BASE, axes={"rate": range(1, 601)}, seeds=range(2000)).plan()
    zipped = {"rate": range(1, 1002), "teacher.norm": range(1, 1002)}
    with pytest.raises(tt.Refused, match=r"1,001 of rate/teacher.norm × 1,000 of seeds"):
        Sweep("many", BASE, zips=[zipped], seeds=range(1000)).plan()


def test_seeds_of_a_case_are_counted_before_they_are_made():
    with pytest.raises(tt.Refused, match="`seeds` must be at most 100,000"):
        over_seeds(BASE, 10**9)
    with pytest.raises(tt.Refused, match="`seeds` must be a whole number"):
        over_seeds(BASE, "many")
    assert [one.seed for one in over_seeds(BASE, 2.0)] == [BASE.seed, BASE.seed + 1]


def test_as_many_as_are_allowed_are_taken():
    assert make_plan(seeds=MOST_SEEDS).seeds == MOST_SEEDS
    half = {"rate": range(1, 1001), "teacher.norm": range(1, MOST_SETTINGS // 1000 + 1)}
    Sweep("many", BASE, axes=half)._check()


SIZES = [
    (name, option)
    for name in registered_names("calculation")
    for option, declared in options_of("calculation", name).items()
    if declared.kind == "int"
]


@pytest.mark.parametrize(("name", "option"), SIZES, ids=[".".join(pair) for pair in SIZES])
def test_no_calculation_takes_any_number(name, option):
    with pytest.raises(tt.Refused):
        build_calculation(tt.Setting.of_calculation(tt.Part(name, **{option: HUGE})))


def test_a_calculation_is_refused_before_it_is_made(monkeypatch):
    @register("calculation", "bulky")
    def _bulky(
        *, draws: int = 10, steps: int = 5, share: float = 0.5, which: str = ""
    ) -> Calculation:
        raise AssertionError("it was made")

    bulky = tt.Part("bulky", draws=10**9)
    for part, words in (
        (bulky, r"an estimate of 8 GB from calculation.draws=1,000,000,000"),
        (tt.Part("bulky", steps=10**9), r"multiplications until the first step"),
    ):
        with pytest.raises(tt.Refused, match=words):
            check_room(tt.Setting.of_calculation(part), Room(1e9, 1e13), ("calculation",))
    monkeypatch.setattr(rooms, "_measure_machine", lambda: Room(1e9, 1e15))
    with pytest.raises(tt.Refused, match="8 GB"):
        build_calculation(tt.Setting.of_calculation(bulky))


@pytest.mark.parametrize("inputs", [None, "gaussian", "independent"])
def test_inputs_of_a_layer_that_do_not_fit_are_not_drawn(inputs):
    with pytest.raises(tt.Refused, match=r"inputs of shape \(1000000, 1000000\)"):
        tt.learn(lambda x: pytest.fail("called"), inputs, shape=(10**6, 10**6))
    with pytest.raises(tt.Refused, match="probes=1,000,000,000,000"):
        tt.learn(lambda x: pytest.fail("called"), inputs, shape=(2, 3), probes=HUGE)


@pytest.mark.parametrize(
    ("more", "words"),
    [
        ({"shape": (2, 3), "probes": 10**400}, "`probes` must be at most"),
        ({"shape": (2, 10**400)}, "`shape` must be at most"),
        ({"shape": (2**62,) * 20}, "inputs of shape"),
    ],
)
def test_inputs_of_a_layer_that_no_float_counts_are_not_drawn(more, words):
    with pytest.raises(tt.Refused, match=words):
        tt.learn(lambda x: pytest.fail("called"), **more)


def test_matrices_that_no_float_counts_are_not_measured():
    assert measured_matrices(BASE) == ("value_matrix", "attention_matrix")
    assert measured_matrices(BASE.change(**{"teacher.tokens": 10**400})) == ()


def test_inputs_that_fit_are_drawn(monkeypatch):
    """4 copies of 64 inputs of 2×3 doubles are 12,288 bytes."""
    room = SimpleNamespace(bytes=12_288.0, who="It")
    monkeypatch.setattr(learning, "machine_room", lambda: room)
    learning._check_size((2, 3), 24)
    room.bytes = 12_287.0
    with pytest.raises(tt.Refused, match=r"estimate of 12.3 kB"):
        learning._check_size((2, 3), 24)
    room.bytes = math.inf
    learning._check_size((10**9, 10**9), 24)


@pytest.mark.parametrize("shape", ["12", 3, 2.5, {"a": 1}])
def test_a_shape_is_a_list_of_sizes(shape):
    with pytest.raises(tt.Refused, match="`shape` must be the sizes of one input"):
        tt.learn(np.tanh, None, shape=shape)


def test_numbers_of_an_array_that_no_float_holds():
    for value in ([[10**400]], [[10**5000]]):
        with pytest.raises(tt.Refused, match="array of numbers"):
            BASE.change(**{"teacher.value": value})


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"tokens": 6.0 + 1e-9}, "`tokens` must be a whole"),
        ({"outputs": 2.5}, "`outputs` must be"),
        ({"support": 0}, "support"),
        ({"support": 7}, "support"),
    ],
)
def test_two_layers_have_whole_numbers_of_tokens_and_outputs(changes, said):
    sound = {"tokens": 6, "support": 2, "outputs": 2, "dim": 3, "hidden": 4}
    with pytest.raises(tt.Refused, match=said):
        make("teacher", tt.Part("two_layers", **(sound | changes)), 0)
