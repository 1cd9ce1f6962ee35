"""Sizes: how much a setting asks for is estimated before anything is built, and refused beyond what
there is.
"""

from __future__ import annotations

import json
import math
import resource
from collections.abc import Iterator

import jax
import numpy as np
import pytest

import tutelage as tt
from tutelage.calculations import Calculated, Calculation
from tutelage.cli import main
from tutelage.explorer.limits import Limits
from tutelage.explorer.states import setting_of
from tutelage.problem import build as building
from tutelage.problem import room as rooms
from tutelage.problem.build import Parts, build, build_student, build_teacher
from tutelage.problem.registry import options_of, register, registered, registered_names
from tutelage.problem.room import ANY, Room, check_room, describe_bytes, estimate_sizes
from tutelage.problem.sizes import Sizes
from tutelage.running.execute import checked
from tutelage.settings import KINDS, Part, Setting
from tutelage.testing.examples import beginning, find_example, is_slow

HUGE = 10**12
TINY = Part("convolution", tokens=4, support=2, outputs=1, dim=2)
SMALL = Setting(TINY, rate=0.1, steps=5, measures=("excess_risk",))
TOO_MANY = SMALL.change(**{"teacher.tokens": 400_000})
SHAPES = [
    (kind, name, option)
    for kind in KINDS
    for name in registered_names(kind)
    for option, declared in options_of(kind, name).items()
    if declared.kind == "int" and declared.shown.shape
]
PARTS = [  # the others hold next to nothing
    (kind, name)
    for kind in ("teacher", "student", "objective")
    for name in registered_names(kind)
    if not is_slow(registered(kind, name))
]


@pytest.fixture
def nothing_is_built(monkeypatch: pytest.MonkeyPatch) -> None:
    def make(*given: object) -> None:
        pytest.fail(f"built: {given}")

    monkeypatch.setattr(building, "make", make)


# --- the estimates


@pytest.mark.parametrize(("kind", "name", "option"), SHAPES, ids=[".".join(s) for s in SHAPES])
def test_no_size_can_be_asked_for_that_is_not_noticed(kind, name, option):
    """Every whole number that shapes a program makes a setting larger, beside every part."""
    drawn = SMALL.change(objective=Part("empirical", samples=10))
    codes = {"key_codes": "gaussian"} if option == "size" and name == "position_attention" else {}
    part = beginning(kind, name).change(**codes)
    with pytest.raises(tt.Refused, match=f"{kind}.{option}=1,000,000,000,000"):
        check_room(drawn.change(**{kind: part.change(**{option: HUGE})}), Room(1e10, math.inf))
    usual, larger = (
        estimate_sizes(drawn.change(**{kind: part.change(**{option: value})}))
        for value in (10**5, 2 * 10**5)  # more than the inputs that some hold out
    )
    assert usual.held < larger.held


@pytest.mark.brief(5)
@pytest.mark.parametrize(("kind", "name"), PARTS, ids=[".".join(p) for p in PARTS])
def test_what_is_built_is_no_more_than_was_estimated(kind, name):
    setting = find_example(kind, name)
    problem = build(setting)
    leaves = jax.tree.leaves((problem.teacher, problem.inputs, problem.student, problem.objective))
    arrays = {id(leaf): leaf for leaf in leaves if isinstance(leaf, jax.Array | np.ndarray)}
    numbers = sum(leaf.size for leaf in arrays.values())
    sizes = estimate_sizes(setting)
    assert numbers <= 1.5 * sizes.held + 100  # a risk may hold S* once more than its teacher
    assert sizes.held <= 1000 * numbers
    assert 0 < sizes.work < math.inf


@pytest.mark.brief(5)
@pytest.mark.parametrize(
    "name", [name for name in registered_names("teacher") if not registered("teacher", name).slow]
)
def test_shapes_of_teachers_are_those_that_are_built(name):
    setting = find_example("teacher", name)
    sizes = estimate_sizes(setting, ("teacher",))
    shape = build(setting).teacher.shape
    assert (sizes.outputs, sizes.dim, sizes.tokens) == (shape.outputs, shape.dim, shape.tokens)


def test_a_collapsed_teacher_of_a_million_tokens_fits():
    collapsed = SMALL.change(**{"teacher.tokens": 10**6, "teacher.collapse": True})
    check_room(collapsed, Room(1e6, 1e9))
    assert checked(collapsed).teacher.shape.tokens == 10**6


def test_arrays_by_hand_count():
    given = Part("gaussian", covariance=np.eye(200))
    without, beside = (estimate_sizes(SMALL.change(inputs=i)) for i in (Part("gaussian"), given))
    assert beside.held - without.held == 2 * 200**2


@pytest.mark.parametrize("value", [10**400, math.inf, -5, 0, "many", None, True])
def test_odd_values_are_left_to_the_factory_or_refused(value, nothing_is_built):
    """No estimate raises anything but a refusal."""
    setting = TOO_MANY.change(**{"teacher.outputs": value})
    with pytest.raises(tt.Refused):
        check_room(setting, Room(1e6, 1e9))


def test_a_part_may_bring_an_estimate_of_its_own(nothing_is_built):
    def estimate(options: dict, sizes: Sizes) -> Sizes:
        return sizes.hold(float(options["bulk"]) ** 3)

    @register("teacher", "bulky", estimate=estimate)
    def _bulky(seed: int, *, bulk: int = 10) -> object:
        raise AssertionError

    check_room(SMALL.change(teacher=Part("bulky")), Room(1e6, 1e9))
    with pytest.raises(tt.Refused, match=r"estimate of 8 GB from teacher.bulk=1,000"):
        check_room(SMALL.change(teacher=Part("bulky", bulk=1000)), Room(1e6, 1e9))


def test_work_is_bounded_too():
    setting = SMALL.change(
        teacher=Part("transported", pool=8192, tokens=256, dim=64),
        student=Part("shallow_transformer", heads=2048),
        inputs=Part("clipped_gaussian"),
        objective=Part("squared_loss", samples=10_000),
    )
    check_room(setting, ANY)
    with pytest.raises(tt.Refused, match="multiplications until the first step"):
        check_room(setting, Room(math.inf, 1e11))


@pytest.mark.parametrize(
    ("size", "words"), [(5, "5 B"), (25.3e9, "25.3 GB"), (1.28e12, "1.28 TB"), (math.inf, "inf TB")]
)
def test_bytes_in_words(size, words):
    assert describe_bytes(size) == words


# --- where it is refused


def test_execute_refuses_before_anything_is_built(nothing_is_built):
    with pytest.raises(tt.Refused, match="This machine takes settings of up to") as refused:
        list(tt.execute([TOO_MANY]))
    assert "teacher.tokens=400,000" in str(refused.value)
    assert "--any-size" in str(refused.value)


def test_a_sweep_makes_it_a_row_with_its_reason(tmp_path, capsys):
    path = tmp_path / "sizes.toml"
    teacher = '{ name = "convolution", tokens = 4, support = 2, outputs = 1, dim = 2 }'
    path.write_text(
        f'[setting]\nrate = 0.1\nsteps = 5\nmeasures = ["excess_risk"]\nteacher = {teacher}\n'
        "[axes]\ntokens = [4, 400000]\n"
    )
    with pytest.raises(SystemExit):
        main(["sweep", str(path), "--out", str(tmp_path / "out"), "--json"])
    small, large = json.loads(capsys.readouterr().out)["rows"]
    assert small["outcome"] == "FINISHED"
    assert large["outcome"] == "FAILED"
    assert "This machine takes settings of up to" in large["reason"]


@pytest.fixture
def asked(monkeypatch: pytest.MonkeyPatch) -> Iterator[list[str]]:
    """The kinds of parts that were asked for; none is ever made."""
    kinds: list[str] = []

    def make(kind: str, *given: object) -> None:
        kinds.append(kind)
        raise MemoryError("as NumPy says it")

    monkeypatch.setattr(building, "make", make)
    yield kinds
    tt.allow_any_size(False)


def test_any_size_is_the_users_choice(asked):
    tt.allow_any_size()
    with pytest.raises(MemoryError):
        list(tt.execute([TOO_MANY]))
    assert asked == ["teacher"]


def test_the_command_line_has_an_option_for_it(asked, tmp_path, capsys):
    """Also where a study's theory would build a setting before it runs."""
    arguments = ["run", "teacher-models/rates", "--set", "D=400000", "--out", str(tmp_path)]
    with pytest.raises(SystemExit):
        main(arguments)
    said = capsys.readouterr().err
    assert "This machine takes settings of up to" in said
    assert "teacher.tokens=400,000" in said
    assert asked == []
    with pytest.raises(SystemExit) as ended:
        main([*arguments, "--any-size"])
    assert ended.value.code == 1
    assert "not enough memory for what was asked (as NumPy says it)" in capsys.readouterr().err
    assert asked == ["teacher"]


@pytest.mark.parametrize("look", [build_teacher, build_student, lambda s: Parts(s).objective])
def test_no_way_to_build_goes_round_it(look, nothing_is_built):
    with pytest.raises(tt.Refused, match="This machine takes settings"):
        look(TOO_MANY)


def test_a_calculation_is_refused_when_it_looks_at_what_is_too_large(nothing_is_built, monkeypatch):
    class Looking(Calculation):
        def __call__(self, parts: Parts) -> Calculated:
            return Calculated({"tokens": parts.teacher.shape.tokens})

    monkeypatch.setattr(building, "make", lambda kind, *_: {"calculation": Looking()}[kind])
    looking = Part("measures_at_start", measures="excess_risk")
    setting = Setting.of_calculation(looking, teacher=TOO_MANY.teacher)
    (run,) = tt.execute([setting], keep_going=True)
    assert "This machine takes settings of up to" in run.note


def test_the_limit_of_the_process_counts(monkeypatch):
    limits = {resource.RLIMIT_AS: (10**6, resource.RLIM_INFINITY)}
    monkeypatch.setattr(resource, "getrlimit", limits.__getitem__)
    assert rooms._physical_bytes() == 1e6
    limits[resource.RLIMIT_AS] = (resource.RLIM_INFINITY, resource.RLIM_INFINITY)
    assert rooms._physical_bytes() > 1e8


def test_the_memory_of_a_control_group_counts(monkeypatch, tmp_path):
    limit = tmp_path / "memory.max"
    monkeypatch.setattr(rooms, "CONTROL_GROUP", limit)
    whole = rooms._physical_bytes()
    assert whole > 1e8
    limit.write_text("1000000\n")
    assert rooms._physical_bytes() == 1e6
    limit.write_text("max\n")
    assert rooms._physical_bytes() == whole


@pytest.mark.parametrize(
    ("query", "words"),
    [
        ("teacher=autoregression&inputs.stride=3000000", "`stride` up to 256"),
        ("teacher=autoregression&teacher.coefficient=0.9999999999&objective.validation=1", "GB"),
        (
            "student=content_attention&objective=empirical&objective.samples=15000&D=256&d=1",
            "The explorer takes settings of up to 2 GB of memory, since one run must leave room",
        ),
        ("student=content_attention&objective=online&objective.batch=2000&D=256&d=1", "2 GB"),
        (
            "teacher=transported&teacher.pool=8192&objective.samples=2000&student.heads=2048"
            "&teacher.dim=8&teacher.tokens=256",
            "multiplications until the first step is done",
        ),
    ],
)
def test_the_explorer_refuses_what_its_sliders_alone_do_not(query, words, nothing_is_built):
    with pytest.raises(tt.Refused, match=words):
        Limits().check(setting_of(query))
