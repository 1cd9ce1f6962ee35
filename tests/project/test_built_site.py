"""The site as Sphinx builds it: no warning, no dead link, nothing asked of another host, formulas
that are drawn, and a search that works from disk.
"""

import importlib.util
import os
import re
import shutil
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit
from xml.etree import ElementTree

import pytest

pytest.importorskip("sphinx", reason="builds the site; part of the extra docs")
pytestmark = pytest.mark.docs

DOCS = Path(__file__).parents[2] / "docs"
PAIRS = ("msup", "msub", "mfrac")  # elements of exactly two parts
CHROMIUM = (
    os.environ.get("TUTELAGE_CHROMIUM")
    or shutil.which("chromium")
    or shutil.which("chromium-browser")
)


class Page(HTMLParser):
    """The anchors of a page, its links, and what it loads."""

    def __init__(self, path):
        super().__init__()
        self.anchors, self.links, self.loaded, self.formulas = set(), [], [], 0
        self.feed(path.read_text(encoding="utf-8"))

    def handle_starttag(self, tag, attrs):
        given = dict(attrs)
        self.formulas += tag == "math"
        if "id" in given:
            self.anchors.add(given["id"])
        if tag == "a" and "href" in given:
            self.links.append(given["href"])
        elif tag == "link" and "href" in given:
            self.loaded.append(given["href"])
        self.loaded += [given[name] for name in ("src", "srcset", "poster") if given.get(name)]


@pytest.fixture(scope="module")
def built(tmp_path_factory):
    """The folder of the site; building ends with an error where Sphinx warns."""
    spec = importlib.util.spec_from_file_location("make_site", DOCS / "make_site.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    folder = tmp_path_factory.mktemp("site")
    module.main(folder)
    return folder / "html"


@pytest.fixture(scope="module")
def pages(built):
    return {path.resolve(): Page(path) for path in built.rglob("*.html")}


def test_every_link_leads_somewhere(pages):
    dead = []
    for path, page in pages.items():
        for link in page.links:
            parts = urlsplit(link)
            if parts.scheme or link == "#":
                continue
            there = (path.parent / unquote(parts.path)).resolve() if parts.path else path
            anchor = unquote(parts.fragment)
            known = pages[there].anchors if there in pages else set()
            if not there.exists() or (anchor and anchor not in known):
                dead.append(f"{path.name}: {link}")
    assert dead == []
    assert len(pages) > 100


def test_nothing_is_loaded_from_another_host(pages):
    for path, page in pages.items():
        assert [one for one in page.loaded if re.match(r"(?:\w+:)?//", one)] == [], path.name


def test_formulas_are_drawn_by_the_browser_itself(built, pages):
    assert pages[(built / "findings.html").resolve()].formulas > 100
    for path in pages:
        text = re.sub(r"<(pre|code)\b.*?</\1>", "", path.read_text(encoding="utf-8"), flags=re.S)
        assert not re.search(r"\$\\|\\(?:mathrm|Vert|star|sum)\b", text), path.name
        assert "<mi>&</mi>" not in text, path.name


@pytest.mark.skipif(CHROMIUM is None, reason="no Chromium: `make browser` looks for one")
def test_the_search_works_from_disk_and_asks_no_host(built):
    playwright = pytest.importorskip("playwright.sync_api", reason="part of the extra browser")
    asked = []
    with playwright.sync_playwright() as driver:
        browser = driver.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        page = browser.new_page()
        page.on("request", lambda request: asked.append(request.url))
        page.goto(f"{(built / 'search.html').as_uri()}?q=plateau")
        page.get_by_text("Search finished").wait_for()  # results appear one by one
        found = page.locator("#search-results li a").all_inner_texts()
        browser.close()
    assert any("phases" in title for title in found), found
    assert [url for url in asked if not url.startswith(("file:", "data:"))] == []


def load_mathml():
    spec = importlib.util.spec_from_file_location("mathml", DOCS / "site" / "mathml.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_aligned_lines_stand_below_each_other():
    module = load_mathml()
    formula = r"\begin{aligned} & a = b \\ & c = d \end{aligned}"
    rows = ElementTree.fromstring(module.convert(module.in_rows(formula)))
    assert len([each for each in rows.iter() if each.tag.endswith("mtr")]) == 2
    assert module.UNKNOWN.findall(module.convert(formula)) == ["&", "&"]  # would end the build


def test_functions_are_set_apart_in_formulas_that_stay_well_formed():
    module = load_mathml()
    gap = "<mspace width='0.17em'/>"
    for formula, count in {
        r"\log t": 1,
        r"\log(t)": 0,
        r"2\log^2 t": 2,
        r"x^{\log t}": 1,
        r"\frac{\log t}{t}": 1,
        r"\log_2 n": 1,
    }.items():
        made = module.set_apart(module.convert(formula))
        assert made.count(gap) == count, formula
        pairs = [e for e in ElementTree.fromstring(made).iter() if e.tag.endswith(PAIRS)]
        assert all(len(pair) == 2 for pair in pairs), formula
