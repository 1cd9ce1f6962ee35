"""teacher-models/blocks: the parity argument checked exactly, and a reduced form of the study."""

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest

import tutelage as tt
from tutelage.claims import Status
from tutelage.papers.teacher_models.blocks.readings import (
    block_norms,
    final_excess,
    mean_attention,
)
from tutelage.papers.teacher_models.blocks.study import (
    MERGED,
    SEPARATE,
    TEXTBOOK,
    hypotheses,
    parity_hypotheses,
    position_only,
    study,
)
from tutelage.studies.answering import run_cases
from tutelage.studies.study import Plan


@pytest.mark.brief(1)
@pytest.mark.parametrize("activation", ["identity", "relu"])
def test_parity_forbids_blocks_that_pair_tokens_with_codes_for_the_identity_only(activation):
    """Averaged over a sample and its mirror image X ↦ −X, the gradient of W_V on P and of the
    blocks XP, PX is zero to rounding.

    With ReLU it is not: the layer learns the mean of the labels through its codes. The block XX is
    allowed in both.
    """
    problem = tt.build(MERGED.change(**{"teacher.activation": activation}))
    dim = problem.teacher.shape[1]
    student = problem.student
    inside = jnp.arange(student.value.shape[1]) < dim
    value = jnp.where(inside, problem.teacher.value @ jnp.eye(dim, student.value.shape[1]), 0.0)
    same = inside[:, None] == inside[None, :]
    start = eqx.tree_at(
        lambda s: (s.value, s.key_query),
        student,
        (0.8 * value, jnp.where(same, student.key_query * 30, 0.0)),
    )
    half = jax.random.normal(tt.stream(0, "x"), (200, dim, problem.teacher.shape[2]))
    both = jnp.concatenate([half, -half])
    slope = eqx.filter_jit(jax.grad(lambda s: tt.Sample(both, jax.vmap(problem.teacher)(both))(s)))(
        start
    )
    scale = float(jnp.abs(slope.value).max())
    forbidden = [
        float(jnp.abs(slope.value[:, dim:]).max()),
        float(jnp.abs(jnp.where(same, 0.0, slope.key_query)).max()),
    ]
    if activation == "identity":
        assert max(forbidden) < 1e-13 * scale
    else:
        assert min(forbidden) > 1e-3 * scale
    assert float(jnp.abs(slope.key_query[:dim, :dim]).max()) > 1e-3 * scale


@pytest.fixture(scope="module")
def answered():
    cases, _ = study.plan(Plan(seeds=4, steps=3000, only=("separate", "shifted")))
    return {a.case.name: a for a in run_cases(study.name, cases)}


@pytest.fixture(scope="module")
def brief():
    """A run of the whole layer that has moved a little."""
    cases, _ = study.plan(Plan(seeds=1, steps=100, only=("separate",)))
    (found,) = run_cases(study.name, cases)
    return next(r for r in found.runs if r.setting.student.name == "content_attention")


@pytest.mark.depth
def test_with_keys_and_queries_apart_only_the_two_blocks_move(answered):
    scores, values, gap = answered["separate"].verdicts
    assert scores.status is Status.HOLDS
    assert scores.measured < 0.01
    assert values.measured < 0.05
    assert gap.measured < 1.0  # the product of two matrices learns faster than one


@pytest.mark.depth
def test_with_a_mean_the_block_on_codes_moves(answered):
    assert answered["shifted"].verdicts[0].status is not Status.HOLDS


def test_block_norms_by_hand(brief):
    before, after = tt.build(brief.setting).student, brief.student
    moved = np.asarray(after.key.T @ after.query - before.key.T @ before.query)
    norms = block_norms(brief.setting, after)
    assert norms["PP"] == pytest.approx(np.linalg.norm(moved[4:, 4:]), rel=1e-12)
    assert norms["XP"] == pytest.approx(np.linalg.norm(moved[:4, 4:]), rel=1e-12)
    assert norms["VP"] == pytest.approx(
        np.linalg.norm((after.value - before.value)[:, 4:]), rel=1e-12
    )


def test_mean_attention_is_column_stochastic(brief):
    columns = mean_attention(brief.setting, brief.student).sum(0)
    np.testing.assert_allclose(columns, 1.0, rtol=1e-12)


@pytest.mark.depth
def test_the_layer_ends_near_its_teacher(answered):
    runs = answered["separate"].runs
    layer = next(r for r in runs if r.setting.student.name == "content_attention")
    assert final_excess(layer) < 5


def test_position_only_shares_everything_but_the_student():
    beside = position_only(SEPARATE)
    assert (beside.teacher, beside.objective, beside.rate, beside.seed) == (
        SEPARATE.teacher,
        SEPARATE.objective,
        SEPARATE.rate,
        SEPARATE.seed,
    )
    assert beside.student.name == "position_attention"


def test_hypotheses_are_evaluated_at_the_setting():
    met = {h.text: h.met for h in hypotheses(MERGED)}
    assert met["tokens iid N(0, I)"] is True
    assert False not in met.values()  # Fig. 1 is of such runs
    assert [h.text for h in parity_hypotheses(MERGED) if h.met is False] == [
        "gradients of the population risk"
    ]
    added = {h.text: h.met for h in hypotheses(TEXTBOOK.change(inputs="independent"))}
    assert added["orthonormal codes, concatenated to the tokens"] is False
    assert added["tokens iid N(0, I)"] is False


def test_too_short_a_run_is_undecided():
    cases, _ = study.plan(Plan(seeds=2, steps=50, only=("separate",)))
    (answered,) = run_cases(study.name, cases)
    assert {v.status for v in answered.verdicts} == {Status.UNDECIDED}
    assert "Too short to tell" in answered.verdicts[0].sentence


def test_changes_apply_to_both_forms():
    cases, left_out = study.plan(Plan(changes={"N": 10, "D": 6}))
    assert [case.name for case in cases] == ["merged", "separate"]
    assert left_out == []
    assert {s.objective.options["batch"] for case in cases for s in case.settings} == {10}


@pytest.mark.depth
def test_figures(answered, tmp_path):
    assert {p.stem for p in study.figures(list(answered.values()), tmp_path)} == {"blocks-heatmaps"}
