"""The size of a core's cache: from the system, from its library, or the usual one."""

import os

import pytest

from tutelage.numerics import caches


@pytest.fixture
def ask(tmp_path, monkeypatch):
    """What is found where sysfs has these caches (level and size) and `sysconf` says so much."""

    def found(system, library):
        monkeypatch.setattr(caches, "SYSTEM", tmp_path)
        for number, pieces in enumerate(system):
            folder = tmp_path / f"index{number}"
            folder.mkdir(exist_ok=True)
            for name, text in zip(("level", "size"), pieces, strict=False):
                (folder / name).write_text(text)

        def sysconf(name):
            if library is None:
                raise ValueError("unrecognized configuration name")
            return library

        monkeypatch.setattr(os, "sysconf", sysconf)
        return caches.second_cache_bytes.__wrapped__()

    return found


@pytest.mark.parametrize(
    ("system", "library", "size"),
    [
        ([("1\n", "32K\n"), ("2\n", "1280K\n"), ("3\n", "32M\n")], 7, 1280 * 2**10),
        ([("2\n", "2M\n")], None, 2**21),
        ([], 2**20, 2**20),  # no sysfs
        ([("1\n", "32K\n")], 2**20, 2**20),  # no second level in it
        ([("2\n", "odd\n")], 2**20, 2**20),
        ([("2\n",)], None, 2**19),  # no size, and a library that does not know
        ([], 0, 2**19),
        ([], -1, 2**19),
        ([("2\n", "16M\n")], None, 2**22),  # more than any core has of its own
        ([("2\n", "64K\n")], None, 2**18),
    ],
)
def test_the_second_cache_is_found_or_the_usual_one_taken(ask, system, library, size):
    assert ask(system, library) == size
