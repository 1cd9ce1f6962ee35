"""Beyond literal steps: the method, its Hessian, literal steps beside it, an independent solver,
the store, verdicts, refusals.
"""

import itertools
from functools import partial

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest
from scipy.integrate import Radau
from threadpoolctl import threadpool_info, threadpool_limits

import tutelage as tt
from tutelage.claims import Rate, check
from tutelage.cli import main
from tutelage.papers.teacher_models.theory import counting_law
from tutelage.problem.build import build
from tutelage.refuse import Refused
from tutelage.run import Outcome
from tutelage.running.execute import checked
from tutelage.students.base import trainable
from tutelage.training import flow, sdirk
from tutelage.training.checks import why_no_flow
from tutelage.training.loop import train, train_batch

TEACHER = tt.Part(
    "convolution", tokens=8, support=2, outputs=2, dim=3, norm=5.0, activation="identity"
)
SETTING = tt.Setting(
    TEACHER, rate=0.05, steps=1, measures=("excess_risk", "value_error", "attention_error")
)
START = 10_000


def run(setting=SETTING, **how):
    problem = build(setting)
    return train(
        problem.student, problem.objective, rate=setting.rate, measures=problem.measures, **how
    )


@pytest.fixture(scope="module")
def literal():
    return run(steps=1_000_000)


@pytest.fixture(scope="module")
def flowed():
    return run(steps=1_000_000, method=tt.Method(literal=START))


@pytest.fixture(scope="module")
def far():
    return run(steps=10**12, method=tt.Method(literal=START))


def test_the_method_has_order_four_with_three_embedded_and_is_l_stable():
    A, c = sdirk._STAGES, sdirk._NODES
    trees = {1: [np.ones(5)], 2: [c], 3: [c**2, A @ c], 4: [c**3, c * (A @ c), A @ c**2, A @ A @ c]}
    values = {1: [1], 2: [1 / 2], 3: [1 / 3, 1 / 6], 4: [1 / 4, 1 / 8, 1 / 12, 1 / 24]}
    for weights, order in ((A[-1], 4), (sdirk._EMBEDDED, 3)):
        for k in range(1, order + 1):
            for tree, value in zip(trees[k], values[k], strict=True):
                assert weights @ tree == pytest.approx(value, abs=1e-14)
    assert sdirk._EMBEDDED @ trees[4][0] != pytest.approx(
        1 / 4, abs=1e-3
    )  # or it would tell nothing of the error
    np.testing.assert_allclose(A.sum(1), c, atol=1e-14)
    assert A[-1] @ np.linalg.solve(A, np.ones(5)) == pytest.approx(1, abs=1e-12)  # R(∞) = 0
    assert np.diag(A) == pytest.approx(sdirk._GAMMA)


CODES = np.random.default_rng(3).standard_normal((3, 4))
SMALL = tt.Part("convolution", tokens=4, support=2, outputs=2, dim=3, activation="relu")
KINDS = {
    "relu": tt.Setting(
        SMALL, rate=0.1, steps=1, inputs=tt.Part("gaussian", correlation=0.5 * np.eye(4) + 0.5)
    ),
    "codes": tt.Setting(
        SMALL.change(activation="identity"),
        rate=0.1,
        steps=1,
        inputs=tt.Part("independent", shift=0.5),
        student=tt.Part("position_attention", key_codes=CODES, query_codes=CODES),
    ),
}


@pytest.mark.brief(1)
@pytest.mark.parametrize("kind", KINDS)
def test_the_gradient_is_autodiffs_and_its_derivative_the_hessian(kind):
    problem, rng = build(KINDS[kind]), np.random.default_rng(0)
    moving, still = eqx.partition(problem.student, trainable(problem.student))
    student = eqx.combine(
        jax.tree.map(lambda leaf: leaf + 0.5 * rng.standard_normal(leaf.shape), moving), still
    )
    x, unflat, flat, border, shape = sdirk.flatten(student)
    v, r, h = rng.standard_normal(len(x)), rng.standard_normal(len(x)), 1e-3

    @partial(
        jax.jit, compiler_options={"xla_backend_optimization_level": 0}
    )  # one program and unoptimised, since it runs once
    def everything(x):
        def written(x):
            return flat(problem.objective.gradient(unflat(x)))

        slope, product = jax.linearize(written, x)
        by_autodiff = jax.vmap(jax.grad(lambda x: problem.objective.excess(unflat(x))))
        around = by_autodiff(jnp.stack([x + k * h * v for k in (-2.0, -1.0, 0.0, 1.0, 2.0)]))
        solved = sdirk._inverse(written, x, jnp.asarray(7.0), border, shape)(jnp.asarray(r))
        return slope, jax.vmap(product)(jnp.eye(len(x))), around, solved

    slope, hessian, around, solved = jax.device_get(everything(x))
    np.testing.assert_allclose(slope, around[2], rtol=0, atol=1e-14 * np.abs(slope).max())
    np.testing.assert_allclose(hessian, hessian.T, atol=1e-12)
    # Central differences of order 4: h = 1e-3 leaves 1e-11 of rounding and truncation.
    np.testing.assert_allclose(
        hessian @ v, (around[0] - 8 * around[1] + 8 * around[3] - around[4]) / (12 * h), atol=1e-9
    )
    np.testing.assert_allclose(
        solved, np.linalg.solve(np.eye(len(x)) + 7.0 * hessian, r), atol=1e-11
    )
    assert shape == ((0, 0) if kind == "codes" else (4, 4))


def test_literal_steps_lie_within_the_error_that_is_reported(literal, flowed):
    np.testing.assert_array_equal(literal.steps, flowed.steps)
    told, late = flowed.continued, literal.steps > START
    assert literal.continued is None
    assert told.literal == START
    for name in literal.curves:
        np.testing.assert_array_equal(literal.curves[name][~late], flowed.curves[name][~late])
    apart = {
        name: np.abs(flowed.curves[name][late] / literal.curves[name][late] - 1).max()
        for name in literal.curves
    }
    total = told.solver + told.stepping
    assert apart["excess_risk"] <= total < 5 * apart["excess_risk"]  # neither too small nor idle
    assert apart["value_error"] <= total / 2 * 1.1  # the excess is its square, to first order
    assert apart["attention_error"] <= total / 2 * 1.1
    # Where finite steps act through one slow direction: (η/2t)·ln(t/t₀), at most 1/(2eT₀)
    # (docs/derivations.md, section 19).
    assert apart["excess_risk"] == pytest.approx(0.5 / np.e / START, rel=0.1)


@pytest.mark.depth
def test_an_independent_solver_finds_the_same_flow(flowed, far):
    """NumPy's own gradient of the identity's risk, ½(‖W‖²‖S‖² − 2⟨W,V⟩⟨S,S*⟩ + ‖V‖²‖S*‖²), in
    SciPy's Radau.
    """
    problem, start = build(SETTING), run(steps=START)
    V, T = np.asarray(problem.teacher.value), np.asarray(problem.teacher.selection)
    scale = 1 / np.sqrt(8)

    def attention(z):
        e = np.exp(scale * (z - z.max(0)))
        return e / e.sum(0)

    def slope(s, x):
        W, S = x[:6].reshape(2, 3), attention(x[6:].reshape(8, 8))
        to_W = (W - V) * np.sum(S**2) + V * np.sum(S * (S - T))
        to_S = (S - T) * np.sum(W**2) + T * np.sum(W * (W - V))
        return -np.exp(s) * np.concatenate(
            [to_W.ravel(), (scale * S * (to_S - np.sum(S * to_S, 0))).ravel()]
        )

    def excess(x):
        W, S = x[:6].reshape(2, 3), attention(x[6:].reshape(8, 8))
        return 0.5 * sum(
            np.sum((w[:, None] * S[:, q] - v[:, None] * T[:, q]) ** 2)
            for w, v in zip(W, V, strict=True)
            for q in range(8)
        )

    at = np.concatenate(
        [np.asarray(start.student.value).ravel(), np.asarray(start.student.key_query).ravel()]
    )
    for path, end in ((flowed, 10**6), (far, 10**8)):
        solver = Radau(slope, np.log(0.05 * START), at, np.log(0.05 * end), rtol=1e-8, atol=1e-9)
        while solver.status == "running":
            solver.step()
        ours = float(path.curves["excess_risk"][path.steps == end][0])
        assert excess(solver.y) == pytest.approx(
            ours, rel=2e-7
        )  # Radau's tolerances; ours are finer


def test_twelve_decades_settle_on_the_sharp_constant(far):
    assert far.outcome is Outcome.FINISHED
    assert far.steps[-1] == 10**12
    ratio = far.curves["excess_risk"][1:] * far.time[1:] / counting_law(SETTING)
    distance = (ratio - 1)[far.steps[1:] >= 10**5]
    assert (np.diff(distance) < 0).all()
    assert 0 < distance[-1] < 1e-9
    # For the identity the next term of the law is of order ln t/t (docs/derivations.md, section 5),
    # seen here in its tenth digit.
    at = np.isin(far.steps[1:], (10**9, 10**12))
    next_term = (ratio - 1)[at] * far.time[1:][at] / np.log(far.time[1:][at])
    assert next_term[1] == pytest.approx(next_term[0], rel=0.03)
    assert far.continued.solver < 1e-8


@pytest.mark.depth
def test_a_collapsed_run_goes_on_as_the_whole_one(flowed):
    collapsed = run(tt.collapsed(SETTING), steps=1_000_000, method=tt.Method(literal=START))
    for name, curve in flowed.curves.items():
        # Both solve every stage to 1e-12 of 1 + |x|, here up to 7; the smallest gap, ‖S−S*‖ at the
        # end, is above 1e-2.
        np.testing.assert_allclose(collapsed.curves[name], curve, rtol=1e-9)
    assert collapsed.continued.stepping == pytest.approx(flowed.continued.stepping, rel=1e-9)


def test_a_run_that_goes_on_is_that_of_one_piece(flowed, far):
    longer = run(steps=10**12, method=tt.Method(literal=START), begin=flowed)
    np.testing.assert_array_equal(longer.steps, far.steps)
    np.testing.assert_allclose(longer.curves["excess_risk"], far.curves["excess_risk"], rtol=1e-12)
    assert longer.continued.literal == START
    assert longer.continued.stepping == pytest.approx(far.continued.stepping, rel=1e-9)
    # Gone on from by flow, though many more literal steps are allowed now: what the flow reached is
    # no iterate.
    short = run(steps=15_000, method=tt.Method(literal=START))
    on, whole = run(steps=20_000, begin=short), run(steps=20_000, method=tt.Method(literal=START))
    np.testing.assert_allclose(on.curves["excess_risk"], whole.curves["excess_risk"], rtol=1e-9)
    assert on.continued.stepping == pytest.approx(whole.continued.stepping, rel=1e-3)


def test_a_pause_within_the_flow_can_be_gone_on_from(far):
    problem, calls = build(SETTING), itertools.count()
    how = {"rates": [0.05], "measures": problem.measures, "method": tt.Method(literal=START)}
    (stopped,) = train_batch(
        [problem.student],
        [problem.objective],
        steps=10**12,
        pause=lambda so_far: so_far()[0].steps[-1] > 10**5 and next(calls) > 3,
        **how,
    )
    assert stopped.outcome is Outcome.STOPPED
    assert START < stopped.rest.taken < 10**12
    assert stopped.continued.literal == START
    (whole,) = train_batch(
        [problem.student], [problem.objective], steps=10**12, begin=[stopped], **how
    )
    np.testing.assert_allclose(whole.curves["excess_risk"], far.curves["excess_risk"], rtol=1e-12)


def test_swinging_steps_are_not_followed():
    stable = build(SETTING).objective.stable_rate(build(SETTING).student)
    swinging = run(SETTING.change(rate=1.2 * stable), steps=10**12, method=tt.Method(literal=1_000))
    assert swinging.outcome is Outcome.UNSTEADY
    assert swinging.steps[-1] == 1_000
    assert swinging.complete
    assert swinging.continued is None
    assert "after 1,000 steps" in swinging.sentence


def test_a_flow_that_gets_stuck_ends_its_run_alone(monkeypatch):
    """As where no number of parts gives the accuracy that is asked for."""
    take_step = flow.step_once
    monkeypatch.setattr(flow, "MOST_PARTS", 4)

    def fail_late(student, objective, start, length):
        student, seen, error, solved = take_step(student, objective, start, length)
        return student, seen, error, solved and start < np.log(0.05 * 10**5)

    monkeypatch.setattr(flow, "step_once", fail_late)
    stuck = run(SETTING.change(rate=0.05), steps=10**12, method=tt.Method(literal=START))
    assert stuck.outcome is Outcome.STUCK
    assert START < stuck.steps[-1] <= 1.5 * 10**5
    assert np.isfinite(stuck.curves["excess_risk"]).all()
    assert len(stuck.curves["excess_risk"]) == len(stuck.steps)
    assert stuck.complete
    assert "`literal`" in stuck.sentence


def test_a_step_across_the_valley_is_told_by_the_gradient_it_turns(flowed):
    problem = build(SETTING)
    rate = 0.9 * problem.objective.stable_rate(
        problem.student
    )  # stable: only where it stands is wrong
    beside = eqx.tree_at(lambda s: s.value, flowed.student, 1.1 * flowed.student.value)
    for student, followed in ((flowed.student, True), (beside, False)):
        seen = flow.Flow(student, problem.objective, problem.measures, rate, 10**6).advance(
            1_100_000
        )
        assert (seen is not Outcome.UNSTEADY) == followed


@pytest.mark.depth
def test_the_store_keeps_and_extends_what_was_reached_by_flow(tmp_path):
    store = tt.Store(tmp_path, method=tt.Method(literal=1_000))
    (short,) = tt.execute([SETTING.change(steps=10**5)], store=store)
    (read,) = tt.execute([SETTING.change(steps=10**5)], store=store)
    assert read.continued == short.continued
    assert read.continued.literal == 1_000
    (longer,) = tt.execute([SETTING.change(steps=10**7)], store=store)
    (entry,) = [each for each in store.entries() if each.name == store.name(longer.setting)]
    assert [made["to"] for made in entry.about["made"]] == [10**5, 10**7]
    assert longer.continued.literal == 1_000
    (one_piece,) = tt.execute([SETTING.change(steps=10**7)], method=tt.Method(literal=1_000))
    np.testing.assert_allclose(
        longer.curves["excess_risk"], one_piece.curves["excess_risk"], rtol=1e-12
    )
    # Who asks for more steps one by one gets them; who asks for fewer is content.
    (strict,) = tt.execute(
        [SETTING.change(steps=10**7)], store=tt.Store(tmp_path, method=tt.Method(literal=2_000))
    )
    assert strict.continued.literal == 1_957  # the last measured step before
    assert strict.continued.stepping < longer.continued.stepping
    assert (
        tt.Store(tmp_path, method=tt.Method(literal=500))
        .find(SETTING.change(steps=10**7))
        .continued
        == strict.continued
    )
    assert tt.Store(tmp_path, method=tt.Method(literal=2_000)).holds(SETTING.change(steps=10**7))
    assert tt.table(store).literal.tolist() == [1_000, 1_957]
    with pytest.raises(Refused, match="a store that knows"):
        next(tt.execute([SETTING], store=store, method=tt.Method(literal=5)))


@pytest.mark.depth
def test_inverses_have_one_thread_each_and_others_get_theirs_back(monkeypatch):
    """Two threads of OpenBLAS under every thread of XLA slow each other down many times over."""

    def threads():
        return {
            one["filepath"]: one["num_threads"]
            for one in threadpool_info()
            if one["user_api"] == "blas"
        }

    seen = []

    def step_once(*given):
        seen.append(threads())
        return sdirk.step_once(*given)

    monkeypatch.setattr(flow, "step_once", step_once)
    with threadpool_limits(2, user_api="blas"):
        before = threads()
        run(steps=2 * START, method=tt.Method(literal=START))
        assert threads() == before
    if 2 not in before.values():
        pytest.skip("the linear algebra of this machine has no threads")
    assert seen
    assert all(count == 1 for one in seen for count in one.values())


def test_verdicts_say_so(far, literal):
    claim = Rate("excess_risk", -1.0, plateau=100.0)
    assert check(claim, far).sentence.endswith(far.continued.sentence)
    assert "Steps beyond 10,000 are by gradient flow" in check(claim, far).sentence
    assert "gradient flow" not in check(claim, literal).sentence


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        ({"objective": tt.Part("online")}, "draws a fresh batch"),
        (
            {
                "objective": tt.Part("empirical", samples=10, held_out=10),
                "teacher.activation": "relu",
            },
            "no `gradient`",
        ),
        ({"optimiser": tt.Part("momentum", decay=0.9)}, "only plain gradient descent"),
        ({"teacher.outputs": 900}, "a matrix of 2,700 rows"),
        ({"teacher.tokens": 400}, "numbers, and at most"),
    ],
)
def test_other_runs_are_literal_and_out_of_reach_beyond_that(change, reason, monkeypatch):
    setting = SETTING.change(**change)
    checked(setting.change(steps=10**9))
    with pytest.raises(Refused, match=reason):
        next(tt.execute([SETTING, setting.change(steps=10**12)]))  # before the first one trains
    problem = build(setting)
    assert reason in why_no_flow(problem.student, problem.objective, problem.optimiser, tt.Method())


def test_single_precision_is_literal():
    with pytest.raises(Refused, match="double precision"):
        checked(SETTING.change(steps=10**12), tt.Method(precision="float32"))


def test_a_horizon_of_literal_steps_is_literal():
    assert run(steps=50, method=tt.Method(literal=50)).continued is None
    assert (
        run(steps=50, method=tt.Method(literal=49)).continued.literal == 46
    )  # the last measured step before


@pytest.mark.depth
def test_the_command_line(tmp_path, capsys):
    def call(*arguments, folder="--out"):
        with pytest.raises(SystemExit) as ended:
            main([*arguments, folder, str(tmp_path)])
        return ended.value.code, capsys.readouterr()

    code, shown = call("run", "teacher-models/rates", "teacher-models/online", "--steps", "1e12")
    assert code == 2
    assert "draws a fresh batch" in " ".join(shown.err.split())
    assert not list(tmp_path.iterdir())
    file = tmp_path / "far.toml"
    file.write_text(
        'steps = 1e12\n[setting]\nrate = 0.05\nsteps = 1\nmeasures = ["excess_risk", '
        '"value_error", "attention_error"]\n'
        'teacher = { name = "convolution", tokens = 8, support = 2, outputs = 2, dim = 3, norm = '
        '5.0, activation = "identity" }\n'
        '[[claims]]\nkind = "rate"\nmeasure = "excess_risk"\nexponent = -1.0\n'
    )
    code, shown = call("sweep", str(file), "--literal", "1e4", "--json")
    assert code == 0
    assert "by gradient flow" in shown.out
    code, shown = call("runs", folder="--store")
    assert "by flow from step 10,000" in " ".join(shown.out.split())
