"""shallow-transformers/autoregressive: its theory against exact sums, its claims on a small plan,
its memory, its figures.
"""

import math
from dataclasses import replace
from pathlib import Path

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from tutelage import Part, build
from tutelage.claims import Status, check
from tutelage.claims.claim import NoPrediction
from tutelage.claims.labels import ClaimedBy
from tutelage.papers.shallow_transformers.autoregressive import figures, learning, settings
from tutelage.papers.shallow_transformers.autoregressive.study import study
from tutelage.papers.shallow_transformers.parts import memory
from tutelage.papers.shallow_transformers.theory import autoregressive as theory
from tutelage.problem.build import build_calculation
from tutelage.refuse import Refused
from tutelage.run import Outcome, Run
from tutelage.studies.answering import run_cases
from tutelage.studies.study import Answered, Plan

PRESET = settings.AutoregressivePreset(
    seconds=1.0,
    seeds=2,
    lags=(2, 4, 6),
    recurrent=(1.5,),
    samples=12,
    validation=16,
    heads=4,
    steps=3,
    wide=16,
    tiny=1e-8,
    training_lags=(64, 256, 1024),
    inference_lags=(64, 256, 1024),
)
SMALL = replace(study, presets={"quick": PRESET})
NAME = "shallow-transformers/autoregressive"
LINUX = Path("/proc/self/clear_refs").exists()


def at(lag=3, student=None, teacher=None, **more):
    student = student or Part("indrnn", heads=4, recurrent=1.5, activation="identity")
    made = settings.setting_at(student, lag, PRESET, measures=("loss",), **more)
    return made.change(**{f"teacher.{k}": v for k, v in (teacher or {}).items()})


def slope(w, u, tokens):
    """∂h_T/∂u of one unit of the identity, by its recursion."""
    h = moved = 0.0
    for x in tokens.T:
        h, moved = w @ x + u * h, h + u * moved
    return moved


def by_basis(lag, T, P, u):
    """E[g gᵀ] from the recurrence itself: one unit of the identity, a root of the values'
    covariance at a time.
    """
    covariance = np.array(
        [
            [0.9 ** (abs(s - t) / lag) if abs(s - t) % lag == 0 else 0.0 for s in range(T)]
            for t in range(T)
        ]
    )
    axes = np.eye(1 + P)
    roots = np.linalg.cholesky(covariance).T  # rows r with Σ r rᵀ = the covariance
    value = sum(
        slope(axes[0], u, np.concatenate([row[None], np.zeros((P, T))])) ** 2 for row in roots
    )
    t = np.arange(1, T + 1)
    omega = [10_000.0 ** (-k / P) for k in range(0, P, 2)]
    codes = np.array([np.sin(w * t) for w in omega] + [np.cos(w * t) for w in omega])
    along = np.array(
        [slope(axes[1 + p], u, np.concatenate([np.zeros((1, T)), codes])) for p in range(P)]
    )
    return value, np.outer(along, along)


def test_the_least_lag_may_have_more_seeds_which_alone_read_it():
    """Claims over lags take seeds that have all of them; who wins at the least lag takes every
    seed.
    """
    uneven = replace(SMALL, presets={"quick": replace(PRESET, seeds=3, longer_seeds=2)})
    (case,) = uneven.plan(Plan(only=("learning",)))[0]
    lags = [(s.student.name, s.teacher.options["lag"], s.seed) for s in case.settings]
    assert sorted(lags) == sorted(
        (student, lag, seed)
        for student in ("shallow_transformer", "indrnn")
        for lag in (2, 4, 6)
        for seed in range(3 if lag == 2 else 2)
    )
    runs = []
    for setting in case.settings:
        behind = 0.1 * (setting.student.name == "indrnn")
        loss = setting.teacher.options["lag"] + setting.seed / 8 + behind
        curves = {"validation_loss": np.array([9.0, loss])}
        runs.append(Run(np.arange(2), curves, None, Outcome.FINISHED, setting=setting))
    assert [seed for _, _, seed in learning.transformer_losses(runs)] == [0, 1] * 3
    np.testing.assert_allclose(learning.recurrent_rise(runs), [4, 4])
    np.testing.assert_allclose(learning.recurrent_less_transformer(2)(runs), [0.1] * 3)
    np.testing.assert_allclose(learning.recurrent_less_transformer(6)(runs), [0.1] * 2)


@pytest.mark.parametrize(
    ("lag", "tokens", "u"), [(3, None, 1.5), (3, None, -0.5), (2, 7, 1.0), (1, 5, -1.5)]
)
def test_the_law_of_the_gradient_in_u_is_the_sum_over_a_basis(lag, tokens, u):
    setting = at(lag, teacher={"tokens": tokens, "channels": 4})
    value, block = theory.squares(setting, u)
    want_value, want_block = by_basis(lag, tokens or lag + 1, 4, u)
    assert value == pytest.approx(want_value, rel=1e-12)
    np.testing.assert_allclose(block, want_block, rtol=1e-12, atol=1e-12)


def test_expectation_over_the_start_and_the_start_that_is_drawn():
    """At two units W_in is drawn; summed over a basis of W_in the drawn law is the expected one."""
    setting = at(3, Part("indrnn", heads=4, recurrent=0.7, scale=0.1))
    plus, minus = (theory.squares(setting, u) for u in (0.7, -0.7))
    want = 0.01 * np.mean([v + np.trace(b) for v, b in (plus, minus)])
    assert theory.recurrent_square(setting) == pytest.approx(want, rel=1e-14)
    assert theory.recurrent_square(
        setting.change(**{"student.signs": "positive"})
    ) == pytest.approx(0.01 * (plus[0] + np.trace(plus[1])), rel=1e-14)
    units = build(setting).student.units
    drawn = 0.0
    for w, u in zip(np.asarray(units.reading), np.asarray(units.recurrence), strict=True):
        value, block = plus if u > 0 else minus
        drawn += (w[0] ** 2 * value + w[1:] @ block @ w[1:]) / 4
    assert theory.drawn_square(setting) == pytest.approx(drawn, rel=1e-13)


@pytest.mark.parametrize("signs", ["random", "positive"])
def test_the_limit_is_that_of_the_finite_law(signs):
    """At |u| = 0.5 and L = 120 what is left is below 120²·4^−120."""
    setting = at(120, Part("indrnn", heads=4, recurrent=0.5, signs=signs))
    assert theory.recurrent_limit(setting) == pytest.approx(
        theory.recurrent_square(setting), rel=1e-12
    )
    with pytest.raises(NoPrediction, match=r"\|u\| < 1"):
        theory.recurrent_limit(setting.change(**{"student.recurrent": 1.0}))


def test_no_law_for_tokens_of_length_one_and_no_bound_without():
    with pytest.raises(NoPrediction, match="keep their values"):
        theory.recurrent_square(at(norms="unit"))
    with pytest.raises(NoPrediction, match="length at most 1"):
        theory.transformer_ceiling(at(student=Part("shallow_transformer", heads=4)))


@pytest.mark.brief(1)
@pytest.mark.parametrize("recurrent", [0.5, 1.0, 1.5])
def test_no_input_passes_the_ceiling_in_u(recurrent):
    """It is nearly attained by large states that the last steps are not saturated by."""
    setting = at(6, Part("indrnn", heads=4, recurrent=recurrent))
    want = sum(recurrent**k for k in range(6))  # T = 7: u can be moved at six places
    assert theory.recurrent_ceiling(setting) == pytest.approx(want, rel=1e-14)
    student = build(setting).student
    for seed in range(5):
        X = np.random.default_rng(seed).normal(size=(9, 7)) * 10.0 ** (seed - 2)
        assert float(jnp.linalg.norm(student.gradient(jnp.asarray(X)).recurrence)) <= want


def test_the_transformers_ceiling_is_the_papers_constant():
    setting = at(student=Part("shallow_transformer", heads=16), norms="unit")
    reading = math.sqrt(9) + math.sqrt(2 * math.log(16 / 0.1))
    assert theory.transformer_ceiling(setting) == pytest.approx(
        math.sqrt(1 + 1 + reading**2), rel=1e-14
    )


def test_hypotheses_are_read_off_the_setting():
    words = {h.text: h.met for h in theory.hypotheses(at())}
    assert words == {
        "token norms ≤ 1": False,
        "noiseless labels": False,
        "the experiment's size": False,
        "symmetric start, |c| = 1": True,
    }
    assert {h.text: h.met for h in theory.hypotheses(at(norms="unit"))}["token norms ≤ 1"] is True
    assert theory.start_hypotheses(at())[0].met is False  # W_in of unit size saturates
    assert theory.start_hypotheses(at(student=Part("indrnn", heads=4, scale=1e-9)))[0].met is True
    for scale, met in ((9e-4, True), (1e-3, False), (1.4e-3, False)):  # tanh is linear to 10⁻⁶
        (first, *_) = theory.start_hypotheses(at(student=Part("indrnn", heads=4, scale=scale)))
        assert first.met is met


# ---- the study


RUN = (
    "growth",
    "ceiling",
    "saturated",
    "saturated-control",
    "memory",
    "memory-control",
)  # the others are looked at on made-up runs


def made_up(asked):
    """Memory as it should be, without a process: bytes a token and a constant, by program and
    student.
    """
    slopes = {"backward": 5000.0, "forward": 0.0, "inference": 100.0}
    found = {}
    for setting, program in asked:
        slope = (
            0.0 if (setting.student.name, program) == ("indrnn", "inference") else slopes[program]
        )
        bytes_ = 1000.0 + slope * setting.teacher.options["lag"]
        found[setting, program] = memory.Taken(bytes_, tuple(bytes_ + i for i in range(3)))
    return found


@pytest.fixture(scope="module")
def answered():
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(memory, "measure_memory", made_up)
        cases, _ = SMALL.plan(Plan(only=RUN))
        yield {a.case.name: a for a in run_cases(NAME, cases)}


def verdict(answered, case, name):
    return answered[case].find(name)[1]


@pytest.mark.depth
def test_the_law_holds_where_nothing_is_saturated(answered):
    """Sixteen inputs leave the law itself undecided; the ceiling has room."""
    found = verdict(answered, "growth", "law")
    assert found.status is not Status.FAILS
    assert found.interval[0] < 1 < found.interval[1]
    assert found.interval[1] - found.interval[0] < 1
    assert verdict(answered, "growth", "growth").status is not Status.FAILS
    assert verdict(answered, "ceiling", "bound").status is Status.HOLDS


def test_only_what_needs_units_that_are_not_saturated_asks_for_them(answered):
    asks = {
        case: [h for v in a.verdicts for h in v.hypotheses if h.text == theory.UNSATURATED]
        for case, a in answered.items()
    }
    assert not asks["ceiling"]
    assert not asks["saturated"]
    assert [h.met for h in asks["growth"]] == [True] * 3
    assert [h.met for h in asks["saturated-control"]] == [False]


def test_saturation_breaks_the_law_of_growth(answered):
    assert verdict(answered, "saturated-control", "growth").status is Status.FAILS
    assert verdict(answered, "saturated", "gain").measured < 0
    for case, share in (("growth", 0.0), ("saturated", 0.2)):
        seen = np.array([run.curves["saturation"][0] for run in answered[case].runs])
        assert (seen[:, 0] >= share).all()
    np.testing.assert_allclose(
        [r.curves["saturation"][0, 2] for r in answered["growth"].runs], math.log(1.5), rtol=1e-6
    )


def test_claims_about_memory_follow_the_memory(answered):
    """1000 bytes beside 5000 a token bend the exponents by less than the tolerance at these lags,
    beside 100 a token by more.
    """
    found = {v.id.rsplit("/", 1)[1]: v for v in answered["memory"].verdicts}
    claims = {name: v for name, v in found.items() if not v.measurement}
    wrong = {name for name, v in claims.items() if v.status is not Status.HOLDS}
    assert wrong == {"shallow_transformer-inference-planned"}
    # What the operating system decides is measured, and claimed by nobody.
    resident = {name for name in found if name.endswith("-resident")}
    assert resident == {name for name, v in found.items() if v.measurement}
    assert {found[name].status for name in resident} == {Status.MEASURED}
    assert found["indrnn-backward-resident"].measured == pytest.approx(5000.0)
    assert found["indrnn-inference-resident"].measured == 0.0
    assert verdict(answered, "memory-control", "indrnn-backward-planned").status is Status.FAILS


@pytest.mark.brief(1)
@pytest.mark.parametrize(
    ("student", "program", "least", "most"),
    [
        (
            "indrnn",
            "backward",
            8 * 3 * 4,
            8 * 3 * 100,
        ),  # at least the states of three windows of four units
        ("indrnn", "forward", 0, 0),
        ("shallow_transformer", "inference", 8 * 9, 8 * 100),  # at least the tokens
    ],
)
def test_what_the_compiler_plans_a_token(student, program, least, most):
    bytes_ = []
    for lag in (64, 128):
        setting = at(lag, Part(student, heads=4)).change(
            **{"objective.samples": 3, "objective.validation": 0}
        )
        bytes_.append(memory.compile_program(setting, program).planned)
    assert least <= (bytes_[1] - bytes_[0]) / 64 <= most


def test_memory_is_measured_at_every_lag_and_one_that_is_no_number_of_steps_is_refused(monkeypatch):
    monkeypatch.setattr(memory, "measure_memory", made_up)
    (case,), _ = SMALL.plan(Plan(only=("memory",)))
    calculation, given = build_calculation(case.settings[0])
    curves = calculation(given).curves
    np.testing.assert_array_equal(curves["lags_backward"], [PRESET.training_lags])
    np.testing.assert_array_equal(curves["planned_backward"], [[321_000, 1_281_000, 5_121_000]])
    assert curves["resident_inference"].shape == (1, 3, 3)
    for lags in ((64.5, 128), (0, 8), ()):
        with pytest.raises(Refused, match="whole numbers of at least 1"):
            build_calculation(case.settings[0].change(**{"calculation.training_lags": lags}))


def test_what_the_system_does_not_tell_is_no_number(monkeypatch):
    (case,), _ = SMALL.plan(Plan(only=("memory",)))
    monkeypatch.setattr(
        memory, "measure_memory", lambda asked: dict.fromkeys(asked, memory.Taken(1.0, ()))
    )
    calculation, given = build_calculation(case.settings[0])
    assert np.isnan(calculation(given).curves["resident_forward"]).all()


@pytest.mark.skipif(not LINUX, reason="the peak of resident memory is read on Linux alone")
def test_a_fresh_process_peaks_where_the_compiler_plans():
    """16 windows of 2000 tokens and 32 units: 26 MB and more; pages and surroundings are some
    hundred kilobytes.
    """
    setting = at(2000, Part("indrnn", heads=32)).change(
        **{"objective.samples": 16, "objective.validation": 0}
    )
    (found,) = memory.measure_memory([(setting, memory.BACKWARD)]).values()
    assert found.planned > 8 * 16 * 32 * 2000
    assert len(found.resident) == memory.REPEATS
    for seen in found.resident:
        assert seen == pytest.approx(found.planned, rel=0.2)


def test_without_linux_resident_memory_is_undecided(answered, monkeypatch):
    run = next(r for r in answered["memory"].runs if r.setting.student.name == "indrnn")
    blind = replace(run, curves=run.curves | {"resident_forward": np.full((1, 3, 3), np.nan)})
    claim, _ = answered["memory"].find("indrnn-forward-resident")
    assert check(claim, [blind]).status is Status.UNDECIDED


def test_the_forward_gradient_of_the_memory_program_is_that_of_backpropagation():
    setting = at(5, Part("indrnn", heads=4, recurrent=1.5))
    back, forth = (
        memory.compile_program(setting, name) for name in (memory.BACKWARD, memory.FORWARD)
    )
    found, wanted = (jax.tree.leaves(p.compiled(*p.given)) for p in (forth, back))
    for got, want in zip(found, wanted, strict=True):
        np.testing.assert_allclose(got, want, rtol=1e-12, atol=1e-14)


def fake(student, lag, seed, loss):
    setting = replace(
        at(
            lag,
            Part("indrnn", heads=4, recurrent=1.5)
            if student == "indrnn"
            else Part(student, heads=4),
        ),
        seed=seed,
    )
    curves = {
        "validation_loss": np.array([1.0, loss, loss + 0.1]),
        "reference_loss": np.tile([1.0, 0.19], (3, 1)),
        "function_gradient_sup": np.tile([1.0, 2.0, 3.0, 4.0], (3, 1)),
        "loss_gradient": np.tile([1.0, 2.0, 3.0, 4.0], (3, 1)),
    }
    return Run(np.array([0, 1, 2]), curves, None, Outcome.FINISHED, setting=setting)


@pytest.mark.parametrize(
    ("transformer", "rnn", "expected"),
    [
        (
            (0.3, 0.3, 0.3),
            (0.25, 0.6, 0.9),
            {"transformer-flat": "HOLDS", "rnn-degrades": "HOLDS", "rnn-wins-short": "HOLDS"},
        ),
        (
            (0.3, 0.6, 0.9),
            (0.35, 0.3, 0.25),
            {"transformer-flat": "FAILS", "rnn-degrades": "FAILS", "rnn-wins-short": "FAILS"},
        ),
    ],
)
def test_claims_about_losses_follow_the_losses(monkeypatch, transformer, rnn, expected):
    """The least loss counts, seeds are paired, and each claim can come out either way."""
    # As if this were the paper's size.
    papers = theory.Scale(PRESET.samples, PRESET.heads, PRESET.steps)
    monkeypatch.setattr(theory, "PAPER_SCALE", papers)
    (case,), _ = SMALL.plan(Plan(only=("learning",)))
    runs = []
    for name, losses in (("shallow_transformer", transformer), ("indrnn", rnn)):
        runs += [
            fake(name, lag, seed, loss + 0.01 * seed)
            for lag, loss in zip(PRESET.lags, losses, strict=True)
            for seed in range(3)
        ]
    found = {claim.id: check(claim, runs).status.value for claim in case.claims}
    assert {name: found[name] for name in expected} == expected
    assert found["transformer-wins-long"] == ("HOLDS" if rnn[-1] > transformer[-1] else "FAILS")
    assert found["floor"] == found["zero-predictor"] == "HOLDS"
    names = ("transformer-flat", "rnn-degrades", "rnn-wins-short", "transformer-wins-long")
    assert {c.claimed_by for c in case.claims if c.id in names} == {ClaimedBy.PAPER}
    # As if the paper's were larger they come out the same, and are questions of our own.
    monkeypatch.setattr(theory, "PAPER_SCALE", replace(papers, heads=PRESET.heads + 2))
    (case,), _ = SMALL.plan(Plan(only=("learning",)))
    smaller = {claim.id: check(claim, runs) for claim in case.claims}
    assert {name: verdict.status.value for name, verdict in smaller.items()} == found
    assert {smaller[name].claimed_by for name in names} == {ClaimedBy.BEYOND}
    assert all("left undecided there" in smaller[name].history for name in names)


def test_what_a_plan_changes():
    cases, left_out = study.plan(Plan(changes={"m": 8, "P": 4, "tau": 50}, seeds=1))
    assert left_out == []
    for case in cases:
        assert {s.student.options["heads"] for s in case.settings} == {8}
        assert {s.teacher.options["channels"] for s in case.settings} == {4}
        assert {s.steps for s in case.settings} == ({50} if case.name == "learning" else {0})
    cases, _ = study.plan(Plan(steps=7, seeds=1, only=("learning", "growth")))
    assert [{s.steps for s in case.settings} for case in cases] == [{7}, {0}]
    for changes in ({"recurrent": 0.9}, {"lag": 8}):  # |u| and L are set by every case that has one
        with pytest.raises(Refused):
            study.plan(Plan(changes=changes))
    with pytest.raises(Refused, match="no setting named 'L'"):
        study.plan(Plan(changes={"L": 12}))


def test_the_papers_size_is_the_papers():
    (case,) = study.plan(Plan("paper"))[0]
    assert {c.claimed_by for c in case.claims[2:]} == {ClaimedBy.PAPER}
    assert {s.teacher.options["lag"] for s in case.settings} == {4, 16, 96}
    assert {s.objective.options["samples"] for s in case.settings} == {5000}
    assert {s.student.options["heads"] for s in case.settings} == {64}
    assert {s.steps for s in case.settings} == {2000}


def test_the_figures_draw_what_was_measured(answered, tmp_path):
    (case,), _ = SMALL.plan(Plan(only=("learning",)))
    runs = tuple(
        fake(name, lag, seed, 0.3 + lag / 100)
        for name in ("shallow_transformer", "indrnn")
        for lag in PRESET.lags
        for seed in (0, 1)
    )
    paths = figures.draw([Answered(case, runs, ()), *answered.values()], tmp_path)
    tables = {p.stem: p.read_text().splitlines() for p in paths if p.suffix == ".csv"}
    assert list(tables) == [
        "autoregressive-learning",
        "autoregressive-gradients",
        "autoregressive-memory",
    ]
    assert [float(x) for x in tables["autoregressive-learning"][1].split(",")[:4]] == pytest.approx(
        [2, 0.32, 0.32, 0.32]
    )
    for lines in tables.values():
        assert all(np.isfinite(float(x)) for x in lines[1].split(",") if x)
