"""Vectors of 512 bits are asked for where the processor has them, and nowhere else."""

import pytest

from tutelage.numerics import vectors


@pytest.mark.parametrize(
    ("said", "asked"),
    [
        ("flags : fpu avx2 avx512f avx512dq", {"xla_cpu_prefer_vector_width": 512}),
        ("flags : fpu avx2", {}),
        ("Features : asimd sve", {}),  # another kind of processor
        (None, {}),  # another system
    ],
)
def test_what_the_system_says_decides(tmp_path, monkeypatch, said, asked):
    monkeypatch.setattr(vectors, "SYSTEM", tmp_path / "cpuinfo")
    if said is not None:
        vectors.SYSTEM.write_text(said)
    assert vectors.wide_vectors() == asked
