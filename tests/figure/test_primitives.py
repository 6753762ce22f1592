"""Lines, circles, polygons and texts: where they are, and moving them."""

import numpy as np
import pytest

from latree.figure.picture import (
    LINE_HEIGHT,
    MAX_LETTERS,
    Circle,
    Line,
    Polygon,
    Text,
    boxes_of,
    extent_of,
    name_text,
    text_width,
)

SHAPES = [
    Line(((0, 0), (4, 0), (4, 3))),
    Circle(1, 2, 5, "red", "black"),
    Polygon(((0, 0), (6, 0), (0, 2)), "red", "black"),
    Text(3, 4, "name", 10, angle=30),
]


@pytest.mark.parametrize(
    ("shape", "extent"),
    [
        (SHAPES[0], (0, 0, 4, 3)),
        (SHAPES[1], (-4, -3, 6, 7)),
        (SHAPES[2], (0, 0, 6, 2)),
    ],
)
def test_extents_of_shapes(shape, extent):
    assert extent_of([shape]) == pytest.approx(extent)


def test_a_line_has_one_box_per_piece():
    assert boxes_of(SHAPES[:1]).shape == (2, 6)
    assert boxes_of([]).shape == (0, 6)


@pytest.mark.parametrize(("anchor", "left"), [("start", 0), ("middle", -0.5), ("end", -1)])
def test_a_text_is_anchored_horizontally_and_centred_vertically(anchor, left):
    width = 10 * text_width("name")
    expected = (3 + left * width, 4 - 5 * LINE_HEIGHT, 3 + (left + 1) * width, 4 + 5 * LINE_HEIGHT)
    assert extent_of([Text(3, 4, "name", 10, anchor=anchor)]) == pytest.approx(expected)


def test_angles_are_clockwise():
    left, top, right, bottom = extent_of([Text(0, 0, "a long name", 10, angle=90)])  # y grows downwards
    assert (left, right) == pytest.approx((-5 * LINE_HEIGHT, 5 * LINE_HEIGHT))
    assert (top, bottom) == pytest.approx((0, 10 * text_width("a long name")))


@pytest.mark.parametrize("shape", SHAPES)
def test_moving_a_shape_moves_its_boxes(shape):
    moved = boxes_of([shape.moved(10, -20)])
    np.testing.assert_allclose(moved, boxes_of([shape]) + np.array([10, -20, 0, 0, 0, 0]), atol=1e-12)


def test_the_extent_of_several_shapes_holds_all():
    assert extent_of(SHAPES[:3]) == pytest.approx((-4, -3, 6, 7))


def test_only_a_shortened_name_has_a_tooltip():
    assert name_text(0, 0, "short", 10).full_text is None
    long = "x" * (MAX_LETTERS + 1)
    assert name_text(0, 0, long, 10).full_text == long
