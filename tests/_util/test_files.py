import errno
import os
import resource
import stat
import time
from contextlib import contextmanager, nullcontext
from functools import partial
from pathlib import Path
from unittest import mock

import pytest

from latree._util.files import made_parents, new_file, new_folder, read_text, refuse_existing, write_text
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
        (partial(refusing, "chmod"), "text", InputError),
        (partial(refusing, "replace"), "text", InputError),
        (nullcontext, "\ud800", UnicodeEncodeError),
    ],
    ids=["full disk", "chmod", "replace", "encoding"],
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


@pytest.mark.parametrize("trouble", ["chmod", "rename"])
@pytest.mark.parametrize("name", ["run", "new/deep/run"])
def test_a_folder_that_cannot_be_finished_vanishes(tmp_path, name, trouble):
    with (
        refusing(trouble),
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


def a_run(path, text):
    with new_folder(path, replace=True) as folder:
        for name in ("model.json", "summary.json"):
            write_text(folder / name, text)


def test_a_run_may_replace_a_run_and_nothing_else(tmp_path):
    a_run(tmp_path / "run", "old")
    (tmp_path / "run" / "more").write_text("old")
    a_run(tmp_path / "run", "new")
    assert listing(tmp_path) == ["run"]
    assert listing(tmp_path / "run") == ["model.json", "summary.json"]
    assert read_text(tmp_path / "run" / "model.json") == "new"
    (tmp_path / "run" / "summary.json").unlink()
    with pytest.raises(InputError, match="latree fit did not write"):
        a_run(tmp_path / "run", "newer")
    assert read_text(tmp_path / "run" / "model.json") == "new"


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

    def fails(path, target, original=Path.rename):
        if target == tmp_path / "run" and path.parent == tmp_path:
            raise OSError("the disk is gone")
        return original(path, target)

    with mock.patch.object(Path, "rename", fails), pytest.raises(InputError, match="run: the disk is gone"):
        a_run(tmp_path / "run", "new")
    assert listing(tmp_path) == ["run"]
    assert read_text(tmp_path / "run" / "model.json") == "old"


def test_a_run_that_cannot_be_moved_stays(tmp_path):
    """As on Windows, where no folder can be moved in which a file is open."""
    a_run(tmp_path / "run", "old")

    def fails(path, target, original=Path.rename):
        if path == tmp_path / "run":
            raise PermissionError(errno.EACCES, "Access is denied")
        return original(path, target)

    with mock.patch.object(Path, "rename", fails), pytest.raises(InputError, match="run: Access is denied"):
        a_run(tmp_path / "run", "new")
    assert listing(tmp_path) == ["run"]
    assert read_text(tmp_path / "run" / "model.json") == "old"


def test_a_run_that_cannot_be_put_back_is_not_lost(tmp_path):
    a_run(tmp_path / "run", "old")

    def fails(path, target, original=Path.rename):
        if target == tmp_path / "run":
            raise OSError("the disk is gone")
        return original(path, target)

    with mock.patch.object(Path, "rename", fails), pytest.raises(InputError, match="run: the disk is gone"):
        a_run(tmp_path / "run", "new")
    (aside,) = tmp_path.iterdir()
    assert read_text(aside / "run" / "model.json") == "old"


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

    def another_run_is_faster(*_, **__):
        path.mkdir(exist_ok=True)
        (path / "model.json").write_text("")

    with (
        mock.patch("latree._util.files._set_aside", side_effect=lambda _: nullcontext(another_run_is_faster())),
        pytest.raises(InputError, match="run: already exists, since another run wrote it") as error,
        new_folder(path) as folder,
    ):
        write_text(folder / "model.json", "")
    assert str(folder) not in str(error.value)
    assert listing(tmp_path) == ["run"]


def test_errors_inside_a_new_folder_name_the_folder_that_was_asked_for(tmp_path):
    with pytest.raises(InputError, match="run/x is not a folder") as error, new_folder(tmp_path / "run") as folder:  # noqa: PT012
        write_text(folder / "x", "")
        write_text(folder / "x" / "y", "")
    assert ".run." not in str(error.value)


def test_what_killed_runs_left_is_removed_after_a_day(tmp_path):
    old, recent, other = (tmp_path / name for name in (".run.abcd1234", ".run.abcd1235", ".runs.abcd1236"))
    for left in (old, recent, other):
        left.mkdir()
        (left / "tree.nwk").write_text("")
    (tmp_path / ".run.abcd1237").write_text("")
    (tmp_path / ".run.mine").write_text("")
    before = time.time() - 25 * 3600
    for left in (old, other, tmp_path / ".run.abcd1237", tmp_path / ".run.mine"):
        os.utime(left, (before, before))
    with new_folder(tmp_path / "run") as folder:
        write_text(folder / "model.json", "")
    assert listing(tmp_path) == [".run.abcd1235", ".run.mine", ".runs.abcd1236", "run"]
