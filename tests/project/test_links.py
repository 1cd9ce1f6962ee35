"""Links: every one leads to a page and an anchor that are there, every page has one back, and the
notebooks open in Colab where the project has an address. Links to other hosts are not followed.
"""

import json
import os
import re
from pathlib import Path

import pytest
from tools.badges import TAG, list_notebooks, write_badge

from tutelage.address import PUBLIC_ADDRESS, make_colab_link

ROOT = Path(__file__).parents[2]
DOCS = ROOT / "docs"
TEMPLATE = ROOT / "src" / "tutelage" / "template"
LINK = re.compile(r"\]\(([^)\s]+)\)")
FENCE = re.compile(r"^```.*?^```", re.S | re.M)
SOMEWHERE = "https://github.com/group/tutelage"


def list_pages():
    found = []
    for folder, inside, files in os.walk(ROOT):
        inside[:] = [name for name in inside if not is_apart(name)]
        found += [Path(folder, name) for name in files if name.endswith((".md", ".ipynb"))]
    return sorted(path for path in found if not is_apart(path.name))


def is_apart(name):
    """Hidden folders, and what commands write."""
    return name.startswith(".") or name == "out"


PAGES = list_pages()


def read_text(path):
    """The words of a page or a notebook."""
    text = path.read_text(encoding="utf-8")
    if path.suffix == ".ipynb":
        cells = json.loads(text)["cells"]
        text = "\n\n".join("".join(c["source"]) for c in cells if c["cell_type"] == "markdown")
    return FENCE.sub("", text)


def find_links(path):
    """The links within the repository, as (file, anchor)."""
    for link in LINK.findall(read_text(path)):
        target, _, anchor = link.partition("#")
        if "://" not in target and not target.startswith("mailto:"):
            yield (path.parent / target).resolve() if target else path, anchor


def find_anchors(path):
    """Headings as code-hosting sites name them, and anchors set by hand."""
    text = read_text(path)
    headings = re.findall(r"^#+ (.*)$", text, re.M)
    named = [re.sub(r"[^\w\- ]", "", head.lower()).replace(" ", "-") for head in headings]
    return {*named, *re.findall(r'id="([^"]+)"', text)}


def find_first_pages(path):
    """Pages from which a reader sees where a page belongs."""
    if TEMPLATE in path.parents:
        return {TEMPLATE / "README.md"}
    return {ROOT / "README.md", DOCS / "index.md", path.parent / "index.md"} - {path}


@pytest.mark.parametrize("path", PAGES, ids=lambda path: str(path.relative_to(ROOT)))
def test_every_link_leads_to_a_page_and_an_anchor(path):
    for there, anchor in find_links(path):
        assert there.exists(), there
        if anchor:
            assert anchor in find_anchors(there), f"{there.name}#{anchor}"


def test_every_page_links_back():
    without = {
        str(path.relative_to(ROOT))
        for path in PAGES
        if not find_first_pages(path) & {there for there, _ in find_links(path)}
    }
    assert without == {"src/tutelage/template/README.md"}  # a first page itself
    assert len(PAGES) > 100


def test_links_to_other_hosts_are_encrypted_and_well_formed():
    for path in PAGES:
        for link in LINK.findall(read_text(path)):
            if "://" in link:
                assert re.fullmatch(r"https://[\w.-]+\.\w+/[\w./-]*", link), (path.name, link)


# ----------------------------------------------------------------------------- Colab


def test_colab_opens_notebooks_of_github_only():
    opened = make_colab_link("docs/tutorial.ipynb", SOMEWHERE)
    assert opened == (
        "https://colab.research.google.com/github/group/tutelage/blob/main/docs/tutorial.ipynb"
    )
    for address in ("", "https://example.org/group/tutelage", "http://github.com/group/tutelage"):
        assert make_colab_link("docs/tutorial.ipynb", address) == ""


@pytest.mark.parametrize("path", list_notebooks(), ids=lambda path: path.name)
def test_a_notebook_has_its_badge_where_there_is_an_address(path):
    committed = json.loads(path.read_text(encoding="utf-8"))
    assert committed == write_badge(committed, path, PUBLIC_ADDRESS), "python -m tools.badges"
    written = write_badge(committed, path, SOMEWHERE)
    badge, install = (cell for cell in written["cells"] if TAG in cell["metadata"].get("tags", ()))
    assert written["cells"][1:3] == [badge, install]
    picture, link = re.fullmatch(
        r"\[!\[Open in Colab\]\((\S+)\)\]\((\S+)\)", "".join(badge["source"])
    ).groups()
    assert (path.parent / picture).exists()
    assert link.endswith(f"/group/tutelage/blob/main/{path.relative_to(ROOT).as_posix()}")
    assert f'"git+{SOMEWHERE}"' in "".join(install["source"])
    exec("".join(install["source"]), {})  # installs nothing outside Colab
    assert write_badge(written, path, SOMEWHERE) == written
    assert write_badge(written, path, "") == write_badge(committed, path, "")
