"""Bars of stages: what they say about time."""

import io

import pytest
from rich.console import Console

from latree._util import bars
from latree._util.bars import StageBars


class Clock:
    """A clock that a test sets."""

    now = 100.0

    def __call__(self):
        return self.now


def stage_after(reports, now, at_most=False):
    """Return the bars of a stage that began at 100 seconds and reported (time, done, total), and its text at a time."""
    clock = Clock()
    drawn = StageBars(Console(file=io.StringIO()), clock)
    report = drawn.begin("work", at_most)
    for clock.now, done, total in reports:
        report(done, total)
    clock.now = now
    return drawn, drawn.columns[-1].render(drawn.tasks[0]).plain


def test_time_left_is_that_of_the_steps_since_the_first_report():
    assert stage_after([], 103.0)[1] == "0:03"
    assert stage_after([(110.0, 5, 20)], 150.0)[1] == "0:50"  # five pieces that were kept, in no time
    reports = [(110.0, 5, 20), (116.0, 8, 20)]
    assert stage_after(reports, 116.0)[1] == "0:16 about 0:24 left"
    assert stage_after(reports, 116.0, at_most=True)[1] == "0:16 at most 0:24 left"
    slow = [(200.0, 5, 20), (3500.0, 6, 20)]
    assert stage_after(slow, 3500.0)[1] == "56:40 about 12:50:00 left"  # also if steps take long


def test_time_left_is_not_shown_too_early():
    early = [(100.0, 0, 1000), (101.0, 10, 1000), (102.0, 20, 1000)]
    assert stage_after(early, 102.0)[1] == "0:02"
    assert stage_after([*early, (103.0, 60, 1000)], 103.0)[1] == "0:03 about 0:38 left"
    assert stage_after([*early, (112.0, 31, 1000)], 112.0)[1] == "0:12 about 8:28 left"


def test_another_pass_is_counted_and_its_time_is_shown():
    reports = [(100.0, 0, 10), (105.0, 5, 10), (110.0, 10, 10), (111.0, 1, 10), (113.0, 3, 10)]
    drawn, text = stage_after(reports, 114.0)
    assert drawn.tasks[0].description == "work (2)"
    assert text.startswith("0:14 about ")


def test_a_stage_ends_where_the_next_begins(monkeypatch):
    monkeypatch.setattr(bars, "_MIN_SHARE", 0)
    drawn, _ = stage_after([(110.0, 5, 20), (116.0, 8, 20)], 117.0)
    drawn.begin("more")
    drawn.get_time.now = 130.0
    first, second = drawn.tasks
    assert first.percentage == 100
    assert second.total is None
    assert [drawn.columns[-1].render(task).plain for task in drawn.tasks] == ["0:17", "0:13"]


@pytest.mark.parametrize(("seconds", "rows"), [(1.9, 0), (2.1, 1)])
def test_only_long_stages_are_drawn(seconds, rows):
    drawn, _ = stage_after([], 100 + seconds)
    assert sum(table.row_count for table in drawn.get_renderables()) == rows
