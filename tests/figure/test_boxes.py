"""Boxes that may be turned: which of them overlap."""

from math import cos, sin

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from latree.figure.picture import OccupiedBoxes, extents, line_box, overlap

checked = settings(deadline=None, derandomize=True, max_examples=300)
within_ten = st.floats(-10, 10)
half = st.floats(0.1, 6)
angle = st.floats(0, 6.28)
boxes = st.builds(
    lambda x, y, angle, a, b: np.array([x, y, cos(angle), sin(angle), a, b]), within_ten, within_ten, angle, half, half
)


def points(box, steps=15):
    """A grid of points in a box, its corners among them."""
    x, y, u, v, a, b = box
    s, t = (grid.ravel() for grid in np.meshgrid(np.linspace(-a, a, steps), np.linspace(-b, b, steps)))
    return np.column_stack([x + s * u - t * v, y + s * v + t * u])


def depth(box, points):
    """How deep points are in a box; negative outside."""
    x, y, u, v, a, b = box
    dx, dy = (points - [x, y]).T
    return np.minimum(a - np.abs(dx * u + dy * v), b - np.abs(dy * u - dx * v))


@checked
@given(boxes, boxes)
def test_boxes_that_share_a_point_overlap_and_those_far_apart_do_not(one, other):
    found = bool(overlap(one, other))
    assert found == bool(overlap(other, one))
    if max(depth(other, points(one)).max(), depth(one, points(other)).max()) > 1e-3:
        assert found
    (low, high), (other_low, other_high) = extents(one), extents(other)
    if (low > other_high + 1e-6).any() or (other_low > high + 1e-6).any():
        assert not found


@checked
@given(within_ten, within_ten, half, half, within_ten, within_ten, half, half)
def test_upright_boxes_overlap_if_their_intervals_do(x, y, a, b, x2, y2, a2, b2):
    gaps = [abs(x - x2) - a - a2, abs(y - y2) - b - b2]
    if min(map(abs, gaps)) > 1e-3:
        one, other = np.array([x, y, 1, 0, a, b]), np.array([x2, y2, 1, 0, a2, b2])
        assert bool(overlap(one, other)) == (max(gaps) < 0)


def test_two_turned_boxes_whose_extents_overlap_may_be_apart():
    one, other = line_box((0, 0), (10, 10)), line_box((3, 0), (13, 10))
    assert not overlap(np.array(one), np.array(other))
    assert overlap(np.array(one), np.array(line_box((0, 10), (10, 0))))


@checked
@given(boxes)
def test_extents_are_those_of_the_corners(box):
    low, high = extents(box)
    np.testing.assert_allclose(low, points(box).min(axis=0), atol=1e-9)
    np.testing.assert_allclose(high, points(box).max(axis=0), atol=1e-9)


def test_occupied_boxes_mind_neither_their_owner_nor_boxes_of_nan():
    square = np.array([0.0, 0, 1, 0, 1, 1])
    beside = np.array([5.0, 0, 1, 0, 1, 1])
    occupied = OccupiedBoxes(np.array([square, np.full(6, np.nan)]), np.array([3, 4]))
    wanted = np.array([square, beside])
    assert occupied.are_free(wanted).tolist() == [False, True]
    assert occupied.are_free(wanted, owner=3).tolist() == [True, True]
    occupied.replace(1, beside)
    assert occupied.are_free(wanted, owner=3).tolist() == [True, False]
