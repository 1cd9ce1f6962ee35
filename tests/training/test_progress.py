"""`train(…, progress=True)` shows a bar on a terminal and in a notebook, and lines elsewhere."""

import io
import sys
import types

import numpy as np
import pytest
import rich.console

import tutelage as tt
from tutelage.training import progress

TEACHER = tt.BilinearTeacher(
    5 * np.random.default_rng(0).normal(size=(2, 3)), tt.pooling(tokens=4, support=2)
)


def train(**options):
    student, risk = tt.PositionAttention.zeros(TEACHER), tt.PopulationRisk(TEACHER)
    return tt.train(student, risk, rate=0.05, steps=400, **options)


@pytest.fixture
def terminal(monkeypatch):
    """A terminal of 80 columns in the place of standard error."""
    file = io.StringIO()
    plain = rich.console.Console

    def make(**options):
        return plain(file=file, width=80, force_terminal=True, highlight=False)

    monkeypatch.setattr(rich.console, "Console", make)
    return file


def test_a_terminal_has_a_bar_that_goes_and_leaves_nothing(terminal):
    seen = []
    shown = train(progress=True, watch=lambda member, step, curves: seen.append(step))
    text = terminal.getvalue()
    assert "━" in text
    assert "step 400 of 400, excess" in text
    assert text.endswith("\x1b[2K")  # the line of the bar is cleared
    assert seen[-1] == 400  # whoever else watches does so still
    same = train()
    np.testing.assert_array_equal(shown.curves["excess_risk"], same.curves["excess_risk"])


def test_without_asking_nothing_is_shown(terminal, capfd):
    train()
    assert terminal.getvalue() == ""
    assert capfd.readouterr() == ("", "")


def test_a_notebook_has_a_bar_below_the_cell(monkeypatch, capfd):
    shown = []

    class Handle:
        def update(self, what):
            shown.append(what)

    def display(what, *, display_id):
        assert display_id
        shown.append(what)
        return Handle()

    kernel = types.SimpleNamespace(config={"IPKernelApp": {}})
    module = types.ModuleType("IPython")
    module.get_ipython = lambda: kernel
    module.display = types.ModuleType("IPython.display")
    module.display.HTML, module.display.display = str, display
    monkeypatch.setitem(sys.modules, "IPython", module)
    monkeypatch.setitem(sys.modules, "IPython.display", module.display)
    train(progress=True)
    assert all("<progress" in what for what in shown)
    assert 'value="1.0000"' in shown[-1]
    assert "step 400 of 400, excess" in shown[-1]
    assert capfd.readouterr() == ("", "")
    kernel.config = {}  # IPython in a terminal
    shown.clear()
    train(progress=True)
    assert shown == []


def test_a_log_has_a_line_every_ten_seconds_with_the_time_left(monkeypatch, capsys):
    now = [0.0]
    monkeypatch.setattr(progress.time, "perf_counter", lambda: now[0])
    with progress.Bar(1000, 10**6) as bar:
        for share in range(1, 11):
            now[0] += 4.0
            bar(0, 100 * share, {"excess_risk": np.array([1.0, 0.5 / share])})
    assert capsys.readouterr().err.splitlines() == [
        "[  12.0 s]  30%, step 300 of 1,000, excess 1.67e-01, about 28 s left",
        "[  24.0 s]  60%, step 600 of 1,000, excess 8.33e-02, about 16 s left",
        "[  36.0 s]  90%, step 900 of 1,000, excess 5.56e-02, about 4 s left",
    ]


def test_a_curve_that_is_not_there_or_no_number_is_not_shown(capsys, monkeypatch):
    monkeypatch.setattr(progress, "SECONDS_PER_LINE", -1.0)
    with progress.Bar(10, 10**6) as bar:
        bar(0, 5, {})
        bar(0, 5, {"excess_risk": np.array([np.nan])})
    assert "excess" not in capsys.readouterr().err
