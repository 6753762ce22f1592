"""Boxes that may be turned (oriented bounding boxes), and which of them overlap.

A box is a row of six numbers: its centre (two), the direction of its length (two), half its length and half its height.
A line is a box without height.
"""

import numpy as np
from numpy.typing import NDArray

from latree._util.arrays import FloatArray

_TOLERANCE = 1e-6  # boxes that share less than this many pixels do not overlap


def line_box(start: tuple[float, float], end: tuple[float, float]) -> tuple[float, ...]:
    """Return the box of a straight line between two points."""
    (x0, y0), (x1, y1) = start, end
    length = float(np.hypot(x1 - x0, y1 - y0))
    direction = ((x1 - x0) / length, (y1 - y0) / length) if length else (1.0, 0.0)
    return ((x0 + x1) / 2, (y0 + y1) / 2, *direction, length / 2, 0.0)


def overlap(one: FloatArray, other: FloatArray) -> NDArray[np.bool_]:
    """Return which boxes overlap; rows of boxes are broadcast against each other.

    Two convex shapes are disjoint if and only if their projections onto some normal of one of their sides are (the
    separating axis theorem). Two boxes have four such normals: the directions of their lengths and of their heights.
    """
    between = other[..., :2] - one[..., :2]  # from centre to centre
    u, v = one[..., 2:4], other[..., 2:4]
    # The cosine and the sine of the angle between the boxes project one box onto an axis of the other.
    cosine = np.abs((u * v).sum(-1))
    sine = np.abs(u[..., 0] * v[..., 1] - u[..., 1] * v[..., 0])
    a, b, c, d = one[..., 4], one[..., 5], other[..., 4], other[..., 5]
    return np.asarray(
        (np.abs((between * u).sum(-1)) + _TOLERANCE < a + c * cosine + d * sine)
        & (np.abs(between[..., 0] * u[..., 1] - between[..., 1] * u[..., 0]) + _TOLERANCE < b + c * sine + d * cosine)
        & (np.abs((between * v).sum(-1)) + _TOLERANCE < c + a * cosine + b * sine)
        & (np.abs(between[..., 0] * v[..., 1] - between[..., 1] * v[..., 0]) + _TOLERANCE < d + a * sine + b * cosine)
    )


def extents(boxes: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Return the lower and upper corners of the upright boxes around boxes."""
    turned = np.abs(boxes[..., 2:4])
    half = boxes[..., 4:5] * turned + boxes[..., 5:6] * turned[..., ::-1]
    return boxes[..., :2] - half, boxes[..., :2] + half


class OccupiedBoxes:
    """Boxes that new ones must not overlap, each with the number of its owner, or -1 if it has none."""

    def __init__(self, boxes: FloatArray, owners: NDArray[np.intp] | None = None) -> None:
        self.boxes = boxes
        self.owners = np.full(len(boxes), -1) if owners is None else owners
        self.low, self.high = extents(boxes)

    def replace(self, place: int, box: FloatArray) -> None:
        """Replace one of the boxes. A box of NaN occupies nothing."""
        self.boxes[place] = box
        self.low[place], self.high[place] = extents(box)

    def are_free(self, wanted: FloatArray, owner: int = -1) -> NDArray[np.bool_]:
        """Return which of the wanted boxes overlap no occupied one.

        Boxes of the same owner are allowed to overlap.
        """
        low, high = extents(wanted)
        near = ((self.low <= high.max(axis=0)) & (self.high >= low.min(axis=0))).all(axis=1)
        if owner >= 0:
            near &= self.owners != owner
        return np.asarray(~overlap(wanted[:, None], self.boxes[near][None]).any(axis=1))
