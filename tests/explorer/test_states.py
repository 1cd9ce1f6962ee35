"""Queries and settings: the same there and back, and refused in the words of the command line."""

from __future__ import annotations

import subprocess
import sys

import numpy as np
import pytest

from tutelage.cli import main
from tutelage.explorer.catalogue import catalogue
from tutelage.explorer.limits import Limits
from tutelage.explorer.site import find_site
from tutelage.explorer.states import canonical, query_of, setting_of
from tutelage.explorer.stream import Known
from tutelage.problem.build import build_teacher
from tutelage.problem.registry import options_of, registered, registered_names
from tutelage.refuse import Refused
from tutelage.running.execute import checked
from tutelage.settings import KINDS, Part, Setting
from tutelage.teachers.graph_convolution import GRAPHS as REAL_GRAPHS

TINY = (
    "teacher.tokens=4&teacher.support=2&teacher.outputs=1&teacher.dim=2&teacher.norm=4&rate=0.1"
    "&steps=50"
)
SITE = find_site()
PREPARED = [state for placed in SITE.pages for state in (*placed.page.tour, *placed.page.prepared)]
# Parts that tutelage comes with; other tests add theirs.
OURS = {
    kind: [
        name
        for name in registered_names(kind)
        if registered(kind, name).factory.__module__.startswith("tutelage.problem.parts.")
    ]
    for kind in KINDS
}
TEACHERS = [name for name in SITE.teachers if name in OURS["teacher"]]


def test_an_empty_query_is_the_run_that_works():
    setting = setting_of("")
    assert setting.teacher == Part(
        "convolution", tokens=36, support=4, outputs=8, dim=10, norm=50.0
    )
    assert (setting.rate, setting.steps, setting.seed) == (0.2, 100_000, 0)
    assert {"excess_risk", "attention_matrix", "value_scale", "cosine"} <= set(setting.measures)


PARTLY = [
    "teacher.norm=null",
    "objective=online&objective.batch=5&student.learned=true&student.key_codes=gaussian&seed=7",
]


@pytest.mark.brief(14)
@pytest.mark.parametrize(
    "query",
    [state.query for state in PREPARED] + [f"teacher={name}" for name in TEACHERS] + PARTLY,
)
def test_every_query_reads_back_to_its_setting(query):
    setting = setting_of(query)
    assert setting_of(query_of(setting)) == setting
    assert canonical(setting) == setting
    Limits().check(setting)


def test_an_option_at_its_default_is_no_other_run():
    assert setting_of(f"{TINY}&teacher.noise=0&student.start=0.0") == setting_of(TINY)
    assert (
        setting_of("teacher.norm=null").teacher
        == setting_of("teacher.norm=").teacher
        == setting_of("")
        .teacher.change()
        .__class__("convolution", tokens=36, support=4, outputs=8, dim=10)
    )


def test_letters_of_the_paper_and_short_names_do():
    assert setting_of("D=8&K=2&eta=0.1&T=1e3") == setting_of(
        "teacher.tokens=8&support=2&rate=0.1&steps=1000"
    )
    assert setting_of("teacher=transported&m=8&tau=10").student.options["heads"] == 8


def test_a_graph_of_ones_own_is_its_adjacency_matrix():
    setting = setting_of(
        "teacher=graph_convolution&teacher.tokens=4&teacher.graph=edges:0-1,2-1,1-3"
    )
    expected = np.zeros((4, 4))
    for i, j in ((0, 1), (1, 2), (1, 3)):
        expected[i, j] = expected[j, i] = 1
    assert (setting.teacher.options["graph"] == expected).all()
    assert "teacher.graph=edges:0-1,1-2,1-3" in query_of(setting)
    assert "attention_matrix" in setting.measures
    checked(setting)


@pytest.mark.parametrize(
    ("query", "words"),
    [
        ("teacher.graph=edges:0-9", "an edge 0-9"),
        (f"teacher.graph=edges:0-{'1' * 5000}", "edges:0-1,1-2"),
        ("teacher.graph=edges:1-1", "no edge from a node to itself"),
        ("teacher.graph=edges:0-1;2", "edges:0-1,1-2"),
        ("teacher.graph=edges:0-1&teacher.tokens=many", "tokens='many'"),
    ],
)
def test_a_wrong_graph_is_refused(query, words):
    with pytest.raises(Refused, match=words.replace("(", r"\(")):
        setting_of(f"teacher=graph_convolution&teacher.tokens=4&{query}")


@pytest.mark.parametrize(
    "change",
    [
        "D=abc",
        "K=40",
        "rate=-1",
        "nonsense=3",
        "teacher.tokns=3",
        "techer.tokens=3",
        "activation=rely",
        "seed=0.5",
        "norm=[1]",
        "noise=NaN",
    ],
)
def test_bad_values_get_the_sentence_of_the_command_line(change, capsys):
    with pytest.raises(Refused) as refused:
        checked(setting_of(change))
    with pytest.raises(SystemExit):
        main(["run", "teacher-models/rates", "--case", "cnn-relu", "--seeds", "1", "--set", change])
    said = capsys.readouterr().err.strip().splitlines()[-1]
    assert said == f"tutelage: {refused.value}"


def test_unknown_parts_are_refused_with_the_nearest():
    with pytest.raises(Refused, match="Did you mean 'convolution'"):
        setting_of("teacher=convolutoin")
    with pytest.raises(Refused, match="does not show the teacher 'image_cnn'"):
        setting_of("teacher=image_cnn")


@pytest.mark.parametrize(
    ("query", "words"),
    [
        ("D=300", "`tokens` up to 256"),
        ("T=1e9", "`steps` up to 10,000,000"),
        ("objective=online&objective.batch=2000&D=256&d=64", "samples of up to 32 MB"),
        (
            "teacher=bilinear&teacher.selection=[" + ",".join(["[1]"] * 300) + "]",
            "rows and columns",
        ),
    ],
)
def test_what_is_too_large_is_refused_before_it_is_built(query, words):
    with pytest.raises(Refused, match=words):
        Limits().check(setting_of(query))


def test_attention_is_measured_where_it_is_not_too_much():
    assert "attention_matrix" in setting_of("D=64").measures
    assert "attention_matrix" not in setting_of("D=256&T=1e6").measures
    assert setting_of("student=two_layer").measures == ("excess_risk",)
    assert "validation_loss" in setting_of("teacher=transported&objective.validation=10").measures


def test_the_objective_is_a_sample_where_the_risk_is_not_known_exactly():
    assert setting_of("inputs=independent").objective.name == "empirical"
    assert setting_of("student=content_attention").objective.name == "empirical"
    assert setting_of("").objective.name == "population"


HIDDEN = {
    "teacher": {"image_cnn", "recorded"},
    "inputs": {"images"},
    "student": {"image_classifier", "image_cnn"},
    "objective": {"classification", "distillation", "recorded"},
    "optimiser": {"annealed_adam", "averaged", "optax"},
}
# Options whose label is their own name.
SELF_NAMED = (
    "tokens", "outputs", "queries", "hidden", "scale", "law", "graph", "normalisation",
    "selection", "sharpness", "form", "heads", "batch", "samples", "anchors", "signs", "radius",
    "lag", "channels", "coefficient", "labels",
)  # fmt: skip


def test_the_catalogue_knows_every_option_and_every_part():
    found = catalogue(SITE, Limits(tokens=99))
    for kind in KINDS:
        shown = {part["name"]: part for part in found["kinds"][kind]}
        assert set(shown) & set(OURS[kind]) == set(OURS[kind]) - HIDDEN[kind]
        for part in (shown[name] for name in set(shown) & set(OURS[kind])):
            assert part["sentence"], part
            for option in part["options"]:
                assert option["label"] != option["name"] or option["name"] in SELF_NAMED, option
                assert (
                    option["default"] is None
                    or option["name"] not in ("tokens", "queries")
                    or option["most"] == 99
                )
                assert (
                    not option["required"]
                    or option["default"] is not None
                    or option["name"] == "selection"
                ), (part["name"], option)
    graph = options_of("teacher", "graph_convolution")["graph"].shown
    assert graph.choices == REAL_GRAPHS
    assert set(graph.brings) == set(REAL_GRAPHS)
    for teacher in TEACHERS:
        named = registered("teacher", teacher).goes_with
        assert set(named) == set(KINDS) - {"teacher"}
        for kind, names in named.items():
            assert set(names) <= set(OURS[kind])
            assert found["goes_with"][teacher][kind][: len(names)] == names
    for kind, needed in found["needs"].items():
        for names in needed.values():
            assert all(set(n) <= set(registered_names(other)) for other, n in names.items()), kind


@pytest.mark.depth
def test_every_choice_that_is_offered_can_be_built():
    for teacher in TEACHERS:
        for option in options_of("teacher", teacher).values():
            for choice in option.shown.choices:
                if choice is None or option.name == "activation":
                    continue
                brought = option.shown.brings.get(choice, {})
                more = "".join(f"&teacher.{k}={'' if v is None else v}" for k, v in brought.items())
                query = f"teacher={teacher}&teacher.{option.name}={choice}{more}"
                build_teacher(setting_of(query, SITE))
    square = TINY.replace("teacher.dim=2", "teacher.dim=4")  # codes are added to tokens
    for student in ("content_attention", "position_attention"):
        for option in options_of("student", student).values():
            for choice in option.shown.choices:
                if choice is not None:
                    query = f"{square}&student={student}&student.{option.name}={choice}"
                    checked(setting_of(query, SITE))


NUMBERS = ["K=2", "V=3", "tau=0.5", "eta=0.2", "T=500", "seed=4", "student.attention_scale=0.7"]
SHAPES = [
    "D=6",
    "M=2",
    "d=3",
    "activation=identity",
    "student.key_codes=gaussian",
    "optimiser=momentum",
    "objective=online",
]


def test_what_the_catalogue_calls_a_number_never_compiles_and_a_shape_does():
    shapes = Known()

    def shape(query: str) -> object:
        setting = setting_of(f"{TINY}&teacher.support=1&{query}")
        return shapes.shape(setting, checked(setting))

    first = shape("")
    assert all(shape(query) == first for query in NUMBERS)
    assert all(shape(query) != first for query in SHAPES)
    for query, expected in [(q, False) for q in NUMBERS[:3]] + [(q, True) for q in SHAPES[:4]]:
        path = {
            "K": "support",
            "V": "norm",
            "tau": "noise",
            "D": "tokens",
            "M": "outputs",
            "d": "dim",
        }.get(query.partition("=")[0], "activation")
        assert options_of("teacher", "convolution")[path].shown.shape is expected


def test_help_and_the_catalogue_import_neither_jax_nor_matplotlib():
    script = (
        "import sys, tutelage.cli\n"
        "assert 'starlette' not in sys.modules\n"
        "from tutelage.explorer.catalogue import catalogue\n"
        "from tutelage.explorer.limits import Limits\n"
        "from tutelage.explorer.site import find_site\n"
        "import tutelage.explorer.server\n"
        "catalogue(find_site(), Limits())\n"
        "assert not {'jax', 'matplotlib'} & set(sys.modules)\n"
    )
    subprocess.run([sys.executable, "-c", script], check=True)


def test_settings_of_the_page_take_only_options_that_there_are():
    for kind in KINDS:
        for name in OURS[kind]:
            assert set(registered(kind, name).begin) <= set(options_of(kind, name))
    assert isinstance(setting_of(""), Setting)


@pytest.mark.parametrize("key", [".", "teacher.", ".tokens", "measures.x"])
def test_a_key_that_is_no_path_is_refused(key):
    with pytest.raises(Refused):
        setting_of([(key, "3")])
