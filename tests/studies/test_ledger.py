"""A ledger only grows, and a claim is registered only if it stood there before its evidence."""

import json
from dataclasses import replace
from datetime import datetime
from types import SimpleNamespace

import numpy as np
import pytest
from tools.committed import own_papers

from tutelage.claims import Constant, Rate
from tutelage.claims.labels import Evidence
from tutelage.refuse import Refused
from tutelage.run import Outcome, Run
from tutelage.settings import Part, Setting
from tutelage.studies.answering import answer
from tutelage.studies.history import read_history
from tutelage.studies.ledger import FILE, _same, read_ledger, register
from tutelage.studies.study import Case, over_seeds

SETTING = Setting(
    Part("convolution", tokens=8, support=2, outputs=2, dim=3, activation="identity"),
    rate=0.1,
    steps=10**6,
)
RATE = Rate("excess_risk", -1.0, plateau=1.0, id="rate", statement="excess = Θ(1/T)")
CASE = Case("small", "small", over_seeds(SETTING, 2), (RATE,))


def runs_of(case: Case, **changes: object) -> dict[Setting, Run]:
    steps = np.unique(np.geomspace(1, 10**6, 200).astype(int))
    return {
        setting: replace(
            Run(steps, {"excess_risk": 1 / steps}, None, Outcome.FINISHED, "", 0.1, setting),
            **changes,  # type: ignore[arg-type]
        )
        for setting in case.settings
    }


def evidence_of(folder, case=CASE, **changes):
    answered = answer("paper/study", [case], runs_of(case, **changes), None, read_history(folder))
    return answered[0].verdicts[0]


def test_a_claim_in_the_ledger_is_registered(tmp_path):
    assert evidence_of(tmp_path).evidence is Evidence.EXPLORATORY
    assert len(register(tmp_path, "paper/study", [CASE])) == 1
    assert evidence_of(tmp_path).evidence is Evidence.REGISTERED


def test_evidence_older_than_its_line_is_exploratory(tmp_path):
    register(tmp_path, "paper/study", [CASE])
    for piece, expected in (
        ({"when": "2000-01-01T00:00:00+00:00"}, Evidence.EXPLORATORY),
        ({}, Evidence.EXPLORATORY),  # stored without a date
        ({"when": "2999-01-01T00:00:00+00:00"}, Evidence.REGISTERED),
    ):
        assert evidence_of(tmp_path, made=(piece,)).evidence is expected


@pytest.mark.parametrize(
    "changed",
    [
        replace(CASE, claims=(replace(RATE, tolerance=0.1),)),
        replace(CASE, claims=(replace(RATE, exponent=-0.5),)),
        replace(CASE, settings=CASE.settings[:1]),
        replace(CASE, settings=over_seeds(replace(SETTING, seed=7), 2)),
        replace(CASE, settings=over_seeds(replace(SETTING, steps=10**5), 2)),
        replace(CASE, settings=over_seeds(SETTING.change(**{"teacher.tokens": 10}), 2)),
    ],
)
def test_another_tolerance_prediction_seed_horizon_or_size_is_not_what_was_registered(
    tmp_path, changed
):
    register(tmp_path, "paper/study", [CASE])
    assert evidence_of(tmp_path, changed).evidence is Evidence.EXPLORATORY


def test_a_changed_claim_shows_what_it_was(tmp_path):
    register(tmp_path, "paper/study", [CASE])
    loosened = replace(CASE, claims=(replace(RATE, tolerance=0.1),))
    register(tmp_path, "paper/study", [loosened])
    verdict = evidence_of(tmp_path, loosened)
    assert verdict.evidence is Evidence.REGISTERED
    assert "Changed since: registered on" in verdict.history
    assert "tolerance 0.02" in verdict.history


def test_a_claim_that_was_registered_for_other_settings_has_not_changed(tmp_path):
    register(tmp_path, "paper/study", [CASE])
    larger = replace(CASE, settings=over_seeds(SETTING.change(**{"teacher.tokens": 10}), 2))
    history = evidence_of(tmp_path, larger).history
    assert history.startswith("Also registered for other settings, on 20")
    assert "Changed" not in history


POINTS = tuple(SETTING.change(**{"teacher.tokens": tokens}) for tokens in (8, 10))
POWER = Constant("excess_risk", -1.0, 1.0, tolerance=0.1, id="sweep", statement="T·excess → 1")


def sweep(seeds: int, points=POINTS, first: int = 0, **changes: object) -> Case:
    """Both points with their seeds, one point after the other."""
    settings = tuple(s for p in points for s in over_seeds(replace(p, seed=first), seeds))
    claim = replace(POWER, **changes)  # type: ignore[arg-type]
    return Case("sweep", "sweep", settings, (claim,))


def test_a_registration_continued_with_more_seeds_is_registered_and_says_so(tmp_path):
    register(tmp_path, "paper/study", [sweep(2)])
    assert evidence_of(tmp_path, sweep(5)).evidence is Evidence.EXPLORATORY
    assert len(register(tmp_path, "paper/study", [sweep(5)])) == 1
    verdict = evidence_of(tmp_path, sweep(5))
    assert verdict.evidence is Evidence.REGISTERED
    day = read_ledger(tmp_path).lines[0].date[:10]
    assert verdict.history == (
        f"Registered on {day} with 2 seeds, continued on {day} with 3 more, before these were run."
    )
    before = evidence_of(tmp_path, sweep(2))
    assert before.evidence is Evidence.REGISTERED
    assert before.history == f"Continued on {day} with 3 more seeds."


def test_runs_of_the_first_registration_count_when_it_is_continued(tmp_path, monkeypatch):
    """A run made between the two lines is registered if the first has its seed, and seen before it
    was claimed if only the second has.
    """
    for month, seeds in ((1, 2), (3, 5)):
        clock = SimpleNamespace(now=lambda zone, month=month: datetime(2026, month, 1, tzinfo=zone))
        monkeypatch.setattr("tutelage.studies.ledger.datetime", clock)
        register(tmp_path, "paper/study", [sweep(seeds)])
    case, between, later = sweep(5), "2026-02-01T00:00:00+00:00", "2026-04-01T00:00:00+00:00"
    for early, expected in ((2, Evidence.REGISTERED), (3, Evidence.EXPLORATORY)):
        runs = {
            setting: replace(run, made=({"when": between if setting.seed < early else later},))
            for setting, run in runs_of(case).items()
        }
        answered = answer("paper/study", [case], runs, None, read_history(tmp_path))
        assert answered[0].verdicts[0].evidence is expected


def reorder(case: Case) -> Case:
    return replace(case, settings=case.settings[::-1])


@pytest.mark.parametrize(
    ("changed", "said"),
    [
        (sweep(5, tolerance=0.2), "Changed since: registered on"),
        (sweep(5, value=2.0), "Changed since: registered on"),
        (sweep(5, POINTS[:1]), "Also registered for other settings"),
        (sweep(5, (*POINTS, SETTING.change(**{"teacher.tokens": 12}))), "Also registered for"),
        (sweep(5, tuple(replace(p, steps=10**5) for p in POINTS)), "Also registered for other"),
        (sweep(5, first=1), "Also registered for other settings"),  # a seed that was seen is gone
        (reorder(sweep(5)), "Also registered for other settings"),
        (replace(CASE, name="sweep", claims=(POWER,)), "Also registered for other settings"),
    ],
)
def test_a_registration_with_another_tolerance_size_or_first_seed_is_not_continued(
    tmp_path, changed, said
):
    register(tmp_path, "paper/study", [sweep(2)])
    register(tmp_path, "paper/study", [changed])
    verdict = evidence_of(tmp_path, changed)
    assert verdict.evidence is Evidence.REGISTERED
    assert verdict.history.startswith(said)
    assert "ontinued" not in verdict.history


def test_more_seeds_at_one_point_of_a_sweep_alone_do_not_continue_it(tmp_path):
    more = replace(sweep(2), settings=(*sweep(3).settings[:3], *sweep(2).settings[2:]))
    register(tmp_path, "paper/study", [sweep(2)])
    register(tmp_path, "paper/study", [more])
    assert evidence_of(tmp_path, more).history.startswith("Also registered for other settings")


def test_fewer_seeds_than_were_registered_first_do_not_continue_it(tmp_path):
    register(tmp_path, "paper/study", [sweep(5)])
    register(tmp_path, "paper/study", [sweep(2)])
    for case in (sweep(5), sweep(2)):
        assert evidence_of(tmp_path, case).history.startswith("Also registered for other settings")


def invert(setting: Setting) -> float:
    return 1 / setting.steps


def halve(setting: Setting) -> float:
    return invert(setting) / 2


def test_another_formula_is_told_by_its_name_alone(tmp_path):
    claim = Constant("excess_risk", -1.0, invert, id="rate", statement="excess → 1/T")
    register(tmp_path, "paper/study", [replace(CASE, claims=(claim,))])
    changed = replace(CASE, claims=(replace(claim, value=halve),))
    history = evidence_of(tmp_path, changed).history
    assert history.endswith("with another value, invert.")


@pytest.mark.parametrize(
    ("earlier", "now", "moved", "same"),
    [
        (["papers.x.predict", 7, {}], ["papers.x.predict", 9, {}], True, True),
        (["papers.x.predict", 7, {}], ["papers.x.predict", 9, {}], False, False),
        (["papers.x.predict", 7, {}], ["papers.x.guess", 7, {}], True, False),
        (["papers.x.predict", 7, {}], ["papers.y.predict", 7, {}], False, True),
        ([1.0, 2.0], [1.0, 3.0], True, False),  # a list of numbers is no formula
    ],
)
def test_a_formula_at_other_settings_has_other_arguments(earlier, now, moved, same):
    assert _same(earlier, now, moved) is same


def test_registering_twice_writes_nothing(tmp_path):
    register(tmp_path, "paper/study", [CASE])
    assert register(tmp_path, "paper/study", [CASE]) == []


def test_identities_and_controls_are_not_registered(tmp_path):
    derived = replace(CASE, claims=(replace(RATE, derived=True),))
    control = replace(CASE, control="K < D")
    assert register(tmp_path, "paper/study", [derived, control]) == []


def ledger_of_three(folder):
    for tolerance in (0.02, 0.1, 0.2):
        register(folder, "p/s", [replace(CASE, claims=(replace(RATE, tolerance=tolerance),))])
    path = folder / "results" / FILE
    return path, path.read_text().splitlines()


def test_a_removed_line_breaks_the_chain(tmp_path):
    path, lines = ledger_of_three(tmp_path)
    path.write_text("\n".join([lines[0], lines[2]]) + "\n")
    with pytest.raises(Refused, match="line 2 was changed or removed"):
        read_ledger(tmp_path)


def test_an_edited_line_is_told(tmp_path):
    path, lines = ledger_of_three(tmp_path)
    edited = json.loads(lines[1])
    edited["claim"]["tolerance"] = 0.5
    path.write_text("\n".join([lines[0], json.dumps(edited), lines[2]]) + "\n")
    with pytest.raises(Refused, match="line 2 was changed"):
        read_ledger(tmp_path)


def test_an_edited_date_breaks_the_chain(tmp_path):
    path, lines = ledger_of_three(tmp_path)
    earlier = json.loads(lines[0])
    earlier["date"] = "2000-01-01T00:00:00+00:00"
    written = json.dumps(earlier, ensure_ascii=False, sort_keys=True)
    path.write_text("\n".join([written, *lines[1:]]) + "\n")
    with pytest.raises(Refused, match="before line 2 was changed"):
        read_ledger(tmp_path)


def test_the_ledgers_of_this_repository_are_whole():
    for paper in own_papers():
        read_ledger(paper.folder)


def predict_here(setting: Setting) -> float:
    return 2.0


def test_a_function_that_moved_to_another_module_changes_no_claim(tmp_path, monkeypatch):
    constant = Constant("excess_risk", -1.0, 2.0, plateau=predict_here, id="c", statement="c")
    case = replace(CASE, claims=(constant,))
    register(tmp_path, "paper/study", [case])
    monkeypatch.setattr(predict_here, "__module__", "another.module")
    verdict = evidence_of(tmp_path, case)
    assert verdict.evidence is Evidence.REGISTERED
    assert verdict.history == ""
    monkeypatch.setattr(predict_here, "__qualname__", "predict_there")
    verdict = evidence_of(tmp_path, case)
    assert verdict.evidence is Evidence.EXPLORATORY
    assert "predict_here" in verdict.history
