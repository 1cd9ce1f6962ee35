"""Every code block and command of README, docs and papers: a test runs it, or here is why not."""

import io
import re
import shlex
import tomllib
from functools import cache
from pathlib import Path

import pytest
from rich.console import Console

from tutelage.cli.app import app, make_app
from tutelage.cli.commands import COMMANDS

ROOT = Path(__file__).parents[2]
PAGES = [
    *(ROOT / name for name in ("README.md", "CONTRIBUTING.md", "SECURITY.md")),
    *sorted((ROOT / "docs").glob("*.md")),
    *sorted((ROOT / "src/tutelage/papers").glob("*/docs/*.md")),
    *sorted((ROOT / "src/tutelage/template").rglob("*.md")),
]
TEXTS = {path.relative_to(ROOT).as_posix(): path.read_text(encoding="utf-8") for path in PAGES}
BLOCK = re.compile(r"^```([^\n]*)\n(.*?)^```", re.S | re.M)

# The tests that run a page's blocks which are no commands, or read them as the program does.
RUN_BY = {
    "README.md": "tests/project/test_readme.py",
    "docs/adding-a-paper.md": "tests/project/test_adding_a_paper.py",
    "docs/choose.md": "tests/project/test_site.py",
    "docs/figures.md": "tests/project/test_site.py",
    "docs/judge-a-curve.md": "tests/project/test_guides.py",
    "docs/large.md": "tests/problem/test_large.py",
    "docs/learn-a-layer.md": "tests/project/test_learn_a_layer.py",
    "docs/read-a-verdict.md": "tests/project/test_site.py",
    "docs/store.md": "tests/running/store/test_store_docs.py",
    "docs/sweeps.md": "tests/studies/test_sweep_docs.py",
    "docs/teaching.md": "tests/project/test_site.py",
    "docs/your-theorem-in-ci.md": "tests/project/test_guides.py",
}
# Programs that are not ours: their lines are not run here.
FOREIGN = {
    "git": "sets up a second clone",
    "openssl": "makes a certificate; tests/running makes its own",
    "dask": "starts a cluster; make test-cluster starts its own",
    "sbatch": "needs SLURM; cluster/try_slurm.sh sends the same file",
    "chmod": "follows openssl",
    "pytest": "tests/project/test_guides.py runs the suite of the page",
}


def find_lines(text):
    """The lines of all blocks of shell commands, without comments."""
    blocks = [code for language, code in BLOCK.findall(text) if language == "sh"]
    lines = [shlex.split(line, comments=True) for code in blocks for line in code.splitlines()]
    return [words for words in lines if words]


def find_inline(text, program):
    """The commands of a program that stand in a sentence, which may be cut short."""
    plain = BLOCK.sub("", text)
    return [found.split() for found in re.findall(rf"`({program} [^`]+)`", plain)]


@cache
def read_options(command):
    said = io.StringIO()
    console = Console(file=said, width=200, color_system=None)
    make_app(command).help_print([command], console=console)
    return set(re.findall(r"--[a-z][\w-]*", said.getvalue()))


EXTRAS = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["optional-dependencies"]
TARGETS = set(re.findall(r"^([a-z][\w-]*):", (ROOT / "Makefile").read_text(), re.M))


def check_line(words):
    """A whole line is one that its program accepts; nothing is done."""
    program, *rest = words
    if program == "tutelage":
        app.parse_args(rest, exit_on_error=False, print_error=False)
    elif program == "make":
        assert {word for word in rest if "=" not in word} <= TARGETS, words
    elif program == "pip":
        (what,) = (word for word in rest[1:] if not word.startswith("-"))
        extras = re.findall(r"[\w-]+", what.partition("[")[2])
        assert set(extras) <= {*EXTRAS, "test"}, words  # `test` is the template's own
    elif program.endswith("python"):
        assert find_program(rest), words
    else:
        assert program in FOREIGN, words


def find_program(rest):
    """The file that `python FILE` or `python -m MODULE` runs."""
    place = rest[1].replace(".", "/") if rest[0] == "-m" else rest[0]
    return any((ROOT / found).exists() for found in (place, f"{place}.py"))


def test_every_block_that_is_no_command_is_run_by_a_test():
    for page, text in TEXTS.items():
        kinds = {language for language, _ in BLOCK.findall(text)} - {"sh", "text", ""}
        if kinds:
            test = (ROOT / RUN_BY[page]).read_text(encoding="utf-8")
            assert Path(page).name in test, (page, RUN_BY[page])


def test_a_block_names_its_language():
    """A folder's listing, which has none, is no code."""
    bare = {page for page, text in TEXTS.items() for kind, _ in BLOCK.findall(text) if not kind}
    assert bare == {"docs/store.md"}


@pytest.mark.parametrize("page", [page for page, text in TEXTS.items() if find_lines(text)])
def test_every_command_of_a_block_is_one(page):
    for words in find_lines(TEXTS[page]):
        check_line(words)


def test_every_command_in_a_sentence_has_such_a_name_and_such_options():
    found = [(page, w) for page, text in TEXTS.items() for w in find_inline(text, "tutelage")]
    assert len(found) > 80
    for page, (_, command, *rest) in found:
        if command.startswith("-") or command == "COMMAND":
            continue
        assert command in COMMANDS, (page, command)
        named = {word.partition("=")[0] for word in rest if word.startswith("--")}
        assert named - {"--help"} <= read_options(command), (page, command, rest)


def test_every_target_in_a_sentence_is_one():
    found = [(page, w) for page, text in TEXTS.items() for w in find_inline(text, "make")]
    assert len(found) > 40
    for page, (_, *rest) in found:
        assert {word for word in rest if "=" not in word} <= TARGETS, (page, rest)


def test_every_program_of_ours_in_a_sentence_is_there():
    found = [(page, w) for page, text in TEXTS.items() for w in find_inline(text, "python")]
    assert found
    for page, (_, *rest) in found:
        assert rest == ["FILE"] or find_program(rest), (page, rest)
