"""What is stored comes back to the bit; what was cut, changed, moved or never finished is found
out, named and run again.
"""

import ast
import json
from dataclasses import replace
from pathlib import Path

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from stored import BY_HAND, TINY, a_run, assert_equal

import tutelage as tt
from tutelage.run import Outcome
from tutelage.running.store import encoding
from tutelage.running.store.encoding import ABOUT, Damaged, checked, encode, opened, sealed

SOURCE = Path(encoding.__file__).parents[2]
KINDS = {
    "finished": lambda: a_run(),
    "by hand": lambda: a_run(BY_HAND),
    "diverged": lambda: a_run(outcome=Outcome.DIVERGED, taken=30),
    "converged": lambda: a_run(outcome=Outcome.CONVERGED, taken=30),
    "momentum": lambda: a_run(TINY.change(optimiser=tt.Part("momentum", decay=0.9))),
    "nothing measured": lambda: replace(
        a_run(), steps=np.zeros(0, np.int64), curves={k: v[:0] for k, v in a_run().curves.items()}
    ),
    "one step": lambda: a_run(TINY.change(steps=1)),
    "wild numbers": lambda: replace(
        a_run(),
        curves=a_run().curves | {"wild": np.resize([np.nan, np.inf, -np.inf, -0.0, 5e-324], 63)},
    ),
}


@pytest.mark.parametrize("kind", KINDS)
def test_a_run_comes_back_to_the_bit(kind, tmp_path):
    run = KINDS[kind]()
    run = replace(run, curves={name: curve[: len(run.steps)] for name, curve in run.curves.items()})
    store = tt.Store(tmp_path)
    back = tt.load(store.save(run))
    assert_equal(back, run)
    assert_equal(store.find(run.setting), run)
    assert store.verify(store.name(run.setting)) == ""


@pytest.mark.parametrize(
    "given",
    [
        np.float64(0.5),
        np.asarray(0.5),
        np.ones((0, 2)),
        np.asfortranarray(np.arange(6.0).reshape(2, 3)),
        [1, 2],
    ],
)
def test_arrays_given_by_hand_keep_their_identity(given):
    """Their shape and content are the identity, so that one which came back another would never be
    found again.
    """
    setting = TINY.change(**{"teacher.extra": given})
    pieces = encode(replace(a_run(), setting=setting), setting)
    _, back = checked(pieces)
    assert back == setting
    assert back.identity() == setting.identity()
    np.testing.assert_array_equal(back.teacher.options["extra"], given)


@pytest.mark.parametrize("dtype", [np.int32, np.bool_, np.float32])
def test_arrays_of_other_types_given_by_hand_are_the_numbers_they_hold(dtype):
    given = np.asarray([[1, 0], [0, 1]])
    as_given = BY_HAND.change(**{"teacher.value": given.astype(dtype)})
    assert as_given.identity() == BY_HAND.identity()


def test_run_json_is_json_for_every_reader():
    """No NaN, which is none; and the seal is an entry like any other."""
    run = replace(
        a_run(),
        curves={"excess_risk": np.full(63, np.nan), "other": np.full(63, np.inf)},
        steps=np.arange(63),
    )
    text = encode(run, TINY)[ABOUT].decode()
    about = json.loads(text, parse_constant=lambda word: pytest.fail(f"{word} is no JSON"))
    assert about["last"] == {"excess_risk": None, "other": None}
    assert len(about["seal"]) == 64


def test_the_device_and_precision_are_those_of_the_run():
    """Of the student itself: work may be sent to another device than the first that JAX finds."""
    student = jax.tree.map(lambda leaf: jnp.asarray(leaf, jnp.float32), a_run().student)
    (piece,) = json.loads(encode(replace(a_run(), student=student), TINY)[ABOUT])["made"]
    assert piece["precision"] == "float32"
    assert piece["device"] == jax.devices()[0].device_kind


# ---- damage

FILES = ["curves.parquet", "end.safetensors", "given.safetensors", ABOUT]


@pytest.mark.parametrize("file", FILES)
def test_every_flipped_byte_is_found_out(file):
    pieces = encode(a_run(BY_HAND), BY_HAND)
    data = pieces[file]
    for place in range(0, len(data), 1 if file == ABOUT else 97):
        changed = bytearray(data)
        changed[place] ^= 1
        with pytest.raises(Damaged):
            checked({**pieces, file: bytes(changed)})


@pytest.mark.parametrize("file", FILES)
def test_every_cut_is_found_out(file):
    pieces = encode(a_run(BY_HAND), BY_HAND)
    for length in {0, 1, 12, 80, len(pieces[file]) // 2, len(pieces[file]) - 1}:
        with pytest.raises(Damaged, match=file):
            checked({**pieces, file: pieces[file][:length]})
    with pytest.raises(Damaged, match=file):
        checked({**pieces, file: pieces[file] + b"\0"})


def flip(name):
    def harm(folder):
        data = bytearray((folder / name).read_bytes())
        data[len(data) // 2] ^= 4
        (folder / name).write_bytes(data)

    return harm


def cut(name):
    return lambda folder: (folder / name).write_bytes((folder / name).read_bytes()[:-7])


def missing(name):
    return lambda folder: (folder / name).unlink()


def resealed(**changes):
    """Changed by someone who knows how to seal."""

    def harm(folder):
        about = opened((folder / ABOUT).read_bytes())
        (folder / ABOUT).write_bytes(
            sealed(about | {key: change(about[key]) for key, change in changes.items()})
        )

    return harm


def moved(to):
    def harm(folder):
        target = folder.parent.parent / to(folder.parent.name)
        target.parent.mkdir(exist_ok=True)
        folder.rename(target)
        folder.mkdir()

    return harm


DAMAGE = {
    **{f"flipped {name}": flip(name) for name in FILES},
    **{f"cut {name}": cut(name) for name in FILES},
    **{f"missing {name}": missing(name) for name in FILES},
    "a file in its place": lambda folder: (
        folder.rename(folder.parent / "aside"),
        folder.write_bytes(b""),
    ),
    "an older format": resealed(format=lambda number: number - 1),
    "another identity": resealed(identity=lambda identity: "0" * 20),
    "another seed in the setting": resealed(setting=lambda setting: setting | {"seed": 5}),
}


@pytest.mark.parametrize("harm", DAMAGE)
def test_damage_is_named_and_never_used(harm, tmp_path, caplog):
    run, store = a_run(BY_HAND), tt.Store(tmp_path)
    folder = Path(store.save(run))
    DAMAGE[harm](folder)
    fresh = tt.Store(tmp_path)
    assert fresh.verify(fresh.name(BY_HAND)) != ""
    assert fresh.find(BY_HAND) is None
    assert fresh.begun(BY_HAND.change(steps=10**6)) is None
    assert f"{fresh.name(BY_HAND)} is not used" in caplog.text
    with pytest.raises(tt.Refused):
        tt.load(folder)
    fresh.save(run)
    assert_equal(tt.Store(tmp_path).find(BY_HAND), run)


@pytest.mark.parametrize(
    "harm",
    [
        moved(lambda own: f"{own}/800"),
        moved(lambda own: f"{TINY.identity()}/400"),
        resealed(setting=lambda s: s | {"steps": 5}),
    ],
    ids=["moved to a horizon", "moved to an identity", "another horizon inside"],
)
def test_a_run_under_a_name_that_is_not_its_own_is_not_used(harm, tmp_path, caplog):
    """Its bytes are whole, so that only the name gives it away."""
    store = tt.Store(tmp_path)
    harm(Path(store.save(a_run(BY_HAND))))
    assert store.find(BY_HAND) is None
    assert store.find(BY_HAND.change(steps=800)) is None
    assert store.find(TINY) is None
    assert "moved or copied to this name" in caplog.text


@pytest.mark.parametrize(
    "harm", ["flipped curves.parquet", "cut run.json", "missing end.safetensors", "an older format"]
)
def test_execute_runs_a_damaged_setting_again(harm, tmp_path, caplog):
    """One that the listing finds out, and one that only its bytes do."""
    small = TINY.change(steps=20)
    store = tt.Store(tmp_path)
    (run,) = tt.execute([small], store=store)
    DAMAGE[harm](Path(store.path(small)))
    watched = []
    (again,) = tt.execute(
        [small], store=tt.Store(tmp_path), watch=lambda *seen: watched.append(seen)
    )
    assert watched
    assert_equal(replace(again, made=()), run)
    assert "is run again" in caplog.text
    assert_equal(tt.load(store.path(small)), run)


def test_a_stopped_run_does_not_take_the_place_of_a_whole_one(tmp_path):
    store = tt.Store(tmp_path)
    whole = a_run()
    store.save(whole)
    store.save(a_run(TINY.change(steps=900), Outcome.STOPPED, taken=400))
    assert_equal(store.find(TINY), whole)


def test_a_later_checkpoint_takes_the_place_of_an_earlier_one(tmp_path):
    store = tt.Store(tmp_path)
    for taken in (50, 80, 120):
        store.save(a_run(TINY, Outcome.STOPPED, taken=taken))
        assert [entry.name.rpartition("/")[2] for entry in store.entries()] == [str(taken)]
    store.save(a_run())
    assert [entry.outcome for entry in store.entries()] == ["FINISHED"]


def test_a_run_that_other_versions_made_a_piece_of_is_foreign(tmp_path, monkeypatch):
    store = tt.Store(tmp_path)
    old = encoding.environment() | {"jax": "0.1.0", "to": 100}
    store.save(replace(a_run(), made=(old,)))
    (entry,) = store.entries()
    assert entry.foreign == "jax 0.1.0"
    assert store.find(TINY) is not None
    assert store.foreign == {entry.name}
    assert tt.Store(tmp_path, rerun_foreign=True).find(TINY) is None


def test_a_failure_is_listed_and_verified(tmp_path):
    store = tt.Store(tmp_path)
    store.save_failure(TINY, ValueError("no such thing\nsecond line"))
    (entry,) = store.entries()
    assert (entry.outcome, entry.about["note"], store.verify(entry.name)) == (
        "FAILED",
        "ValueError: no such thing",
        "",
    )
    assert store.setting(entry) == TINY
    assert store.find(TINY) is None
    flip("failed.json")(tmp_path / TINY.identity())
    assert "cut short or was changed" in store.verify(entry.name)
    with pytest.raises(tt.Refused, match="could not be run"):
        store.save(a_run(outcome=Outcome.FAILED))


def test_other_folders_are_not_listed(tmp_path):
    (tmp_path / "photographs" / "2024").mkdir(parents=True)
    assert list(tt.Store(tmp_path).entries()) == []


def test_loading_says_what_is_wrong(tmp_path):
    with pytest.raises(tt.Refused, match="there is no such folder"):
        tt.load(tmp_path / "nowhere")
    with pytest.raises(tt.Refused, match="never finished"):
        tt.load(tmp_path)
    folder = Path(tt.Store(tmp_path).save(a_run()))
    elsewhere = folder.rename(tmp_path / "sent by a colleague")
    assert_equal(tt.load(elsewhere), a_run())


def test_nothing_is_ever_unpickled():
    """No module that could execute what it reads is imported anywhere, and no array is read with
    leave to.
    """
    harmful = {"pickle", "cloudpickle", "dill", "joblib", "shelve", "marshal"}
    for path in SOURCE.rglob("*.py"):
        text = path.read_text()
        for node in ast.walk(ast.parse(text)):
            names = [alias.name for alias in node.names] if isinstance(node, ast.Import) else []
            names += [node.module or ""] if isinstance(node, ast.ImportFrom) else []
            assert not harmful & {name.partition(".")[0] for name in names}, path
        assert "allow_pickle=True" not in text
        assert "read_pickle" not in text
