"""Forked copies of a process over independent pieces of work."""

import hashlib
import os
import signal
import subprocess
import sys
import threading
import time
from contextlib import contextmanager
from pathlib import Path

import numpy as np
import pytest
from threadpoolctl import threadpool_info

from latree._util import workers
from latree._util.workers import map_forked

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="processes are forked on Linux only")

HERE = os.getpid()


@pytest.fixture(autouse=True)
def three_cores(monkeypatch):
    monkeypatch.setattr(workers, "_WORTH_A_COPY", 0.1)
    monkeypatch.setattr(os, "sched_getaffinity", lambda process: {0, 1, 2})
    before = children()  # other tests' clusters and browsers
    yield
    assert children() <= before  # no copy is left, not even one that has ended


def children():
    """Return the processes that this one started and has not waited for."""
    return {child for task in Path("/proc/self/task").iterdir() for child in (task / "children").read_text().split()}


def wait():
    """Wait so long here that copies have time to begin."""
    time.sleep(0.2 if os.getpid() == HERE else 0.01)


def slowly(item):
    wait()
    return item**2, os.getpid()


def test_results_come_in_order_from_all_processes(monkeypatch):
    monkeypatch.setattr(workers, "_is_alone", lambda: True)  # on a busy machine, threads of BLAS wait for a processor
    found = map_forked(slowly, range(40))
    assert [result for result, _ in found] == [item**2 for item in range(40)]
    assert len({process for _, process in found}) == 3


def test_many_items_are_taken_several_at_a_time(monkeypatch):
    monkeypatch.setattr(workers, "_PARTS", 4)
    assert [result for result, _ in map_forked(slowly, range(30))] == [item**2 for item in range(30)]


def test_arrays_come_back_bit_for_bit_and_shared_ones_are_the_same_objects():
    rng = np.random.default_rng(0)
    shared = [rng.random((3, 4)) for _ in range(20)]

    def work(number):
        wait()
        return os.getpid(), shared[number], shared[number].T * 3

    found = map_forked(work, range(20), shared)
    assert len({process for process, _, _ in found}) > 1
    for number, (_, array, tripled) in enumerate(found):
        assert array is shared[number]
        np.testing.assert_array_equal(tripled, shared[number].T * 3)
        assert tripled.strides == (shared[number].T * 3).strides


@pytest.mark.parametrize("items", [[], [5], [5, 6], range(8)])
def test_little_work_is_done_here(items, monkeypatch):
    monkeypatch.setattr(os, "fork", lambda: pytest.fail("a copy was made"))
    assert map_forked(lambda item: item + 1, items) == [item + 1 for item in items]


@pytest.mark.parametrize(
    ("where", "name", "value"), [(os, "sched_getaffinity", lambda process: {0}), (sys, "platform", "darwin")]
)
def test_without_cores_or_on_other_systems_all_is_done_here(where, name, value, monkeypatch):
    monkeypatch.setattr(where, name, value)
    assert {process for _, process in map_forked(slowly, range(3))} == {HERE}


@pytest.mark.parametrize("name", ["fork", "pipe"])
def test_where_the_system_allows_no_more_all_is_done_here(name, monkeypatch):
    def refuse():
        raise BlockingIOError(11, "Resource temporarily unavailable")

    monkeypatch.setattr(os, name, refuse)
    assert map_forked(slowly, range(3)) == [(item**2, HERE) for item in range(3)]


def test_what_a_copy_had_taken_when_it_died_is_done_again():
    def work(item):
        if os.getpid() != HERE:
            os._exit(1)
        return slowly(item)

    assert map_forked(work, range(5)) == [(item**2, HERE) for item in range(5)]


def test_an_error_is_raised_wherever_it_happens():
    def work(item):
        wait()
        if item == 3:
            raise ValueError("three")
        return item

    with pytest.raises(ValueError, match="three"):
        map_forked(work, range(12))


def test_copies_end_when_this_process_is_interrupted():
    def work(item):
        slowly(item)
        if os.getpid() == HERE and item != 11:
            raise KeyboardInterrupt
        return item

    with pytest.raises(KeyboardInterrupt):
        map_forked(work, range(12))


def test_a_copy_that_cannot_compute_is_given_up(monkeypatch):
    """As if another thread had held a lock when the process was forked."""

    @contextmanager
    def stuck():
        time.sleep(1000)
        yield

    monkeypatch.setattr(workers, "one_thread", stuck)
    monkeypatch.setattr(workers, "_PATIENCE", 0.1)
    assert map_forked(slowly, range(5)) == [(item**2, HERE) for item in range(5)]


def test_no_copy_is_made_while_another_thread_computes(monkeypatch):
    """It may be in BLAS, whose threads a fork would wait for without end."""
    computing = threading.Thread(target=hashlib.pbkdf2_hmac, args=("sha256", b"", b"", 5_000_000))
    computing.start()
    found = map_forked(slowly, range(3))
    computing.join()
    assert found == [(item**2, HERE) for item in range(3)]
    assert len({process for _, process in map_forked(slowly, range(20))}) == 3  # and afterwards they are made again


def test_blas_has_one_thread_when_copies_are_made(monkeypatch):
    seen = []
    monkeypatch.setattr(os, "fork", lambda: seen.append(blas_threads()) or (_ for _ in ()).throw(OSError))
    map_forked(slowly, range(4))
    assert seen == [{1}]


def blas_threads():
    return {one["num_threads"] for one in threadpool_info() if one["user_api"] == "blas"}


STOPPED = """
import os, signal, sys, time
from latree._util import workers

workers._PATIENCE = 0.2
os.sched_getaffinity = lambda process: {0, 1, 2}
here = os.getpid()

class Sent:
    def __reduce__(self):  # called while a copy sends its results
        if when == "sending":
            os.kill(os.getpid(), signal.SIGSTOP)
        return bytes, (100_000,)

def work(item):
    if os.getpid() == here:
        time.sleep(0.2)
    elif when == "computing":
        os.kill(os.getpid(), signal.SIGSTOP)
    return item, bytes(1_000_000), Sent()

when = sys.argv[1]
assert [result[0] for result in workers.map_forked(work, range(6))] == list(range(6))
"""


@pytest.mark.parametrize("when", ["computing", "sending"])
def test_a_copy_that_somebody_stops_is_given_up(when):
    process = subprocess.Popen([sys.executable, "-c", STOPPED, when], start_new_session=True)
    try:
        assert process.wait(timeout=60) == 0
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, signal.SIGKILL)
        process.wait()
        raise


def test_a_copy_that_computes_for_long_is_waited_for(monkeypatch):
    monkeypatch.setattr(workers, "_PATIENCE", 1.0)

    def work(item):
        if os.getpid() != HERE:
            until = time.process_time() + 2.5
            while time.process_time() < until:
                pass
        return slowly(item)

    assert {process for _, process in map_forked(work, range(3))} != {HERE}


def test_copies_make_no_copies():
    def work(item):
        return [process for _, process in map_forked(slowly, range(8))], os.getpid()

    found = map_forked(work, range(6))
    assert any(process != HERE for _, process in found)
    for processes, process in found:
        assert process == HERE or set(processes) == {process}


ORPHANED = """
import os, signal, sys, time
from latree._util.workers import map_forked

os.sched_getaffinity = lambda process: {0, 1}
here = os.getpid()

def work(item):
    if os.getpid() == here:
        time.sleep(100 if item < 5 else 0.2)
    else:
        os.kill(here, signal.SIGKILL)
    return bytes(10_000_000)  # more than fits into a pipe

map_forked(work, range(6))
"""


def test_copies_end_when_their_process_is_killed():
    process = subprocess.Popen([sys.executable, "-c", ORPHANED], start_new_session=True)
    assert process.wait() == -signal.SIGKILL
    for _ in range(200):
        try:
            os.killpg(process.pid, 0)
        except ProcessLookupError:
            return
        time.sleep(0.05)
    os.killpg(process.pid, signal.SIGKILL)
    pytest.fail("a copy is left")
