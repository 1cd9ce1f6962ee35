"""teacher-models/graphs: the best student of a teacher outside the class against independent
solvers, and the study's verdicts.
"""

import math

import networkx as nx
import numpy as np
import pytest
from scipy.optimize import LinearConstraint, minimize

import tutelage as tt
from tutelage.claims import Status
from tutelage.claims.claim import NoPrediction
from tutelage.papers.teacher_models import theory
from tutelage.papers.teacher_models.graphs.study import (
    INSIDE,
    KARATE,
    OUTSIDE,
    SMALL,
    bipartite,
    study,
    wheel,
)
from tutelage.papers.teacher_models.theory import outside
from tutelage.papers.teacher_models.theory.mean_support import AT_MEAN_SUPPORT
from tutelage.papers.teacher_models.theory.outside import (
    best_column,
    gradient,
    mismatch,
    projection,
)
from tutelage.papers.teacher_models.theory.slowest_column import slowest_plateau
from tutelage.problem.build import build, build_teacher
from tutelage.refuse import Refused
from tutelage.run import Outcome
from tutelage.settings import Part, Setting
from tutelage.studies.answering import run_cases
from tutelage.studies.discovery import find_paper, study_names
from tutelage.studies.study import Plan

SLOPES = (1.0, 0.0, 0.1)


def small(**options):
    """Two nodes that know five others: the best attention has columns with zeros and columns
    without.
    """
    part = Part(
        "graph_convolution",
        tokens=7,
        outputs=2,
        dim=3,
        norm=6.0,
        activation="identity",
        graph=bipartite(2, 5),
    )
    return Setting(part.change(normalisation="symmetric", **options), 0.5, steps=20_000)


# --- the graphs


def test_graphs_by_name_are_those_of_networkx():
    for name, graph in (
        ("karate", nx.karate_club_graph()),
        ("les-miserables", nx.les_miserables_graph()),
    ):
        closed = nx.to_numpy_array(graph, weight=None) + np.eye(len(graph))
        made = build_teacher(
            Setting(
                Part("graph_convolution", tokens=len(graph), outputs=1, dim=1, graph=name),
                0.1,
                steps=1,
            )
        )
        np.testing.assert_array_equal(made.selection, closed / closed.sum(0))
        assert not made.outside


def test_a_regular_graph_has_equal_supports_and_another_draw_each_seed():
    setting = Setting(INSIDE["regular"].teacher, 0.1, steps=1)
    first, second = (
        np.asarray(build_teacher(setting.change(seed=seed)).selection) for seed in (0, 1)
    )
    assert set((first > 0).sum(0)) == set((second > 0).sum(0)) == {5}
    assert (first != second).any()
    fixed = setting.change(**{"teacher.graph_seed": 1, "seed": 5})
    np.testing.assert_array_equal(build_teacher(fixed).selection, second)


def test_symmetric_weights_are_one_over_the_root_of_both_degrees():
    graph = nx.karate_club_graph()
    made = np.asarray(
        build_teacher(Setting(KARATE.change(normalisation="symmetric"), 0.1, steps=1)).selection
    )
    for i, j in ((0, 1), (33, 15), (11, 11), (11, 33)):
        linked = i == j or graph.has_edge(i, j)
        assert made[j, i] == pytest.approx(
            linked / math.sqrt((graph.degree(i) + 1) * (graph.degree(j) + 1)), rel=1e-15
        )


def test_on_a_regular_graph_the_symmetric_normalisation_is_inside_and_elsewhere_it_says_it_is_not():
    regular = INSIDE["regular"].teacher
    made = build_teacher(Setting(regular.change(normalisation="symmetric"), 0.1, steps=1))
    np.testing.assert_allclose(
        made.selection, build_teacher(Setting(regular, 0.1, steps=1)).selection, rtol=1e-15
    )
    assert not made.outside
    assert build_teacher(small()).outside


def test_what_makes_no_graph_is_refused():
    def made(**options):
        return build_teacher(Setting(SMALL.change(**options), 0.1, steps=1))

    for options, words in (
        ({"graph": "petersen"}, "les-miserables"),
        ({"graph": "karate"}, "number of nodes"),
        ({"graph": "regular"}, "needs `degree`"),
        ({"degree": 3}, "belong to the graph 'regular'"),
        ({"graph": "regular", "degree": 20}, "below its number of nodes"),
        ({"graph": "regular", "degree": 3, "tokens": 19}, "even sum"),
        ({"normalisation": "rows"}, "symmetric"),
    ):
        with pytest.raises(Refused, match=words):
            made(**options)
    with pytest.raises(Refused, match="negative"):
        tt.BilinearTeacher(np.eye(2), -np.eye(3), outside=True)
    with pytest.raises(Refused, match="must sum to 1"):
        tt.BilinearTeacher(np.eye(2), 2 * np.eye(3))


# --- outside the class: exact twins


@pytest.mark.parametrize("slope", SLOPES)
def test_the_mismatch_is_the_excess_risk_of_one_row(slope):
    """h(x, s) from the population risk of a student with one row and column, x = w s."""
    rng = np.random.default_rng(3)
    name = {1.0: "identity", 0.0: "relu"}.get(slope, f"leaky_relu({slope})")
    for _ in range(5):
        s, weights, c = rng.random(6), rng.dirichlet(np.ones(6)), rng.uniform(0.5, 2)
        risk = tt.PopulationRisk(tt.BilinearTeacher([[1.0]], s[:, None], name, outside=True))
        student = tt.PositionAttention.zeros(risk.teacher, attention_scale=1.0)
        student = type(student)(
            np.array([[c]]),
            np.log(weights)[:, None],
            None,
            None,
            student.attention_scale,
            student.activation,
        )
        assert mismatch(c * weights, s, slope) == pytest.approx(
            float(risk.excess(student)), rel=1e-12
        )


@pytest.mark.parametrize("slope", SLOPES)
def test_the_gradient_is_that_of_the_mismatch(slope):
    rng = np.random.default_rng(4)
    x, s, step = rng.random(5), rng.random(5), 1e-5
    for j, unit in enumerate(np.eye(5)):
        twice = mismatch(x + step * unit, s, slope) - mismatch(x - step * unit, s, slope)
        assert gradient(x, s, slope)[j] == pytest.approx(twice / (2 * step), abs=1e-9)


def test_the_projection_is_the_nearest_point_of_the_simplex():
    """Karush–Kuhn–Tucker, which for a convex problem is enough: one multiplier where x > 0, none
    smaller where x = 0.
    """
    rng = np.random.default_rng(5)
    for total in (0.3, 1.0, 4.0):
        point = rng.normal(size=9)
        x = projection(point, total)
        shift = (x - point)[x > 0]
        assert x.sum() == pytest.approx(total, rel=1e-14)
        assert np.ptp(shift) < 1e-14
        assert ((x - point)[x == 0] >= shift.max() - 1e-14).all()


@pytest.mark.parametrize("slope", SLOPES)
def test_a_best_column_satisfies_the_conditions_of_a_minimum(slope):
    selection = tt.neighbourhoods(nx.karate_club_graph(), "symmetric")
    for i, total in ((0, 1.02), (11, 1.02), (33, 0.8), (5, 1.4)):
        x = best_column(selection[:, i], total, slope)
        slopes = gradient(x, selection[:, i], slope)
        assert x.sum() == pytest.approx(total, rel=1e-13)
        assert np.ptp(slopes[x > 0]) < 1e-13
        assert (slopes[x == 0] >= slopes[x > 0].max() - 1e-13).all()


@pytest.mark.parametrize("activation", ["identity", "relu"])
def test_the_gap_is_what_a_general_solver_finds_from_any_start(activation):
    """All weights of x at once, by sequential quadratic programming, with equal sums of the columns
    as its only structure.
    """
    setting = small(activation=activation)
    selection, slope = (
        np.asarray(build_teacher(setting).selection),
        1.0 if activation == "identity" else 0.0,
    )
    D = len(selection)
    sums = np.kron(np.eye(D), np.ones(D))  # of the columns, which are laid one after another
    equal = LinearConstraint(sums[1:] - sums[:-1], 0, 0)

    def total(flat):
        return sum(
            mismatch(x, s, slope) for x, s in zip(flat.reshape(D, D), selection.T, strict=True)
        )

    def slopes(flat):
        return np.concatenate(
            [gradient(x, s, slope) for x, s in zip(flat.reshape(D, D), selection.T, strict=True)]
        )

    found = []
    for seed in range(2):
        start = np.random.default_rng(seed).dirichlet(np.ones(D), D).ravel()
        solved = minimize(
            total,
            start,
            jac=slopes,
            bounds=[(0, None)] * D**2,
            constraints=[equal],
            method="SLSQP",
            options={"ftol": 1e-15, "maxiter": 500},
        )
        found.append(36 * solved.fun)
    assert set(outside.best(setting).read.sum(0)) > {7}
    assert outside.gap(setting) == pytest.approx(min(found), rel=1e-9)
    assert outside.gap(setting) == pytest.approx(
        max(found), rel=1e-6
    )  # from every start: no better one was missed


def test_a_teacher_of_the_class_has_no_gap():
    setting = small().change(**{"teacher.normalisation": "columns"})
    found = outside.best(setting)
    assert found.gap < 1e-25  # squares of roundings
    assert found.scale == pytest.approx(1.0, rel=1e-14)
    np.testing.assert_allclose(found.attention, build_teacher(setting).selection, atol=1e-15)


def test_theory_of_the_class_says_nothing_outside_it():
    for function in (theory.counting_law, theory.value_constant, theory.attention_constant):
        with pytest.raises(NoPrediction, match="sum to 1"):
            function(small())
    problem = build(small())
    assert problem.objective.stable_rate(problem.student) is None
    assert build(Setting(SMALL, 0.1, steps=1)).objective.stable_rate(problem.student) is not None


def test_training_outside_neither_converges_nor_diverges_and_a_large_step_does():
    (run,) = tt.execute([small()])
    assert run.outcome is Outcome.FINISHED
    assert run.curves["excess_risk"][-1] == pytest.approx(outside.gap(small()), rel=1e-3)
    (blown,) = tt.execute([small().change(rate=100.0, steps=10)])
    assert blown.outcome is Outcome.DIVERGED
    assert blown.note.endswith(
        "A smaller rate is needed."
    )  # none is named, since the student does not end near this teacher


# --- mixed supports


def test_the_plateau_is_that_of_the_slowest_column_and_the_papers_for_equal_ones():
    karate = Setting(KARATE.change(activation="identity"), 0.2, steps=1)
    K = np.array([d + 1 for _, d in nx.karate_club_graph().degree()])
    assert slowest_plateau(karate) == pytest.approx(
        max(K * (34 - K) ** 2) / (2 * 0.2 * 1600), rel=1e-12
    )
    cycle = Setting(SMALL, 0.2, steps=1)
    assert slowest_plateau(cycle) == pytest.approx(
        theory.plateau(cycle) * (17 / 20) ** 2, rel=1e-12
    )


@pytest.mark.parametrize("law", theory.LAWS, ids=lambda law: law.name)
def test_one_support_for_all_is_right_where_all_are_equal_and_off_where_they_are_not(law):
    cycle, karate = Setting(SMALL, 0.2, steps=1), Setting(KARATE, 0.2, steps=1)
    at_mean = AT_MEAN_SUPPORT[law.name]
    assert at_mean(cycle) == pytest.approx(law.constant(cycle), rel=1e-12)
    assert abs(at_mean(karate) / law.constant(karate) - 1) > 0.03


def test_the_wheel_and_the_bipartite_graph():
    np.testing.assert_array_equal(wheel(9), nx.to_numpy_array(nx.wheel_graph(9)))
    np.testing.assert_array_equal(
        bipartite(2, 5), nx.to_numpy_array(nx.complete_bipartite_graph(2, 5))
    )


# --- the study


@pytest.fixture(scope="module")
def answered():
    cases, _ = study.plan(
        Plan(seeds=1, steps=100_000, only=("regular", "wheel", "bipartite-symmetric", "complete")),
    )
    return {a.case.name: a for a in run_cases(study.name, cases)}


def statuses(answered):
    return {v.id.split("/")[-1]: v.status for v in answered.verdicts}


@pytest.mark.depth
def test_claims_inside_the_class_hold(answered):
    for case in ("regular", "wheel"):
        found = statuses(answered[case])
        held = {name for name, status in found.items() if status is Status.HOLDS}
        assert held >= {
            "excess-rate",
            "excess-constant",
            "value-rate",
            "value-constant",
            "cosine",
        }, case
        assert {found["attention-rate"], found["attention-constant"]} <= {
            Status.HOLDS,
            Status.UNDECIDED,
        }  # the slowest to settle
        run = answered[case].runs[0]
        measured = run.curves["attention_error"][-1] * run.time[-1] ** 0.5
        assert measured == pytest.approx(theory.attention_constant(run.setting), rel=0.03)


def test_outside_it_training_ends_at_the_gap_and_as_predicted(answered):
    found = statuses(answered["bipartite-symmetric"])
    assert {
        found[name] for name in ("floor", "gap", "scale", "attention", "columns", "cosine")
    } == {Status.HOLDS}
    run = answered["bipartite-symmetric"].runs[0]
    measured = run.curves["excess_over_gap"][-1] * run.time[-1]
    assert measured == pytest.approx(
        outside.rate_constant(run.setting), rel=0.03
    )  # of which the law of the class is a quarter
    unmet = {
        h.text for h in answered["bipartite-symmetric"].verdicts[0].hypotheses if h.met is False
    }
    assert "every column of S* sums to 1" in unmet


def test_the_complete_graph_fails(answered):
    assert statuses(answered["complete"]) == {"excess-rate": Status.FAILS}


def test_both_figures_draw_what_was_measured(answered, tmp_path, shaded):
    paths = study.figures(list(answered.values()), tmp_path)
    inside, beyond = (
        [answered[name].runs[0] for name in names]
        for names in (("regular", "wheel"), ("bipartite-symmetric",))
    )
    for window, runs in zip(
        shaded, (inside, beyond), strict=True
    ):  # from the hundredth plateau, at most two decades
        begins = [
            run.rate * max(100 * slowest_plateau(run.setting), run.steps[-1] / 100) for run in runs
        ]
        assert window == pytest.approx((min(begins), runs[0].time[-1]))
    assert [p.name for p in paths] == ["graphs-law.png", "graphs-law.csv"]
    assert (
        "bipartite 2 + 18, symmetric: excess_over_gap over law"
        in paths[1].read_text().splitlines()[0]
    )


def test_controls_reuse_the_runs_they_are_controls_of():
    cases = {case.name: case for case in study.plan(Plan())[0]}
    assert cases["one-support"].settings == cases["karate"].settings
    assert (
        cases["quarter"].settings
        == cases["taken-for-inside"].settings
        == cases["karate-symmetric"].settings
    )
    quarter, whole = (
        next(c for c in cases[name].claims if c.id == "gap-constant")
        for name in ("quarter", "karate-symmetric")
    )
    at = cases["quarter"].settings[0]
    assert 4 * quarter.value(at) == pytest.approx(whole.value(at), rel=1e-15)


def test_changes_leave_the_controls_out_and_the_full_preset_is_longer():
    changed = study.plan(Plan(changes={"V": 20.0}))[0]
    assert [case.name for case in changed] == [*INSIDE, *OUTSIDE]
    assert all(s.teacher.options["norm"] == 20.0 for case in changed for s in case.settings)
    full = {case.name: case for case in study.plan(Plan(preset="full"))[0]}
    assert full["karate"].settings[0].steps == 5 * INSIDE["karate"].steps


def test_a_question_runs_by_its_name_and_not_with_its_paper():
    name = "teacher-models/graphs"
    assert find_paper(name).studies["graphs"].beyond
    assert name not in study_names("teacher-models")
    assert name in study_names()
    assert study_names(name) == [name]
    assert not any(entry.beyond for entry in find_paper("shallow-transformers").studies.values())


def test_the_list_says_which_studies_are_questions(capsys):
    from tutelage.cli import main

    with pytest.raises(SystemExit):
        main(["list"])
    lines = {line.split()[0]: line for line in capsys.readouterr().out.splitlines()}
    assert "(question, run by name)" in lines["teacher-models/graphs"]
    assert "question" not in lines["teacher-models/rates"]
