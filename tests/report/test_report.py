"""Reports: what `run` writes is found, and becomes a page, Markdown, CSV and LaTeX that say all of
it and ask nothing of a network.
"""

import csv
import datetime
import io
import json
import re
import shlex
import shutil
from html.parser import HTMLParser
from xml.etree import ElementTree

import pytest
from watchdog import give_up_after

from tutelage.cli import main
from tutelage.cli.app import app
from tutelage.figures import look
from tutelage.refuse import Refused
from tutelage.report import (
    gather_studies,
    render_csv,
    render_latex,
    render_markdown,
    render_page,
)
from tutelage.report.mathematics import (
    LONGEST,
    render_mathml,
    render_words,
    split_lines,
    split_pieces,
)
from tutelage.studies.discovery import studies
from tutelage.studies.record import write_command
from tutelage.studies.study import Plan


def verdict(name, status, **more):
    hypotheses = [
        {
            "text": "D ≥ poly(M, K)",
            "met": None,
            "word": "met up to an unstated constant",
            "detail": "D = 8",
        }
    ]
    plain = {
        "id": f"paper/study/{name}",
        "statement": f"‖W_V − V*‖ <of {name}> | & so on",
        "source": "somewhere",
        "predicted": 1e-7,
        "measured": None if status == "UNDECIDED" else 1.25e-7,
        "interval": None if status == "UNDECIDED" else [1.0e-7, 2.0e-7],
        "tolerance": 0.03,
        "status": status,
        "sentence": f"What was seen of {name}.",
        "hypotheses": hypotheses,
        "seeds": [0, 2],
        "horizon": None,
        "spread": None,
        "control": "",
        "measurement": False,
        "preset": "quick",
    }
    return plain | more


VERDICTS = [
    verdict("right/rate", "HOLDS"),
    verdict("wrong_one/rate", "FAILS"),
    verdict("short/rate", "UNDECIDED"),
    verdict("broken/rate", "FAILS", control="K < D"),
    verdict("seen/slope", "MEASURED", measurement=True, predicted=None, tolerance=None),
]
STUDY = {
    "format": 1,
    "name": "paper/study",
    "sentence": "A sentence.",
    "statement": "A statement with a <tag>.",
    "equation": "L(T) = Θ(1/T);   ‖S − S*‖_F → 0",
    "source": "A paper",
    "choices": ["d = 10."],
    "checked_in": "src/theory.py",
    "preset": "quick",
    "command": "tutelage run paper/study",
    "made": {"tutelage": "0.1"},
    "cases": [
        {
            "name": "right",
            "label": "right",
            "control": "",
            "setting": "teacher(a=1); rate=0.1",
            "runs": [{"identity": "abc123", "seed": 0, "steps": 1000, "outcome": "FINISHED"}],
        }
    ],
}


@pytest.fixture(scope="module")
def figures(tmp_path_factory):
    """A figure in the formats that reports need."""
    folder = tmp_path_factory.mktemp("figures")
    with pytest.MonkeyPatch.context() as patch, look.figure(look.COLUMN, 2.0) as (drawn, axes):
        patch.setattr(look, "FORMATS", ("png", "svg"))
        axes.plot([1, 2])
        look.write(drawn, folder, "the-curve", {"x": [1, 2]})
    return folder


@pytest.fixture
def out(tmp_path, figures):
    folder = tmp_path / "out" / "paper" / "study"
    shutil.copytree(figures, folder / "figures")
    (folder / "study.json").write_text(json.dumps(STUDY))
    (folder / "verdicts.json").write_text(json.dumps(VERDICTS))
    return tmp_path / "out"


class Page(HTMLParser):
    """Refuses tags that do not close, and keeps ids, links and what a browser would fetch."""

    def __init__(self, text):
        super().__init__()
        self.open, self.ids, self.links, self.fetched, self.words = [], [], [], [], []
        self.feed(text)
        assert self.open == []

    def handle_starttag(self, tag, attrs):
        named = dict(attrs)
        self.ids += [named["id"]] if "id" in named else []
        self.links += [named["href"]] if tag == "a" else []
        self.fetched += [
            value
            for name, value in attrs
            if name in ("src", "srcset", "data") or (name == "href" and tag != "a")
        ]
        if tag not in ("meta", "img", "br", "input"):
            self.open.append(tag)

    def handle_startendtag(self, tag, attrs):
        pass

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        self.words.append(data)


def test_the_page_says_all_and_fetches_nothing(out):
    text = render_page(gather_studies([out]), date=datetime.date(2026, 11, 17))
    read = Page(text)
    words = " ".join(read.words)
    assert len(set(read.ids)) == len(read.ids)
    assert {link.removeprefix("#") for link in read.links} <= set(read.ids)
    assert read.fetched == []
    assert not re.search(r"url\((?!#)|@import|https?://", text)
    for said in (
        "A statement with a <tag>.",
        "K < D",
        "abc123",
        "tutelage run paper/study",
        "d = 10.",
        "met up to an unstated constant",
        "Report of 17 November 2026 · tutelage 0.1 · preset quick · 1 study · 5 verdicts",
    ):
        assert said in words
    for v in VERDICTS:
        assert v["statement"].replace("W_V", "WV") in "".join(read.words)  # V is below the line
        assert v["sentence"] in words
    assert "✗ fails" in words
    assert "fails, as expected" in words
    assert "• measured" in words


def test_what_fails_stands_first_and_a_sound_control_does_not(out):
    first = render_page(gather_studies([out])).partition('id="paper-study"')[0]
    assert '<a class=small href="#paper-study-wrong_one-rate">' in first
    assert "short/rate" in first
    assert "broken/rate" not in first
    held = [v | {"status": "HOLDS"} if v["control"] else v for v in VERDICTS]
    (out / "paper" / "study" / "verdicts.json").write_text(json.dumps(held))
    assert "a broken control" in render_page(gather_studies([out])).partition('id="paper-study"')[0]


def test_details_are_closed_and_the_appendix_opens_them(out):
    studies = gather_studies([out])
    assert "<details open" not in render_page(studies)
    opened = render_page(studies, appendix=True)
    assert opened.count("<details") == opened.count("<details open")


def test_every_verdict_can_be_filtered_by_its_status(out):
    """A control that fails, as it must, is not found among what fails."""
    text = render_page(gather_studies([out]))
    lines = re.findall(r'<li id="paper-study-([^"]*)" data-s="([^"]*)"', text)
    assert dict(lines) == {
        "right-rate": "HOLDS",
        "wrong_one-rate": "FAILS",
        "short-rate": "UNDECIDED",
        "broken-rate": "CONTROL",
        "seen-slope": "MEASURED",
    }


def test_figures_follow_the_theme_and_stand_in_the_order_of_the_captions(out):
    folder = out / "paper" / "study"
    shutil.copy(folder / "figures" / "the-curve.svg", folder / "figures" / "a-later-one.svg")
    captions = {"the-curve": "What it shows.", "a-later-one": "Then this."}
    (folder / "study.json").write_text(json.dumps(STUDY | {"captions": captions}))
    text = render_page(gather_studies([out]))
    body = text.partition('id="paper-study"')[2]
    assert body.index("What it shows.") < body.index("Then this.")
    light = re.search(r":root \{ (.*--c000000: #000000.*) \}", text)
    dark = re.search(r"prefers-color-scheme: dark\) \{ :root \{ (.*--c000000: .*) \} \}", text)
    assert light is not None
    assert dark is not None
    assert "--cffffff: #16181c;" in dark[1]  # the ground of a dark page
    assert "#000000" not in "".join(re.findall(r"<svg.*?</svg>", text))
    Page(text)


def test_csv_has_every_digit_of_every_verdict(out):
    rows = list(csv.DictReader(io.StringIO(render_csv(gather_studies([out])))))
    assert [row["status"] for row in rows] == [v["status"] for v in VERDICTS]
    assert [row["kind"] for row in rows] == ["claim", "claim", "claim", "control", "measurement"]
    assert (float(rows[0]["low"]), float(rows[0]["measured"])) == (1.0e-7, 1.25e-7)
    assert rows[2]["measured"] == rows[4]["predicted"] == ""
    assert rows[0]["seeds"] == "0 2"


def test_latex_is_plain(out):
    text = render_latex(gather_studies([out]))
    assert text.isascii()
    assert (
        r"wrong\_one/rate & beyond & 1 & $1.25\cdot 10^{-7}$, predicted $1\cdot 10^{-7}$ & fails \\"
        in text
    )
    assert r"broken/rate & control & 1 &" in text
    assert text.count(r" \\") == 1 + 1 + len(VERDICTS)


def test_markdown_finds_its_figures_from_where_it_lies(out, tmp_path):
    (tmp_path / "elsewhere").mkdir()
    text = render_markdown(gather_studies([out]), tmp_path / "elsewhere")
    (figure,) = re.findall(r"!\[the-curve\]\((.*)\)", text)
    assert (tmp_path / "elsewhere" / figure).exists()
    assert "| Beyond the paper | 3 | 1 | 1 | 1 | 0 | 0 |" in text
    rows = [line for line in text.splitlines() if "<of wrong" in line.replace("\\", "")]
    assert [len(re.split(r"(?<!\\)\|", row)) for row in rows if row.startswith("|")] == [5]
    assert "(`paper/study/wrong_one/rate`)" in text.partition("## What fails")[2]


def test_what_is_no_finished_study_is_refused(out, tmp_path):
    with pytest.raises(Refused, match="There is no folder"):
        gather_studies([tmp_path / "absent"])
    (tmp_path / "empty").mkdir()
    with pytest.raises(Refused, match="no finished study"):
        gather_studies([tmp_path / "empty"])
    copy = tmp_path / "copy"
    copy.mkdir()
    for name in ("study.json", "verdicts.json"):
        (copy / name).write_text((out / "paper" / "study" / name).read_text())
    with pytest.raises(Refused, match="each study once"):
        gather_studies([out, copy])
    (copy / "verdicts.json").write_text("[")
    with pytest.raises(Refused, match="run it again"):
        gather_studies([copy])


@pytest.mark.depth
def test_a_damaged_study_is_named_and_the_report_has_the_others(out, capsys):
    for name in ("forged", "looped"):
        shutil.copytree(out / "paper" / "study", out / "paper" / name)
    forged, looped = out / "paper" / "forged", out / "paper" / "looped"
    (looped / "verdicts.json").unlink()
    (looped / "verdicts.json").symlink_to("verdicts.json")
    values = (None, True, 3, 10**400, "word", [], [[]], {}, {"a": 1})
    other = STUDY | {"name": "paper/forged"}
    forgeries = [*(other | {key: value} for key in STUDY for value in values), *values]
    for document in forgeries:
        (forged / "study.json").write_text(json.dumps(document))
        with pytest.raises(SystemExit, match="1"):
            main(["report", str(out)])
    said = capsys.readouterr()
    assert "1 study, 5 verdicts" in said.out
    page = (out / "report.html").read_text()
    for folder in (forged, looped):
        assert f"{folder} does not hold a whole study" in said.err
        assert f"<strong>DAMAGED</strong> <code>{folder}</code>" in page
    assert 'id="paper-study"' in page
    with pytest.raises(SystemExit, match="1"):
        main(["report", str(out), "--out", str(out / "report.md")])
    assert f"- **DAMAGED** `{looped}`" in (out / "report.md").read_text()


@pytest.mark.brief(5)
@pytest.mark.parametrize("key", sorted(VERDICTS[0]))
def test_a_forged_verdict_is_shown_or_damaged(tmp_path, key):
    (tmp_path / "study.json").write_text(json.dumps(STUDY))
    for value in (
        None,
        True,
        0,
        -1,
        1e308,
        10**400,
        float("nan"),
        "",
        "[/]",
        "a/b",
        [],
        [[]],
        {},
        {"a": 1},
    ):
        (tmp_path / "verdicts.json").write_text(json.dumps([VERDICTS[0] | {key: value}]))
        try:
            studies = gather_studies([tmp_path])
        except Refused:
            continue
        assert render_page(studies, appendix=True)
        assert render_csv(studies)
        assert render_latex(studies)
        assert render_markdown(studies, tmp_path)


@pytest.mark.parametrize("ending", ["html", "md", "csv", "tex"])
def test_the_command_writes_what_the_ending_says(out, ending, capsys):
    target = out.parent / f"told.{ending}"
    app(["report", str(out), "--out", str(target)], result_action="return_value")
    assert "1 study, 5 verdicts" in capsys.readouterr().out
    assert "HOLDS" in target.read_text().upper()


def test_the_command_refuses_before_it_reads(out, capsys):
    for arguments, words in (
        (["report", str(out), "--out", str(out / "told.docx")], ".html, .md, .csv, .tex"),
        (["report", str(out), "--out", str(out / "absent" / "told.html")], "folder that exists"),
    ):
        with pytest.raises(SystemExit, match="2"):
            main(arguments)
        assert words in capsys.readouterr().err


def test_run_writes_what_a_report_needs(tmp_path, capsys, monkeypatch):
    out = tmp_path / "runs of mine"
    arguments = [
        "teacher-models/hypotheses",
        "--case",
        "cnn-relu",
        "--seeds",
        "1",
        "--steps",
        "2000",
        "--set",
        "V=8",
        "--out",
        str(out),
    ]
    monkeypatch.setattr(look, "FORMATS", ("png", "svg"))
    app(["run", *arguments], result_action="return_value")
    capsys.readouterr()
    (finished,) = gather_studies([out])
    assert finished.study["cases"][0]["runs"][0]["steps"] == 2000
    assert len(finished.verdicts) == 7
    assert finished.figures
    assert sorted(shlex.split(finished.study["command"])) == sorted(["tutelage", "run", *arguments])
    Page(render_page([finished]))


def test_a_command_is_as_short_as_its_plan():
    assert write_command("a/b", Plan(), "out") == "tutelage run a/b"
    assert (
        write_command("a/b", Plan(preset="full", seeds=2), "out")
        == "tutelage run a/b --full --seeds 2"
    )


# --- mathematics


def drawn(formula):
    """The MathML as a tree of (tag, children or text), spaces left out."""

    def tree(node):
        inner = [tree(child) for child in node if child.tag != "mspace"]
        return (node.tag, inner or (node.text or "").strip())

    (row,) = ElementTree.fromstring(render_mathml(formula))
    return tree(row)[1]


def test_scripts_roots_and_words():
    assert drawn("W_KQ") == [("msub", [("mi", "W"), ("mrow", [("mtext", "KQ")])])]
    assert drawn("‖V*‖²") == [
        ("mo", "‖"),
        ("msup", [("mi", "V"), ("mrow", [("mo", "*")])]),
        ("msup", [("mo", "‖"), ("mrow", [("mn", "2")])]),
    ]
    assert drawn("s*_i") == [
        ("msubsup", [("mi", "s"), ("mrow", [("mi", "i")]), ("mrow", [("mo", "*")])])
    ]
    assert drawn("√(K/2)") == [("msqrt", [("mrow", [("mi", "K"), ("mo", "/"), ("mn", "2")])])]
    assert drawn("√T") == [("msqrt", [("mrow", [("mi", "T")])])]
    assert drawn("D^5/2") == [
        ("msup", [("mi", "D"), ("mrow", [("mn", "5"), ("mo", "/"), ("mn", "2")])])
    ]
    assert drawn("excess·ηT")[0] == ("mtext", "excess")
    assert [leaf[1] for leaf in drawn("QD ln n")] == ["Q", "D", "ln", "n"]


def test_a_square_is_above_the_line_though_an_index_comes_first():
    assert "<msubsup><mi>δ</mi><mrow><mi>k</mi></mrow><mrow><mn>2</mn></mrow></msubsup>" in (
        render_mathml("√(δ_k² + 4c²)")
    )


def test_a_power_in_brackets_is_raised_without_them():
    raised = render_mathml("D^(2/3)(3c)")
    assert raised.startswith("<math><mrow><msup><mi>D</mi><mrow><mn>2</mn>")
    assert raised.count("(") == 1


def test_nested_brackets_stay_together():
    ((tag, [(_, inside)]),) = drawn("√(D(D−K)/2)")
    assert tag == "msqrt"
    assert [leaf[1] for leaf in inside] == ["D", "(", "D", "−", "K", ")", "/", "2"]
    assert drawn("x_{t−1}") == [
        ("msub", [("mi", "x"), ("mrow", [("mi", "t"), ("mo", "−"), ("mn", "1")])])
    ]


@pytest.mark.parametrize("odd", ["√(", "√(" * 50_000, "√(" * 20_000 + ")" * 20_000, "<" * 2000])
def test_a_formula_that_is_none_is_shown_as_it_is(odd):
    """Unclosed and deep brackets of a forged file cost neither minutes nor the page."""
    with give_up_after(60):
        shown = "".join(ElementTree.fromstring(render_mathml(odd)).itertext())
    assert shown == odd if len(odd) > LONGEST else shown == "("


def test_a_formula_breaks_at_relations_outside_of_brackets():
    line = "L(T) − L_opt = Θ(1/T),  f(a = b) → √(c + d)"
    assert split_pieces(line) == ["L(T) − L_opt", "= Θ(1/T),", "f(a = b)", "→ √(c + d)"]


def test_every_formula_of_every_study_is_drawn_whole():
    """No sign is lost: all letters, digits and operators of the text are in the drawing, in their
    order.
    """
    kept = str.maketrans("⁰¹²³⁴⁵⁶⁷⁸⁹⁻⁺ᵀ", "0123456789−+T", "_^{}√() \n")
    for study in studies().values():
        for line in split_lines(study.equation):
            pieces = [ElementTree.fromstring(render_mathml(p)) for p in split_pieces(line)]
            shown = "".join(text for piece in pieces for text in piece.itertext())
            assert sorted(shown.translate(kept)) == sorted(line.translate(kept)), line


def test_a_report_says_which_verdicts_are_kept_and_which_controls_have_not_passed(out):
    """Of three verdicts with chance two are strong; an undecided control counts for nothing."""
    found = [
        verdict("one/rate", "HOLDS", e_value=1e6),
        verdict("two/rate", "FAILS", e_value=1e6),
        verdict("weak/rate", "HOLDS", e_value=3.0),
        verdict("broken/rate", "FAILS", control="K < D"),
        verdict("open/rate", "UNDECIDED", control="K < D"),
    ]
    (out / "paper" / "study" / "verdicts.json").write_text(json.dumps(found))
    studies = gather_studies([out])
    page, markdown = render_page(studies), render_markdown(studies, out)
    for text in (page, markdown):
        assert "3 verdicts have chance in them; 2 are kept" in text
        assert "of at most 5%" in text
        assert "not kept: paper/study/weak/rate." in text
        said = "1 of 2 negative controls fail, as expected; 1 is undecided: open/rate."
        assert said in text
    assert page.count("(not kept)") == 1
    assert "undecided, a control that has not passed" in page


def test_indices_and_powers_of_symbols_stand_off_the_line_and_names_stay():
    said = render_words(
        "excess_risk of W_V, Σ_i K_i^2, L_opt and t^(−1/3) < D^{5/2}; m^-½, δ_k², wide_one_2"
    )
    assert said == (
        "excess_risk of W<sub>V</sub>, Σ<sub>i</sub> K<sub>i</sub><sup>2</sup>, "
        "L<sub>opt</sub> and t<sup>−1/3</sup> &lt; D<sup>5/2</sup>; "
        "m<sup>−½</sup>, δ<sub>k</sub>², wide_one_2"
    )
