"""Ordinary slips in Python end with the rule, the reason and what was received, before any work."""

import math
import subprocess
import sys
from functools import partial

import jax.numpy as jnp
import numpy as np
import pytest

import tutelage as tt
from tutelage import activations, log
from tutelage.durations import say_seconds
from tutelage.measures import excess_risk
from tutelage.measures.bilinear import value_error
from tutelage.numerics import quadrature
from tutelage.training import loop

TEACHER = tt.BilinearTeacher(
    5 * np.random.default_rng(0).normal(size=(2, 3)), tt.pooling(tokens=4, support=2)
)
RISK = tt.PopulationRisk(TEACHER)
STUDENT = tt.PositionAttention.zeros(TEACHER)
SETTING = tt.Setting(tt.Part("convolution", tokens=4), rate=0.1, steps=50)
KEY = tt.stream(0, "start")


class Module:
    """As a module of PyTorch looks from here."""

    def __call__(self, x):
        return x


@pytest.fixture(autouse=True)
def _no_work(monkeypatch, request):
    if "_trains_" not in request.node.name:
        monkeypatch.setattr(loop, "LiteralSteps", lambda *a: pytest.fail("something was trained"))


def refused(function, *given, **options):
    with pytest.raises(tt.Refused) as said:
        function(*given, **options)
    return str(said.value)


def train(student, objective, **options):
    return refused(tt.train, student, objective, rate=0.1, steps=10, **options)


def test_student_and_objective_the_other_way_round():
    said = train(RISK, STUDENT)
    assert "The student comes first" in said
    assert said.endswith("the other way round: PopulationRisk, PositionAttention.")


def test_a_teacher_in_the_place_of_a_risk_or_a_student():
    assert "Got BilinearTeacher, a teacher: its risk is tutelage.PopulationRisk(teacher)" in train(
        STUDENT, TEACHER
    )
    assert "student of its shape is tutelage.PositionAttention.zeros(teacher)" in train(
        TEACHER, RISK
    )


def test_lists_and_settings_in_the_place_of_a_student():
    assert "`tutelage.train_batch` takes several" in train([STUDENT], [RISK])
    assert "`tutelage.execute([setting])` trains it" in train(SETTING, RISK)
    assert train(Module(), RISK).endswith("Got Module.")


@pytest.mark.parametrize("function", [np.tanh, math.tanh, lambda x: x.numpy()])
def test_an_activation_that_jax_cannot_look_into(function):
    for given in (function, tt.Smooth(function, "mine")):
        said = refused(
            tt.BilinearTeacher, np.eye(2), tt.pooling(tokens=4, support=2), activation=given
        )
        assert "written with jax.numpy" in said
        assert repr(function) in said
    assert activations.activation(lambda x: jnp.tanh(x / 2)).name == "<lambda>"


@pytest.mark.parametrize("given", [Module(), STUDENT, SETTING, 3.0])
def test_what_is_no_teacher(given):
    for function in (
        tt.PopulationRisk,
        tt.PositionAttention.zeros,
        partial(tt.ContentAttention.random, codes=None, attention_scale=1.0, key=KEY),
    ):
        said = refused(function, given)
        assert "tutelage.teachers.Teacher" in said
        assert f"Got an object of the type {type(given).__name__}" in said


def test_one_setting_where_several_are_meant_and_several_where_one_is():
    assert "Got a single Setting: write [setting]." in refused(tt.execute, SETTING)
    assert "Got 'teacher-models/rates'." in refused(tt.execute, "teacher-models/rates")
    assert "the type list at place 1" in refused(tt.execute, [SETTING, [SETTING]])
    assert "the type BilinearTeacher at place 0" in refused(tt.execute, [TEACHER])
    assert "Got an object of the type int." in refused(tt.execute, 7)
    for function in (tt.build, tt.build_teacher, tt.collapsed):
        assert "Got a list of 2: take them one by one." in refused(function, [SETTING] * 2)
        assert "Got an object of the type Part." in refused(function, SETTING.teacher)
    assert "Got a tuple of 1" in refused(tt.claims, "teacher-models/rates", (SETTING,))


def sample(queries=4):
    rng = np.random.default_rng(1)
    return tt.Sample(rng.normal(size=(8, 3, 4)), rng.normal(size=(8, 2, queries)))


def test_a_sample_whose_labels_or_inputs_do_not_fit_the_student():
    said = train(STUDENT, sample(queries=3))
    assert "Got labels of shape (2, 3) and predictions of shape (2, 4)." in said
    other = tt.PositionAttention.zeros(
        tt.BilinearTeacher(np.eye(2), tt.pooling(tokens=4, support=2))
    )
    said = train(other, sample())
    assert "The student must take the inputs of the sample" in said
    assert "Got inputs of shape (3, 4) and PositionAttention" in said


@pytest.mark.parametrize("given", ["excess_risk", ["excess_risk"], [3]])
def test_what_is_no_measure(given):
    said = train(STUDENT, RISK, measures=given)
    assert "must be a function of (student, objective)" in said
    assert "only a Setting takes measures by name" in said


@pytest.mark.parametrize("function", [tt.table, tt.dataset])
def test_what_holds_no_runs(function):
    assert "; tutelage.execute([setting]) makes its run." in refused(function, SETTING)
    assert "; tutelage.execute([setting]) makes its run." in refused(function, [SETTING])
    lone = tt.curve([1, 2, 4], [4.0, 2.0, 1.0])
    assert "; write [run], or run.table() for its curves." in refused(function, lone)
    for given in (None, 5):
        said = refused(function, given)
        assert said.endswith(f"Got an object of the type {type(given).__name__}.")


def test_a_store_is_at_a_folder_or_an_address():
    assert refused(tt.Store, 5).endswith("Got an object of the type int.")


def test_a_claim_that_was_not_made_or_stands_in_the_second_place():
    evidence = tt.curve([1, 2, 4], [4.0, 2.0, 1.0])
    assert "Got the class Rate: call it first." in refused(tt.check, tt.Rate, evidence)
    said = refused(tt.check, evidence, tt.Rate("loss", -1))
    assert "The claim comes first and the evidence second" in said
    assert said.endswith("Got an object of the type Run.")


@pytest.mark.parametrize("given", ["-1", None, math.nan, True])
def test_an_exponent_that_is_no_number(given):
    for claim in (tt.Rate, tt.Bound, tt.Order, partial(tt.Constant, value=1.0)):
        assert f"Got exponent={given!r}." in refused(claim, "loss", exponent=given)


@pytest.mark.parametrize("value", [0, -2.0, math.inf, "4"])
def test_a_constant_that_has_no_logarithm(value):
    said = refused(tt.Constant, "loss", exponent=-1, value=value)
    assert said.endswith(f"Got value={value!r}.")
    assert ("is claimed by its slope" in said) == (value == 0)


def test_a_predicted_constant_of_zero():
    run = tt.curve([1, 10, 100, 1000], [1.0, 0.1, 0.01, 0.001], 0.1, setting=SETTING)
    claim = tt.Constant("loss", exponent=-1, value=lambda setting: 0.0)
    assert refused(tt.check, claim, run).endswith("Got value=0.0.")


def test_a_measure_that_compares_with_a_teacher_needs_one():
    said = train(STUDENT, sample(), measures=(excess_risk, value_error))
    assert "The measure 'value_error' compares the student with a teacher" in said
    assert "Got Sample, which has no teacher; measures=None takes those that need none." in said


def test_a_sample_trains_with_the_measures_that_need_no_teacher():
    run = tt.train(STUDENT, sample(), rate=0.01, steps=20)
    assert set(run.curves) == {"excess_risk"}
    same = tt.train(STUDENT, sample(), rate=0.01, steps=20, measures=(excess_risk,))
    np.testing.assert_array_equal(run.curves["excess_risk"], same.curves["excess_risk"])
    assert run.curves["excess_risk"][-1] < run.curves["excess_risk"][0]
    known = tt.train(STUDENT, RISK, rate=0.01, steps=20)
    assert set(known.curves) == set(tt.Setting.__dataclass_fields__["measures"].default)


def test_a_function_of_numpy_is_refused_every_time():
    """JAX itself crashes the second time that it is given one."""
    code = (
        "import numpy as np, tutelage as tt\n"
        "for _ in range(3):\n"
        "    for function in (np.tanh, np.sin):\n"
        "        try:\n            tt.activation(function)\n"
        "        except tt.Refused:\n            print('refused')\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=100)
    assert done.stdout.split() == 6 * ["refused"], done.stderr


@pytest.mark.depth
def test_slow_steps_say_what_they_take_before_they_start(caplog):
    quadrature.fit.cache_clear()  # it is said once, and another test may have been first
    teacher = tt.BilinearTeacher(np.eye(2), tt.pooling(tokens=4, support=2), activation="tanh")
    risk = tt.PopulationRisk(teacher, largest_std=2.0)
    assert "preparing quadrature for the activation tanh" in caplog.text
    nodes = risk.accuracy.nodes
    with pytest.raises(pytest.fail.Exception, match="was trained"):
        tt.train(tt.PositionAttention.zeros(teacher), risk, rate=0.1, steps=10**6)
    seconds = 6e-9 * 2 * 4 * nodes**2 * 1e6
    assert f"1,000,000 steps take about {say_seconds(seconds)} on one core" in caplog.text
    assert risk.cost_note(10) == ""
    assert RISK.cost_note(10**9) == ""  # in closed form


@pytest.mark.parametrize("terminal", [True, False])
def test_who_sits_at_a_terminal_is_told_also_where_no_one_logs(terminal, monkeypatch, capsys):
    monkeypatch.setattr(log.logging.getLogger(), "handlers", [])
    monkeypatch.setattr(log.LOG, "handlers", [log.logging.NullHandler()])
    monkeypatch.setattr(sys.stderr, "isatty", lambda: terminal, raising=False)
    log.tell_wait("ten seconds.")
    assert capsys.readouterr().err == ("tutelage: ten seconds.\n" if terminal else "")
    monkeypatch.setattr(log.LOG, "handlers", [log.logging.Handler()])
    log.LOG.handlers[0].emit = lambda record: None
    log.tell_wait("ten seconds.")
    assert capsys.readouterr().err == ""  # it was told already
