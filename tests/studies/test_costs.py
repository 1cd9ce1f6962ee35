"""What a study costs: by its preset, case by case, less what is stored."""

import pytest
from tiny_paper import write_paper

import tutelage as tt
from tutelage import plugins
from tutelage.cli import main
from tutelage.durations import say_seconds
from tutelage.studies.costs import estimate_cost
from tutelage.studies.planning import make_plan, plan_studies
from tutelage.training.method import USUAL


@pytest.fixture
def planned(tmp_path):
    plugins.import_all([str(write_paper(tmp_path / "tiny.py"))])
    (one,), _ = plan_studies(["tiny/pooling"], make_plan(preset="full"))
    yield one
    plugins._FILES.clear()
    plugins._MODULES.clear()


def test_cases_share_what_the_preset_says_by_their_runs(planned, tmp_path):
    cost = estimate_cost(planned, tt.Store(tmp_path / "none"), USUAL)
    assert (cost.runs, cost.stored, cost.seconds, cost.share_stored) == (4, 0, 2.0, 0.0)
    assert {name: (case.runs, case.seconds) for name, case in cost.cases.items()} == {
        "pooling": (3, 1.5),
        "all-tokens": (1, 0.5),
    }
    assert not (tmp_path / "none").exists()


def test_what_is_stored_costs_nothing(planned, tmp_path):
    store = tt.Store(tmp_path / "runs")
    first = planned.cases[0].settings[0]
    list(tt.execute([first], store=store))
    cost = estimate_cost(planned, store, USUAL)
    assert (cost.runs, cost.stored, cost.seconds, cost.share_stored) == (4, 1, 1.5, 0.25)
    assert (cost.cases["pooling"].stored, cost.cases["pooling"].missing) == (1, 2)
    assert cost.cases["pooling"].seconds == 1.0


def test_a_dry_run_says_hours_per_case_and_what_is_stored(planned, tmp_path, capsys, monkeypatch):
    paper = tmp_path / "long.py"
    text = write_paper(tmp_path / "tiny.py", "long").read_text()
    paper.write_text(text.replace("Preset(seconds=2.0", "Preset(seconds=150_000.0"))
    monkeypatch.chdir(tmp_path)
    command = ["run", "long/pooling", "--full", "--dry-run", "--import", str(paper)]
    with pytest.raises(SystemExit):
        main(command)
    shown = capsys.readouterr()
    assert "about 42 h on two cores" in " ".join(shown.err.split())
    assert "stored" not in shown.err
    assert [line.split()[:4] for line in shown.out.splitlines()[2:]] == [
        ["pooling", "3", "3,000", "~31"],
        ["all-tokens", "1", "3,000", "~10"],
    ]
    (control,) = planned.cases[1].settings
    list(tt.execute([control], store=tt.Store(tmp_path / "out" / "runs")))
    with pytest.raises(SystemExit):
        main(command)
    shown = capsys.readouterr()
    said = " ".join(shown.err.split())
    assert "1 of the runs is stored; about 31 h on two cores" in said
    assert shown.out.splitlines()[-1].split()[:5] == ["all-tokens", "1", "1", "3,000", "none"]


@pytest.mark.parametrize(
    ("seconds", "said"),
    [(0.4, "0 s"), (89, "89 s"), (90, "2 min"), (5399, "90 min"), (5400, "1.5 h"), (1e5, "28 h")],
)
def test_durations_are_said_in_the_unit_that_one_would_use(seconds, said):
    assert say_seconds(seconds) == said
