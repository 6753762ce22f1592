"""The colours of groups and labels."""

import re
from pathlib import Path

import latree.report
from latree.figure.colours import COLOURS, GREY, NEUTRAL, colour_of, group_colours, label_colours


def test_the_largest_groups_have_colours_of_their_own_and_others_are_grey():
    assert group_colours(3) == [0, 1, 2]
    assert group_colours(34) == [*range(12), *[NEUTRAL] * 22]
    assert len({colour_of(number) for number in group_colours(34)}) == 13
    assert colour_of(NEUTRAL + 5) == GREY


def test_a_label_has_the_colour_of_its_group():
    # Both other labels have colours that no group has.
    assert label_colours(["b", "a", "d", "c"], ["a", "b", "a"]) == [1, 0, 3, 4]
    assert label_colours(["a", "b"], [None, "a"]) == [1, 2]
    # The colours of thirteen groups are all taken.
    groups = [f"g{number}" for number in range(13)]
    assert label_colours(["other", *groups], groups) == [NEUTRAL, *range(13)]
    assert label_colours([f"l{number}" for number in range(14)], []) == [*range(12), NEUTRAL, NEUTRAL]


def test_the_report_has_the_same_colours():
    style = (Path(latree.report.__file__).parent / "base.css").read_text(encoding="utf-8")
    found = dict(re.findall(r"--c(\d+): light-dark\((#\w+), #\w+\);", style))
    assert found == {str(number): colour_of(number) for number in range(NEUTRAL + 1)}
    assert sorted(map(int, re.findall(r"^\.c(\d+) {", style, flags=re.MULTILINE))) == [*range(NEUTRAL + 1)]
    assert len(set(COLOURS)) == NEUTRAL
