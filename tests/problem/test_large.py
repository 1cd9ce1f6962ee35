"""Very many tokens: wide attentions in little memory, and collapsed runs that are exactly the whole
ones.
"""

from __future__ import annotations

import itertools
import re
from pathlib import Path

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import optax
import pytest

import tutelage as tt
from tutelage.claims.claim import NoPrediction
from tutelage.measures import STANDARD, as_measure
from tutelage.measures.bilinear import attention_square, entropy, score_gap, support_mass
from tutelage.objectives import wide
from tutelage.papers.teacher_models import theory
from tutelage.papers.teacher_models.theory import recursion
from tutelage.problem.build import build_optimiser
from tutelage.problem.symmetry import SYMMETRIC
from tutelage.running import work
from tutelage.teachers import CollapsedTeacher, equal_weights, pattern_of
from tutelage.training import literal as training

SMALL = {"outputs": 3, "dim": 4, "norm": 20.0}
MIXED = np.zeros(
    (36, 36)
)  # K from 1 to 5, equal and unequal weights, no column twice in the same order
for column, weights in enumerate(
    itertools.islice(itertools.cycle([[1.0], [0.5, 0.3, 0.2], [0.2] * 5]), 36)
):
    MIXED[(np.arange(len(weights)) * (1 + column % 2) + column) % 36, column] = weights
POOLS = tt.Part("convolution", tokens=36, support=4, **SMALL)
MATRICES = ("excess_risk", "value_error", "attention_error")
RUNS = {
    "cnn, D = 36": (POOLS.change(noise=0.1), 0.2),
    "cnn, D = 128": (POOLS.change(tokens=128, norm=90.0), 0.05),
    "gcn": (tt.Part("graph_convolution", tokens=36, **SMALL), 0.1),
    "token selection": (
        tt.Part("token_selection", tokens=20, support=4, dim=4, scale=5.0, queries=7),
        0.2,
    ),
    "mixed": (tt.Part("bilinear", selection=MIXED, activation="relu", **SMALL), 0.05),
}


def setting_of(name):
    """Token selection by momentum, which acts on gradients linearly and so collapses like plain
    descent.
    """
    teacher, rate = RUNS[name]
    optimiser = (
        tt.Part("momentum", decay=0.5) if name == "token selection" else tt.Part("gradient_descent")
    )
    return tt.Setting(teacher, rate=rate, steps=2000, optimiser=optimiser, measures=MATRICES)


QUICK = ("gcn", "mixed")  # supports of one size and of several


@pytest.mark.parametrize(
    "name", [pytest.param(name, marks=() if name in QUICK else pytest.mark.depth) for name in RUNS]
)
def test_a_collapsed_run_is_the_whole_run(name):
    whole = setting_of(name)
    runs = {run.setting: run for run in tt.execute([whole, tt.collapsed(whole)])}
    one, other = runs[whole], runs[tt.collapsed(whole)]
    assert one.curves["excess_risk"][-1] < 0.3 * one.curves["excess_risk"][0]  # attention has moved
    assert other.student.key_query.size <= 12
    for measure in MATRICES:
        np.testing.assert_allclose(
            other.curves[measure], one.curves[measure], rtol=1e-10, atol=0, err_msg=measure
        )


def test_the_collapsed_gradient_is_the_projected_one():
    """At scores that have the symmetry and are not on a run: ∂L/∂y is the whole gradient along
    E/√(mn), and there is no other part.

    For erf, whose risk is not homogeneous: nothing but the counts themselves can make up for a
    column that is there m times.
    """
    setting = tt.Setting(
        RUNS["mixed"][0].change(activation="erf", norm=2.0, noise=0.3), rate=0.1, steps=1
    )
    whole, small = tt.build(setting), tt.build(tt.collapsed(setting))
    draw, n, m = (
        np.random.default_rng(0),
        np.asarray(small.teacher.token_counts),
        np.asarray(small.teacher.query_counts),
    )
    value, z = 0.3 * draw.normal(size=whole.student.value.shape), draw.normal(size=n.shape)
    class_of = np.array(
        [[_kind_of(small.teacher, MIXED[:, i], w) for i in range(36)] for w in range(36)]
    )  # (g, c) of each entry
    scores = z[class_of[..., 0], class_of[..., 1]]
    student = eqx.tree_at(
        lambda s: (s.value, s.key_query), whole.student, (jnp.asarray(value), jnp.asarray(scores))
    )
    other = eqx.tree_at(
        lambda s: (s.value, s.key_query),
        small.student,
        (jnp.asarray(value), jnp.asarray(np.sqrt(m * n) * z)),
    )
    risk, gradient = _slopes(whole.objective, student)
    other_risk, other_gradient = _slopes(small.objective, other)
    assert float(other_risk) == pytest.approx(float(risk), rel=1e-13)
    np.testing.assert_allclose(other_gradient.value, gradient.value, rtol=1e-12, atol=1e-15)
    back = np.where(
        n > 0, np.asarray(other_gradient.key_query) / np.sqrt(np.maximum(m * n, 1)), 0.0
    )
    np.testing.assert_allclose(
        back[class_of[..., 0], class_of[..., 1]], gradient.key_query, rtol=1e-11, atol=1e-16
    )
    assert float(attention_square(other, small.objective)) == pytest.approx(
        float(attention_square(student, whole.objective)), rel=1e-13
    )
    for measure in (
        support_mass,
        entropy,
        score_gap,
    ):  # an entry a kind of column, and not one a query
        ours, theirs = measure(other, small.objective), measure(student, whole.objective)
        np.testing.assert_allclose(
            np.asarray(ours)[class_of[0, :, 1]], theirs, rtol=1e-12, err_msg=measure.__name__
        )


@jax.jit
def _slopes(objective, student):
    return jax.value_and_grad(objective)(student)


def _kind_of(teacher, column, token):
    """Where a collapsed teacher holds the weight of one token: the row and the kind of its
    column.
    """
    n, s = np.asarray(teacher.token_counts), np.asarray(teacher.selection)
    for c in range(s.shape[1]):
        if np.array_equal(np.sort(np.repeat(s[:, c], n[:, c].astype(int))), np.sort(column)):
            return [int(np.flatnonzero((s[:, c] == column[token]) & (n[:, c] > 0))[0]), c]
    raise AssertionError("no such column")


@pytest.mark.parametrize("name", [*SYMMETRIC["optimiser"][0], "sign"])
def test_which_optimisers_see_no_basis(name):
    """Gradients of two classes, of two and three entries: whole, and in coordinates √N times as
    large. Sign descent tells them apart.
    """
    options = {"decay": 0.9} if name == "momentum" else {}
    optimiser = build_optimiser(
        tt.Setting(POOLS, rate=1.0, steps=1, optimiser=tt.Part(name, **options))
    )(0.1)
    sizes, gradients = np.array([2, 3]), np.random.default_rng(0).normal(size=(4, 2))

    def moved(expand):
        at = jnp.zeros(len(expand(gradients[0])))
        state = optimiser.init(at)
        for gradient in gradients:
            updates, state = optimiser.update(jnp.asarray(expand(gradient)), state, at)
            at = at + updates
        return np.asarray(at)

    whole, classes = moved(lambda g: np.repeat(g, sizes)), moved(lambda g: np.sqrt(sizes) * g)
    assert np.allclose(np.repeat(classes / np.sqrt(sizes), sizes), whole, rtol=1e-14) == (
        name != "sign"
    )


def test_a_million_tokens_follow_the_recursion_of_two_scalars():
    """`papers/teacher_models/theory/recursion.py` is plain Python. It shares nothing with the
    training code.
    """
    setting = tt.Setting(
        POOLS.change(tokens=10**6, support=1000, norm=2e7, collapse=True),
        rate=1e-3,
        steps=3000,
        measures=MATRICES,
    )
    (run,) = tt.execute([setting])
    states = list(itertools.islice(recursion.states(setting), 3001))
    predicted = np.array([states[step].excess_risk for step in run.steps])
    assert predicted[-1] < 0.9 * predicted[0]
    np.testing.assert_allclose(run.curves["excess_risk"], predicted, rtol=1e-10, atol=0)


@pytest.mark.depth
def test_the_example_of_the_docs_holds(capsys):
    page = (Path(__file__).parents[2] / "docs" / "large.md").read_text()
    exec(re.search(r"```python\n(.*?)```", page, re.S)[1], {})
    assert "HOLDS" in capsys.readouterr().out


def test_settings_of_any_number_of_tokens_train_together_and_are_stored(monkeypatch, tmp_path):
    sizes, real = [], work.train_batch
    monkeypatch.setattr(
        work, "train_batch", lambda s, *a, **k: (sizes.append(len(s)), real(s, *a, **k))[1]
    )
    settings = [
        tt.Setting(POOLS.change(tokens=D, collapse=True), rate=1e-4, steps=50, measures=MATRICES)
        for D in (36, 400, 10**6)
    ]
    runs = list(tt.execute(settings, store=tt.Store(tmp_path), threads=1))
    assert sizes == [3]
    again = {run.setting: run for run in tt.execute(settings, store=tt.Store(tmp_path))}
    assert sizes == [3]
    for run in runs:
        np.testing.assert_array_equal(again[run.setting].student.key_query, run.student.key_query)


@pytest.mark.parametrize("teacher", [POOLS, RUNS["mixed"][0], RUNS["token selection"][0]])
def test_theory_says_the_same_of_a_collapsed_setting(teacher):
    whole = tt.Setting(teacher, rate=0.1, steps=10)
    small = tt.collapsed(whole)
    for prediction in (
        theory.counting_law,
        theory.value_constant,
        theory.attention_constant,
        theory.plateau,
    ):
        assert prediction(small) == pytest.approx(prediction(whole), rel=1e-12), prediction.__name__
    assert [h.met for h in theory.theorem_3_1(small)] == [h.met for h in theory.theorem_3_1(whole)]
    with pytest.raises(NoPrediction, match="leave it whole"):
        theory.limit_error(small)


def test_patterns():
    weights, tokens, queries = pattern_of(MIXED)
    assert queries.tolist() == [12, 12, 12]
    assert (tokens.sum(0) == 36).all()
    np.testing.assert_allclose((tokens * weights).sum(0), 1.0)
    np.testing.assert_allclose((queries * tokens * weights**2).sum(), (MIXED**2).sum())
    for ours, theirs in zip(pattern_of(tt.pooling(12, 3)), equal_weights(12, 3), strict=True):
        np.testing.assert_array_equal(np.sort(ours, axis=0), np.sort(theirs, axis=0))
    assert equal_weights(5, 5).weights.shape == (1, 1)  # K = D has no zeros


@pytest.mark.parametrize("part", ["cycle", "regular", "karate"])
def test_graphs_that_are_not_drawn_have_the_pattern_of_those_that_are(part):
    graph = {
        "cycle": {"tokens": 10},
        "regular": {"tokens": 12, "degree": 3},
        "karate": {"tokens": 34},
    }[part]
    teacher = tt.Part("graph_convolution", graph=part, outputs=1, dim=1, **graph)
    collapsed = tt.build_teacher(tt.Setting(teacher.change(collapse=True), rate=1.0, steps=1))
    drawn = pattern_of(tt.build_teacher(tt.Setting(teacher, rate=1.0, steps=1)).selection)
    ours = sorted(
        zip(
            *(
                np.asarray(x).ravel().tolist()
                for x in (collapsed.selection, collapsed.token_counts)
            ),
            strict=True,
        )
    )
    assert ours == sorted(
        zip(drawn.weights.ravel().tolist(), drawn.tokens.ravel().tolist(), strict=True)
    )
    assert collapsed.shape[2:] == (graph["tokens"], graph["tokens"])


REFUSED = {
    "a random start": ({"student.start": 0.1}, "starts from zero"),
    "codes": ({"student.key_codes": "gaussian"}, "starts from zero"),
    "another student": ({"student": "content_attention"}, "'position_attention'"),
    "correlated tokens": ({"inputs.correlation": np.eye(36)}, "independent between positions"),
    "other inputs": ({"inputs": "independent"}, "'gaussian'"),
    "a sampled objective": ({"objective": "online"}, "a sample tells tokens apart"),
    "adam": ({"optimiser": "adam"}, "each entry by its own size"),
    "groups that do not fit": ({"teacher.support": 7}, "multiple"),
}


@pytest.mark.parametrize("name", REFUSED)
def test_what_breaks_the_symmetry_is_refused(name):
    changes, reason = REFUSED[name]
    setting = tt.Setting(POOLS, rate=0.1, steps=1).change(**changes)
    with pytest.raises(tt.Refused, match=reason):
        tt.collapsed(setting)
    with pytest.raises(tt.Refused, match=reason):
        tt.build(setting.change(**{"teacher.collapse": True}))


def test_teachers_and_students_that_do_not_go_together_are_refused():
    with pytest.raises(tt.Refused, match="option `collapse`"):
        tt.collapsed(tt.Setting(tt.Part("image_cnn"), rate=0.1, steps=1))
    teacher = CollapsedTeacher(np.eye(2), equal_weights(6, 3))
    student = tt.PositionAttention.zeros(tt.BilinearTeacher(np.eye(2), np.full((2, 1), 0.5)))
    with pytest.raises(tt.Refused, match="need each other"):
        tt.PopulationRisk(teacher).check(student)
    with pytest.raises(tt.Refused, match="sum to 1"):
        CollapsedTeacher(np.eye(2), equal_weights(6, 3)._replace(weights=np.array([[0.3], [0.0]])))


@pytest.mark.depth
def test_blocks_of_columns_change_nothing(monkeypatch):
    problem = tt.build(
        tt.Setting(
            POOLS.change(tokens=100, activation="identity"),
            rate=0.1,
            steps=1,
            student=tt.Part("position_attention", start=1.0),
        )
    )

    def seen(
        columns,
    ):  # a new function, since a compiled one remembers in how many blocks it was made
        monkeypatch.setattr(wide, "BLOCK", 100 * columns)
        at = jax.jit(
            lambda student, risk: (
                jax.value_and_grad(risk)(student),
                [measure(student, risk) for measure in STANDARD[1:]],
            )
        )
        return at(problem.student, problem.objective)

    plain = seen(64)
    monkeypatch.setattr(wide, "WIDE", 1)
    blocks = seen(64)  # one of 64 columns and one of 36
    for ours, theirs in zip(jax.tree.leaves(blocks), jax.tree.leaves(plain), strict=True):
        np.testing.assert_allclose(ours, theirs, rtol=1e-12, atol=1e-18)


@pytest.mark.depth
def test_a_wide_run_makes_no_copy_and_one_scratch():
    """Beside its arguments, student and S*, and the student that comes out, the loop has room for a
    gradient and five blocks.
    """
    problem = tt.build(
        tt.Setting(POOLS.change(tokens=1536, activation="identity"), rate=1e-4, steps=1)
    )
    student, risk = training.stack([(problem.student, problem.objective)])
    for ours, theirs in (
        (student.key_query, problem.student.key_query),
        (risk.selection, problem.teacher.selection),
    ):
        assert ours.unsafe_buffer_pointer() == theirs.unsafe_buffer_pointer()
    assert risk.teacher.selection is risk.selection
    rates = jnp.asarray([1e-4])
    program = training.compile_steps("cpu", False, ()).lower(
        student,
        training.first_states(student, rates, optax.sgd),
        jnp.asarray(0, jnp.int64),
        objectives=risk,
        rates=rates,
        keys=None,
        gaps=training.gaps_between(0, [1]),
        optimiser=optax.sgd,
        measures=tuple(as_measure(measure) for measure in STANDARD),
    )
    memory, logits = program.compile().memory_analysis(), 8 * 1536**2
    assert memory.output_size_in_bytes < 1.1 * logits
    assert memory.temp_size_in_bytes < logits + 5 * 8 * wide.BLOCK


def test_a_wide_problem_is_built_once(monkeypatch):
    from tutelage.running import execute as execution

    built, real = [], execution.build
    monkeypatch.setattr(execution, "MOST_BYTES_KEPT", 0)
    monkeypatch.setattr(execution, "build", lambda one, *_: built.append(one) or real(one))
    monkeypatch.setattr(work, "build", lambda one: built.append(one) or real(one))
    list(
        tt.execute([tt.Setting(POOLS.change(collapse=True), rate=0.1, steps=1, measures=MATRICES)])
    )
    assert len(built) == 1
