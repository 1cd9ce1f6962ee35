"""Studies side by side in processes give what one process gives; one that is killed ends no
other; Ctrl-C ends all.
"""

import io
import json
import os
import signal
import subprocess
import sys
import time
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from rich.console import Console
from tiny_paper import SOURCE, write_paper
from watchdog import give_up_after

import tutelage as tt
from tutelage import plugins
from tutelage.cli import main
from tutelage.inputs import images
from tutelage.refuse import Refused
from tutelage.running.engines import Threads
from tutelage.studies import progress, side_by_side, standing
from tutelage.studies.parts_of_studies import cut_cases, group_cases
from tutelage.studies.planning import make_plan, plan_studies
from tutelage.studies.side_by_side import choose_jobs
from tutelage.studies.standing import Standing, Tally
from tutelage.studies.study import Case
from tutelage.studies.study_tasks import pack_plan, unpack_plan
from tutelage.studies.weights import weigh
from tutelage.training.method import USUAL

TEMPLATE = Path(tt.__file__).parent / "template"
SETTING = tt.Setting(
    tt.Part("convolution", tokens=4, support=2, outputs=1, dim=2), rate=0.1, steps=100
)

# Beside the tiny paper's own study one whose process is killed once it has run, and a long one.
DEADLY = (
    SOURCE
    + """
import os
import signal
from dataclasses import replace


def kill(run):
    os.kill(os.getpid(), signal.SIGKILL)


def deadly_cases(plan, preset):
    found = cases(plan, preset)
    return [replace(found[0], name="deadly", derived=kill)]


def long_cases(plan, preset):
    setting = SETTING.change(steps=900_000, **{"teacher.tokens": 24, "teacher.dim": 8})
    return [
        Case(name, name, (setting.change(seed=seed),), (CLAIM,))
        for seed, name in ((50, "one"), (51, "two"))
    ]


paper.studies["deadly"] = Entry("It kills", study=replace(study, cases=deadly_cases))
paper.studies["long"] = Entry("It takes long", study=replace(study, cases=long_cases))
"""
)


@pytest.fixture(autouse=True)
def _forget_papers():
    yield
    plugins._FILES.clear()
    plugins._MODULES.clear()


def numbers_of(verdicts):
    """Every number of each verdict by its id; those that have none are NaN."""
    return {
        verdict.id: np.array(
            [
                np.nan if value is None else value
                for value in (
                    verdict.predicted,
                    verdict.measured,
                    verdict.tolerance,
                    *(verdict.interval or (None, None)),
                )
            ]
        )
        for verdict in verdicts
    }


def assert_same(one, other, rounding=1e-300):
    """Same statuses and sentences' ids, and numbers within 1e-9: batches may be cut otherwise."""
    assert [v.id for v in one.verdicts] == [v.id for v in other.verdicts]
    assert [v.status for v in one.verdicts] == [v.status for v in other.verdicts]
    numbers = numbers_of(other.verdicts)
    for name, found in numbers_of(one.verdicts).items():
        np.testing.assert_allclose(found, numbers[name], rtol=1e-9, atol=rounding)
    for mine, theirs in zip(one.answered, other.answered, strict=True):
        assert mine.case.name == theirs.case.name
        for run, twin in zip(mine.runs, theirs.runs, strict=True):
            assert (run.setting, run.outcome) == (twin.setting, twin.outcome)
            for curve in run.curves:
                np.testing.assert_allclose(
                    run.curves[curve], twin.curves[curve], rtol=1e-9, atol=1e-300
                )


@pytest.mark.depth
def test_the_cases_of_the_skeleton_paper_give_the_same_in_two_processes(
    monkeypatch, tmp_path, capfd
):
    monkeypatch.syspath_prepend(str(TEMPLATE))
    name, how = "geometric-descent/contraction", {"imports": ["geometric_descent"]}
    alone = tt.reproduce(name, jobs=1, **how)
    both = tt.reproduce(name, jobs=2, **how)
    assert capfd.readouterr() == ("", "")
    assert (both.folder, both.figures) == (None, ())
    assert [len(answered.runs) for answered in both.answered] == [
        len(case.settings) for case in (a.case for a in alone.answered)
    ]
    # Its number is how far a run is from a closed form, of which 1e-9 is allowed: rounding itself.
    assert_same(alone, both, rounding=1e-10)
    for module in [module for module in sys.modules if module.startswith("geometric_descent")]:
        del sys.modules[module]


@pytest.mark.depth
def test_two_studies_give_the_same_files_in_two_processes(tmp_path, capsys, monkeypatch):
    # A folder of images that is no longer there is no matter of studies that do not name it.
    monkeypatch.setattr(images, "_FOLDERS", {"idx-0": tmp_path / "gone"})
    paper = str(write_paper(tmp_path / "tiny.py"))
    for jobs in (1, 2):
        arguments = ["run", "tiny/pooling", "tiny/further", "--steps", "300", "--import", paper]
        with pytest.raises(SystemExit) as ended:
            main([*arguments, "--jobs", str(jobs), "--json", "--out", str(tmp_path / str(jobs))])
        assert ended.value.code == 0
        shown = capsys.readouterr()
        verdicts = json.loads(shown.out)["verdicts"]
        assert [one["id"].rpartition("/")[0] for one in verdicts] == [  # in the order asked for
            "tiny/pooling/pooling",
            "tiny/pooling/all-tokens",
            "tiny/further/pooling",
            "tiny/further/all-tokens",
        ]
        assert "2 of 2 studies" in shown.err
        assert "nan" not in shown.err
    alone, both = (
        {p.relative_to(tmp_path / jobs) for p in files_of(tmp_path / jobs)} for jobs in "12"
    )
    assert alone == both
    for study in ("pooling", "further"):
        documents = [
            json.loads((tmp_path / jobs / "tiny" / study / "study.json").read_text())
            for jobs in "12"
        ]
        for document, jobs in zip(documents, "12", strict=True):
            assert str(tmp_path / jobs) in document.pop("command")
        assert documents[0] == documents[1]


def files_of(folder):
    return [path for path in folder.rglob("*") if ".leases" not in path.parts]


@pytest.mark.depth
def test_a_study_whose_process_is_killed_ends_no_other_and_keeps_its_runs(tmp_path, capsys):
    paper, out = tmp_path / "tiny.py", tmp_path / "out"
    paper.write_text(DEADLY.replace("NAME", "tiny"))
    arguments = ["run", "tiny/deadly", "tiny/pooling", "--steps", "300", "--import", str(paper)]
    with pytest.raises(SystemExit) as ended:
        main([*arguments, "--jobs", "2", "--out", str(out)])
    shown = capsys.readouterr()
    assert ended.value.code == 1
    said = next(line for line in shown.err.splitlines() if line.startswith("tiny/deadly is not"))
    for words in ("SIGKILL", "finished runs are kept", "same command resumes them", "`--jobs 1`"):
        assert words in said
    assert "tiny/deadly is not finished, 1" in shown.err or "not finished, 2" in shown.err
    assert (out / "tiny" / "pooling" / "verdicts.json").exists()
    assert not (out / "tiny" / "deadly").exists()
    (planned,), _ = plan_studies(["tiny/deadly"], make_plan(steps=300))
    store = tt.Store(out / "runs")
    assert all(store.holds(setting) for case in planned.cases for setting in case.settings)


@pytest.mark.depth
def test_a_study_that_was_named_alone_and_is_killed_is_told_to_the_caller(tmp_path):
    paper = tmp_path / "tiny.py"
    doubled = DEADLY.replace(
        'return [replace(found[0], name="deadly", derived=kill)]',
        'return [replace(found[0], name="deadly", derived=kill), found[1]]',
    )
    paper.write_text(doubled.replace("NAME", "tiny"))
    with pytest.raises(RuntimeError, match=r"tiny/deadly is not finished, .* run it again"):
        tt.reproduce("tiny/deadly", imports=[str(paper)], steps=60, jobs=2)


@pytest.mark.depth
def test_ctrl_c_saves_and_ends_all_processes(tmp_path):
    paper, out, mark = tmp_path / "tiny.py", tmp_path / "out", f"TUTELAGE_TEST={os.getpid()}"
    paper.write_text(DEADLY.replace("NAME", "tiny"))
    command = [sys.executable, "-m", "tutelage", "run", "tiny/long", "--import", str(paper)]
    key, _, value = mark.partition("=")
    program = subprocess.Popen(
        [*command, "--jobs", "2", "--out", str(out)],
        env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path), key: value},
        stderr=subprocess.PIPE,
        text=True,
    )
    with give_up_after(100):
        while len(list((out / "runs" / ".leases").glob("*"))) < 2:
            assert program.poll() is None
            time.sleep(0.1)
        time.sleep(4.0)  # for both to compile and take some steps
        program.send_signal(signal.SIGINT)
        _, said = program.communicate()
    assert program.returncode == 130
    assert "All runs are saved" in said
    assert not [pid for pid in list_processes() if mark in read_environment(pid)]
    plugins.import_all([str(paper)])
    (planned,), _ = plan_studies(["tiny/long"], make_plan())
    store = tt.Store(out / "runs")
    begun = [store.begun(case.settings[0]) for case in planned.cases]
    assert all(run is not None and 0 < run.rest.taken < 900_000 for run in begun)


def list_processes():
    return [name for name in os.listdir("/proc") if name.isdigit()]


def read_environment(process):
    try:
        return Path(f"/proc/{process}/environ").read_bytes().decode(errors="replace").split("\0")
    except OSError:  # it has ended, or is another user's
        return []


@pytest.mark.parametrize("jobs", [0, -2, 1.5, True, "two"])
def test_a_bad_number_of_jobs_is_refused(jobs, tmp_path):
    paper = str(write_paper(tmp_path / "tiny.py"))
    with pytest.raises(Refused, match=r"`jobs` must be a whole number .* since .* Got jobs="):
        tt.reproduce("tiny/pooling", imports=[paper], jobs=jobs)


def test_jobs_exclude_other_engines(tmp_path, capsys):
    paper = str(write_paper(tmp_path / "tiny.py"))
    with pytest.raises(Refused, match=r"exclude each other.*Got jobs=2 and .* Threads"):
        tt.reproduce("tiny/pooling", imports=[paper], jobs=2, engine=Threads(1))
    for options, words in (
        (["--jobs", "0"], "Got jobs=0"),
        (["--jobs", "2", "--workers", "2"], "--jobs and --workers exclude each other"),
    ):
        with pytest.raises(SystemExit) as ended:
            main(["run", "tiny/pooling", "--import", paper, "--out", str(tmp_path), *options])
        assert ended.value.code == 2
        assert words in capsys.readouterr().err


def test_processes_are_started_by_default_where_the_work_is_worth_it(tmp_path, monkeypatch):
    plugins.import_all([str(write_paper(tmp_path / "tiny.py"))])
    (short,), _ = plan_studies(["tiny/pooling"], make_plan())
    preset = replace(short.study.presets["quick"], seconds=60.0)
    long = replace(short, study=replace(short.study, presets={"quick": preset}))
    for count, alone, two in ((1, 1, 1), (2, 1, 2), (8, 4, 8)):
        monkeypatch.setattr(side_by_side, "cores", lambda count=count: count)
        assert choose_jobs([short], None, None, USUAL) == 1
        assert choose_jobs([long], None, None, USUAL) == alone
        assert choose_jobs([long, short], None, None, USUAL) == two
        assert choose_jobs([long, short], None, Threads(1), USUAL) == 1
        assert choose_jobs([short], 2, None, USUAL) == 2


def test_a_changed_plan_is_expected_to_take_its_share_of_the_preset(tmp_path):
    plugins.import_all([str(write_paper(tmp_path / "tiny.py"))])
    (usual,), _ = plan_studies(["tiny/pooling"], make_plan())
    (shorter,), _ = plan_studies(["tiny/pooling"], make_plan(steps=1))
    assert usual.estimate_seconds() == 1.0
    # Two of its three runs take one step; the control keeps its 3,000.
    long, short = (one.cases[0].settings[0] for one in (usual, shorter))
    assert (long.steps, short.steps) == (3000, 1)
    share = (2 * weigh(short) + weigh(long)) / (3 * weigh(long))
    assert shorter.estimate_seconds() == pytest.approx(share)
    assert usual.estimate_bytes() == 1e9


def case(name, *seeds, after=None):
    settings = tuple(SETTING.change(seed=seed) for seed in seeds)
    return Case(name, name, settings, (), after=after or {})


def test_cases_that_need_one_another_stay_together():
    a, b, c, d = case("a", 0, 1), case("b", 2), case("c", 1, 3), case("d", 4)
    assert group_cases([a, b, c, d]) == [(b,), (a, c), (d,)]
    chained = case("e", 9, after={SETTING.change(seed=9): SETTING.change(seed=4)})
    assert group_cases([d, b, chained]) == [(b,), (d, chained)]
    joins = case("f", 0, 2)
    assert group_cases([a, b, joins]) == [(b, a, joins)]


def test_parts_are_of_about_the_same_weight():
    cases = [case("a", 0, 1, 2), case("b", 3), case("c", 4), case("d", 5)]
    one, two = cut_cases(cases, 2)
    assert ([c.name for c in one], [c.name for c in two]) == (["a"], ["b", "c", "d"])
    assert len(cut_cases(cases, 9)) == 4


def test_a_plan_comes_back_as_it_was_sent():
    plan = make_plan(seeds=2, steps=7, changes={"D": 3, "rate": 0.1, "word": "x"}, cases=["a"])
    assert unpack_plan(json.loads(json.dumps(pack_plan(plan)))) == plan
    given = make_plan(changes={"start": np.array([[0.1, 1 / 3]])})
    again = unpack_plan(json.loads(json.dumps(pack_plan(given))))
    np.testing.assert_array_equal(again.changes["start"], given.changes["start"])


def test_progress_is_told_by_weight_and_never_as_nan(monkeypatch):
    monkeypatch.setattr(standing, "SECONDS_BETWEEN", -1.0)
    told = []
    first, second = (SETTING.change(seed=seed) for seed in (0, 1))
    all_of_one = weigh(first)
    tally = Tally([case("a", 0, 1), case("b", 1)], told.append)
    tally(first, 50, {"excess_risk": np.array([1.0, 0.5])})
    assert told.pop() == Standing(all_of_one / 2, "excess 5.00e-01")
    tally(first, 100, {"excess_risk": np.array([np.nan])})
    assert told.pop() == Standing(all_of_one)
    tally(second, 100, {})
    both = 2 * all_of_one
    assert told == [Standing(both, "", "a", 2), Standing(both, "", "b", 1), Standing(both)]
    tally.end()
    assert told[-1].seen == "checking claims"


def test_plain_lines_say_how_much_is_left(monkeypatch, capsys):
    clock = iter([0.0] + 20 * [30.0])
    monkeypatch.setattr(progress.time, "perf_counter", lambda: next(clock))
    with progress.Display({"p/a": 20.0, "p/b": 40.0}) as display:
        display.start("p/a")
        display.start("p/b")
        display.show("p/b", 0.25, Standing(10.0, "excess 1.00e-01", "rates", 1))
        display.end("p/a", done=True)
        display.end("p/b", done=False)
    assert capsys.readouterr().err.splitlines() == [
        "[  30.0 s]  17%, about 2 min left: p/b, rates: 1 run done",
        "[  30.0 s]  50%, about 30 s left: p/a is done, 1 of 2 studies",
        "[  30.0 s] 100%: p/b is not finished, 2 of 2 studies",
    ]


def test_a_plain_log_says_every_minute_that_it_goes_on(monkeypatch, capsys):
    now = [0.0]
    monkeypatch.setattr(progress.time, "perf_counter", lambda: now[0])
    with progress.Display({"p/a": 1000.0}) as display:
        display.start("p/a")
        for second in range(0, 140, 10):
            now[0] = float(second)
            display.show("p/a", second / 1000, Standing(1.0, "excess 1.00e-01"))
    assert capsys.readouterr().err.splitlines() == [
        "[  70.0 s]   7%, about 16 min left: p/a, excess 1.00e-01",
    ]


def test_what_is_stored_does_not_make_the_rest_look_quick(monkeypatch):
    now = [0.0]
    monkeypatch.setattr(progress.time, "perf_counter", lambda: now[0])
    display = progress.Display({"p/a": 100.0}, {"p/a": 0.5})
    display.start("p/a")
    assert display.describe_left() == "about 50 s left"  # as expected
    display.show("p/a", 0.5, Standing(1.0))  # all that is stored, at once
    assert display.describe_left() == "about 50 s left"
    now[0] = 20.0
    display.show("p/a", 0.6, Standing(1.0))
    assert display.describe_left() == "about 80 s left"


def draw(display, width):
    """What a terminal of so many columns shows."""
    file = io.StringIO()
    console = Console(file=file, width=width, force_terminal=True, color_system=None)
    console.print(display.live.get_renderable())
    return [line.rstrip() for line in file.getvalue().splitlines()]


def test_a_terminal_has_one_bar_for_all_and_a_line_per_running_study(monkeypatch):
    monkeypatch.setattr(progress.time, "perf_counter", lambda: 0.0)
    names = [f"in-context-autoregression/study-{i}" for i in range(3)]
    display = progress.Display(dict.fromkeys(names, 60.0))
    for name in names[:2]:
        display.start(name)
    display.show(names[0], 0.5, Standing(10.0, "excess 1.00e-01", "rates", 1))
    display.show(names[1], 0.25, Standing(10.0))  # a study without that curve
    first, *lines = draw(display, 80)
    assert first.startswith("3 studies ━━━")
    assert first.endswith(" 25% 0:00, nearly done")  # as the clock stands still
    assert lines == [
        f"  {names[0]}  50% 1 case done, excess 1.00e-01",
        f"  {names[1]}  25%",
    ]
    assert not any("nan" in line or "…" in line for line in (first, *lines))
    display.end(names[0], done=True)
    assert draw(display, 80)[1:] == [f"  {names[1]}  25%"]
