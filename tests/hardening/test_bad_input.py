"""Some cases of each door for input, as `make harden` gives by the thousand; and that the campaign
itself would notice.
"""

import json
import os
import subprocess
import sys
import warnings
from pathlib import Path
from random import Random

import pytest
from hardening.bad_input import __main__ as command
from hardening.bad_input import campaign, piece
from hardening.bad_input.odd import change_bytes, change_json, odd_value
from hardening.bad_input.piece import run_case
from hardening.bad_input.target import Partial, Target, call
from hardening.bad_input.targets import TARGETS
from hardening.bad_input.yard import Yard
from hardening.figures import Figures, write_figures
from stored import a_run

import tutelage as tt
from tutelage.layers import learning
from tutelage.layers.reader import MOST_SLOPES

SEED = 1
# As many as take about half a second once the target is there.
CASES = {
    "command line": 8,
    "sweep files": 15,
    "settings": 60,
    "stored runs": 12,
    "data files": 40,
    "curve files": 20,
    "layers": 3,
    "plugins": 6,
    "requests": 20,
    "reports": 20,
}


@pytest.fixture(scope="module")
def yard():
    before, written = os.getcwd(), sys.dont_write_bytecode
    sys.dont_write_bytecode = True
    yard = Yard()
    yield yard
    yard.remove()
    os.chdir(before)
    sys.dont_write_bytecode = written


@pytest.mark.usefixtures("own_registrations", "shapes_unchecked")
@pytest.mark.parametrize(
    "name",
    # An example of every part is built first.
    [pytest.param(name, marks=pytest.mark.depth if name == "settings" else ()) for name in TARGETS],
)
def test_bad_input_is_refused(name, yard, monkeypatch):
    monkeypatch.setattr(tt, "execute", _execute_nothing)  # a store needs runs, and no training
    target = TARGETS[name](yard)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # as where users run
        outcomes = [run_case(target, SEED, number) for number in range(CASES[name])]
    target.close()
    assert [one for one in outcomes if one.kind in campaign.DEFECTS] == []
    assert "refused" in {one.kind for one in outcomes}
    assert MOST_SLOPES == learning.MOST_SLOPES  # what a target makes small is small for it alone


def test_requests_leave_no_event_loop_open(yard):
    """It would be noticed at some later collection of garbage, in a test of something else."""
    target = TARGETS["requests"](yard)
    loop = target.loop.get_loop()
    target.close()
    assert loop.is_closed()


def _execute_nothing(settings, *, store):
    for setting in settings:
        run = a_run(setting)
        store.save(run)
        yield run


class Planted(Target):
    name, share, seconds = "planted", 1, 0.2

    def __init__(self, yard, act):
        super().__init__(yard)
        self.act = act

    def attack(self, draw):
        return self.act()


def _refuse():
    raise tt.Refused("no")


def _take_half():
    raise Partial("half of it")


def _err():
    raise KeyError("x")


def _hang():
    while True:
        pass


@pytest.mark.parametrize(
    ("act", "kind"),
    [
        (_refuse, "refused"),
        (lambda: True, "taken"),
        (lambda: False, "refused"),
        (_err, "traceback"),
        (_take_half, "partial"),
        (_hang, "hang"),
        (lambda: Path("../beside").write_text("x"), "outside"),
        (lambda: os.mkdir("../new"), "outside"),
        (lambda: os.rename("../untouched", "mine"), "outside"),
        (lambda: Path("inside").write_text("x"), "taken"),
        (lambda: call(["list", "--no-such-option"])[0] == 0, "refused"),
    ],
)
def test_every_kind_of_defect_would_be_noticed(act, kind, tmp_path):
    before = os.getcwd()
    yard = Yard()
    try:
        assert run_case(Planted(yard, act), 0, 0).kind == kind
    finally:
        yard.remove()
        os.chdir(before)


@pytest.fixture
def planted_piece(monkeypatch):
    """Cases 4 to 6, each in a program that stands for the piece; in case 5 it does something."""

    def attack(before="", after=""):
        program = (
            "import os, sys, time\nn = int(sys.argv[3])\nprint(n, flush=True)\n"
            f"if n == 5:\n    {before or 'pass'}\n"
            'print(\'{"case": %d, "kind": "taken"}\' % n, flush=True)\n'
            f"if n == 5:\n    {after or 'pass'}\n"
        )
        real = campaign.subprocess.Popen
        monkeypatch.setattr(
            campaign.subprocess, "Popen", lambda c, **k: real([c[0], "-c", program, *c[3:]], **k)
        )
        monkeypatch.setattr(campaign, "PIECE", 1)
        return campaign.attack("planted", 0, 4, 7)

    return attack


@pytest.mark.parametrize("when", ["before", "after"])
def test_a_process_that_dies_costs_one_case(when, planted_piece):
    """Also where what a case left behind kills the process once its outcome is told."""
    tally = planted_piece(**{when: "os.abort()"})
    assert (tally.counts["taken"], tally.counts["traceback"]) == (2, 1)
    assert tally.defects[0].case == 5
    said = {"before": "ended with -6 in this case", "after": "ended with -6 after this case"}
    assert tally.defects[0].said.endswith(said[when])


@pytest.mark.parametrize(
    ("does", "patience", "silence", "kind"),
    [
        pytest.param("time.sleep(60)", 60.0, 2.0, "hang", marks=pytest.mark.depth),
        ("while True: pass", 0.5, 60.0, "hang"),
        ("time.sleep(0.5)", 0.3, 60.0, "taken"),  # a machine on which others work
    ],
)
def test_a_process_that_falls_silent_costs_one_case(
    does, patience, silence, kind, planted_piece, monkeypatch
):
    monkeypatch.setattr(campaign, "PATIENCE", patience)
    monkeypatch.setattr(campaign, "LONGEST_SILENCE", silence)
    tally = planted_piece(before=does)
    assert tally.counts["taken"] + tally.counts[kind] == (6 if kind == "taken" else 3)
    assert [defect.case for defect in tally.defects] == ([] if kind == "taken" else [5])


ABORTS_AT_ITS_END = """
import atexit, os, sys
from hardening.bad_input import piece
from hardening.bad_input.target import Target
class Planted(Target):
    name = "planted"
    def attack(self, draw):
        print("what a case prints", file=sys.stderr)
        return True
piece.TARGETS["planted"] = Planted
atexit.register(os.abort)
piece.main("planted", 0, 3, 5)
"""


def test_a_piece_ends_without_taking_the_interpreter_down():
    """A thread that still compiles for a request that was given up aborts the process then."""
    root = Path(__file__).parents[2]
    ended = subprocess.run(
        [sys.executable, "-c", ABORTS_AT_ITS_END], cwd=root, capture_output=True, text=True
    )
    assert ended.returncode == 0, ended.stderr
    cases = [json.loads(line) for line in ended.stdout.splitlines()[1::2]]
    assert [(case["case"], case["kind"]) for case in cases] == [(3, "taken"), (4, "taken")]


COMPARES = """
import sys
from hardening.bad_input.amortise import amortise
from hardening.bad_input.target import call
commands = (["list", "--x"], ["check", "no.csv", "--slope=a"], ["check", "no.csv"], ["cite"],
    ["sweep", "no.toml", "--set=rate=1", "--dry-run"], ["sweep", "no.toml"], ["sweep"])
first = [call(command) for command in commands]
amortise()
assert [call(command) for _ in range(2) for command in commands] == first * 2
"""


@pytest.mark.depth
def test_what_is_kept_between_cases_changes_no_answer():
    root = Path(__file__).parents[2]
    subprocess.run([sys.executable, "-c", COMPARES], cwd=root, check=True)


def test_the_same_seed_gives_the_same_input():
    for make in (
        odd_value,
        lambda d: change_bytes(d, b"0123" * 9),
        lambda d: change_json(d, {"a": [1]}),
    ):
        assert repr(make(Random(3))) == repr(make(Random(3)))
    assert sum(campaign.share_cases(100_000).values()) >= 100_000
    assert set(campaign.share_cases(10)) == set(TARGETS)


def test_figures_take_the_place_of_the_last_ones(tmp_path):
    page = tmp_path / "page.md"
    page.write_text("before\n<!-- load -->\nold\n<!-- end of load -->\nafter\n")
    write_figures(Figures("load", "Said.", ("a", "b"), [["x", 12345]]), page)
    text = page.read_text()
    assert "old" not in text
    assert "| x | 12,345 |" in text
    assert text.startswith("before\n")
    assert text.endswith("<!-- end of load -->\nafter\n")
    with pytest.raises(ValueError, match="no place"):
        write_figures(Figures("other", "", (), []), page)


def test_all_defects_are_written_with_the_command_that_repeats_them(tmp_path, monkeypatch, capsys):
    def attack(target, seed, first, last):
        tally = campaign.Tally(target)
        for case in range(first, last):
            tally.add(piece.Outcome(case, "traceback", f"line one\nValueError: {case}\n"))
        return tally

    file = tmp_path / "deep" / "defects.txt"
    asked = ["bad_input", "--target", "requests", "--seed", "3", "--first", "40", "--cases", "12"]
    monkeypatch.setattr(command, "attack", attack)
    monkeypatch.setattr(sys, "argv", [*asked, "--defects", str(file)])
    assert command.main() == 1
    assert f"All 12 defects: {file}" in capsys.readouterr().out
    text = file.read_text()
    for case in range(40, 52):
        assert (
            f"requests, case {case}: traceback\n"
            f'python -m hardening.bad_input --target "requests" --seed 3 --first {case} --cases 1\n'
            f"line one\nValueError: {case}\n"
        ) in text


def test_memory_of_a_piece_is_bounded():
    assert piece.MEMORY < 16 * 2**30
