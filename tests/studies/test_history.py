"""What was changed after verdicts had been seen stands in verdicts, reports and pages."""

import json
from dataclasses import replace

import numpy as np
import pytest
from tools.committed import committed_studies, own_papers

from tutelage.claims import Rate
from tutelage.claims.labels import Evidence
from tutelage.refuse import Refused
from tutelage.report import gather_studies, render_csv, render_markdown, render_page
from tutelage.run import Outcome, Run
from tutelage.settings import Part, Setting
from tutelage.studies.answering import answer
from tutelage.studies.history import FILE, read_history
from tutelage.studies.outputs import write_verdicts
from tutelage.studies.study import Case

SETTING = Setting(Part("convolution", tokens=8, support=2, outputs=2, dim=3), 0.1, steps=10**6)
RATE = Rate("excess_risk", -1.0, plateau=1.0, id="rate", statement="excess falls like 1/T")
WRITTEN = """
[[change]]
date = "2026-01-02"
of = ["study/*/rate"]
where = { approach = 0.5 }
before = "it was asked with an exponent of 0.25."

[[change]]
date = "2026-01-03"
of = ["study"]
before = "the quick preset had three seeds."
"""


@pytest.fixture
def history(tmp_path):
    (tmp_path / FILE).write_text(WRITTEN)
    return read_history(tmp_path)


def verdict_of(claim, history):
    steps = np.unique(np.geomspace(1, 10**6, 200).astype(int))
    run = Run(steps, {"excess_risk": 1 / steps}, None, Outcome.FINISHED, "", 0.1, SETTING)
    case = Case("small", "small", (SETTING,), (claim,))
    return answer("paper/study", [case], {SETTING: run}, None, history)[0].verdicts[0]


def test_a_change_is_told_of_the_claims_that_it_names_and_of_no_other(history):
    changed = replace(RATE, approach=0.5)
    said = "Changed on 2026-01-02, after verdicts had been seen: it was asked with an exponent"
    assert verdict_of(changed, history).history.startswith(said)
    assert verdict_of(RATE, history).history == ""
    assert verdict_of(replace(changed, id="other"), history).history == ""
    own = verdict_of(replace(changed, history="First asked otherwise."), history).history
    assert own.startswith("First asked otherwise. Changed on 2026-01-02")


def test_the_report_shows_changes_of_claims_and_of_studies(tmp_path, history):
    folder = tmp_path / "out" / "paper" / "study"
    (folder / "figures").mkdir(parents=True)
    verdict = verdict_of(replace(RATE, approach=0.5), history)
    write_verdicts(folder / "verdicts.json", [verdict.plain() | {"preset": "quick"}])
    words = ("sentence", "statement", "equation", "source", "checked_in", "preset", "command")
    study = dict.fromkeys(words, "L") | {
        "format": 1,
        "name": "paper/study",
        "choices": [],
        "made": {},
        "cases": [],
        "history": history.of_study("paper/study"),
    }
    (folder / "study.json").write_text(json.dumps(study))
    finished = gather_studies([tmp_path / "out"])
    page, markdown = render_page(finished), render_markdown(finished, tmp_path)
    for said in ("an exponent of 0.25", "the quick preset had three seeds"):
        assert said in page
        assert said in markdown
    assert "(small/rate)" in markdown
    assert "an exponent of 0.25" in render_csv(finished)


@pytest.mark.parametrize(
    "written", ["[[change]]\ndate = 1", '[[change]]\ndate = "2026-01-02"\nof = []', "change = ["]
)
def test_another_form_is_refused(tmp_path, written):
    (tmp_path / FILE).write_text(written)
    with pytest.raises(Refused, match=r"one \[\[change\]\] per change"):
        read_history(tmp_path)


def test_every_committed_change_is_seen_where_it_was_made():
    """In the verdicts of each claim, or on the page of each study's verdicts."""
    studies = committed_studies().values()
    for paper in own_papers():
        own = [study for study in studies if study.paper.name == paper.name]
        told = [verdict.history for study in own for verdict in study.verdicts]
        for change in read_history(paper.folder).changes:
            named = [study for study in own if study.short in change.of]
            assert named or any(change.sentence in said for said in told), change
            for study in named:
                page = study.results.with_suffix(".md")
                assert change.sentence in page.read_text(), study.name


def test_registered_claims_keep_the_class_that_they_were_registered_with():
    for study in committed_studies().values():
        for verdict in study.verdicts:
            if verdict.evidence is Evidence.REGISTERED:
                assert "Changed on" not in verdict.history, verdict.id
