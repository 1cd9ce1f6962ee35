"""What is registered stands in the ledger as it is asked now, and was answered."""

from dataclasses import replace

import pytest

from tutelage.claims import Status
from tutelage.claims.labels import Evidence
from tutelage.claims.verdict import Verdict
from tutelage.settings import Setting
from tutelage.studies.discovery import find_paper, find_study
from tutelage.studies.ledger import read_ledger
from tutelage.studies.ledger_lines import make_line
from tutelage.studies.outputs import read_verdicts
from tutelage.studies.study import Plan

NAME = "shallow-transformers/confirmation"
PAPER = find_paper(NAME)


def asked(preset="quick"):
    cases = [case for case in planned(preset) if not case.control]
    return [(case, claim) for case in cases for claim in case.claims]


def planned(preset):
    return find_study(NAME).plan(Plan(preset))[0]


def continued_verdicts():
    path = PAPER.folder / "results" / "confirmation-continued.json"
    return [Verdict.from_plain(one) for one in read_verdicts(path)]


def test_every_claim_stands_in_the_ledger_as_it_is_asked_now():
    ledger = read_ledger(PAPER.folder)
    for case, claim in [*asked(), *asked("second"), *asked("continued")]:
        line = make_line(f"{NAME}/{case.name}/{claim.id}", claim, case.settings)
        assert ledger.find(line) is not None, line.id


@pytest.mark.parametrize(
    ("preset", "file", "opened"),
    [
        # Each registration leaves one of its controls open by the third rule.
        ("quick", "confirmation.json", "diagonal/sup-exponent"),
        ("second", "confirmation-second.json", "diagonal-2/mean-exponent"),
    ],
)
def test_every_claim_was_answered_by_runs_made_after_it(preset, file, opened):
    plain = read_verdicts(PAPER.folder / "results" / file)
    found = [Verdict.from_plain(one) for one in plain]
    claims = {verdict.id: verdict for verdict in found if not verdict.control}
    assert set(claims) == {f"{NAME}/{case.name}/{claim.id}" for case, claim in asked(preset)}
    assert {verdict.evidence for verdict in claims.values()} == {Evidence.REGISTERED}
    assert {verdict.rule for verdict in found} == {3}
    assert not [one.id for one in claims.values() if one.status is Status.FAILS]
    not_failing = [v.id for v in found if v.control and v.status is not Status.FAILS]
    assert not_failing == [f"{NAME}/{opened}"]


def test_the_continued_registration_has_the_same_claims_and_runs_first_and_then_more():
    """Of each case that it goes on with; what is added are further seeds of the same settings."""
    registered = {case.name: case for preset in ("quick", "second") for case in planned(preset)}
    for case in planned("continued"):
        before = registered[case.name]
        assert [claim.id for claim in case.claims] == [claim.id for claim in before.claims]
        assert [claim.tolerance for claim in case.claims] == [
            claim.tolerance for claim in before.claims
        ]
        seen, first = set(before.settings), len({setting.seed for setting in before.settings})
        assert [setting for setting in case.settings if setting in seen] == list(before.settings)
        by_point: dict[Setting, list[int]] = {}
        for setting in case.settings:
            by_point.setdefault(replace(setting, seed=0), []).append(setting.seed)
        assert len(by_point) * first == len(before.settings)
        (seeds,) = {tuple(seeds) for seeds in by_point.values()}
        assert seeds == tuple(range(seeds[0], seeds[0] + len(seeds)))
        assert len(seeds) > first


def test_verdicts_of_the_continued_registration_say_how_it_went_on():
    for verdict in continued_verdicts():
        said = "" if verdict.control else "Registered on 2026-11-17 with"
        assert said in verdict.history
        assert ("continued on 2026-11-18 with" in verdict.history) is (not verdict.control)


def test_seeds_are_those_of_no_other_study():
    cases = [case for case, _ in [*asked(), *asked("second"), *asked("continued")]]
    assert all(setting.seed >= 4021 for case in cases for setting in case.settings)
    seeds = [{s.seed for case, _ in asked(p) for s in case.settings} for p in ("quick", "second")]
    assert not seeds[0] & seeds[1]
