"""Forked copies for work whose every item takes long."""

import os
import sys
import time

import pytest

from latree._util import workers
from latree._util.workers import map_forked, n_threads

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="processes are forked on Linux only")

HERE = os.getpid()


@pytest.fixture(autouse=True)
def three_cores(monkeypatch):
    monkeypatch.setattr(os, "sched_getaffinity", lambda process: {0, 1, 2})


def slowly(item):
    """Square a number, and wait so long here that copies have time to begin."""
    time.sleep(0.2 if os.getpid() == HERE else 0.02)
    return item**2, os.getpid()


def squares(n):
    return [item**2 for item in range(n)]


def test_results_of_long_items_come_in_order_from_all_processes():
    found = map_forked(slowly, range(9), long=True)
    assert [result for result, _ in found] == squares(9)
    assert len({process for _, process in found}) == 3


def test_copies_are_made_at_once_however_short_the_first_item_is(monkeypatch):
    """Two items are enough, where without a word the last one is done here first."""
    monkeypatch.setattr(workers, "_WORTH_A_COPY", 1000.0)
    assert {process for _, process in map_forked(slowly, range(2))} == {HERE}
    assert len({process for _, process in map_forked(slowly, range(2), long=True)}) == 2


def test_each_item_has_one_core():
    def cores(item):
        slowly(item)
        return n_threads()

    assert map_forked(cores, range(6), long=True) == [1] * 6
    assert n_threads() == 3


def test_with_one_core_or_one_item_all_is_done_here_with_all_cores(monkeypatch):
    assert map_forked(lambda item: (n_threads(), os.getpid()), [5], long=True) == [(3, HERE)]
    assert map_forked(slowly, [], long=True) == []
    monkeypatch.setattr(os, "sched_getaffinity", lambda process: {0})
    assert map_forked(slowly, range(3), long=True) == [(item**2, HERE) for item in range(3)]


@pytest.mark.parametrize("wrong", [0, 5])
def test_an_error_in_a_long_item_is_raised(wrong):
    def work(item):
        if item == wrong:
            raise ValueError("wrong")
        return slowly(item)

    with pytest.raises(ValueError, match="wrong"):
        map_forked(work, range(6), long=True)


def test_long_items_of_a_copy_that_died_are_done_again():
    def work(item):
        if os.getpid() != HERE:
            os._exit(1)
        return slowly(item)

    assert map_forked(work, range(4), long=True) == [(item**2, HERE) for item in range(4)]


def test_shared_objects_come_back_as_the_same_ones():
    shared = [object() for _ in range(6)]
    found = map_forked(lambda item: (slowly(item), shared[item]), range(6), shared, long=True)
    assert all(one is other for (_, one), other in zip(found, shared, strict=True))
    assert len({process for (_, process), _ in found}) > 1
