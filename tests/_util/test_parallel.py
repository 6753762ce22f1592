import multiprocessing
import threading
import time
import warnings

import numpy as np
import pytest
from threadpoolctl import threadpool_info

from latree._util.workers import map_ordered, n_threads
from latree.counts.contingency import pair_tables
from latree.paper.simulate import random_model, random_tree


def blas_threads():
    return {library["num_threads"] for library in threadpool_info() if library["user_api"] == "blas"}


@pytest.fixture
def table(monkeypatch):
    monkeypatch.setattr("latree.table.rows.BLOCK_ROWS", 50)
    return random_model(random_tree(5, 0.5, 0), n_states=3, hidden_states=2, random_state=0).sample(1000, 0)


def test_results_come_in_order_and_not_too_many_wait():
    started = []

    def work(item):
        started.append(item)
        time.sleep(0.002 * (item % 3))
        return item * item

    seen = 0
    for position, result in enumerate(map_ordered(work, range(40))):
        assert result == position**2
        seen += 1
        assert len(started) <= seen + 2 * n_threads()
    assert seen == 40


def test_an_error_surfaces():
    def fail(item):
        raise KeyError(item)

    with pytest.raises(KeyError):
        list(map_ordered(fail, range(5)))


def test_blas_has_one_thread_inside_and_its_own_outside():
    outside = blas_threads()
    inside = list(map_ordered(lambda _: blas_threads(), range(3)))
    assert inside == [{1}] * 3
    assert blas_threads() == outside


def test_overlapping_callers_leave_blas_as_it_was():
    outside = blas_threads()
    first = map_ordered(lambda _: blas_threads(), range(3))
    second = map_ordered(lambda _: blas_threads(), range(20))
    next(first), next(second)
    assert list(first) == [{1}] * 2
    assert list(second) == [{1}] * 19
    assert blas_threads() == outside


def test_work_inside_work_does_not_wait_for_itself(table):
    nested = table.sum(lambda block: np.asarray(pair_tables(table)[0, 0].sum() * len(block.codes)))
    assert nested == 1000 * 1000


def test_several_callers_at_once(table):
    expected = pair_tables(table)
    results = []
    callers = [threading.Thread(target=lambda: results.append(pair_tables(table))) for _ in range(4)]
    for caller in callers:
        caller.start()
    for caller in callers:
        caller.join(timeout=30)
    assert len(results) == 4
    assert all((result == expected).all() for result in results)


@pytest.mark.skipif("fork" not in multiprocessing.get_all_start_methods(), reason="no fork on this system")
def test_a_forked_child_has_threads_of_its_own(table):
    expected = pair_tables(table)
    context = multiprocessing.get_context("fork")
    queue = context.SimpleQueue()
    child = context.Process(target=lambda: queue.put(bool((pair_tables(table) == expected).all())))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)  # newer Pythons warn of forking beside threads
        child.start()
    child.join(timeout=30)
    alive = child.is_alive()
    child.kill()
    assert not alive
    assert queue.get() is True


@pytest.mark.parametrize("threads", [1, 2])
def test_items_are_asked_for_only_when_there_is_room(monkeypatch, threads):
    monkeypatch.setattr("latree._util.workers.n_threads", lambda: threads)
    asked = []
    items = (asked.append(item) for item in range(100))
    for done, _ in enumerate(map_ordered(lambda _: None, items)):
        assert len(asked) <= done + 2 + 2 * threads
