"""The step of the bilinear class in JavaScript against Python: draws, runs, and what theory says.

The page's worker is run by Node. `depth` compares whole runs with `execute`; the quick form has the
two-scalar recursion as its twin, which shares no code with either.
"""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import pytest
from in_node import (
    call_modules,
    graphs,
    needs_node,
    plain_setting,
    run_in_worker,
)

from tutelage.explorer.measuring import scalars
from tutelage.explorer.reading import plain_lines, plain_phases
from tutelage.explorer.server import PAGE
from tutelage.numerics.grids import log_spaced
from tutelage.numerics.streams import generator
from tutelage.papers.teacher_models import explore
from tutelage.papers.teacher_models.theory import recursion
from tutelage.settings import Part, Setting

pytestmark = needs_node
SIZES = {"tokens": 8, "support": 2, "outputs": 3, "dim": 4, "norm": 8.0}
RELU = Part("convolution", **SIZES, activation="relu")
LEAKY = RELU.change(activation="leaky_relu(0.1)")
LINEAR = RELU.change(activation="identity")
COVARIANCE = np.diag([0.3, 1.0, 2.0, 0.7]) + 0.2 * (np.eye(4, k=1) + np.eye(4, k=-1))
CORRELATION = np.eye(8) + 0.3 * (np.eye(8, k=1) + np.eye(8, k=-1))


def setting_of(teacher: Part, *, rate: float = 0.2, steps: int = 10_000, **parts: Part) -> Setting:
    setting = Setting(teacher, rate=rate, steps=steps, seed=0).change(**parts)
    return setting.change(measures=explore.choose_measures(setting))


# One case per formula: each activation, each way to draw, each kind of optimiser and input.
CASES = {
    "relu": setting_of(RELU),
    "erf": setting_of(RELU.change(activation="erf")),
    "random start": setting_of(LEAKY, student=Part("position_attention", start=0.3)),
    "correlated inputs": setting_of(
        RELU,
        rate=0.05,
        inputs=Part("gaussian", covariance=COVARIANCE, correlation=CORRELATION),
    ),
    "codes": setting_of(
        LINEAR, student=Part("position_attention", key_codes="orthonormal", size=10)
    ),
    "adam": setting_of(
        Part("group_sparse", tokens=6, dim=3, norm=5.0),
        rate=0.01,
        optimiser=Part("adam", power=0.5),
    ),
    "nesterov": setting_of(
        Part("token_selection", tokens=6, dim=3, support=2, scale=3.0, activation="relu"),
        rate=0.02,
        optimiser=Part("momentum", decay=0.9, nesterov=True),
    ),
    "normalised": setting_of(RELU, rate=0.01, optimiser=Part("normalised", power=1.0)),
    "sign": setting_of(LINEAR, rate=0.001, optimiser=Part("sign", power=1.0)),
    "S* known": setting_of(
        Part("graph_convolution", tokens=34, dim=3, outputs=2, graph="karate", norm=3.0),
        student=Part("known_selection"),
    ),
}


@pytest.mark.parametrize("teacher", [RELU, LEAKY, LINEAR], ids=["relu", "leaky", "identity"])
def test_ten_thousand_steps_are_those_of_the_recursion(teacher):
    setting = setting_of(teacher)
    (run,) = run_in_worker([setting])
    steps = log_spaced(setting.steps)
    assert run["steps"] == steps.tolist()
    assert run["end"]["outcome"] == "FINISHED"
    twin = recursion.along(setting, steps)
    for name in ("excess_risk", "support_mass", "value_scale"):
        np.testing.assert_allclose(run["curves"][name], twin[name], rtol=1e-10, atol=0)


@pytest.mark.depth
@pytest.mark.usefixtures("adam_allowed")
@pytest.mark.parametrize("name", CASES)
def test_ten_thousand_steps_are_those_of_python(name):
    from tutelage.running.execute import execute

    setting = CASES[name]
    (python,) = execute([setting])
    (page,) = run_in_worker([setting])
    assert page["steps"] == python.steps.tolist()
    assert page["end"]["outcome"] == python.outcome.name
    assert page["end"]["sentence"] == python.sentence
    for curve, values in scalars(python.curves).items():
        np.testing.assert_allclose(page["curves"][curve], values, rtol=1e-10, atol=0, err_msg=curve)
    if "attention_matrix" in python.curves:  # sent in single precision
        np.testing.assert_allclose(
            page["attention"], python.curves["attention_matrix"][-1], rtol=1e-6
        )


@pytest.mark.depth
def test_a_run_that_diverges_says_when_and_how_it_would_not():
    from tutelage.running.execute import execute

    setting = setting_of(RELU, rate=30.0)
    (python,) = execute([setting])
    (page,) = run_in_worker([setting])
    assert page["end"]["outcome"] == "DIVERGED" == python.outcome.name
    assert page["end"]["sentence"] == python.sentence
    assert page["steps"] == python.steps.tolist()


def test_a_seed_draws_the_same_teacher_as_in_python():
    seeds = [0, 1, 7, 123_456_789_012]
    found = call_modules(
        {"draws": PAGE / "exact/draws.js"},
        """
        const answers = given.map((seed) => [
          [...draws.generator(seed, "teacher").normals(2000)],
          draws.generator(seed, "subset").subset(20, 4),
        ]);
        console.log(JSON.stringify(answers));
        """,
        seeds,
    )
    for seed, (normals, subset) in zip(seeds, found, strict=True):
        # The strips of the ziggurat are found by a recurrence of 255 roundings.
        expected = generator(seed, "teacher").standard_normal(2000)
        np.testing.assert_allclose(normals, expected, rtol=1e-12)
        drawn = np.sort(generator(seed, "subset").choice(20, 4, replace=False))
        assert subset == drawn.tolist()


THEORY = {
    **{name: CASES[name] for name in ("relu", "erf", "random start", "codes", "adam", "S* known")},
    "karate": setting_of(
        Part("graph_convolution", tokens=34, dim=3, outputs=2, graph="karate", norm=30.0)
    ),
    "unstable": setting_of(RELU, rate=3.1),
    "diverging": setting_of(RELU, rate=30.0),
    "all tokens": setting_of(RELU.change(support=8)),
}


def read_in_page(settings: list[Setting]) -> list[Any]:
    """What the paper's script says about some settings."""
    return call_modules(
        {"problem": PAGE / "exact/problem.js", "paper": explore.pages[0].script},
        """
        const { settings, graphs } = given;
        const said = settings.map((each) => paper.read(each, problem.build(each, graphs)));
        console.log(JSON.stringify(said));
        """,
        {"settings": [plain_setting(each) for each in settings], "graphs": graphs()},
    )


def test_theory_in_the_page_is_that_of_python():
    pages = read_in_page(list(THEORY.values()))
    for (name, setting), page in zip(THEORY.items(), pages, strict=True):
        reading = explore.read(setting)
        assert page["sentence"] == reading.sentence, name
        assert page["why_no_phases"] == "", name
        conditions = [
            {"text": h.text, "met": h.met, "word": h.word, "detail": h.detail}
            for h in reading.hypotheses()
        ]
        assert page["hypotheses"] == conditions, name
        _assert_same(page["predicted"], plain_lines(reading.predicted()), name)
        _assert_same([{"plateau": page["plateau"]}], [{"plateau": reading.plateau()}], name)
        _assert_same(page["phases"], plain_phases(reading.phases(None)), name)


def test_a_plateau_too_long_for_the_page_says_why_it_shows_no_phases():
    long = setting_of(RELU.change(norm=0.02))
    (page,) = read_in_page([long])
    assert explore.read(long).phases(None)
    assert page["phases"] == []
    plateau = float(f"{explore.read(long).plateau():.3g}")
    assert plateau > explore.RECURSION_STEPS
    assert f"plateau of about {plateau:,.0f} steps" in page["why_no_phases"]
    assert "`tutelage explore` predicts longer ones" in page["why_no_phases"]


def _assert_same(page, python, name):
    """Equal words, and numbers to 1e-10."""
    python = json.loads(json.dumps(python))
    assert len(page) == len(python), (name, page, python)
    for ours, theirs in zip(page, python, strict=True):
        assert ours.keys() == theirs.keys()
        for key, value in theirs.items():
            if isinstance(value, str) or value is None:
                assert ours[key] == value, (name, key)
            else:
                np.testing.assert_allclose(ours[key], value, rtol=1e-10, err_msg=f"{name} {key}")


def test_bad_values_are_refused_with_the_sentence_of_python():
    from tutelage.problem.build import build
    from tutelage.refuse import Refused

    bad = {
        "groups": RELU.change(support=3),
        "support": RELU.change(support=9),
        "nodes": Part("graph_convolution", tokens=5, dim=3, outputs=2, graph="karate"),
        "columns": Part("bilinear", selection=np.full((2, 2), 0.4), outputs=1, dim=1),
    }
    settings = [setting_of(teacher) for teacher in bad.values()]
    for setting, run in zip(settings, run_in_worker(settings), strict=True):
        with pytest.raises(Refused) as refused:
            build(setting)
        assert run["end"] == {"event": "error", "sentence": str(refused.value)}
