"""Files that the libraries of others read in a child process: whatever happens there is one line here."""

import io
import os
import signal
import sys
import time
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pandas as pd
import pyreadstat
import pytest

from latree.errors import InputError
from latree.table import as_table
from latree.table.formats import foreign
from latree.table.formats.foreign import Limits, Parcel, packed_columns, read_apart, unpacked_columns
from latree.table.raw import from_texts, from_values

linux_only = pytest.mark.skipif(sys.platform != "linux", reason="children are forked on Linux only")


def read(path, function, *arguments):
    return read_apart(function, path, *arguments, what="a good file", remedy="save it again")


@pytest.fixture
def path(tmp_path):
    (tmp_path / "some.file").write_bytes(b"content")
    return tmp_path / "some.file"


@pytest.fixture
def children(monkeypatch):
    """The numbers of the processes that are forked."""
    numbers, fork = [], os.fork

    def recorded():
        numbers.append(fork())
        return numbers[-1]

    monkeypatch.setattr(os, "fork", recorded)
    return numbers


def assert_ended(children):
    (number,) = children
    with pytest.raises(ChildProcessError):
        os.waitpid(number, os.WNOHANG)


def echo(path, *arguments):
    print("libraries print")
    os.write(2, b"libraries print")
    return Parcel([path.read_text(), *arguments], [np.arange(3), np.array([True]), np.zeros((2, 0))])


@linux_only
def test_what_a_function_returns_comes_back(path, children, capfd):
    parcel = read(path, echo, {"a": [1, None]}, "ü\ud800")
    assert parcel.facts == ["content", {"a": [1, None]}, "ü\ud800"]
    assert [array.tolist() for array in parcel.arrays] == [[0, 1, 2], [True], [[], []]]
    assert capfd.readouterr() == ("", "")
    assert_ended(children)


def crash(path):
    os.kill(os.getpid(), signal.SIGSEGV)


def end(path):
    os._exit(1)


def refuse(path):
    raise InputError(f"{path}: a line of its own")


def fail(path):
    raise RuntimeError("several\nlines")


def take_memory(path):
    np.ones(2**40)


def compute_on(path):
    while True:
        pass


def stop(path):
    os.kill(os.getpid(), signal.SIGSTOP)


def send_objects(path):
    return Parcel(None, [np.array([{}], dtype=object)])


def send_texts(path):
    return Parcel(None, [np.array(["a"])])


@linux_only
@pytest.mark.parametrize(
    ("function", "line"),
    [
        (crash, "not a good file that can be read (reading it crashed): save it again"),
        (end, "not a good file that can be read (reading it crashed): save it again"),
        (refuse, "a line of its own"),
        (fail, "not a good file that can be read (several lines): save it again"),
        (take_memory, "not a good file that can be read (it asks for more than 1.0 GB of memory): save it again"),
        (compute_on, "not a good file that can be read (reading it took more than 1 seconds): save it again"),
        (stop, "not a good file that can be read (reading it took more than 1 seconds): save it again"),
        (send_objects, "not a good file that can be read (reading it crashed): save it again"),
        (send_texts, "not a good file that can be read (reading it crashed): save it again"),
    ],
)
def test_whatever_happens_is_one_line(path, children, function, line, monkeypatch, capfd):
    monkeypatch.setattr(foreign, "_SECONDS", 1.0 if function in (compute_on, stop) else 600.0)
    with pytest.raises(InputError) as caught:
        read(path, function)
    assert str(caught.value).startswith(f"{path}: {line}")
    assert "\n" not in str(caught.value)
    assert capfd.readouterr() == ("", "")
    assert_ended(children)


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"{",
        b"[]\n",
        b'{"arrays": 1}\n',
        b'{"arrays": "x"}\n',
        b'{"arrays": 1}\n\x93NUMPY\x01',
        b"[" * 10**5 + b"\n",
    ],
)
def test_rubbish_of_a_child_is_no_answer(content):
    assert foreign._received(io.BytesIO(content)) is None


@linux_only
def test_a_program_may_leave_its_children_to_the_system(path):
    before = signal.signal(signal.SIGCHLD, signal.SIG_IGN)
    try:
        assert read(path, echo).facts == ["content"]
        with pytest.raises(InputError, match="crashed"):
            read(path, crash)
    finally:
        signal.signal(signal.SIGCHLD, before)


@linux_only
def test_any_thread_may_read_files(path):
    with ThreadPoolExecutor(4) as pool:
        assert [parcel.facts for parcel in pool.map(lambda _: read(path, echo), range(8))] == [["content"]] * 8


@linux_only
def test_ctrl_c_ends_the_child(path, children, monkeypatch):
    def interrupt(_):
        raise KeyboardInterrupt

    monkeypatch.setattr(time, "sleep", interrupt)
    with pytest.raises(KeyboardInterrupt):
        read(path, compute_on)
    assert_ended(children)


def test_limits_grow_with_the_file(path, tmp_path):
    small = Limits.for_file(path)
    with (tmp_path / "large.file").open("wb") as stream:
        stream.truncate(10**9)  # as a sparse file it takes no room
    large = Limits.for_file(tmp_path / "large.file")
    assert 60 <= small.seconds < 61
    assert large.seconds > 10**5
    assert 2**30 <= small.memory <= large.memory


def test_where_forks_are_not_safe_a_new_python_reads_the_file(tmp_path, monkeypatch):
    frame = pd.DataFrame({"a": [1.0, 2, 1, np.nan], "b": ["x", "y", "", "x"]})
    pyreadstat.write_sav(frame, tmp_path / "a.sav", variable_value_labels={"a": {1: "no", 2: "yes"}})
    expected = as_table(tmp_path / "a.sav")
    (tmp_path / "bad.sav").write_bytes((tmp_path / "a.sav").read_bytes()[:200])
    monkeypatch.setattr(foreign, "_fork", None)
    monkeypatch.setattr(foreign, "_ON_LINUX", False)
    found = as_table(tmp_path / "a.sav")
    assert found.columns == expected.columns
    assert found.codes().tolist() == expected.codes().tolist()
    with pytest.raises(InputError, match=r"bad\.sav: not an SPSS file that can be read"):
        as_table(tmp_path / "bad.sav")
    monkeypatch.setattr(foreign, "_SECONDS", 0.01)
    monkeypatch.setattr(foreign, "_SECONDS_PER_BYTE", 0.0)
    with pytest.raises(InputError, match=r"took more than 0 seconds"):
        as_table(tmp_path / "a.sav")


COLUMNS = [
    from_texts("words", ["b", "", "a", "b"], ("a", "b")),
    from_values("numbers", np.array([1.5, np.nan, 2.5, 1.5])),
    from_values("yes", np.array([True, False, True, True])),
]


def test_raw_columns_survive_the_way(path):
    parcel = packed_columns(COLUMNS, more=1)
    assert parcel.facts["more"] == 1
    for found, expected in zip(unpacked_columns(path, parcel), COLUMNS, strict=True):
        assert (found.name, found.order, found.values.dtype) == (expected.name, expected.order, expected.values.dtype)
        np.testing.assert_array_equal(found.values, expected.values)
        np.testing.assert_array_equal(found.codes, expected.codes)


@pytest.mark.parametrize(
    "change",
    [
        lambda facts, arrays: facts["columns"][0].update(name=3),
        lambda facts, arrays: facts["columns"][0].update(texts=["a", 1, "b"]),
        lambda facts, arrays: facts["columns"][0].update(texts=["a"]),  # codes of values that are not there
        lambda facts, arrays: facts["columns"][0].update(order=[None]),
        lambda facts, arrays: facts["columns"][0].pop("texts"),
        lambda facts, arrays: facts.update(columns=3),
        lambda facts, arrays: arrays.pop(),
        lambda facts, arrays: arrays.__setitem__(0, np.array([-1, 0, 0, 0])),
        lambda facts, arrays: arrays.__setitem__(0, np.zeros((2, 2), dtype=np.uint8)),
        lambda facts, arrays: arrays.__setitem__(0, np.zeros(3, dtype=np.uint8)),
    ],
)
def test_what_a_child_sends_is_not_trusted(path, change):
    facts, arrays = packed_columns(COLUMNS)
    change(facts, arrays)
    with pytest.raises(InputError, match="reading it gave no table"):
        unpacked_columns(path, Parcel(facts, arrays))
