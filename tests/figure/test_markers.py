"""Markers of groups."""

import numpy as np

from helpers.pictures import texts
from latree.figure.draw import plot
from latree.figure.picture import MUTED, Circle, Polygon
from latree.tree import Tree


def test_no_two_groups_look_alike():
    groups = {f"T{i:02}": f"group {i:02}" for i in range(30)}
    picture = plot(Tree([*groups, "none"], [(i, 31) for i in range(31)]), labels=groups)
    marks = [
        drawn
        for drawn in picture.primitives
        if isinstance(drawn, Polygon) or (isinstance(drawn, Circle) and drawn.fill != MUTED)
    ]
    assert len(marks) == 60  # at the leaves and in the legend
    looks = [(mark.fill, mark.stroke, shape_of(mark)) for mark in marks]
    assert len(set(looks)) == 30
    assert len({(fill, stroke) for fill, stroke, _ in looks}) == 12 + 2  # the others are grey, hollow or not
    assert [text.text for text in texts(picture)][-30:] == sorted(groups.values())


def shape_of(mark):
    return tuple(np.round(np.subtract(mark.points, mark.points[0]), 6).ravel()) if isinstance(mark, Polygon) else None
