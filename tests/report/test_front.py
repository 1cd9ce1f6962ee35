"""Page one of each paper: carried by the committed verdicts, with figures that are drawn and a
sentence for every claim that fails.
"""

import pytest
from tools.committed import committed_studies, own_papers

from tutelage.claims.verdict import Status
from tutelage.refuse import Refused
from tutelage.report.findings import write_finding
from tutelage.report.front import ANSWERS, FIGURES, FILE, read_front
from tutelage.studies.discovery import papers


@pytest.fixture(scope="module")
def verdicts():
    return {v.id: v for study in committed_studies().values() for v in study.verdicts}


@pytest.mark.parametrize("paper", own_papers(), ids=lambda paper: paper.name)
def test_page_one_is_carried_by_the_committed_verdicts(paper, verdicts):
    front = read_front(paper)
    assert front.question.endswith("?")
    assert len(front.answers) == ANSWERS
    for answer in front.answers:
        assert "{" not in write_finding(answer, verdicts)
    assert len(front.figures) == FIGURES
    for figure in front.figures:
        short, _, name = figure.partition("/")
        assert name in paper.study(short).captions


@pytest.mark.parametrize("paper", own_papers(), ids=lambda paper: paper.name)
def test_every_claim_that_fails_reads_as_a_sentence(paper, verdicts):
    front = read_front(paper)
    unread = [
        v.id
        for v in verdicts.values()
        if v.id.startswith(f"{paper.name}/")
        and v.status is Status.FAILS
        and not v.control
        and not front.read_failure(v)
    ]
    assert unread == [], f"say in {FILE} of the paper, under [reads], what their failing means"


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("question = 3", "question"),
        ("question = ", "TOML"),
        ("[[answer]]\nkind = 'so'\ntext = ''\ncarried = {}", "kind of finding"),
        ("[[answer]]\nkind = 'holds'\ntext = ''\ncarried.SO = []", "status that a finding needs"),
        (6 * "[[answer]]\nkind = 'holds'\ntext = ''\ncarried = {}\n", "at most 5 sentences"),
    ],
)
def test_what_has_another_form_is_refused(text, words, tmp_path, monkeypatch):
    (tmp_path / "docs").mkdir()
    (tmp_path / FILE).write_text(text)
    paper = next(iter(papers().values()))
    monkeypatch.setattr(type(paper), "folder", tmp_path)
    with pytest.raises(Refused, match=words):
        read_front(paper)
