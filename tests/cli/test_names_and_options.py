"""A study is found by its last word, and an option means the same in every command."""

import importlib
import inspect
import re
import typing

import pytest
from cyclopts import App
from tiny_paper import SOURCE, write_paper

from tutelage import plugins
from tutelage.cli import main
from tutelage.cli.commands import COMMANDS
from tutelage.cli.options import RunOptions, StorePlace
from tutelage.refuse import Refused, one_of_paths
from tutelage.studies.discovery import find_full_name, find_study, papers
from tutelage.studies.planning import make_plan, plan_studies

WRITTEN = {"run", "sweep", "learn", "report", "animate"}  # by commands that have `--out`
READ = {"runs list", "runs show", "runs compare", "runs remove", "runs check", "runs lacking"}
READ |= {"register", "animate", "explore"}


@pytest.fixture(autouse=True)
def _forget_papers():
    yield
    plugins._FILES.clear()
    plugins._MODULES.clear()


def call(capsys, *arguments):
    with pytest.raises(SystemExit) as ended:
        main([str(argument) for argument in arguments])
    shown = capsys.readouterr()
    return ended.value.code, shown.out, " ".join(shown.err.split())


@pytest.fixture
def two(tmp_path):
    """Two papers with the same studies, of which one has one more."""
    more = '\npaper.studies["alone"] = Entry("Of one paper only", study=study)\n'
    first, second = tmp_path / "first.py", tmp_path / "second.py"
    first.write_text((SOURCE + more).replace("NAME", "first"))
    write_paper(second, "second")
    return ["--import", first, "--import", second]


ASKED = {
    "run": ["--dry-run", "--out", "OUT"],
    "show": [],
    "cite": [],
    "sweep": ["--dry-run", "--out", "OUT"],
    "runs lacking": ["--store", "OUT"],
    "register": ["--store", "OUT"],
}


@pytest.mark.parametrize("command", ASKED)
def test_the_last_word_is_enough_where_one_paper_has_it(command, two, tmp_path, capsys):
    options = [tmp_path / "out" if word == "OUT" else word for word in ASKED[command]]
    code, _, err = call(capsys, *command.split(), "alone", *options, *two)
    assert code in (0, 1), err  # 1 where a sweep lacks all
    assert "There is no" not in err
    code, _, err = call(capsys, *command.split(), "pooling", *options, *two)
    assert code == 2
    assert "which may be first/pooling or second/pooling" in err
    assert not (tmp_path / "out").exists()


def test_a_name_that_is_almost_a_last_word_is_suggested_in_full():
    known = ["p/scaling", "q/rates", "r/rates", "p", "q", "r"]
    assert one_of_paths("study", "scaling", known) == "p/scaling"
    assert one_of_paths("study", "q", known) == "q"
    with pytest.raises(Refused, match="Did you mean p/scaling"):
        one_of_paths("study", "scalign", known)
    with pytest.raises(Refused, match="may be q/rates or r/rates"):
        one_of_paths("study", "rates", known)
    with pytest.raises(Refused, match="Known: p, p/scaling"):
        one_of_paths("study", "nothing-like-it", known)


def test_many_names_are_listed_by_their_papers():
    known = [*(f"p/{k}" for k in range(30)), "p", "q/rates", "page"]
    for name in ("nothing-like-it", "r/nothing"):
        with pytest.raises(Refused) as said:
            one_of_paths("study", name, known)
        assert str(said.value).endswith("Known: p/…, page, q/….")


def test_the_list_of_pages_says_what_each_is_about(capsys):
    _, out, _ = call(capsys, "docs")
    titles = dict(re.split(r" {2,}", line, maxsplit=1) for line in out.splitlines())
    assert titles["layers"] == "Real layers: which are σ(VXS)?"
    assert titles["teacher-models/scaling"].startswith("How the constants of Theorem 3.1 grow")
    assert not any("$" in title or title == name for name, title in titles.items())


def test_every_short_name_of_the_built_in_papers_is_found_or_lists_its_choices():
    shorts = [(paper.name, short) for paper in papers().values() for short in paper.studies]
    names = [short for _, short in shorts]
    for paper, short in shorts:
        if names.count(short) == 1:
            assert find_full_name(short) == f"{paper}/{short}"
        else:
            with pytest.raises(Refused, match=f"{paper}/{short}"):
                find_study(short)


def test_the_pages_of_studies_are_found_alike(capsys):
    code, out, _ = call(capsys, "docs", "scaling")
    assert code == 0
    assert out == call(capsys, "docs", "teacher-models/scaling")[1]
    code, _, err = call(capsys, "docs", "rates")
    assert code == 2
    assert "teacher-models/rates" in err


def functions():
    """Every command by its name, with its function."""
    for name, (place, _) in COMMANDS.items():
        module, _, attribute = place.partition(":")
        found = vars(importlib.import_module(f"tutelage.cli.{module}"))[attribute]
        if not isinstance(found, App):
            yield name, found
            continue
        for inner in ("list", "show", "compare", "remove", "check", "lacking"):
            yield f"{name} {inner}", found[inner].default_command


def test_out_is_what_a_command_writes_and_store_where_stored_runs_are():
    written, read = set(), set()
    for name, function in functions():
        hints = typing.get_type_hints(function, include_extras=True)
        parameters = inspect.signature(function).parameters
        if "out" in parameters or hints.get("options") is RunOptions:
            written.add(name)
        if "store" in parameters:
            assert hints["store"] == StorePlace, name
            assert parameters["store"].default == "out"
            read.add(name)
    assert written == WRITTEN
    assert read == READ


def test_a_study_of_a_paper_without_the_preset_is_left_out_and_one_that_is_named_refused(tmp_path):
    short = SOURCE + (
        "\nfrom dataclasses import replace\n"
        'brief = replace(study, presets={"quick": Preset(seconds=1.0)})\n'
        'paper.studies["brief"] = Entry("It has one preset", study=brief)\n'
    )
    (tmp_path / "tiny.py").write_text(short.replace("NAME", "tiny"))
    plugins.import_all([str(tmp_path / "tiny.py")])
    planned, missing = plan_studies(["tiny"], make_plan(preset="full"))
    assert [one.study.name for one in planned] == ["tiny/pooling"]
    assert missing == {"tiny/brief": "It has no preset 'full'. Known: quick."}
    for names in (["tiny/brief"], ["brief"], ["pooling", "brief"]):
        with pytest.raises(Refused, match="no preset of tiny/brief named 'full'"):
            plan_studies(names, make_plan(preset="full"))
    with pytest.raises(Refused, match="named 'fll'"):
        plan_studies(["tiny"], make_plan(preset="fll"))
