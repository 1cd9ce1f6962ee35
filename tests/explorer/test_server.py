"""What the server answers, asked in process: pages, catalogue, descriptions, whole runs, the store,
and what it refuses.
"""

from __future__ import annotations

import base64
import io
import json
import threading
from contextlib import redirect_stdout
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from asking import Client
from recorded import a_record
from watchdog import give_up_after

import tutelage as tt
from tutelage.claims.verdict import Status, Verdict
from tutelage.cli import main
from tutelage.explorer import server
from tutelage.explorer.catalogue import prepared_query
from tutelage.explorer.limits import Limits
from tutelage.explorer.reading import read_setting
from tutelage.explorer.server import Explorer
from tutelage.explorer.site import find_site
from tutelage.explorer.states import read_state, setting_of
from tutelage.explorer.stream import Follower, Known, frames
from tutelage.explorer.studies import find_askers
from tutelage.studies.discovery import find_study
from tutelage.studies.outputs import read_verdicts, write_json, write_verdicts
from tutelage.studies.pages import Prepared
from tutelage.studies.tours import Stop

TINY = (
    "teacher.tokens=4&teacher.support=2&teacher.outputs=1&teacher.dim=2&teacher.norm=4&rate=0.1"
    "&steps=3000"
)


def prepared_of(page: str) -> tuple[Prepared | Stop, ...]:
    shown = find_site().find_page(page).page
    return (*shown.tour, *shown.prepared)


def client_of(store: Path | str = "out", host: str = "127.0.0.1", **more) -> Client:
    return Client(Explorer(host=host, store=str(store), **more).app())


@pytest.fixture(scope="module")
def place(tmp_path_factory) -> Path:
    return tmp_path_factory.mktemp("out")


@pytest.fixture(scope="module")
def client(place) -> Client:
    return client_of(place)


def events(client: Client, query: str) -> list[dict]:
    answer = client.get(f"/api/run?{query}")
    assert answer.status_code == 200
    assert answer.headers["content-type"] == "application/x-ndjson"
    return [json.loads(line) for line in answer.text.splitlines()]


@pytest.fixture(scope="module")
def told(client) -> list[dict]:
    return events(client, TINY)


def test_pages_and_headers(client, tmp_path, monkeypatch):
    monkeypatch.setattr(server, "PAGE", tmp_path)
    for name in ("app.js", "look.css"):
        (tmp_path / name).write_text(name)
    (tmp_path / "page.html").write_text("$title, $page, $script")
    (tmp_path.parent / "secret.txt").write_text("no")
    served = {
        "/": ("Teacher models, teacher-models, app.js", "text/html"),
        "/teacher-models": ("Teacher models, teacher-models, app.js", "text/html"),
        "/shallow-transformers": (
            "Shallow transformers, shallow-transformers, app.js",
            "text/html",
        ),
        "/saved": ("saved runs, saved, saved.js", "text/html"),
        "/page/app.js": ("app.js", "text/javascript"),
        "/page/look.css": ("look.css", "text/css"),
    }
    for address, (name, kind) in served.items():
        answer = client.get(address)
        assert (answer.text, answer.status_code) == (name, 200)
        assert answer.headers["content-type"].startswith(kind)
        assert answer.headers["cache-control"] == "no-cache"
        assert "default-src 'self'" in answer.headers["content-security-policy"]
        assert answer.headers["x-content-type-options"] == "nosniff"
        assert answer.headers["referrer-policy"] == "no-referrer"
    for address in ("/none", "/page/none.js", "/page/%2e%2e/secret.txt", "/page/..%2fsecret.txt"):
        assert client.get(address).status_code == 404


@pytest.mark.parametrize(
    ("address", "given", "status"),
    [
        ("/", {}, 200),
        ("/saved", {}, 200),
        ("/page/app.js", {}, 200),
        ("/page/none.js", {}, 404),
        ("/api/catalogue", {}, 200),
        ("/api/describe?steps=none", {}, 200),
        ("/api/run?steps=none", {}, 200),
        ("/api/saved", {}, 200),
        ("/api/save", {}, 405),
        ("/none/of/these", {}, 404),
        ("/", {"host": "evil.example"}, 403),
    ],
)
def test_no_answer_can_be_framed_or_led_elsewhere(client, address, given, status):
    answer = client.get(address, headers=given)
    assert answer.status_code == status
    assert answer.headers.get_list("x-frame-options") == ["DENY"]
    (policy,) = answer.headers.get_list("content-security-policy")
    rules = dict(rule.strip().split(" ", 1) for rule in policy.split(";"))
    for rule in ("frame-ancestors", "base-uri", "form-action"):
        assert rules[rule] == "'none'"


def test_an_answer_that_errs_has_the_headers_too(client, monkeypatch):
    monkeypatch.setattr(server, "listed", lambda *_: 1 / 0)
    answer = Client(client.app, errs=True).get("/api/saved")
    assert answer.status_code == 500
    assert answer.headers["x-frame-options"] == "DENY"


def test_only_its_own_address_is_answered(client):
    for host in ("evil.example", "evil.example:8000", "127.0.0.1.evil.example", ""):
        answer = client.get("/api/catalogue", headers={"host": host})
        assert answer.status_code == 403
        assert "x-content-type-options" in answer.headers
    for host in ("localhost:8000", "127.0.0.1", "[::1]:8000", "LOCALHOST"):
        assert client.get("/api/catalogue", headers={"host": host}).status_code == 200
    assert client.get("/api/run?", headers={"sec-fetch-site": "cross-site"}).status_code == 403
    wide = client_of(host="0.0.0.0")
    assert wide.get("/api/catalogue", headers={"host": "192.168.1.7:8000"}).status_code == 200
    assert wide.get("/api/catalogue", headers={"host": "evil.example"}).status_code == 403


def test_changes_come_from_its_own_page_only(client):
    body = {"identity": "0"}
    assert (
        client.post("/api/save", json=body, headers={"origin": "http://evil.example"}).status_code
        == 403
    )
    assert (
        client.post("/api/save", json=body, headers={"origin": "http://127.0.0.1:9999"}).status_code
        == 403
    )
    assert (
        client.post(
            "/api/save", content=json.dumps(body), headers={"content-type": "text/plain"}
        ).status_code
        == 415
    )
    assert (
        client.post("/api/save", content="{", headers={"content-type": "application/json"}).json()[
            "ok"
        ]
        is False
    )
    for given in (body, [1], {"identity": [1]}):
        answer = client.post("/api/save", json=given, headers={"origin": "http://127.0.0.1:8000"})
        assert answer.json()["ok"] is False
        assert "among the last 32" in answer.json()["sentence"]


def test_the_catalogue_is_answered_with_prepared_states(client):
    found = client.get("/api/catalogue").json()
    first, *others = found["pages"]
    assert first["address"] == "/"
    (second,) = (page for page in others if page["address"] == "/shallow-transformers")
    assert first["prepared"][0]["name"] == "D = K"
    assert [stop["name"] for stop in first["tour"]][:3] == [
        "A transformer learns a convolution",
        "The plateau",
        "The slope",
    ]
    assert first["tour"][1]["query"].endswith("&show=support_mass&axis=plateau")
    assert [field["letter"] for field in second["fields"][:2]] == ["η", "T"]
    assert second["letters"] == {"steps": "τ", "teacher.tokens": "T"}
    assert found["limits"] == {
        "tokens": 256,
        "steps": 10_000_000,
        "seconds": 120.0,
        "bytes": 2**25,
        "memory": 2 * 10**9,
    }
    assert (
        found["kinds"]["teacher"][0]["options"][0] | {"letter": "D", "shape": True, "kind": "int"}
        == found["kinds"]["teacher"][0]["options"][0]
    )


@pytest.mark.depth
def test_every_prepared_state_of_the_main_page_is_described(client):
    for state in prepared_of("teacher-models"):
        answer = client.get(f"/api/describe?{prepared_query(state)}")
        assert answer.json()["ok"], state.name
        assert answer.json()["identity"] == setting_of(state.query).identity()


def test_every_prepared_state_of_the_shallow_page_is_within_the_theorem_or_says_why_not():
    # Their labels take seconds to draw; what is built of them here is a smaller run, below.
    site = find_site()
    states = prepared_of("shallow-transformers")
    assert sum(bool(state.also) for state in states) >= 2
    binding = set()
    for state in states:
        for query in (state.query, *state.also):
            reading = read_setting(site, setting_of(query, site))
            unmet = [h.text for h in reading.hypotheses() if not h.met]
            assert unmet in ([], ["radii cover the target, ρ ≥ ν"])
            binding |= {state.name.lower()} if unmet else set()
            assert [line.curve for line in reading.predicted()] == ["linearisation_gap.sup"]
    assert len(binding) == 1  # the state in which the projection binds


def test_a_description_says_what_theory_says(client):
    found = client.get("/api/describe?").json()
    law = next(line for line in found["predicted"] if line["curve"] == "excess_risk")
    assert law["values"][1] == pytest.approx(
        36 * 4 * 32 / 4 / (0.2 * 100_000), rel=1e-12
    )  # Σ K(D−K)/4 over ηT
    machine = {block["symbol"]: block for block in found["machine"]}
    assert list(machine) == ["X", "S", "V", "σ", "Y"]
    tokens, attention, values = (
        np.array(machine[symbol][whose])
        for symbol, whose in (("X", "shared"), ("S", "teacher"), ("V", "teacher"))
    )
    assert attention.sum() == pytest.approx(36)
    assert np.linalg.norm(values) == pytest.approx(50)
    assert np.array(machine["Y"]["teacher"]) == pytest.approx(
        np.maximum(values @ tokens @ attention, 0), abs=1e-12
    )
    assert found["about"]["plateau"] == pytest.approx(15.552)
    assert found["about"]["errors"] == []
    assert [h["word"] for h in found["hypotheses"]].count("met") == 7
    assert {row["name"] for row in found["phases"]} == {
        "C₁ settled",
        "excess halved",
        "plateau ends",
    }
    assert found["sentence"] == ""
    refused = client.get("/api/describe?D=36&K=40")
    assert refused.json()["ok"] is False
    assert refused.json()["sentence"].startswith("`support` must")


def test_a_run_comes_as_events_that_hold_its_curves_exactly(told):
    (run,) = tt.execute([setting_of(TINY)])
    points = [event for event in told if event["event"] == "points"]
    assert [event["from"] for event in points] == list(
        np.cumsum([0] + [len(event["steps"]) for event in points[:-1]])
    )
    assert [step for event in points for step in event["steps"]] == run.steps.tolist()
    for name in ("excess_risk", "cosine"):
        assert [value for event in points for value in event["curves"][name]] == run.curves[
            name
        ].tolist()
    for part, reduce in (("", np.mean), (".min", np.min), (".max", np.max)):
        sent = [value for event in points for value in event["curves"][f"support_mass{part}"]]
        assert sent == reduce(run.curves["support_mass"], axis=1).tolist()
    assert "attention_matrix" not in points[0]["curves"]
    assert (told[0]["event"], told[0]["known"]) == ("preparing", False)
    end = told[-1]
    assert (end["event"], end["outcome"], end["sentence"]) == (
        "end",
        "FINISHED",
        "Finished all steps.",
    )
    assert end["identity"] == setting_of(TINY).identity()


def test_attention_comes_thinned_with_first_and_last(told):
    sent = [event for event in told if event["event"] == "frame"]
    (run,) = tt.execute([setting_of(TINY)])
    steps = [event["step"] for event in sent]
    assert steps[0] == 0
    assert steps[-1] == 3000
    assert len(steps) == len(set(steps))
    assert max(sum(10**k <= step < 10 ** (k + 1) for step in steps) for k in range(4)) <= 12
    for event in (sent[0], sent[-1]):
        shapes = {name: matrix["shape"] for name, matrix in event["matrices"].items()}
        assert shapes == {"attention_matrix": [4, 4], "value_matrix": [1, 2]}
        for name, matrix in event["matrices"].items():
            numbers = np.frombuffer(base64.b64decode(matrix["data"]), "<f4")
            measured = run.curves[name][run.steps == event["step"]][0]
            assert (numbers == measured.astype("<f4")).all()
    assert list(frames(np.array([0, 1, 2, 100, 101, 105]), 105)) == [0, 1, 2, 3, 5]


def test_verdicts_are_those_of_check(told):
    from tutelage.papers.teacher_models.setup import claims_of_theorem

    (run,) = tt.execute([setting_of(TINY)])
    last = [event for event in told if event["event"] == "verdicts"][-1]
    prefix = "teacher-models/rates/explorer/"
    expected = [tt.check(claim, run, prefix=prefix) for claim in claims_of_theorem().values()]
    assert [(v["id"], v["status"], v["sentence"]) for v in last["verdicts"]] == [
        (v.id, v.status.value, v.sentence) for v in expected
    ]
    assert {"HOLDS"} <= {v["status"] for v in last["verdicts"]}
    lines = [event for event in told if event["event"] == "lines"][-1]["lines"]
    fitted = next(
        line for line in lines if line["kind"] == "fitted" and line["curve"] == "excess_risk"
    )
    assert fitted["window"][1] == pytest.approx(3000)
    slope = np.log(fitted["values"][1] / fitted["values"][0]) / np.log(
        fitted["steps"][1] / fitted["steps"][0]
    )
    assert slope == pytest.approx(-1, abs=0.05)
    (phases,) = [event["phases"] for event in told if event["event"] == "phases"][-1:]
    halved = next(row for row in phases if row["name"] == "excess halved")
    assert halved["seen"] == pytest.approx(halved["predicted"], rel=0.02)


def test_without_a_theorem_there_is_a_sentence_and_no_verdict(client):
    found = events(
        client, f"{TINY}&steps=20&inputs=independent&objective.samples=4&objective.held_out=10"
    )
    (last,) = [event for event in found if event["event"] == "verdicts"][-1:]
    assert last["verdicts"] == []
    assert "Gaussian tokens" in last["sentence"]


def test_a_diverging_run_ends_with_its_sentence_and_nulls(client):
    found = events(client, f"{TINY}&rate=1e5")
    assert found[-1]["outcome"] == "DIVERGED"
    assert "stable below a rate of" in found[-1]["sentence"]


def test_refusals_and_limits_come_as_error_events(client):
    for query, words in (
        ("K=40", "`support` must"),
        ("D=300", "`tokens` up to 256"),
        ("nonsense=1", "There is no setting named 'nonsense'"),
    ):
        (last,) = events(client, query)
        assert last["event"] == "error"
        assert words in last["sentence"]


def test_any_other_error_is_told_and_logged(client, monkeypatch, caplog):
    monkeypatch.setattr("tutelage.running.execute.checked", lambda *_, **__: 1 / 0)
    (last,) = events(client, TINY)
    assert last["sentence"] == "stopped by an error: ZeroDivisionError: division by zero"
    assert "ZeroDivisionError" in caplog.text


def test_a_run_out_of_time_ends_with_what_it_has():
    found: list[dict] = []

    def put(event: dict) -> None:
        found.append(event)
        if event["event"] == "points":
            follower.begin -= 1000.0  # as if it had taken that long

    limits = Limits(seconds=900.0)
    follower = Follower(read_state(TINY, find_site()), put, threading.Event(), limits, Known())
    follower()
    assert found[-1]["outcome"] == "STOPPED"
    assert "the longest that one run may take here" in found[-1]["sentence"]
    assert any(event["event"] == "points" for event in found)
    assert any(event["event"] == "verdicts" for event in found)


def last_values(told: list[dict]) -> dict[str, float]:
    points = [event for event in told if event["event"] == "points"]
    return {name: values[-1] for name, values in points[-1]["curves"].items()}


def test_the_copied_python_gives_the_same_numbers(client, told):
    script, said = client.get(f"/api/describe?{TINY}").json()["python"], io.StringIO()
    with redirect_stdout(said):
        exec(script, {})
    sentence, *lines = said.getvalue().splitlines()
    assert sentence == "Finished all steps."
    numbers, judged = (
        lines[: len(setting_of(TINY).measures)],
        lines[len(setting_of(TINY).measures) :],
    )
    printed = {name: float(number) for name, number in (line.split() for line in numbers)}
    assert {name: printed[name] for name in last_values(told) if name in printed} == {
        name: value for name, value in last_values(told).items() if name in printed
    }
    assert {"excess_risk", "value_error", "support_mass", "attention_matrix"} <= set(printed)
    verdicts = [event for event in told if event["event"] == "verdicts"][-1]["verdicts"]
    assert judged == [
        line for v in verdicts for line in (f"{v['status']} {v['statement']}", v["sentence"])
    ]


def test_the_copied_command_gives_the_same_numbers(client, told, tmp_path, monkeypatch, capsys):
    command = client.get(f"/api/describe?{TINY}").json()["command"]
    first, _, rest = command.partition(" <<'TOML'\n")
    monkeypatch.setattr("sys.stdin", io.StringIO(rest.removesuffix("TOML\n")))
    arguments = first.split()[1:]
    with pytest.raises(SystemExit) as ended:
        main([*arguments[: arguments.index("--out")], "--out", str(tmp_path)])
    assert ended.value.code == 0
    (row,) = json.loads(capsys.readouterr().out)["rows"]
    assert row["run"] == setting_of(TINY).identity()
    for name, value in last_values(told).items():
        if name in row:
            assert row[name] == value
    assert "excess_risk" in row


def test_copied_code_writes_arrays_exactly(client):
    query = (
        "teacher=bilinear&teacher.selection=[[0.1,1],[0.9,0]]&teacher.outputs=1&teacher.dim=2"
        "&steps=1&rate=0.1"
    )
    found = client.get(f"/api/describe?{query}").json()
    space: dict = {}
    exec(found["python"].partition("for run")[0], space)
    assert space["setting"] == setting_of(query)
    from tutelage.studies.sweep_files import read_sweep

    file = io.StringIO(found["command"].partition("<<'TOML'\n")[2].removesuffix("TOML\n"))
    import sys

    before, sys.stdin = sys.stdin, file  # type: ignore[assignment]
    try:
        assert read_sweep("-").settings() == [setting_of(query)]
    finally:
        sys.stdin = before


def test_a_finished_run_is_saved_listed_and_opened(client, told, place):
    identity = told[-1]["identity"]
    assert client.get("/api/saved").json()["runs"] == []
    assert client.post("/api/save", json={"identity": identity}).json()["ok"]
    assert (place / "runs" / identity / "3000" / "run.json").exists()
    (row,) = client.get("/api/saved?where=tokens>2, outcome=finished").json()["runs"]
    assert (row["identity"], row["steps"], row["outcome"]) == (identity, 3000, "FINISHED")
    assert "convolution" in row["summary"]
    assert client.get("/api/saved?where=tokens>4").json()["runs"] == []
    assert client.get("/api/saved?where=tokns>4").json()["ok"] is False
    found = client.get(f"/api/saved/{identity}/3000").json()
    points = [event for event in told if event["event"] == "points"]
    assert found["steps"] == [step for event in points for step in event["steps"]]
    assert found["curves"]["excess_risk"] == [
        value for event in points for value in event["curves"]["excess_risk"]
    ]
    assert found["frames"] == [
        {k: v for k, v in event.items() if k != "event"}
        for event in told
        if event["event"] == "frame"
    ]
    assert (
        found["verdicts"]
        == [event for event in told if event["event"] == "verdicts"][-1]["verdicts"]
    )
    assert setting_of(found["query"]) == setting_of(TINY)
    assert client.get(f"/api/saved/{identity}/77").json()["ok"] is False
    assert client.get("/api/saved/../3000").status_code == 404


def test_a_long_condition_does_not_freeze_the_server(client):
    with give_up_after(30):
        answer = client.get("/api/saved", params={"where": "a=" + " " * 2_000 + "\nx\ny"})
        assert "at most 1,000 characters" in answer.json()["sentence"]
        answer = client.get("/api/saved", params={"where": "a=" + " " * 60_000 + "\nx"})
        assert answer.json()["ok"] is False


def test_verdicts_of_a_study_stand_beside_its_runs(client, told, place):
    setting = setting_of(TINY)
    client.post("/api/save", json={"identity": setting.identity()})
    store = tt.Store(place / "runs")
    from tutelage.papers.teacher_models.setup import claims_of_theorem

    prefix = "teacher-models/rates/study/"
    served = [tt.check(claims_of_theorem()["cosine"], store.find(setting), prefix=prefix)]
    store.attach(setting, served)
    assert client.get("/api/saved").json()["runs"][0]["verdicts"] == {"HOLDS": 1}
    assert (
        client.get(f"/api/saved/{setting.identity()}/3000").json()["verdicts"][0]["id"]
        == "teacher-models/rates/study/cosine"
    )
    beside = place / "runs" / setting.identity() / "3000" / "verdicts.json"
    older = [verdict.plain() for verdict in served]  # a bare list, without a format
    beside.write_text(json.dumps(older))
    assert client.get("/api/saved").json()["runs"][0]["verdicts"] == {"HOLDS": 1}
    beside.unlink()


def test_a_stored_run_that_measured_less_is_opened_with_what_it_has(client, place):
    setting = setting_of(TINY).change(measures=("excess_risk",), **{"teacher.noise": 0.0})
    (run,) = tt.execute([setting], store=tt.Store(place / "runs"))
    found = client.get(f"/api/saved/{setting.identity()}/3000").json()
    assert list(found["curves"]) == ["excess_risk"]
    assert {v["id"].rpartition("/")[2] for v in found["verdicts"]} == {
        "excess-rate",
        "excess-constant",
    }
    assert found["frames"] == []
    assert setting_of(found["query"]) == setting_of(TINY)  # noise=0 is the default
    assert run.complete


def test_studies_of_a_paper_are_counted(client, place):
    paper = find_site().find_paper("shallow-transformers")

    def listed() -> dict[str, dict]:
        answer = client.get("/api/study/shallow-transformers").json()
        assert answer["citation"] == paper.citation
        return {study["name"].rpartition("/")[2]: study for study in answer["studies"]}

    assert list(listed()) == list(paper.studies)
    assert {study["run"] for study in listed().values()} == {None}
    folder = place / "shallow-transformers" / "width"
    (folder / "figures").mkdir(parents=True)
    (folder / "figures" / "width.svg").write_text("")
    write_json(folder / "study.json", a_record("shallow-transformers/width", "0123"))
    holds = Verdict("study/case/a", "", "", None, None, None, None, Status.HOLDS, "")
    fails = replace(holds, status=Status.FAILS, control="broken")
    write_verdicts(folder / "verdicts.json", [holds.plain(), fails.plain()])
    assert listed()["width"]["run"] == {
        "counts": {"HOLDS": 1},
        "controls": 1,
        "figures": ["width"],
    }
    committed = read_verdicts(paper.folder / "results" / "width.json")
    claims = [v["status"] for v in committed if not v["control"]]
    assert listed()["width"]["committed"] == {status: claims.count(status) for status in claims}
    assert listed()["width"]["title"] == paper.studies["width"].title
    assert client.get("/api/study/none").json()["ok"] is False
    (asked,) = find_askers(str(place))["0123"]
    assert asked.study == "shallow-transformers/width"


def test_a_study_says_what_it_states_when_it_is_asked(client):
    found = client.get("/api/study/teacher-models/rates").json()
    assert found["statement"] == find_study("teacher-models/rates").statement
    assert client.get("/api/study/teacher-models/none").json()["ok"] is False


def test_runs_of_a_study_are_listed_alone(client, told, place):
    identity = told[-1]["identity"]
    client.post("/api/save", json={"identity": identity})
    name = "teacher-models/rates"
    assert client.get(f"/api/saved?study={name}").json()["runs"] == []
    folder = place / name
    folder.mkdir(parents=True)
    write_json(folder / "study.json", a_record(name, identity))
    (folder / "verdicts.json").write_text("[]")
    rows = client.get(f"/api/saved?study={name}").json()["runs"]
    assert {row["identity"] for row in rows} == {identity}
    assert {row["address"] for row in rows} == {"/"}
    for wrong in ("../secret", "teacher-models/../..", "none"):
        assert client.get(f"/api/saved?study={wrong}").json()["ok"] is False


def test_few_finished_runs_are_held(monkeypatch):
    from tutelage.explorer import saved

    (run,) = tt.execute([setting_of(TINY)])
    held = saved.Held()
    monkeypatch.setattr(saved, "HELD", 2)
    settings = [setting_of(f"{TINY}&seed={seed}") for seed in range(3)]
    for setting in settings:
        held.add(replace(run, setting=setting))
    assert list(held.runs) == [setting.identity() for setting in settings[1:]]
    monkeypatch.setattr(saved, "HELD_BYTES", 1)
    held.add(replace(run, setting=settings[0]))
    assert list(held.runs) == [settings[0].identity()]


@pytest.mark.depth
def test_a_shallow_run_is_judged_by_its_bounds(client):
    small = (
        "teacher=transported&dim=2&tokens=3&anchors=2&pool=4&heads=4&samples=4&rate=0.25&steps=16"
    )
    found = events(client, small)
    (last,) = [event for event in found if event["event"] == "verdicts"][-1:]
    assert [v["id"].rpartition("/")[2] for v in last["verdicts"]] == [
        "least",
        "averaged",
        "printed",
    ]
    assert {v["status"] for v in last["verdicts"]} == {"VACUOUS"}
    curves = next(event for event in found if event["event"] == "points")["curves"]
    assert {
        "loss",
        "least_loss",
        "averaged_loss",
        "displacement.c",
        "displacement.U",
        "displacement.W",
        "linearisation_gap.sup",
    } <= set(curves)
    described = client.get(f"/api/describe?{small}").json()
    assert (
        described["hypotheses"][3] | {"met": True} == described["hypotheses"][3]
    )  # the step is 1/√τ
