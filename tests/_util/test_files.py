import errno
import os
import resource
import shutil
import signal
import stat
import subprocess
import sys
import warnings
from contextlib import contextmanager, nullcontext
from functools import partial
from itertools import count
from pathlib import Path
from unittest import mock

import pytest

from latree._util.files import (
    Lock,
    finish_replacement,
    locked,
    made_parents,
    new_file,
    new_folder,
    read_text,
    refuse_existing,
    write_text,
)
from latree.errors import InputError


def listing(folder):
    return sorted(path.name for path in folder.iterdir())


@contextmanager
def umask(mask):
    before = os.umask(mask)
    try:
        yield
    finally:
        os.umask(before)


@contextmanager
def full_disk():
    """Let no file grow beyond ten bytes."""
    limits = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (10, limits[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limits)


@contextmanager
def refusing(method):
    """Make a method of Path fail like a disk that has gone."""

    def fail(*_):
        raise OSError(errno.EIO, "the disk is gone")

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Path, method, fail)
        yield


def test_unreadable_files_are_named(tmp_path):
    (tmp_path / "latin").write_bytes(b"\xe9")
    for name, reason in {"absent": "no such file", ".": "is a folder", "latin": "not UTF-8"}.items():
        with pytest.raises(InputError, match=reason) as caught:
            read_text(tmp_path / name)
        assert str(caught.value).startswith(f"{tmp_path / name}: ")


@pytest.mark.parametrize(
    ("trouble", "text", "error"),
    [
        (full_disk, "much more than ten bytes", InputError),
        (partial(refusing, "replace"), "text", InputError),
        (nullcontext, "\ud800", UnicodeEncodeError),
    ],
    ids=["full disk", "replace", "encoding"],
)
@pytest.mark.parametrize("before", [[], ["file"]], ids=["new", "old"])
def test_a_failed_write_leaves_everything_as_it_was(tmp_path, trouble, text, error, before):
    for name in before:
        (tmp_path / name).write_text("old")
    with trouble(), pytest.raises(error) as raised:
        write_text(tmp_path / "file", text)
    assert error is not InputError or str(raised.value).startswith(f"{tmp_path / 'file'}: ")
    assert listing(tmp_path) == before
    assert all((tmp_path / name).read_text() == "old" for name in before)


@pytest.mark.parametrize("trouble", [full_disk, partial(refusing, "replace")], ids=["full disk", "replace"])
def test_a_failed_write_leaves_no_folders(tmp_path, trouble):
    (tmp_path / "there").mkdir()
    with trouble(), pytest.raises(InputError):
        write_text(tmp_path / "there" / "new" / "deep" / "file", "much more than ten bytes")
    assert listing(tmp_path) == ["there"]
    assert listing(tmp_path / "there") == []


def test_folders_are_made_once_the_result_is_there(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for path in (Path("new", "deep", "file"), tmp_path / "new" / "deeper" / "file"):
        with new_file(path) as stream:
            stream.write(b"text")
            assert not path.parent.exists()
        assert read_text(path) == "text"
        assert listing(path.parent) == ["file"]
    with new_folder(tmp_path / "other" / "deep" / "run") as folder:
        write_text(folder / "file", "text")
        assert not (tmp_path / "other").exists()
    assert listing(tmp_path / "other" / "deep" / "run") == ["file"]
    assert listing(tmp_path) == ["new", "other"]


def test_folders_of_others_stay(tmp_path):
    def fail(path):
        with made_parents(path):
            (path.parents[1] / "beside").write_text("someone else's")
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        fail(tmp_path / "new" / "deep" / "file")
    assert listing(tmp_path / "new") == ["beside"]
    (tmp_path / "empty").mkdir()
    with pytest.raises(KeyboardInterrupt):
        fail(tmp_path / "empty" / "file")
    assert listing(tmp_path) == ["beside", "empty", "new"]


def test_text_is_written_as_it_stands(tmp_path):
    write_text(tmp_path / "file", "é\r\n\n")
    assert (tmp_path / "file").read_bytes() == "é\r\n\n".encode()
    assert listing(tmp_path) == ["file"]


@pytest.mark.parametrize("error", [KeyboardInterrupt, RuntimeError, InputError])
@pytest.mark.parametrize("name", ["run", "new/deep/run"])
def test_a_folder_vanishes_with_its_block(tmp_path, name, error):
    def interrupted():
        with new_folder(tmp_path / name) as folder:
            write_text(folder / "file", "text")
            (folder / "deeper").mkdir()
            raise error

    with pytest.raises(error):
        interrupted()
    assert listing(tmp_path) == []


@pytest.mark.parametrize("name", ["run", "new/deep/run"])
def test_a_folder_that_cannot_be_finished_vanishes(tmp_path, name):
    with (
        refusing("rename"),
        pytest.raises(InputError, match="run: the disk is gone"),
        new_folder(tmp_path / name) as folder,
    ):
        (folder / "file").write_text("text")
    assert listing(tmp_path) == []


def test_a_folder_appears_whole(tmp_path):
    with new_folder(tmp_path / "run") as folder:
        write_text(folder / "file", "text")
        assert not (tmp_path / "run").exists()
    assert listing(tmp_path) == ["run"]
    assert listing(tmp_path / "run") == ["file"]


@pytest.mark.parametrize("mask", [0o022, 0o027, 0o077, 0])
def test_permissions_follow_the_umask(tmp_path, mask):
    with umask(mask), new_folder(tmp_path / "run") as folder:
        write_text(folder / "file", "text")
    assert stat.S_IMODE((tmp_path / "run").stat().st_mode) == 0o777 & ~mask
    assert stat.S_IMODE((tmp_path / "run" / "file").stat().st_mode) == 0o666 & ~mask


def test_a_private_file_stays_private(tmp_path):
    write_text(tmp_path / "file", "old")
    (tmp_path / "file").chmod(0o600)
    write_text(tmp_path / "file", "new")
    assert (tmp_path / "file").read_text() == "new"
    assert stat.S_IMODE((tmp_path / "file").stat().st_mode) == 0o600


@pytest.mark.parametrize("name", ["file", "folder", "dangling", "file/run", "file/deep/run", "dangling/run"])
def test_outputs_have_to_be_new(tmp_path, name):
    (tmp_path / "file").write_text("old")
    (tmp_path / "folder").mkdir()
    (tmp_path / "dangling").symlink_to("nowhere")
    before = listing(tmp_path)
    for call in (refuse_existing, lambda path: new_folder(path).__enter__()):
        with pytest.raises(InputError, match=r"already exists|is not a folder") as caught:
            call(tmp_path / name)
        assert str(caught.value).startswith(f"{tmp_path / name}: ")
    assert listing(tmp_path) == before
    with pytest.raises(InputError, match="already exists"):
        refuse_existing(Path())


def a_run(path, text, names=("summary.json", "model.json")):
    """Write what a fit writes, with a text that tells one run from another."""
    marks = {"model.json": '{"format": "latree-model"}', "summary.json": '{"latree": "1.0"}'}
    with new_folder(path, replace=True) as folder:
        for name in names:
            write_text(folder / name, marks.get(name, "") + text)


def content(folder):
    return {path.name: path.read_text() for path in folder.rglob("*") if path.is_file()}


def test_a_run_replaces_the_files_of_a_run_and_nothing_else(tmp_path):
    a_run(tmp_path / "run", "old", ("summary.json", "model.json", "groups.csv", "consensus.nwk"))
    (tmp_path / "run" / "thesis.tex").write_text("mine")
    (tmp_path / "run" / ".notes.original").write_text("mine")
    (tmp_path / "run" / "raw").mkdir()
    (tmp_path / "run" / "raw" / "groups.csv").write_text("mine")
    a_run(tmp_path / "run", "new", ("summary.json", "model.json", "report.html"))
    assert listing(tmp_path) == ["run"]
    assert listing(tmp_path / "run") == [
        ".notes.original",
        "model.json",
        "raw",
        "report.html",
        "summary.json",
        "thesis.tex",
    ]
    others = (".notes.original", "thesis.tex", "groups.csv")
    assert all(text == "mine" if name in others else "new" in text for name, text in content(tmp_path / "run").items())


@pytest.mark.parametrize(
    ("model", "summary"),
    [
        ("{}", "{}"),
        ('{"format": "latree-model"}', "{}"),
        ('{"format": "other"}', '{"latree": "1.0"}'),
        ("", ""),
        ('{"format": "latree-model"}', None),
    ],
)
def test_a_folder_is_a_run_by_the_content_of_its_files(tmp_path, model, summary):
    (tmp_path / "app").mkdir()
    for name, text in (("model.json", model), ("summary.json", summary), ("main.js", "mine")):
        if text is not None:
            (tmp_path / "app" / name).write_text(text)
    before = content(tmp_path)
    with pytest.raises(InputError, match="app: already exists and is a folder that latree fit did not write"):
        a_run(tmp_path / "app", "new")
    assert content(tmp_path) == before


def test_a_run_in_which_a_folder_has_the_name_of_a_file_is_refused(tmp_path):
    a_run(tmp_path / "run", "old")
    (tmp_path / "run" / "groups.csv").mkdir()
    with pytest.raises(InputError, match="latree fit did not write"):
        a_run(tmp_path / "run", "new")


@pytest.mark.parametrize("replace", [False, True])
def test_a_file_is_never_replaced_by_a_folder_nor_a_folder_by_a_file(tmp_path, replace):
    (tmp_path / "file").write_text("old")
    a_run(tmp_path / "run", "old")
    (tmp_path / "link").symlink_to("run")
    with pytest.raises(InputError, match=r"is a file; it is not replaced by a folder, choose another name$"):
        refuse_existing(tmp_path / "file", replace, folder=True)
    with pytest.raises(InputError, match="is a file"), new_folder(tmp_path / "file", replace):
        pass
    with pytest.raises(InputError, match=r"is a folder; it is not replaced by a file, choose another name$"):
        refuse_existing(tmp_path / "run", replace)
    for folder in (False, True):
        with pytest.raises(InputError, match="link: already exists; nothing was written"):
            refuse_existing(tmp_path / "link", replace, folder)
    assert read_text(tmp_path / "file") == "old"


def test_a_run_that_cannot_be_replaced_stays(tmp_path):
    a_run(tmp_path / "run", "old")
    with refusing("rename"), pytest.raises(InputError, match="run: the disk is gone"):
        a_run(tmp_path / "run", "new")
    assert listing(tmp_path) == ["run"]
    assert listing(tmp_path / "run") == ["model.json", "summary.json"]
    assert "old" in read_text(tmp_path / "run" / "model.json")


def end_of_copy(work, steps):
    """Do some work in a copy of this process that is killed before a step on the disk; return how it ended."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)  # about other threads, which the copy does not need
        process = os.fork()
    if process:
        return os.waitstatus_to_exitcode(os.waitpid(process, 0)[1])
    try:
        left = iter(range(steps))

        def kill_before(call):
            def counted(*arguments, **options):
                if next(left, None) is None:
                    os.kill(os.getpid(), signal.SIGKILL)
                return call(*arguments, **options)

            return counted

        for name in ("rename", "replace", "unlink", "rmdir", "mkdir", "link", "open"):
            setattr(os, name, kill_before(getattr(os, name)))
        work()
        os._exit(0)
    finally:
        os._exit(1)


def test_a_kill_at_any_step_leaves_the_old_or_the_new_run(tmp_path, monkeypatch):
    """Each step that changes the disk is the last one once. Who opens the run next finds one result, not two halves."""
    monkeypatch.setattr(os, "fsync", lambda handle: None)  # for speed: it matters for a power cut alone
    run, seen = tmp_path / "run", set()
    for steps in count():
        shutil.rmtree(run, ignore_errors=True)
        a_run(run, "old", ("report.html", "consensus.nwk", "summary.json", "model.json"))
        (run / "thesis.tex").write_text("mine")
        ended = end_of_copy(partial(a_run, run, "new", ("report.html", "summary.json", "model.json")), steps)
        model = read_text(run / "model.json")  # it is there and whole, whoever looks
        finish_replacement(run)
        found = {name: text for name, text in content(run).items() if (run / name).is_file()}
        assert found.pop("thesis.tex") == "mine"
        result = "new" if "new" in found["model.json"] else "old"
        assert result in model or result == "new"
        names = {"report.html", "summary.json", "model.json"} | ({"consensus.nwk"} if result == "old" else set())
        assert found.keys() == names
        assert all(result in text for text in found.values())
        seen.add(result)
        if ended == 0:
            break
        assert ended == -signal.SIGKILL
        a_run(run, "newer")  # and the next one is not hindered
        assert "newer" in read_text(run / "model.json")
    assert seen == {"old", "new"}
    assert steps > 10


def test_a_file_that_cannot_be_replaced_does_not_cost_the_new_result(tmp_path):
    """As on Windows, where no file can be replaced that is open."""
    run = tmp_path / "run"
    a_run(run, "old", ("groups.csv", "summary.json", "model.json"))

    def fails(path, target, original=Path.replace):
        if target == run / "groups.csv":
            raise PermissionError(errno.EACCES, "Access is denied")
        return original(path, target)

    with (
        mock.patch.object(Path, "replace", fails),
        pytest.raises(InputError, match=r"groups\.csv: Access is denied; the new result is complete in .*: close the"),
    ):
        a_run(run, "new", ("groups.csv", "summary.json", "model.json"))
    finish_replacement(run)
    assert listing(run) == ["groups.csv", "model.json", "summary.json"]
    assert all("new" in text for text in content(run).values())


def test_a_folder_of_others_with_the_name_of_a_replacement_stays(tmp_path):
    run = tmp_path / "run"
    a_run(run, "old")
    (run / ".latree-replacement").mkdir()
    (run / ".latree-replacement" / "model.json").write_text("mine")
    finish_replacement(run)
    with pytest.raises(InputError, match="run: "):
        a_run(run, "new")
    assert (run / ".latree-replacement" / "model.json").read_text() == "mine"
    assert "old" in read_text(run / "model.json")


LOCKING = """
import sys, time
from pathlib import Path
from latree._util.files import locked

with locked(Path(sys.argv[1])):
    print("locked", flush=True)
    time.sleep(60)
"""


@pytest.mark.parametrize("name", ["file", "run"])
def test_a_lock_ends_with_its_process_and_leaves_nothing(tmp_path, name):
    (tmp_path / "file").write_text("old")
    a_run(tmp_path / "run", "old")
    before = content(tmp_path)
    with subprocess.Popen([sys.executable, "-c", LOCKING, tmp_path / name], stdout=subprocess.PIPE) as process:
        try:
            assert process.stdout.readline() == b"locked\n"
            with pytest.raises(InputError, match=f"{name}: another run is writing it; wait until it ends"):
                Lock(tmp_path / name)
        finally:
            process.kill()
    with locked(tmp_path / name), pytest.raises(InputError, match="another run"), locked(tmp_path / name):
        pass
    Lock(tmp_path / name).release()
    assert content(tmp_path) == before


def test_a_file_that_was_replaced_while_it_was_locked_is_not_taken(tmp_path):
    path = tmp_path / "file"
    path.write_text("old")

    def replaced_meanwhile(*_):
        write_text(path, "new")

    with mock.patch("fcntl.flock", replaced_meanwhile), pytest.raises(InputError, match="another run is writing it"):
        Lock(path)


def test_a_file_system_without_locks_is_written_all_the_same(tmp_path):
    path = tmp_path / "file"
    path.write_text("old")
    with mock.patch("fcntl.flock", side_effect=OSError(errno.ENOLCK, "No locks available")), locked(path):
        write_text(path, "new")
    assert path.read_text() == "new"


def test_what_is_locked_must_be_there(tmp_path):
    with pytest.raises(InputError, match="absent: no such file"):
        Lock(tmp_path / "absent")


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "utf-32"])
def test_a_byte_order_mark_is_not_part_of_the_text(tmp_path, encoding):
    (tmp_path / "a.nwk").write_bytes("((a,ü),c);".encode(encoding))
    assert read_text(tmp_path / "a.nwk") == "((a,ü),c);"


def test_a_pipe_is_not_read(tmp_path):
    os.mkfifo(tmp_path / "pipe.nwk")
    with pytest.raises(InputError, match=r"pipe\.nwk: not a file but a pipe or a device"):
        read_text(tmp_path / "pipe.nwk")


def test_of_two_runs_that_write_one_file_one_fails(tmp_path):
    """Both begin while there is no file: the second to finish must not say that it succeeded."""
    path = tmp_path / "filled.csv"
    with (
        pytest.raises(InputError, match=r"filled\.csv: already exists, since another run wrote it"),
        new_file(path, replace=False),
        new_file(path, replace=False) as early,
    ):
        early.write(b"early")
    assert path.read_bytes() == b"early"
    assert listing(tmp_path) == ["filled.csv"]


def test_of_two_runs_that_write_one_file_one_fails_without_hard_links_too(tmp_path, monkeypatch):
    monkeypatch.setattr("pathlib.Path.hardlink_to", mock.Mock(side_effect=OSError(errno.EPERM, "no links")))
    test_of_two_runs_that_write_one_file_one_fails(tmp_path)


def test_of_two_runs_that_make_one_folder_the_loser_names_the_folder(tmp_path):
    path = tmp_path / "run"

    @contextmanager
    def another_run_is_faster(_):
        path.mkdir()
        (path / "model.json").write_text("")
        yield

    with (
        pytest.raises(InputError, match="run: already exists, since another run wrote it") as error,
        mock.patch("latree._util.files.made_parents", another_run_is_faster),
        new_folder(path) as folder,
    ):
        (folder / "model.json").write_text("")
    assert str(folder) not in str(error.value)
    assert listing(tmp_path) == ["run"]


def test_errors_inside_a_new_folder_name_the_folder_that_was_asked_for(tmp_path):
    with pytest.raises(InputError, match="run/x is not a folder") as error, new_folder(tmp_path / "run") as folder:  # noqa: PT012
        write_text(folder / "x", "")
        write_text(folder / "x" / "y", "")
    assert ".run." not in str(error.value)


def test_no_run_removes_what_it_did_not_write(tmp_path):
    """However old it is, and whatever its name."""
    for name in (".run.original", ".run.abcd1234", ".latree-abcd1234"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "thesis.tex").write_text("mine")
    for name in (".file.previous", ".file.abcd1234", ".model.json.original"):
        (tmp_path / name).write_text("mine")
    for path in tmp_path.rglob("*"):
        os.utime(path, (1e9, 1e9))
    before = set(tmp_path.rglob("*"))
    a_run(tmp_path / "run", "old")
    a_run(tmp_path / "run", "new")
    for text in ("old", "new"):
        write_text(tmp_path / "file", text)
    assert before <= set(tmp_path.rglob("*"))
    assert listing(tmp_path / "run") == ["model.json", "summary.json"]
