"""Compiled programs are kept between commands: found again, the same numbers, and never in the
way.
"""

import json
import os
import subprocess
import sys

import pytest

from tutelage.cli import programs
from tutelage.refuse import Refused

TWICE = """
import json, jax, tutelage as tt
from tutelage.cli.programs import keep_programs

keep_programs()
hits = []
jax.monitoring.register_event_listener(
    lambda event, **_: hits.append(event) if event.endswith("/cache_hits") else None
)
teacher = tt.Part("convolution", tokens=4, support=2, dim=2, outputs=1)
setting = tt.Setting(teacher, rate=0.1, steps=50)
first = next(tt.execute([setting]))
before = len(hits)
jax.clear_caches()
again = next(tt.execute([setting]))
same = all((first.curves[name] == again.curves[name]).all() for name in first.curves)
print(json.dumps([before, len(hits) - before, same]))
"""


def test_a_program_is_found_again_and_gives_the_same_numbers(tmp_path):
    environment = os.environ | {programs.VARIABLE: str(tmp_path)}
    done = subprocess.run(
        [sys.executable, "-c", TWICE], env=environment, capture_output=True, text=True, check=True
    )
    before, found, same = json.loads(done.stdout)
    assert (before, same) == (0, True)
    assert found >= 1
    (folder,) = tmp_path.iterdir()  # one for this machine and these versions
    assert any(file.name.startswith("jit__advance") for file in folder.iterdir())


def test_another_version_or_processor_has_another_folder(monkeypatch, tmp_path):
    here = programs._describe_machine("0.10.2")
    assert programs._describe_machine("0.10.2") == here
    assert programs._describe_machine("0.10.3") != here
    (tmp_path / "cpuinfo").write_text("processor : 0\nflags : fpu another\n")
    monkeypatch.setattr(programs, "CPU", tmp_path / "cpuinfo")
    assert programs._describe_machine("0.10.2") != here


def test_the_oldest_are_removed_where_there_are_too_many(tmp_path, monkeypatch):
    monkeypatch.setattr(programs, "KEPT_BYTES", 25)
    for age in range(4):
        file = tmp_path / f"program-{age}"
        file.write_bytes(b"x" * 10)
        os.utime(file, (1000 - age, 1000 - age))
    programs._trim(tmp_path)
    assert sorted(file.name for file in tmp_path.iterdir()) == ["program-0", "program-1"]


def test_a_folder_that_cannot_be_written_is_refused_only_where_it_was_asked_for(
    tmp_path, monkeypatch
):
    import jax

    (tmp_path / "file").touch()
    monkeypatch.setenv(programs.VARIABLE, str(tmp_path / "file"))
    with pytest.raises(Refused, match="folder that can be written to"):
        programs.keep_programs()
    monkeypatch.setenv(programs.VARIABLE, "")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "file"))
    programs.keep_programs()
    assert not jax.config.jax_compilation_cache_dir
