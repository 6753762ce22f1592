"""Markers of groups."""

import numpy as np

from helpers.pictures import texts
from latree.figure import plot
from latree.figure.picture import Circle, Polygon
from latree.tree import Tree


def test_no_two_groups_look_alike():
    groups = {f"T{i}": f"group {i:02}" for i in range(16)}
    picture = plot(Tree([*groups, "none"], [(i, 17) for i in range(17)]), labels=groups)
    marks = [
        drawn
        for drawn in picture.primitives
        if isinstance(drawn, Polygon) or (isinstance(drawn, Circle) and drawn.fill != "#808080")
    ]
    assert len(marks) == 32  # at the leaves and in the legend
    assert len({(mark.fill, mark.stroke) for mark in marks}) == 16  # the shape is a second help, not the only one
    shapes = {
        tuple(np.round(np.subtract(mark.points, mark.points[0]), 6).ravel())
        for mark in marks
        if isinstance(mark, Polygon)
    }
    assert len(shapes) == 8
    assert [text.text for text in texts(picture)][-16:] == sorted(groups.values())
