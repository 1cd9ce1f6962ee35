"""What is registered stands in the ledger as it is asked now, and was answered."""

from tutelage.claims import Status
from tutelage.claims.labels import Evidence
from tutelage.claims.verdict import Verdict
from tutelage.studies.discovery import find_paper, find_study
from tutelage.studies.ledger import read_ledger
from tutelage.studies.ledger_lines import make_line
from tutelage.studies.outputs import read_verdicts
from tutelage.studies.study import Plan

NAME = "teacher-models/confirmation"
PAPER = find_paper(NAME)


def asked():
    cases, _ = find_study(NAME).plan(Plan())
    return [(case, claim) for case in cases if not case.control for claim in case.claims]


def test_every_claim_stands_in_the_ledger_as_it_is_asked_now():
    ledger = read_ledger(PAPER.folder)
    for case, claim in asked():
        line = make_line(f"{NAME}/{case.name}/{claim.id}", claim, case.settings)
        assert ledger.find(line) is not None, line.id


def test_every_claim_was_answered_by_runs_made_after_it():
    plain = read_verdicts(PAPER.folder / "results" / "confirmation.json")
    found = [Verdict.from_plain(one) for one in plain]
    claims = {verdict.id: verdict for verdict in found if not verdict.control}
    assert set(claims) == {f"{NAME}/{case.name}/{claim.id}" for case, claim in asked()}
    assert {verdict.evidence for verdict in claims.values()} == {Evidence.REGISTERED}
    assert {verdict.status for verdict in found if verdict.control} == {Status.FAILS}


def test_seeds_are_those_of_no_other_study():
    assert all(setting.seed >= 4021 for case, _ in asked() for setting in case.settings)
