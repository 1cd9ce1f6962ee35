"""The bench: its page is what its JSON says, its limits count what the programs do, and its
arithmetic of rounds and exponents is right.
"""

import importlib.util
import json
import re
from functools import partial
from pathlib import Path

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from benchmarks import counts, growth, plan, problems, scripts_jax, startup, table, workloads
from benchmarks.processes import Failed, Row, Work, fastest, told

import tutelage
from tutelage.training.method import Method

ROOT = Path(__file__).parents[2]
BENCH = json.loads((ROOT / "docs" / "bench.json").read_text())


def make_bench():
    spec = importlib.util.spec_from_file_location("make_bench", ROOT / "docs" / "make_bench.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_the_page_is_what_the_committed_bench_says():
    made, text = make_bench(), (ROOT / "docs" / "bench.md").read_text()
    assert made.inserted(text, made.sections(BENCH)) == text
    assert re.findall(r"<!-- (\w+) -->", text) == [*made.sections(BENCH)]


def test_numbers_have_no_more_digits_than_are_known():
    assert [table.number(x) for x in (0.12345, 153.2, 1259.4, 96_206_451.0)] == [
        "0.123", "153", "1,259", "9.6e+07",
    ]  # fmt: skip


def test_the_quickest_rival_and_its_ratio_are_in_the_table():
    def row(wall, ratio, peak):
        return {"wall": wall, "ratio": ratio, "peak_mb": peak}

    line = {
        "name": "step",
        "unit": "µs",
        "ours": row(5e-6, 1.0, 100.0),
        "rivals": {
            "PyTorch double": row(4e-3, 800.0, 300.0),
            "PyTorch single": row(1e-3, 200.0, 250.0),
        },
        "limit": {"seconds": 2e-6, "by": "operations"},
        "promises": [{"said": "µs a step", "value": 5.0, "bound": 6.0, "most": True, "met": True}],
    }
    assert table.cells(line) == [
        "step",
        "5 µs",
        "2 µs",
        "40%",
        "1,000 µs (single)",
        "200",
        "–",
        "–",
        "100, 250, –",
    ]
    assert table.promises([line]) == [["step: µs a step", "at most 6", "5", "met"]]
    assert table.time_of(1e9, "s") == "31.7 years"


def test_ratios_are_taken_within_rounds():
    slow, quick = (
        Row([(4.0, 1.0), (8.0, 1.0), (4.0, 1.0)], 0, 0),
        Row([(1.0, 1.0), (2.0, 1.0), (8.0, 1.0)], 0, 0),
    )
    assert workloads.ratio(slow, quick) == 4.0  # that of the medians is 2
    assert workloads.quickest({"PyTorch a": slow, "PyTorch b": quick}, "PyTorch") == "PyTorch b"
    assert workloads.quickest({"PyTorch a": slow}, "JAX") is None


def test_promises_without_pytorch_are_left_out_and_the_rest_judged():
    rows = {"exact": Row([(7e-6, 7e-6)], 0, 0), "watched": Row([(7e-6, 7e-6)], 0, 0)}
    exact = workloads.workloads()[0]
    assert [promise.of(rows) for promise in exact.promises] == [pytest.approx(7.0), None, 1.0]


@pytest.mark.parametrize("size", [plan.FULL, plan.QUICK])
@pytest.mark.parametrize("torch", [True, False])
def test_every_row_of_the_plan_is_a_function_with_these_options(size, torch):
    import inspect

    for rows in plan.groups(size, torch).values():
        for function, options in rows.values():
            module, _, name = function.partition(":")
            source = (ROOT / "benchmarks" / f"{module}.py").read_text()
            assert f"def {name}(" in source
            if module == "scripts_jax":
                inspect.signature(getattr(scripts_jax, name)).bind(**options)
            assert torch or module != "scripts_torch"
    names = {row for rows in plan.groups(plan.FULL, True).values() for row in rows}
    assert {workload.ours for workload in workloads.workloads()} <= names


def test_an_exponent_is_the_slope_of_a_power_law():
    curve = {"size": [1, 2, 4, 8], "seconds": [3.0, 12.0, 48.0, 192.0]}
    assert growth.exponents(curve) == {"exponent": pytest.approx(2.0), "last": pytest.approx(2.0)}
    assert growth.exponents({"size": [1], "seconds": [3.0]}) == {"exponent": None, "last": None}


def test_sizes_grow_until_memory_or_time_ends(monkeypatch):
    def make(size):
        return Work(lambda: 1)

    monkeypatch.setattr(growth, "free_bytes", lambda: 100.0)
    curve = growth.measure_curve((1, 2, 4, 8), make, lambda size: 12.0 * size)
    assert curve["size"] == [1, 2, 4]  # half of what is free is 50
    assert curve["end"] == "memory"
    assert growth.measure_curve((1, 2), make)["end"] == "the largest size"
    assert growth.measure_curve((1, 10_000), make)["size"] == [
        1,
        10_000,
    ]  # so cheap that time does not end it
    curve = growth.measure_curve((1, 2, 4), make, most=0.0)
    assert (curve["size"], curve["end"]) == ([1], "time")
    monkeypatch.setattr(growth, "MOST_SECONDS", 0.0)
    curve = growth.measure_curve((1, 2, 4), make)
    assert (curve["size"], curve["end"]) == ([1], "time")


def test_a_share_of_the_limit_may_be_promised():
    from benchmarks.__main__ import _line

    rows = {"exact": Row([(0.1, 0.1)], 0, 0), "JAX": Row([(0.4, 0.4)], 0, 0)}
    middle = next(w for w in workloads.workloads() if w.group == "middle")
    least = counts.Limit(0.025, "bytes")
    line = _line(middle._replace(limit=lambda rates: least), rows, {})
    found = {p["said"]: (p["value"], p["met"]) for p in line["promises"]}
    assert found == {
        "JAX over ours": (pytest.approx(4.0), True),
        "limit over ours, %": (pytest.approx(25.0), True),
    }


def test_the_targets_of_speed_are_promises_with_these_bounds(monkeypatch):
    from benchmarks import __main__ as main

    lines = {w.name: w for w in workloads.workloads()}

    def bounds(name):
        line = lines[name]
        return {p.said: p.bound for p in line.promises}, line.percent

    online, wide = "online step, batch 100", {"PyTorch over ours": 3.0, "JAX over ours": 3.0}
    assert bounds("exact step")[0]["µs a step"] == 6.0
    assert bounds("exact step, 64 seeds")[0]["µs a step and run"] == 3.2
    for name, kind, times in (
        (online, " double", 2.0),
        (f"{online}, single precision", " single", 2.0),
        (f"{online}, single precision, 64 seeds", "", 4.0),
    ):
        assert bounds(name)[0] == {
            f"PyTorch{kind} over ours": times,
            f"JAX{kind} over ours": times,
        }
    for m in problems.WIDTHS:
        assert bounds(f"heads step, m = {m}")[0] == {"PyTorch over ours": 4.0}
    assert bounds("tangent kernel, n = 1,000, m = 1,024")[0] == dict.fromkeys(wide, 6.0)
    assert bounds("exact step, D = 1,024") == (wide, 20.0)
    at_4096, percent = bounds("exact step, D = 4,096")
    assert at_4096 | wide == at_4096
    assert percent == 20.0
    monkeypatch.setattr(startup, "cold", lambda *_: {name: [1.0] for name in startup.COMMANDS})
    monkeypatch.setattr(main, "told", lambda *_: {"first run": 3, "another seed": 0})
    seconds = [
        [promise["bound"] for promise in line["promises"] if promise["said"] == "s"]
        for line in main.start_lines(plan.FULL, True)
    ]
    assert seconds == [[0.2], [0.2], [3.0], [1.5]]


def test_the_faster_variant_is_taken():
    import time

    variants = {"slow": lambda: time.sleep(0.02) or 1, "quick": lambda: 1}
    assert fastest(variants).note == "quick"
    assert isinstance(fastest({"only": lambda: 1}), Work)


def test_a_process_tells_what_a_function_gives_and_why_it_failed():
    curve = {"size": [1, 2], "seconds": [1.0, 2.0]}
    assert told("growth:exponents", curve=curve) == {
        "exponent": pytest.approx(1.0),
        "last": pytest.approx(1.0),
    }
    with pytest.raises(Failed, match="KeyError"):
        told("growth:exponents", curve={})


def test_the_scripts_train_on_the_teacher_of_the_library():
    (value, selection), (start, scores) = problems.cnn(12, np.float64, seeds=3)
    np.testing.assert_array_equal(selection, tutelage.pooling(12, problems.K))
    assert value.shape == start.shape == (3, problems.M, problems.DIM)
    assert scores.shape == (3, 12, 12)


def test_seeds_together_are_the_seeds_alone():
    teacher, start = problems.cnn(8, np.float64, seeds=2)
    run, keys = scripts_jax.descended(8, 2), jax.random.split(jax.random.key(0), 2)
    both, _ = jax.vmap(run, in_axes=((0, None), 0, 0))(tuple(teacher), tuple(start), keys)
    alone, _ = run(
        (jnp.asarray(teacher[0][1]), jnp.asarray(teacher[1])),
        tuple(jnp.asarray(x[1]) for x in start),
        keys[1],
    )
    for ours, theirs in zip(both, alone, strict=True):
        np.testing.assert_allclose(ours[1], theirs, rtol=1e-12)


def test_operations_of_the_exact_step_are_those_of_its_program():
    """XLA counts a multiply-add as two and a division as one, so that ours are between half of its
    flops and three quarters.
    """
    risk = tutelage.PopulationRisk(
        tutelage.BilinearTeacher(np.ones((8, 10)), tutelage.pooling(36, 4), activation="relu")
    )
    student = tutelage.PositionAttention.zeros(risk.teacher)
    flops = jax.jit(jax.grad(risk)).lower(student).cost_analysis()["flops"]
    assert 0.5 < counts.exact_step(36, 36, 8, 10) / flops < 0.75


def test_products_are_counted_as_a_program_multiplies():
    n, m, T, d = 50, 4, 16, 8
    flops = counts.heads_step(n, m, T, d)[0]
    # Four products of every sample, head and token with d numbers, and two of d×d for every sample
    # and head.
    assert flops == n * m * (4 * T * d + 2 * d * d)
    assert counts.online_step(36, 8, 10, 100) == 100 * (3 * 8 * 10 * 36 + 4 * 8 * 36 * 36)


def test_the_commands_of_a_cold_start_compile():
    for name, (flag, code, *_) in startup.COMMANDS.items():
        if flag == "-c":
            compile(code, name, "exec")


@pytest.mark.depth
def test_the_run_to_a_far_horizon_ends_at_its_constant(monkeypatch):
    from benchmarks import ours

    soon = partial(tutelage.execute, method=Method(literal=10_000))
    monkeypatch.setattr(tutelage, "execute", soon)
    seen = ours.horizon(steps=10**7)
    assert seen["literal"] == 10_000
    assert abs(seen["ratio"] - 1) < 0.05  # the plateau is some 10⁴ steps


def test_a_part_that_fails_is_said_and_the_rest_goes_on(monkeypatch):
    from benchmarks import __main__ as bench

    def told(function, **options):
        if function.startswith(("ours:", "profile:", "sweep:")):
            raise Failed("it broke")
        return {"said": "checked", "rates": {}}

    monkeypatch.setattr(bench, "told", told)
    monkeypatch.setattr(bench, "groups", lambda size, torch: {"cnn": {}})
    monkeypatch.setattr(bench, "start_lines", lambda size, torch: iter([{"name": "started"}]))
    monkeypatch.setattr(bench, "grown", lambda torch: {"tutelage": {}})
    found = bench.bench(plan.FULL, torch=True)
    assert found["said"] == [
        "horizon: left out (it broke)",
        "a sweep: left out (it broke)",
        "where the time goes: left out (it broke)",
    ]
    assert found["workloads"] == [{"name": "started"}]
    assert found["growth"] == {"tutelage": {}}
    assert table.told(BENCH | {"profile": {}, "said": found["said"]}).count("left out") == 3
