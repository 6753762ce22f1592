"""Checkpoints: work that is stopped and continued gives the same result."""

import io
import subprocess
import sys
import zipfile
from dataclasses import asdict
from hashlib import sha256

import numpy as np
import pytest

from helpers.checkpoint import Stopped, Stopping, write
from latree._util.checkpoint import NOTHING_KEPT, Checkpoint
from latree._util.progress import stages_shown_by
from latree.errors import InputError
from latree.learn import learn_model
from latree.settings import Settings
from latree.table import as_table
from latree.table.rows import DiskRows


def outcome(learned, folder):
    """Return everything that a fit leaves behind, except its time."""
    path = folder / "model.json"
    learned.model.save(path)
    consensus = None if learned.consensus is None else learned.consensus.to_newick()
    return path.read_bytes(), learned.model.tree.to_newick(), {**learned.summary, "seconds": 0}, consensus


TENSOR = Settings("tensor", n_states=2, smoothing=0.5, bootstrap=3, tol=1e-8, random_state=0)


@pytest.mark.parametrize(
    ("settings", "saves", "on_disk"),
    [
        (Settings("auto", bootstrap=7, random_state=0), 2, False),
        (TENSOR, 1, False),
        (TENSOR, 1, True),
    ],
    ids=["explain", "tensor", "disk"],
)
def test_a_run_that_was_stopped_many_times_ends_the_same(tmp_path, monkeypatch, settings, saves, on_disk):
    monkeypatch.setattr("latree.learners.support.n_threads", lambda: 1)  # joblib warns of tasks that it has to stop
    if on_disk:
        monkeypatch.setattr("latree.table.rows.MEMORY_BYTES", 0)
        monkeypatch.setattr("latree.table.rows.CHUNK_CELLS", 1)
        monkeypatch.setattr("latree.table.rows.BLOCK_ROWS", 64)
    table = as_table(write(tmp_path / "data.csv"))
    assert isinstance(table.rows, DiskRows) == on_disk
    expected = outcome(learn_model(table, settings), tmp_path)
    stops = 0
    while True:
        keep = Stopping(tmp_path / "kept", {**asdict(settings), "data": table.fingerprint()}, saves)
        try:
            learned = learn_model(table, settings, keep=keep)
        except Stopped:
            stops += 1
        else:
            break
    assert stops >= 2
    assert outcome(learned, tmp_path) == expected
    keep.remove()
    assert not (tmp_path / "kept").exists()


def test_two_runs_do_not_share_a_folder(tmp_path):
    first = Checkpoint(tmp_path / "other", {})
    with pytest.raises(InputError, match="other: another run is using it"):
        Checkpoint(tmp_path / "other", {})
    first.close()
    Checkpoint(tmp_path / "other", {}).remove()
    assert not (tmp_path / "other").exists()


def test_a_killed_process_leaves_no_lock_that_blocks(tmp_path):
    program = (
        "import sys, time; from pathlib import Path; from latree._util.checkpoint import Checkpoint\n"
        "checkpoint = Checkpoint(Path(sys.argv[1]), {}); print('locked', flush=True); time.sleep(60)\n"
    )
    folder = tmp_path / "kept"
    with subprocess.Popen([sys.executable, "-c", program, folder], stdout=subprocess.PIPE, text=True) as process:
        try:
            assert process.stdout.readline() == "locked\n"
            with pytest.raises(InputError, match="kept: another run is using it"):
                Checkpoint(folder, {})
        finally:
            process.kill()
    Checkpoint(folder, {}).remove()
    assert not folder.exists()


def test_a_forgotten_checkpoint_releases_its_folder(tmp_path):
    forgotten = Checkpoint(tmp_path / "kept", {})
    del forgotten
    Checkpoint(tmp_path / "kept", {}).close()


def test_a_file_is_no_folder_to_keep_work_in(tmp_path):
    with pytest.raises(InputError, match=r"data\.csv: is a file, not a folder"):
        Checkpoint(write(tmp_path / "data.csv"), {})


def test_finished_work_is_not_done_again(tmp_path, monkeypatch):
    table, settings = (
        as_table(write(tmp_path / "data.csv")),
        Settings("nj", n_states=2, bootstrap=4, random_state=0),
    )
    learn_model(table, settings, keep=Checkpoint(tmp_path / "kept", {}))
    monkeypatch.setattr("latree.learners.methods.Method.replicate", None)
    told = []
    keep = Checkpoint(tmp_path / "kept", {})
    with stages_shown_by(lambda name, at_most=False: lambda *numbers: told.append((name, *numbers))):
        learn_model(table, settings, keep=keep)
    assert ("Resampling the rows", 4, 4) in told
    assert keep.describe() == "4 of 4 replicates"


def test_removing_leaves_what_others_put_there(tmp_path):
    keep = Checkpoint(tmp_path / "kept", {})
    keep.save("fits", 1, {"x": np.ones(2)})
    assert keep.describe() == "1 fit"
    (tmp_path / "kept" / "fits-000003.written").write_text("what a process left that was killed")
    others = [".lock", ".notes.abcd1234", ".notes.original", "notes.txt", "thesis.done"]
    for name in others:
        (tmp_path / "kept" / name).write_text("mine")
    keep.remove()
    assert sorted(path.name for path in (tmp_path / "kept").iterdir()) == others
    assert all((tmp_path / "kept" / name).read_text() == "mine" for name in others)


@pytest.mark.parametrize("name", [".notes.original", ".lock", ".settings.json.abcd1234"])
def test_a_folder_with_a_hidden_file_is_not_empty(tmp_path, name):
    (tmp_path / "kept").mkdir()
    (tmp_path / "kept" / name).write_text("mine")
    with pytest.raises(InputError, match="kept: exists and holds something else"):
        Checkpoint(tmp_path / "kept", {})
    assert (tmp_path / "kept" / name).read_text() == "mine"


def test_a_piece_that_was_half_written_is_written_again(tmp_path):
    keep = Checkpoint(tmp_path / "kept", {})
    (tmp_path / "kept" / "fits-000001.written").write_text("half")
    assert keep.load("fits", 1, dict) is None
    keep.save("fits", 1, {"x": np.ones(2)})
    assert keep.load("fits", 1, lambda arrays: arrays["x"].sum()) == 2
    assert sorted(path.name for path in (tmp_path / "kept").iterdir()) == ["fits-000001.done", "settings.json"]


def test_nothing_is_kept_by_default():
    NOTHING_KEPT.save("fits", 1, {"x": np.ones(2)})
    assert NOTHING_KEPT.load("fits", 1, dict) is None
    assert not NOTHING_KEPT.is_due()


def with_checksum(content):
    return sha256(content).digest() + content


def zipped(members, compression=zipfile.ZIP_STORED):
    """A zip file of named contents."""
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w", compression) as archive:
        for name, content in members.items():
            archive.writestr(name, content)
    return stream.getvalue()


def npy(header, content=b""):
    text = header.encode() + b"\n"
    return b"\x93NUMPY\x01\x00" + len(text).to_bytes(2, "little") + text + content


def saved(**arrays):
    stream = io.BytesIO()
    np.savez_compressed(stream, **arrays)
    return stream.getvalue()


CRAFTED = {
    "empty": b"",
    "a checksum alone": with_checksum(b""),
    "no checksum": b"x" * 100,
    "no zip": with_checksum(b"PK\x03\x04" + bytes(100)),
    "pickle": with_checksum(b"\x80\x04\x95\x10\x00\x00\x00"),
    "plain npy": with_checksum(npy("{'descr': '<f8', 'fortran_order': False, 'shape': (0,)}")),
    "nothing in it": with_checksum(zipped({})),
    "no npy": with_checksum(zipped({"x.npy": b"hello"})),
    "header of code": with_checksum(zipped({"x.npy": npy("__import__('os').abort()")})),
    "header cut": with_checksum(zipped({"x.npy": npy("{'descr': '<f8', ")})),
    "objects": with_checksum(
        zipped({"x.npy": npy("{'descr': '|O', 'fortran_order': False, 'shape': (1,)}", b"\x80\x04N.")})
    ),
    "huge shape": with_checksum(
        zipped({"x.npy": npy("{'descr': '<f8', 'fortran_order': False, 'shape': (999999999999999,)}", bytes(8))})
    ),
    "negative shape": with_checksum(zipped({"x.npy": npy("{'descr': '<f8', 'fortran_order': False, 'shape': (-1,)}")})),
    "compressed": with_checksum(saved(x=np.zeros(100_000))),
    "other names": with_checksum(zipped({"y.npy": npy("{'descr': '<f8', 'fortran_order': False, 'shape': (0,)}")})),
}


@pytest.mark.parametrize("content", CRAFTED.values(), ids=CRAFTED)
def test_crafted_files_are_refused_in_one_line(tmp_path, content):
    keep = Checkpoint(tmp_path / "kept", {})
    (tmp_path / "kept" / "fits-000001.done").write_bytes(content)
    with pytest.raises(InputError, match=r"fits-000001\.done: damaged; remove this file") as error:
        keep.load("fits", 1, lambda arrays: arrays["x"])
    assert "\n" not in str(error.value)


@pytest.mark.parametrize(
    "text",
    ["", "[]", "{}", "[" * 100_000, '{"latree": 1, "latree": 2}', '{"latree": ' + "9" * 5000 + "}", '{"latree": NaN}'],
    ids=lambda text: text[:20] or "empty",
)
def test_crafted_settings_are_refused_in_one_line(tmp_path, text):
    (tmp_path / "kept").mkdir()
    (tmp_path / "kept" / "settings.json").write_text(text)
    with pytest.raises(InputError, match="choose another folder") as error:
        Checkpoint(tmp_path / "kept", {})
    assert "\n" not in str(error.value)


def test_a_crafted_tree_of_a_replicate_is_refused(tmp_path):
    settings = Settings("nj", bootstrap=2, random_state=0)
    table = as_table(write(tmp_path / "data.csv"))
    keep = Checkpoint(tmp_path / "kept", {})
    keep.save("replicates", 0, {"edges": np.array([[0, 0]]), "colour": np.zeros(1)})
    with pytest.raises(InputError, match=r"replicates-000000\.done: damaged"):
        learn_model(table, settings, keep=keep)
