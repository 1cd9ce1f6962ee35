"""Verdicts are read back from their files as they were, from today's form and from old ones."""

import json

import pytest

from tutelage.claims import Hypothesis, Status, Verdict
from tutelage.claims.verdict import FORMAT, RULE, pack_verdicts, unpack_verdicts
from tutelage.refuse import Refused
from tutelage.studies.discovery import papers
from tutelage.studies.outputs import read_verdicts, write_verdicts

FULL = Verdict(
    id="paper/study/case/claim",
    statement="excess = Θ(1/T)",
    source="Theorem 1",
    predicted=-1.0,
    measured=-1.0 - 1e-16,
    interval=(-1.1, -0.9),
    tolerance=0.02,
    status=Status.HOLDS,
    sentence="It holds.",
    hypotheses=(Hypothesis("K < D", True, "K = 2"), Hypothesis("D large", None)),
    seeds=(0, 3),
    horizon=(-1.05, -0.95),
    spread=(-1.1, -0.9),
    control="K < D",
)
BARE = Verdict("a/b/c/d", "", "", None, None, None, None, Status.MEASURED, "", measurement=True)


@pytest.mark.parametrize("verdict", [FULL, BARE])
def test_a_verdict_survives_its_file(verdict, tmp_path):
    assert Verdict.from_plain(verdict.plain()) == verdict
    write_verdicts(tmp_path / "verdicts.json", [verdict.plain()])
    (plain,) = read_verdicts(tmp_path / "verdicts.json")
    assert Verdict.from_plain(plain) == verdict


def test_files_say_their_form_and_newer_ones_are_refused():
    document = pack_verdicts([FULL.plain()])
    assert document["format"] == FORMAT
    assert unpack_verdicts(document) == [FULL.plain()]
    with pytest.raises(Refused, match=f"Got form {FORMAT + 1}"):
        unpack_verdicts({**document, "format": FORMAT + 1})
    with pytest.raises(Refused, match="`format` and `verdicts`"):
        unpack_verdicts({"format": 1})


@pytest.mark.parametrize("met", [0.5, 2**53, "met"])
def test_a_hypothesis_is_met_or_not_or_unknown(met):
    plain = FULL.plain()
    plain["hypotheses"][0]["met"] = met
    with pytest.raises(Refused, match=r"met` must be true or false"):
        unpack_verdicts(pack_verdicts([plain]))


def test_old_files_are_bare_lists_and_still_load(tmp_path):
    old = FULL.plain()
    del old["measurement"]  # the oldest have none
    (tmp_path / "verdicts.json").write_text(json.dumps([old]))
    (plain,) = read_verdicts(tmp_path / "verdicts.json")
    assert Verdict.from_plain(plain) == FULL


def test_every_committed_file_can_be_read():
    paths = [path for paper in papers().values() for path in paper.folder.glob("results/*.json")]
    assert paths
    for path in paths:
        plain = read_verdicts(path)
        again = [Verdict.from_plain(one).plain() for one in plain]
        for one, two in zip(plain, again, strict=True):
            two = json.loads(json.dumps(two))
            assert all(two[key] == value for key, value in one.items() if key != "preset")


def test_old_verdicts_keep_the_number_of_the_rule_that_made_them():
    assert FULL.rule == RULE
    for rule in (1, 2):
        assert Verdict.from_plain({**FULL.plain(), "rule": rule}).plain()["rule"] == rule
    unnamed = FULL.plain()
    del unnamed["rule"]
    assert Verdict.from_plain(unnamed).rule == 1
