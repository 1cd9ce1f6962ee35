"""docs/adding-a-paper.md, followed word by word from an empty folder, leads to a working paper."""

import re
import runpy
import shlex
import sys
import tomllib
from pathlib import Path

import pytest

from tutelage import plugins, settings
from tutelage.cli import main
from tutelage.explorer.site import OWN_PARTS
from tutelage.figures import look
from tutelage.problem import registry
from tutelage.studies.discovery import papers
from tutelage.studies.study import Plan

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "adding-a-paper.md").read_text()
FILE, PACKAGE = PAGE.split("## As a package")
BLOCK = re.compile(r"```(\w+)\n(.*?)```", re.S)


def read_blocks(text):
    """(language, the file that the text before it names last or "", code), in their order."""
    found, at = [], 0
    for block in BLOCK.finditer(text):
        line = text[at : block.start()].rstrip().rsplit("\n", 1)[-1]
        named = re.findall(r"`([\w./-]+\.(?:py|toml))`[^`]*:$", line)
        found.append((block[1], named[-1] if named else "", block[2]))
        at = block.end()
    return found


def write_files(text, folder):
    written = []
    for _, name, code in read_blocks(text):
        if name:
            path = folder / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(code)
            written.append(name)
    return written


@pytest.fixture(autouse=True)
def _clean(monkeypatch, tmp_path):
    """An empty folder; and no paper, module or part of the page's stays behind."""
    registered = {kind: dict(parts) for kind, parts in registry._REGISTERED.items()}
    monkeypatch.setattr(registry, "_REGISTERED", registered)
    monkeypatch.setattr(plugins, "_FILES", {})
    for module, name in ((registry, "_IMPORTED"), (plugins, "_PARTS_IMPORTED")):
        monkeypatch.setattr(module, name, set(), raising=False)
    monkeypatch.chdir(tmp_path)
    yield
    for name in [name for name in sys.modules if name.startswith("geometric_descent")]:
        del sys.modules[name]
    for key in [key for key in settings.ORIGINS if key[1] == "linear"]:
        del settings.ORIGINS[key]


@pytest.fixture(autouse=True)
def served(monkeypatch):
    """The sites that `tutelage explore` would have shown, in place of a server that waits."""
    pytest.importorskip("starlette")
    from tutelage.explorer import serving, site

    found = []
    monkeypatch.setattr(serving, "serve", lambda *_, **__: found.append(site.find_site()) or 0)
    return found


def run_commands(text, capsys):
    """Every command of the page, in its order, and what each printed."""
    shown = {}
    for language, _, code in read_blocks(text):
        for line in code.splitlines() if language == "sh" else ():
            words = shlex.split(line, comments=True)
            if words[0] == "pip":
                assert words == ["pip", "install", "--editable", "."]  # needs a network
                continue
            assert words[0] == "tutelage"
            with pytest.raises(SystemExit) as ended:
                main(words[1:])
            said = capsys.readouterr()
            assert ended.value.code == 0, (line, said.err)
            shown[line] = said.out
    return shown


@pytest.mark.docs
def test_one_file_becomes_a_paper(tmp_path, capsys, served):
    assert write_files(FILE, tmp_path) == ["geometric.py", "small.toml"]
    shown = run_commands(FILE, capsys)
    ran = shown["tutelage run geometric-descent --import geometric.py"]
    assert "1 claim: 1 HOLDS, 0 FAILS, 0 UNDECIDED." in ran
    assert "The negative control fails, as expected." in ran
    swept = next(text for line, text in shown.items() if line.startswith("tutelage sweep geom"))
    assert "3 claims: 3 HOLDS" in swept
    again = shown["tutelage show geometric-descent/contraction --import geometric.py"]
    assert "tutelage run geometric-descent/contraction --import geometric.py\n" in again
    assert (tmp_path / "out" / "geometric-descent" / "contraction" / "verdicts.json").exists()
    assert (tmp_path / "out" / "report.html").exists()
    (site,) = served
    assert "linear" in site.find_page(OWN_PARTS).page.teachers
    assert site.choose_parts({}, "linear")["objective"] == "population"
    reproduced, checked = (
        code for kind, name, code in read_blocks(FILE) if kind == "python" and not name
    )
    exec(reproduced, {})
    assert "1 HOLDS" in capsys.readouterr().out
    exec(checked, {})
    assert capsys.readouterr().out == "[]\n"


@pytest.mark.depth
def test_a_package_becomes_a_paper(tmp_path, monkeypatch, capsys, served):
    monkeypatch.setattr(look, "FORMATS", ("png", "svg"))  # a report shows the latter
    written = write_files(PACKAGE, tmp_path)
    assert written == [
        "pyproject.toml",
        "geometric_descent/__init__.py",
        "geometric_descent/parts.py",
        "geometric_descent/theory.py",
        "geometric_descent/contraction/study.py",
        "geometric_descent/contraction/figures.py",
        "geometric_descent/explore.py",
        "geometric_descent/tests/test_paper.py",
    ]
    (tmp_path / "geometric_descent" / "contraction" / "__init__.py").touch()  # as the page says
    assert "an empty `geometric_descent/contraction/__init__.py`" in PACKAGE
    # What an installation leaves behind: the entry points, as the page declares them.
    project = tomllib.loads((tmp_path / "pyproject.toml").read_text())["project"]
    name, version = project["name"], project["version"]
    installed = tmp_path / "site" / f"{name.replace('-', '_')}-{version}.dist-info"
    installed.mkdir(parents=True)
    (installed / "METADATA").write_text(
        f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n"
    )
    lines = [
        f"[{group}]\n" + "".join(f"{key} = {value}\n" for key, value in entries.items())
        for group, entries in project["entry-points"].items()
    ]
    (installed / "entry_points.txt").write_text("\n".join(lines))
    for folder in (tmp_path, installed.parent):
        monkeypatch.syspath_prepend(folder)
    shown = run_commands(PACKAGE, capsys)
    assert "geometric-descent/contraction" in shown["tutelage list"]
    assert "package geometric-descent 0.1.0 (geometric_descent)" in shown["tutelage plugins"]
    ran = shown["tutelage run geometric-descent"]
    assert "1 claim: 1 HOLDS" in ran
    assert "The negative control fails, as expected." in ran
    study = tmp_path / "out" / "geometric-descent" / "contraction"
    assert (study / "figures" / "excess.svg").exists()
    assert "which leaves it" in (tmp_path / "out" / "report.html").read_text()
    (site,) = served
    assert site.find_page("geometric-descent").page.teachers == ("linear",)
    tests = runpy.run_path(str(tmp_path / "geometric_descent" / "tests" / "test_paper.py"))
    for name in ("test_the_paper_has_everything", "test_its_teacher_behaves_as_every_teacher_does"):
        tests[name]()


def test_its_page_is_one_of_the_explorer(tmp_path, monkeypatch):
    write_files(PACKAGE, tmp_path)
    (tmp_path / "geometric_descent" / "contraction" / "__init__.py").touch()
    monkeypatch.syspath_prepend(tmp_path)
    plugin = plugins.Plugin("geometric_descent", "paper", "here")
    monkeypatch.setattr(plugins, "_FILES", {"geometric_descent": plugin})
    (page,) = papers()["geometric-descent"].shown_pages()
    study = papers()["geometric-descent"].study("contraction")
    setting = study.plan(Plan())[0][0].settings[0]
    (line,) = page.reading(setting).predicted()
    assert line.values[0] == pytest.approx(0.5 * 2.0**2)
    assert page.measures(setting) == ("excess_risk", "cosine")
