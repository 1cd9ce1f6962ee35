"""The documentation: every page is listed, every public name and command is in the reference, and
every notebook and example runs. The built site is looked at by `tests/project/test_built_site.py`.
"""

import importlib.util
import inspect
import json
import re
import runpy
import tomllib
from pathlib import Path

import pytest

import tutelage as tt
from tutelage.cli.commands import COMMANDS
from tutelage.studies.sweep_files import read_sweep

ROOT = Path(__file__).parents[2]
DOCS = ROOT / "docs"
PAGES = sorted(DOCS.glob("*.md"))
NOTEBOOKS = [DOCS / "tutorial.ipynb", *sorted((DOCS / "notebooks").glob("*.ipynb"))]
EXAMPLES = sorted((ROOT / "examples").glob("*.py"))
# Those that train nothing; the others are run by `make test-docs`.
QUICK = {"own_curve.py", "a-slope-you-can-trust.ipynb"}


def mark(paths):
    return [
        pytest.param(path, id=path.name, marks=() if path.name in QUICK else (pytest.mark.docs,))
        for path in paths
    ]


@pytest.fixture(scope="module")
def site():
    spec = importlib.util.spec_from_file_location("make_site", DOCS / "make_site.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture(scope="module")
def source(site, tmp_path_factory):
    """All pages of the site, as Sphinx gets them."""
    folder = tmp_path_factory.mktemp("site") / "source"
    site.gather(folder)
    return folder


def links(path):
    text = path.read_text(encoding="utf-8")
    if path.suffix == ".ipynb":
        cells = json.loads(text)["cells"]
        text = "\n".join("".join(c["source"]) for c in cells if c["cell_type"] == "markdown")
    found = re.findall(r"\]\(([^)#\s]+)", text)
    return {(path.parent / link).resolve() for link in found if "://" not in link}


def test_the_index_lists_every_page_and_every_paper(site):
    listed = links(DOCS / "index.md")
    pages = {path for path in [*PAGES, *NOTEBOOKS] if path.name != "index.md"}
    papers = {paper.folder / "docs" / "index.md" for paper in site.own_papers()}
    assert (pages | papers) - listed == set()


def test_every_paper_has_a_landing_page_that_lists_its_studies(site):
    for paper in site.own_papers():
        page = paper.folder / "docs" / "index.md"
        text = page.read_text(encoding="utf-8")
        assert "**Question.**" in text
        assert "**Answer.**" in text
        assert "](figures/" in text
        for study in paper.studies:
            assert f"]({study}.md)" in text, (paper.name, study)
        assert DOCS / "index.md" in links(page)


def test_every_page_of_the_site_is_reached_from_its_first(source):
    seen, new = set(), {source / "index.md"}
    while new:
        seen |= new
        found = {there for page in new for there in links(page)}
        new = {path for path in found if path.suffix in (".md", ".ipynb")} - seen
    pages = {path.resolve() for path in source.rglob("*") if path.suffix in (".md", ".ipynb")}
    assert {str(path.relative_to(source)) for path in pages - seen} == set()
    assert [path for path in seen if not path.exists()] == []


def test_the_reference_has_every_public_name_with_its_words(source):
    sections = read_sections(source)
    assert set(sections) == set(tt.__all__)
    for name, section in sections.items():
        assert re.sub(r"```.*?```", "", section, flags=re.S).strip(), f"{name} has no docstring"


# Data, files and the machinery around runs: names that compute no formula of their own.
WITHOUT_EQUATION = {
    *("activation", "allow_any_size", "attention_heads", "build", "build_teacher", "check"),
    *("Claim", "claims", "Columns", "compare_forms", "Comparison", "dataset", "execute"),
    *("from_state_dict", "Hypothesis", "Kind", "layer", "load", "load_weights", "log_to"),
    *("Measured", "Method", "Nodes", "Outcome", "papers", "Part", "Pixels", "random_subset"),
    *("Refused", "register", "reproduce", "Reproduced", "Setting", "Status", "Store", "stream"),
    *("studies", "table", "Theorem", "train_batch", "Verdict"),
}


def test_signatures_read_as_calls(source):
    text = (source / "reference.md").read_text()
    assert "(self" not in text
    assert "(cls" not in text
    sections = read_sections(source)
    for name, section in sections.items():
        if inspect.isclass(getattr(tt, name)):
            first = re.search(r"```python\n(.*?)```", section, re.S)[1]
            assert "-> None" not in first, name


def test_the_reference_has_an_equation_wherever_something_is_computed(source):
    sections = read_sections(source)
    assert {name for name, text in sections.items() if "$" not in text} == WITHOUT_EQUATION


def test_the_reference_says_the_shape_of_every_array(source):
    """In the annotation, or in words where lists and arrays of any kind are taken."""
    bare = re.compile(r"\bArrayLike\b|\bNumbers\b|\b(?:np\.ndarray|Array)\b(?!, )")
    for name, text in read_sections(source).items():
        signature = re.search(r"```python\n(.*?)```", text, re.S)[1]
        if bare.search(signature):
            assert re.search(r"\\times|\[i\]|numbers|shapes|\[\w+(?:\.\w+)?, '", text), name


def read_sections(source):
    text = (source / "reference.md").read_text()
    return dict(re.findall(r"^## (\w+)\n(.*?)(?=^## |\Z)", text, re.S | re.M))


def test_the_reference_has_every_command(source):
    text = (source / "command-line.md").read_text()
    named = set(re.findall(r"^## tutelage (.+)$", text, re.M))
    below = {f"runs {word}" for word in ("list", "show", "compare", "remove", "check", "lacking")}
    assert named == {*COMMANDS, *below}
    assert "--axis" in text


def test_the_schema_knows_the_entries_of_the_example(site):
    schema = site.make_schema()
    given = tomllib.loads((ROOT / "examples" / "dimension.toml").read_text())
    assert set(given) <= set(schema["properties"])
    kinds = {
        one["properties"]["kind"]["const"]
        for one in schema["properties"]["claims"]["items"]["oneOf"]
    }
    assert {claim["kind"] for claim in given["claims"]} <= kinds
    json.dumps(schema)


EXAMPLE = (ROOT / "examples" / "dimension.toml").read_text()
CLAIM = '\n[[claims]]\nmeasure = "excess_risk"\nkind = '
WRONG = {
    "an unknown entry": f"sead = 3\n{EXAMPLE}",
    "seeds in words": EXAMPLE.replace("seeds = 3", 'seeds = "three"'),
    "a study and a setting": f'study = "teacher-models/rates"\n{EXAMPLE}',
    "neither of them": "[axes]\ntokens = [4, 8]\n",
    "an unknown claim": f'{EXAMPLE}{CLAIM}"slope"\n',
    "a claim without its number": f'{EXAMPLE}{CLAIM}"rate"\n',
}


@pytest.mark.docs
@pytest.mark.parametrize("wrong", WRONG)
def test_the_schema_takes_the_example_and_refuses_what_the_command_refuses(site, wrong, tmp_path):
    jsonschema = pytest.importorskip("jsonschema", reason="part of the extra docs")
    jsonschema.Draft202012Validator.check_schema(site.make_schema())
    schema = jsonschema.Draft202012Validator(site.make_schema())
    assert schema.is_valid(tomllib.loads(EXAMPLE))
    assert not schema.is_valid(tomllib.loads(WRONG[wrong]))
    file = tmp_path / "wrong.toml"
    file.write_text(WRONG[wrong])
    with pytest.raises(tt.Refused):
        read_sweep(file).plan()


def run_cells(path):
    names = {}
    for cell in json.loads(path.read_text(encoding="utf-8"))["cells"]:
        if cell["cell_type"] == "code":
            exec("".join(cell["source"]), names)


@pytest.mark.parametrize("path", mark(NOTEBOOKS))
def test_notebooks_run_from_top_to_bottom(path, capsys):
    run_cells(path)
    assert capsys.readouterr().out


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.name)
def test_notebooks_are_committed_without_outputs(path):
    for cell in json.loads(path.read_text(encoding="utf-8"))["cells"]:
        assert not cell.get("outputs")
        if cell["cell_type"] == "code":
            compile("".join(cell["source"]), path.name, "exec")


@pytest.mark.parametrize("path", mark(EXAMPLES))
def test_examples_run(path, capsys):
    runpy.run_path(str(path))
    assert capsys.readouterr().out


def test_examples_are_short():
    assert 4 <= len(EXAMPLES) <= 6
    assert [path.name for path in EXAMPLES if len(path.read_text().splitlines()) >= 60] == []


@pytest.mark.usefixtures("adam_allowed")
@pytest.mark.parametrize("name", ["read-a-verdict.md", "teaching.md", "choose.md", "figures.md"])
def test_code_of_guides_runs(name):
    blocks = re.findall(r"```python\n(.*?)```", (DOCS / name).read_text(), re.S)
    assert blocks
    for block in blocks:
        exec(block, {})
