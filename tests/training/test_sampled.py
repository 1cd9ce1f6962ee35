"""Sampled training: fresh batches, finite samples, other input laws and attention that sees its
tokens.
"""

from __future__ import annotations

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest
import scipy.stats

import tutelage as tt
from tutelage.inputs.independent import LAWS
from tutelage.objectives.sample import draw_sample
from tutelage.settings import MEASURES, Part, Setting
from tutelage.students.codes import codes, sinusoidal
from tutelage.training import literal, record

pytestmark = pytest.mark.compiled

TEACHER = Part("convolution", tokens=6, support=2, outputs=2, dim=3, norm=2.0, noise=0.3)
ONLINE = Setting(
    TEACHER,
    0.1,
    steps=300,
    student=Part("position_attention", start=0.3),
    objective=Part("online", batch=7),
)


def content(seed: int = 0, **options: object) -> tuple[object, object]:
    setting = ONLINE.change(student=Part("content_attention", start=0.3, **options), seed=seed)
    problem = tt.build(setting.change(**{"objective.held_out": 50}))
    return problem.student, problem.objective


@eqx.filter_jit
def said(student: object, tokens: object) -> object:
    """What a student answers, as one program and not one for each of its operations."""
    return student(tokens)  # type: ignore[operator]


def test_a_sampled_run_does_not_show_how_many_points_a_call_measures(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Of 64 a call, or of five, which takes as many more calls."""
    monkeypatch.setattr(record, "BLOCK_SECONDS", 1e9)  # a call ends for no other reason
    problem, runs, calls = tt.build(ONLINE), [], []
    for slots in (literal.DRAWING_SLOTS, 5):
        monkeypatch.setattr(literal, "DRAWING_SLOTS", slots)
        seen: list[int] = []
        runs.append(
            tt.train(
                problem.student,
                problem.objective,
                rate=0.1,
                steps=300,
                key=problem.key,
                watch=lambda member, step, curves, seen=seen: seen.append(step),
            )
        )
        calls.append(len(seen))
    many, few = runs
    np.testing.assert_array_equal(many.steps, few.steps)
    for name, curve in many.curves.items():
        np.testing.assert_array_equal(curve, few.curves[name])
    assert calls == [-(-len(many.steps) // 64), -(-len(many.steps) // 5)]


def test_a_drawn_gradient_is_the_exact_one_on_average():
    """By z-score over every entry: 4000 batches, and the largest of 42 normal scores stays below
    4.5 but once in 3000 tries.
    """
    problem = tt.build(ONLINE)
    exact = jax.jit(lambda s: jax.grad(problem.objective.judge)(s))(problem.student)
    drawn = jax.jit(
        jax.vmap(
            lambda key: jax.grad(lambda s: problem.objective.draw(s, key=key))(problem.student)
        )
    )(jax.random.split(tt.stream(1, "z"), 4000))
    for name in ("value", "key_query"):
        ours = np.asarray(getattr(drawn, name))
        scores = (ours.mean(0) - np.asarray(getattr(exact, name))) / (
            ours.std(0, ddof=1) / np.sqrt(len(ours))
        )
        assert np.abs(scores).max() < 4.5
        assert np.abs(scores).max() > 0.3  # it is a sample, not the closed form again


@pytest.mark.depth
def test_the_risk_of_a_batch_is_the_population_risk_on_average():
    problem = tt.build(ONLINE)
    sample = draw_sample(
        problem.objective.teacher, problem.objective.inputs, 20_000, key=tt.stream(0, "z")
    )
    losses = np.asarray(sample.losses(problem.student))
    assert abs(
        losses.mean() - float(problem.objective.judge(problem.student))
    ) < 4 * losses.std() / np.sqrt(len(losses))


def test_step_n_draws_with_the_nth_key_wherever_the_loop_is_cut():
    problem = tt.build(ONLINE)
    run = tt.train(problem.student, problem.objective, rate=0.1, steps=300, key=problem.key)
    student = problem.student
    step = eqx.filter_jit(
        lambda s, n: jax.grad(
            lambda x: problem.objective.draw(x, key=jax.random.fold_in(problem.key, n))
        )(s)
    )
    for n in range(300):
        slope = step(student, jnp.asarray(n))
        student = eqx.tree_at(
            lambda s: (s.value, s.key_query),
            student,
            (student.value - 0.1 * slope.value, student.key_query - 0.1 * slope.key_query),
        )
    np.testing.assert_allclose(run.student.value, student.value, rtol=1e-12)
    np.testing.assert_allclose(run.student.key_query, student.key_query, rtol=1e-10, atol=1e-13)
    np.testing.assert_allclose(
        run.curves["excess_risk"][-1], problem.objective.judge.excess(student), rtol=1e-10
    )


def test_online_runs_in_a_batch_equal_their_lone_runs_and_differ_by_seed():
    settings = [ONLINE.change(seed=seed) for seed in range(3)]
    runs = {run.setting.seed: run for run in tt.execute(settings)}
    problems = [tt.build(s) for s in settings]
    together = tt.train_batch(
        [p.student for p in problems],
        [p.objective for p in problems],
        rates=[0.1] * 3,
        steps=300,
        keys=[p.key for p in problems],
    )
    for seed, run in enumerate(together):
        np.testing.assert_allclose(
            run.curves["excess_risk"], runs[seed].curves["excess_risk"], rtol=1e-10
        )
    assert runs[0].curves["excess_risk"][5] != runs[1].curves["excess_risk"][5]


def test_keys_are_asked_for_where_batches_are_drawn_and_refused_elsewhere():
    problem = tt.build(ONLINE)
    with pytest.raises(tt.Refused, match="`key` must be given"):
        tt.train(problem.student, problem.objective, rate=0.1, steps=10)
    with pytest.raises(tt.Refused, match="nothing to draw"):
        tt.train(problem.student, problem.objective.judge, rate=0.1, steps=10, key=problem.key)


def test_a_finite_sample_is_the_mean_that_it_says():
    setting = ONLINE.change(objective=Part("empirical", samples=11))
    problem = tt.build(setting)
    sample = problem.objective.sample
    V, S = np.asarray(problem.student.value), np.asarray(problem.student.attention())
    by_hand = np.mean(
        [
            0.5 * np.sum((np.asarray(y) - np.maximum(V @ np.asarray(x) @ S, 0)) ** 2)
            for x, y in zip(*_data(sample), strict=True)
        ]
    )
    assert float(problem.objective(problem.student)) == pytest.approx(by_hand, rel=1e-13)
    (run,) = tt.execute([setting.change(steps=2000)])
    assert run.curves["excess_risk"][-1] < run.curves["excess_risk"][0]


def _data(sample):
    return sample.tokens, sample.labels


@pytest.mark.usefixtures("shapes_unchecked")
def test_bad_samples_are_refused():
    with pytest.raises(tt.Refused, match=r"shape \(n, d, D\)"):
        tt.Sample(jnp.zeros((3, 2, 4)), jnp.zeros((2, 2, 4)))
    for part in (
        Part("online", batch=0),
        Part("empirical", samples=0),
        Part("empirical", samples=0.5),
        Part("online", held_out=-1),
    ):
        with pytest.raises(tt.Refused, match="whole number"):
            tt.build(ONLINE.change(objective=part))
    with pytest.raises(tt.Refused, match="held_out"):
        tt.build(ONLINE.change(inputs=Part("independent", law="gumbel")))
    with pytest.raises(tt.Refused, match="held_out"):
        tt.build(ONLINE.change(student=Part("content_attention")))


@pytest.mark.brief(2)
@pytest.mark.parametrize("law", LAWS)
def test_moments_of_laws(law):
    """Against SciPy's exact moments, and the drawn ones by z-score."""
    theirs = {
        "normal": scipy.stats.norm(),
        "exponential": scipy.stats.expon(),
        "gumbel": scipy.stats.gumbel_r(),
        "rademacher": scipy.stats.rv_discrete(values=([-1, 1], [0.5, 0.5])),
        "student_t": scipy.stats.t(7.0),
    }[law]
    inputs = tt.Independent(law, shift=0.5, scale=2.0, freedom=7.0)
    mean, variance, kurtosis = (float(m) for m in theirs.stats(moments="mvk"))
    assert float(inputs.mean) == pytest.approx(0.5 + 2 * mean, abs=1e-12)
    assert float(inputs.variance) == pytest.approx(4 * variance, rel=1e-12)
    drawn = np.asarray(inputs.sample(200, 1000, key=tt.stream(0, law)))
    count, centred = drawn.size, drawn - float(inputs.mean)
    assert abs(centred.mean()) < 4 * np.sqrt(float(inputs.variance) / count)
    spread = float(inputs.variance) * np.sqrt((kurtosis + 2) / count)
    assert abs((centred**2).mean() - float(inputs.variance)) < 4 * spread + 1e-12


def test_bad_laws_are_refused():
    for make, words in (
        (lambda: tt.Independent("cauchy"), "law"),
        (lambda: tt.Independent("student_t", freedom=2.0), "number more than 2"),
        (lambda: tt.Independent(shift=float("nan")), "finite"),
        (lambda: tt.Independent(scale=0.0), "scale"),
    ):
        with pytest.raises(tt.Refused, match=words):
            make()


def test_content_attention_with_only_its_two_blocks_is_position_attention():
    """The embedding of (2.4) in (2.5): W̃_V = [W_V, 0] and W̃_KQ = diag(0, W_KQ)."""
    student, objective = content()
    teacher = objective.teacher
    position = tt.PositionAttention.random(
        teacher,
        scale=0.7,
        key=tt.stream(3, "start"),
        key_codes=student.codes,
        query_codes=student.codes,
    )
    value, scores = np.zeros(student.value.shape), np.zeros(student.key_query.shape)
    value[:, :3], scores[3:, 3:] = position.value, position.key_query
    embedded = eqx.tree_at(
        lambda s: (s.value, s.key_query), student, (jnp.asarray(value), jnp.asarray(scores))
    )
    tokens = jax.random.normal(tt.stream(0, "x"), (3, 6))
    np.testing.assert_allclose(
        said(embedded, tokens), said(position, tokens), rtol=1e-12, atol=1e-14
    )


@pytest.mark.parametrize(
    ("mix", "form", "width"),
    [
        ("concatenated", "merged", 9),
        ("concatenated", "separate", 9),
        ("added", "separate", 3),
        ("none", "merged", 3),
    ],
)
def test_content_attention_by_hand(mix, form, width):
    given = {"codes": "sinusoidal"} if mix == "added" else {}
    student, _ = content(mix=mix, form=form, **given)
    X = np.asarray(jax.random.normal(tt.stream(0, "x"), (3, 6)))
    P = None if student.codes is None else np.asarray(student.codes)
    Z = {"concatenated": lambda: np.vstack([X, P]), "added": lambda: X + P, "none": lambda: X}[
        mix
    ]()
    W = (
        np.asarray(student.key_query)
        if form == "merged"
        else np.asarray(student.key).T @ np.asarray(student.query)
    )
    assert W.shape == (width, width)
    scores = Z.T @ W @ Z * (3 if mix == "added" else 6) ** -0.5
    A = np.exp(scores) / np.exp(scores).sum(0)
    np.testing.assert_allclose(
        said(student, jnp.asarray(X)), np.maximum(np.asarray(student.value) @ Z @ A, 0), rtol=1e-12
    )


def test_without_codes_attention_commutes_with_every_permutation_and_with_codes_it_does_not():
    tokens = jax.random.normal(tt.stream(0, "x"), (3, 6))
    order = np.random.default_rng(0).permutation(6)
    bare, _ = content(mix="none")
    np.testing.assert_allclose(
        said(bare, tokens[:, order]), said(bare, tokens)[:, order], rtol=0, atol=1e-15
    )
    coded, _ = content()
    assert np.abs(said(coded, tokens[:, order]) - said(coded, tokens)[:, order]).max() > 1e-3


@pytest.mark.depth
def test_learned_codes_move_and_fixed_ones_do_not():
    for learned in (False, True):
        student, objective = content(learned=learned)
        run = tt.train(
            student, objective, rate=0.05, steps=20, measures=[], key=tt.stream(0, "batches")
        )
        assert bool((run.student.codes != student.codes).any()) == learned


def test_bad_content_attention_is_refused():
    for options, words in (
        ({"mix": "multiplied"}, "mixing"),
        ({"form": "low-rank"}, "form of the scores"),
        ({"form": "separate", "start": 0.0}, "scale"),
        ({"mix": "added", "size": 4, "codes": "gaussian"}, "3 rows"),
        ({"codes": "binary"}, "position codes"),
        ({"learned": "no"}, "true or false"),
        ({"size": 4}, "at least as many"),
        ({"codes": np.eye(5)}, "6 columns"),
    ):
        with pytest.raises(tt.Refused, match=words):
            tt.build(
                ONLINE.change(
                    student=Part("content_attention", **{"start": 0.1, **options}),
                    objective=Part("online", held_out=5),
                )
            )


def test_codes():
    generator = np.random.default_rng(0)
    P = codes("orthonormal", 7, 5, generator)
    np.testing.assert_allclose(P.T @ P, np.eye(5), atol=1e-14)
    np.testing.assert_allclose(
        (codes("gaussian", 400, 300, generator) ** 2).sum(0).mean(), 1.0, atol=0.02
    )
    table = sinusoidal(4, 3)
    np.testing.assert_allclose(
        table[:, 2], [np.sin(2), np.cos(2), np.sin(2 / 100), np.cos(2 / 100)], rtol=1e-15
    )


def test_snapshots_are_the_student():
    setting = Setting(
        TEACHER, 0.1, steps=50, measures=(*MEASURES, "value_matrix", "attention_matrix")
    )
    (run,) = tt.execute([setting])
    np.testing.assert_array_equal(run.curves["value_matrix"][-1].reshape(2, 3), run.student.value)
    np.testing.assert_allclose(
        run.curves["attention_matrix"][-1].reshape(6, 6), run.student.attention(), rtol=1e-14
    )
