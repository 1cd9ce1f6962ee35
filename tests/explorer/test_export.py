"""`tutelage explore --export`: one file that holds everything, in a folder that is ours or new."""

from __future__ import annotations

import json
import re
import subprocess
from pathlib import Path
from typing import Any

import pytest
from in_node import NODE, call_modules, needs_node

import tutelage as tt
from tutelage.cli import main
from tutelage.explorer import baking, exporting
from tutelage.explorer.baking import (
    FRAME_BYTES,
    bake_catalogue,
    bake_code,
    bake_runs,
    bake_saved,
    bake_state,
    bake_states,
    list_edges,
    prepared_queries,
    thin,
)
from tutelage.explorer.bundle import bundle
from tutelage.explorer.code import command_of, python_of
from tutelage.explorer.exporting import check_folder, export, write_page
from tutelage.explorer.in_page import RUNS_IN_PAGE
from tutelage.explorer.limits import Limits
from tutelage.explorer.server import PAGE
from tutelage.explorer.site import Site, find_site
from tutelage.explorer.states import read_state
from tutelage.refuse import Refused
from tutelage.studies.pages import ATTENTION_BYTES


def carried_by(site: Site) -> dict[str, Any]:
    """All that takes no run."""
    return {
        "catalogue": bake_catalogue(site, Limits()),
        "runs_here": {},
        "states": {},
        "papers": {},
        "statements": {},
        "saved": {"runs": [], "count": 0, "store": ""},
        "code": {placed.page.name: bake_code(placed) for placed in site.pages},
        "matrix_bytes": ATTENTION_BYTES,
        "graphs": {},
    }


@pytest.fixture(scope="module")
def text() -> str:
    carried = carried_by(find_site())
    return write_page(carried, find_site(), [("abc/10", {"sentence": "</script><b>&"})])


def test_the_file_is_self_contained(text):
    # Nothing is loaded: no address but of data, no module and no worker from a file.
    assert re.findall(r'<(?:script|link|img|iframe)[^>]* (?:src|href)="(?!data:)', text) == []
    (script,) = re.findall(r'<script type="module">(.*?)</script>', text, re.S)
    (worker,) = re.findall(r'<script type="text/plain" id="worker">(.*?)</script>', text, re.S)
    for code in (script, worker):
        assert re.findall(r"^\s*(?:import|export)\b", code, re.M) == []
        assert "importScripts" not in code
    assert "default-src 'none'" in text
    assert "connect-src" not in text  # so that default-src forbids every request


def test_what_it_carries_is_read_back_and_cannot_end_its_script(text):
    blocks = dict(
        re.findall(r'<script type="application/json" id="([^"]+)">(.*?)</script>', text, re.S)
    )
    assert json.loads(blocks["run:abc/10"]) == {"sentence": "</script><b>&"}
    carried = json.loads(blocks["carried"])
    addresses = {page["address"] for page in carried["catalogue"]["pages"]}
    assert "?page=teacher-models" in addresses
    assert all(address.startswith("?page=") for address in addresses)
    assert carried["catalogue"]["saved"] == "?page=saved"


@pytest.mark.skipif(NODE is None, reason="node parses the scripts")
def test_its_scripts_parse(text, tmp_path):
    scripts = re.findall(r'<script type="(?:module|text/plain)"[^>]*>(.*?)</script>', text, re.S)
    assert len(scripts) == 2
    for index, script in enumerate(scripts):
        path = tmp_path / f"{index}.mjs"
        path.write_text(script, encoding="utf-8")
        done = subprocess.run([str(NODE), "--check", path], capture_output=True, text=True)
        assert done.returncode == 0, done.stderr


def test_what_needs_python_is_marked(text):
    kinds = bake_catalogue(find_site(), Limits())["kinds"]
    marked = {
        kind: {part["name"] for part in parts if "python" in part} for kind, parts in kinds.items()
    }
    assert "convolution" not in marked["teacher"]
    assert "max_pooling" in marked["teacher"]
    assert "online" in marked["objective"]
    convolution = kinds["teacher"][0]
    (bend,) = (option for option in convolution["options"] if option["name"] == "activation")
    assert set(bend["python"]) == {"tanh", "gelu", "silu"}


def test_a_bundle_refuses_what_it_cannot_rewrite(tmp_path):
    def write(name: str, code: str) -> Path:
        path = tmp_path / name
        path.write_text(code)
        return path

    entry = write("a.js", 'import { b } from "./b.js";\nconsole.log(b);\n')
    write("b.js", "export const b = 1;\n/*\nexport const c = 2;\n*/\n")
    assert "return { b: b };" in bundle({"a": entry}, "")
    for code, said in (
        ('export * from "./b.js";\n', "plain forms"),
        ('import { a } from "./a.js";\nexport const b = a;\n', "circle"),
        ('export const b = "</script>";\n', "ends it"),
    ):
        write("b.js", code)
        with pytest.raises(Refused, match=said):
            bundle({"a": entry}, "")


def test_folders_that_are_not_ours_are_refused(tmp_path, capsys):
    (tmp_path / "file").write_text("x")
    full = tmp_path / "full"
    full.mkdir()
    (full / "thesis.tex").write_text("x")
    foreign = tmp_path / "foreign"
    foreign.mkdir()
    (foreign / "index.html").write_text("<html>mine</html>")
    for folder, got in (
        (tmp_path / "file", "a file"),
        (full, "thesis.tex"),
        (foreign, "index.html"),
        (tmp_path / "none/site", "must be in a folder that exists"),
    ):
        with pytest.raises(SystemExit) as ended:
            main(["explore", "--export", str(folder)])
        assert ended.value.code == 2
        said = capsys.readouterr().err
        assert "`--export` must be" in said
        assert "since" in said
        assert f"Got {folder}" in said
        assert got in said
    assert sorted(path.name for path in tmp_path.iterdir()) == ["file", "foreign", "full"]
    check_folder(tmp_path / "new")


def test_a_folder_that_cannot_be_written_is_refused(tmp_path, monkeypatch):
    monkeypatch.setattr(exporting.os, "access", lambda *_: False)
    with pytest.raises(Refused, match="read-only"):
        check_folder(tmp_path / "site")


def test_an_export_replaces_an_earlier_one_whole_or_not_at_all(tmp_path, monkeypatch):
    site = find_site()
    monkeypatch.setattr(exporting, "bake", lambda *_: carried_by(site))
    folder = tmp_path / "site"
    page = export(folder, str(tmp_path / "out"), site, Limits(), print)
    before = page.read_text()
    monkeypatch.setattr(exporting, "write_page", lambda *_: before + "<!-- again -->")
    export(folder, str(tmp_path / "out"), site, Limits(), print)
    assert page.read_text().endswith("again -->")

    def fail(*_: Any, **__: Any) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(Path, "write_text", fail)
    with pytest.raises(Refused, match="No space left"):
        export(folder, str(tmp_path / "out"), site, Limits(), print)
    assert page.read_text().endswith("again -->")
    assert [path.name for path in tmp_path.iterdir()] == ["site"]


CODED = (  # one per way to write a value: words, numbers, matrices, graphs, lines that are long
    "D=12&K=3&teacher.outputs=2&teacher.dim=3&norm=9&steps=500",
    "teacher=token_selection&teacher.tokens=6&teacher.dim=3&teacher.support=2&teacher.scale=1e-05"
    "&teacher.activation=leaky_relu(0.1)&rate=0.00002&optimiser=momentum&optimiser.nesterov=true",
    "teacher=graph_convolution&teacher.tokens=3&teacher.graph=edges:0-1,1-2&teacher.outputs=2"
    "&teacher.dim=3&student=known_selection&seed=7",
    "teacher=bilinear&teacher.selection=[[1,0.5],[0,0.5]]&teacher.outputs=1&teacher.dim=1",
    "teacher=convolution&teacher.tokens=256&teacher.support=2&steps=1000000",  # no matrices kept
)


@needs_node
def test_code_of_the_exported_page_is_that_of_the_server():
    site = find_site()
    found = call_modules(
        {"baked": PAGE / "baked.js"},
        """
        const page = new baked.Baked(given.carried);
        const said = [];
        for (const query of given.queries) said.push(await page.describe(query, "teacher-models"));
        console.log(JSON.stringify(said.map(({ python, command }) => ({ python, command }))));
        """,
        {"carried": carried_by(site) | {"runs_here": dict(RUNS_IN_PAGE)}, "queries": CODED},
    )
    for query, code in zip(CODED, found, strict=True):
        state = read_state(f"{query}&page=teacher-models", site)
        assert code["python"] == python_of(state.setting, state.placed)
        assert code["command"] == command_of(state.setting)
    assert "attention_matrix" in found[0]["python"]
    assert "attention_matrix" not in found[-1]["python"]
    assert ".verdicts(run)" in found[0]["python"]


@needs_node
def test_stored_runs_are_filtered_by_what_their_list_says():
    summary = "convolution(dim=3, norm=8.0, support=2, tokens=8); rate=0.2"
    run = {"identity": "ab12", "summary": summary, "seed": 1, "steps": 2000, "outcome": "FINISHED"}
    met = ["tokens=8, seed=1", "norm>=8", "steps<1e4", "outcome=FINISHED", "ab1", "rate!=0.1", ""]
    met += ["teacher=convolution"]
    unmet = ["tokens>16", "seed=0", "tokens=8, seed=0", "outcome=DIVERGED", "heads=2", "steps<200"]
    found = call_modules(
        {"conditions": PAGE / "conditions.js"},
        """
        const answers = given.asked.map((where) => conditions.meets(given.run, where));
        console.log(JSON.stringify(answers));
        """,
        {"run": run, "asked": met + unmet},
    )
    assert found == [True] * len(met) + [False] * len(unmet)


def test_large_pictures_of_a_recorded_run_are_thinned():
    frames = [{"step": step, "matrices": {"S": "x" * 10_000}} for step in range(50)]
    kept = thin(frames)
    assert len(json.dumps(kept)) < 1.4 * FRAME_BYTES
    assert (kept[0]["step"], kept[-1]["step"]) == (0, 49)
    assert thin(frames[:3]) == frames[:3]


def test_a_store_that_is_not_there_holds_no_runs(tmp_path):
    assert bake_saved(str(tmp_path / "none"), find_site())["runs"] == []


SMALL = "teacher=convolution&tokens=6&support=2&dim=3&outputs=2&steps=40&rate=0.1"
RECORDED = f"{SMALL}&objective=online"
CONVOLUTION = tt.Part("convolution", tokens=6, support=2, outputs=2, dim=3)


@pytest.fixture(scope="module")
def placed():
    return next(one for one in find_site().pages if one.page.name == "teacher-models")


def test_a_state_that_the_page_runs_carries_its_verdicts_alone(placed):
    baked = bake_state(SMALL, placed, find_site())
    assert baked["query"] == SMALL
    assert "events" not in baked
    assert [event["event"] for event in baked["end"]][-1] == "verdicts"
    machine = baked["described"]["machine"]
    numbers = [value for block in machine for row in block["teacher"] or () for value in row]
    assert numbers
    assert all(value == float(f"{value:.6g}") for value in numbers)


def test_a_state_that_needs_python_carries_its_whole_run(placed):
    events = bake_state(RECORDED, placed, find_site())["events"]
    points = events["points"]
    assert (points["steps"][0], points["steps"][-1]) == (0, 40)
    assert all(len(curve) == len(points["steps"]) for curve in points["curves"].values())
    assert events["first"][0]["event"] == "about"
    assert events["last"][-1]["event"] == "end"
    assert all("event" not in frame for frame in events["frames"])


def test_a_state_that_does_not_run_is_named(placed):
    with pytest.raises(Refused, match=r"must run before a page is exported.*tokens=0"):
        bake_state(f"{RECORDED}&tokens=0", placed, find_site())


def test_every_state_is_run_once_and_told(placed, monkeypatch):
    told, asked = [], []
    monkeypatch.setattr(baking, "bake_state", lambda query, *more: asked.append(query) or {})
    queries = prepared_queries(placed)
    assert len(bake_states(placed, find_site(), told.append)) == len(queries) == len(set(queries))
    assert asked == queries
    assert told[0] == f"running state 1 of {len(queries)} of teacher-models"
    shown = {state.query for state in (*placed.page.tour, *placed.page.prepared)}
    assert shown <= set(queries)


def test_stored_runs_are_carried_and_those_that_cannot_be_read_are_left_out(tmp_path):
    setting = tt.Setting(CONVOLUTION, rate=0.1, steps=7)
    store = tt.Store(tmp_path)
    (run,) = tt.execute([setting], store=store)
    saved = bake_saved(str(tmp_path), find_site())
    (listed,) = saved["runs"]
    assert listed["address"].startswith("?page=")
    assert saved["store"] == ""
    gone = {**listed, "identity": "0" * 20}
    unread = {**listed, "steps": None}
    found = dict(bake_runs({"runs": [gone, unread, listed]}, str(tmp_path), find_site(), Limits()))
    assert list(found) == [f"{listed['identity']}/7"]
    (carried,) = found.values()
    assert carried["curves"]["excess_risk"] == [
        pytest.approx(value, rel=1e-9) for value in run.curves["excess_risk"]
    ]


def test_graphs_are_carried_as_edges():
    karate = list_edges("karate")
    assert (karate["nodes"], len(karate["edges"])) == (34, 78)
    assert all(i < j for i, j in karate["edges"])
