"""What a person sees: the greeting, verdicts at any width, what was found, and what comes next."""

import io
import subprocess
import sys

import pytest
from rich.console import Console

from tutelage.claims.verdict import Status, Verdict
from tutelage.cli import main
from tutelage.cli.commands import FIRST_COMMANDS
from tutelage.cli.findings_screen import describe_findings, list_next, print_findings
from tutelage.cli.terminal import print_verdicts
from tutelage.studies.discovery import find_study
from tutelage.studies.reproduced import Reproduced
from tutelage.studies.study import Answered, Case, Plan, Preset, Study

FORMULA = "‖W_V − V*‖√(ηT) ∝ (D−K)√(K/2λ) in ‖V*‖ at D = 256, K = 2, M = 1, and a little more"


def verdict(claim, status=Status.HOLDS, **changes):
    given = {
        "id": f"p/s/case/{claim}",
        "statement": FORMULA,
        "source": "",
        "predicted": 2.0,
        "measured": 2.0038,
        "interval": (2.0032, 2.0043),
        "tolerance": 0.05,
        "status": status,
        "sentence": f"The sentence of {claim}.",
    }
    return Verdict(**(given | changes))


BOUND = verdict(
    "bound",
    predicted=1.0,
    measured=3.7e-10,
    tolerance=0.0,
    interval=None,
    sentence="3.7e-10 against at most 1.",
)
CONTROL = verdict("broken", Status.FAILS, control="plain descent")


def answered(*verdicts, name="case"):
    return Answered(Case(name, name, (), ()), (), verdicts)


def show(width, *cases, terminal=True):
    """What is printed, in a terminal of so many columns or in a pipe."""
    file = io.StringIO()
    console = Console(
        file=file,
        width=width,
        force_terminal=terminal,
        highlight=False,
        color_system="standard" if terminal else None,
    )
    print_verdicts("p/s", cases, console)
    return file.getvalue()


def plain(text):
    """Without colours, in one line."""
    from rich.text import Text

    return " ".join(Text.from_ansi(text).plain.split())


def call(capsys, *arguments):
    with pytest.raises(SystemExit) as ended:
        main([str(argument) for argument in arguments])
    shown = capsys.readouterr()
    return ended.value.code, shown.out, shown.err


def test_alone_it_greets_with_four_commands_and_loads_nothing(capsys, monkeypatch):
    monkeypatch.setenv("COLUMNS", "80")
    code, out, err = call(capsys)
    assert (code, err) == (0, "")
    assert len(FIRST_COMMANDS) == 4
    for command, does in FIRST_COMMANDS.items():
        assert f"  {command} " in out
        assert f"{does}\n" in out
    assert max(map(len, out.splitlines())) <= 80
    heavy = "{'jax', 'cyclopts', 'rich', 'numpy', 'attrs', 'asyncio'}"
    code = (
        "import sys\nfrom tutelage.cli import main\ntry:\n    main([])\nfinally:\n    "
        f"print(sorted({heavy} & {{*sys.modules}}))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60)
    assert done.stdout.endswith("[]\n"), done.stderr


def test_the_study_that_the_greeting_names_is_one_and_takes_less_than_a_minute():
    (command,) = [command for command in FIRST_COMMANDS if command.startswith("tutelage run ")]
    assert find_study(command.split()[-1]).presets["quick"].seconds < 60


def test_a_wide_terminal_has_a_table_with_a_row_per_verdict():
    text = show(200, answered(verdict("rate"), BOUND))
    lines = [line for line in text.splitlines() if FORMULA in line]
    assert len(lines) == 2
    assert "HOLDS" in lines[0]
    assert "2.0032" in lines[0]


@pytest.mark.parametrize("width", [40, 80, 100])
def test_a_narrow_terminal_stacks_and_leaves_nothing_out(width):
    text = show(width, answered(verdict("rate"), BOUND, CONTROL))
    assert "…" not in text
    assert plain(text).count(FORMULA) == 3
    assert "✓ HOLDS predicted 2 ± 0.05, measured 2.0038 in [2.0032, 2.0043]" in plain(text)
    stripped = [plain(line) for line in text.splitlines()]
    assert max(map(len, stripped)) <= width


def test_a_pipe_stacks_what_is_wider_than_its_lines_and_wraps_nothing():
    text = show(120, answered(verdict("rate")), terminal=False)
    assert f"  {FORMULA}\n    ✓ HOLDS  predicted 2 ± 0.05, measured 2.0038 in" in text


@pytest.mark.parametrize("width", [80, 200])
def test_a_bound_reads_at_most_and_has_no_tolerance_of_zero(width):
    text = plain(show(width, answered(BOUND)))
    assert "≤ 1" in text
    assert "± 0" not in text
    assert "≤" not in plain(show(width, answered(verdict("rate"))))


@pytest.mark.parametrize("width", [80, 200])
@pytest.mark.parametrize("terminal", [True, False])
def test_a_failing_control_fails_as_expected_and_is_dim(width, terminal):
    text = show(width, answered(CONTROL), terminal=terminal)
    assert plain(text).count("fails, as expected") == 2  # in its row and with its sentence
    assert "FAILS" not in text
    assert "The sentence of broken. Breaks plain descent." in plain(text)
    if terminal:
        coloured = [line for line in text.splitlines() if "as expected" in line]
        assert all("\x1b[2m" in line for line in coloured)
    broken = show(width, answered(verdict("c", Status.HOLDS, control="K < D")), terminal=terminal)
    assert "control broken" in plain(broken)


def test_an_interval_that_is_one_number_is_not_repeated():
    text = plain(show(80, answered(verdict("rate", measured=2.0, interval=(2.0, 2.0)))))
    assert "measured 2" in text
    assert " in [" not in text


def test_sentences_of_claims_come_after_those_of_controls():
    failed = verdict("wrong", Status.FAILS)
    text = plain(show(80, answered(failed, CONTROL)))
    assert text.index("The sentence of broken.") < text.index("FAILS p/s/case/wrong:")


def reproduced(*verdicts, preset="quick"):
    presets = {"quick": Preset(seconds=30.0), "full": Preset(seconds=30_000.0)}
    study = Study("", "", "", presets, lambda plan, preset: [], name="p/s")
    return Reproduced(study, Plan(preset), (answered(*verdicts),))


def test_what_was_found_takes_three_lines():
    found = (verdict("a"), verdict("b", Status.FAILS, measured=3.0), verdict("c", Status.FAILS))
    lines = describe_findings("p/s", [*found, verdict("d", Status.UNDECIDED), CONTROL])
    assert len(lines) == 3
    assert lines[0].startswith("p/s: 4 claims: 1 HOLDS, 2 FAILS, 1 UNDECIDED. The negative control")
    assert lines[1].startswith(f"Fails: {FORMULA}: measured 3 in ")
    assert lines[1].endswith("predicted 2 (p/s/case/b); and 1 more.")
    assert lines[2].startswith("Undecided: ")
    assert "(p/s/case/d)." in lines[2]
    open_one = verdict("d", Status.UNDECIDED, measured=None, sentence="It does not settle. Longer.")
    assert describe_findings("p/s", [open_one])[2].endswith(": It does not settle (p/s/case/d).")
    fine = describe_findings("p/s", [verdict("a"), verdict("b")])
    assert fine[1].startswith("Holds, for example: ")
    assert fine[1].endswith("(p/s/case/a).")
    assert fine[2] == "No claim is undecided."
    assert describe_findings("p/s", [CONTROL])[1] == "No claim holds or fails."


def test_next_come_commands_that_exist():
    commands = list_next([reproduced(verdict("d", Status.UNDECIDED))], "else where")
    assert list(commands) == [
        "tutelage report 'else where'",
        "tutelage run p/s --full --out 'else where'",
        "tutelage show p/s",
        "tutelage explore --store 'else where'",
    ]
    assert "about 8.3 h, for what is undecided (1)" in list(commands.values())[1]
    longest = list_next([reproduced(verdict("a"), preset="full")], "out")
    assert list(longest) == ["tutelage report", "tutelage show p/s", "tutelage explore"]


@pytest.mark.parametrize("terminal", [True, False])
def test_the_end_says_what_was_found_and_then_what_to_do(terminal):
    file = io.StringIO()
    console = Console(file=file, width=80, force_terminal=terminal, color_system=None)
    print_findings([reproduced(verdict("a"))], "out", console)
    text = file.getvalue()
    assert text.index("Found") < text.index("p/s: 1 claim") < text.index("Next")
    assert "tutelage report" in text
    widest = max(len(line.rstrip()) for line in text.splitlines())
    assert widest <= 80 if terminal else widest > 80
    does = "what it claims, and under which hypotheses"
    lines = [line.split() for line in text.splitlines() if does in line]
    assert lines == [does.split()] if terminal else lines != [does.split()]
