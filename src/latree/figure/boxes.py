"""Boxes that may be turned, and which of them overlap.

A box is a row of six numbers: its centre (two), the direction of its length (two), half its length and half its height.
A line is a box without height.
"""

import numpy as np
from numpy.typing import NDArray

from latree._util.arrays import FloatArray

_TOUCH = 1e-6  # boxes that share less than this do not overlap


def line_box(start: tuple[float, float], end: tuple[float, float]) -> tuple[float, ...]:
    """Give a line between two points as a box."""
    (x0, y0), (x1, y1) = start, end
    length = float(np.hypot(x1 - x0, y1 - y0))
    direction = ((x1 - x0) / length, (y1 - y0) / length) if length else (1.0, 0.0)
    return ((x0 + x1) / 2, (y0 + y1) / 2, *direction, length / 2, 0.0)


def overlap(one: FloatArray, other: FloatArray) -> NDArray[np.bool_]:
    """Tell which boxes overlap; rows of boxes are broadcast against each other.

    Two convex shapes are apart if and only if their shadows on some normal of one of their sides are.
    """
    apart = other[..., :2] - one[..., :2]
    u, v = one[..., 2:4], other[..., 2:4]
    along = np.abs((u * v).sum(-1))
    across = np.abs(u[..., 0] * v[..., 1] - u[..., 1] * v[..., 0])
    a, b, c, d = one[..., 4], one[..., 5], other[..., 4], other[..., 5]
    return np.asarray(
        (np.abs((apart * u).sum(-1)) + _TOUCH < a + c * along + d * across)
        & (np.abs(apart[..., 0] * u[..., 1] - apart[..., 1] * u[..., 0]) + _TOUCH < b + c * across + d * along)
        & (np.abs((apart * v).sum(-1)) + _TOUCH < c + a * along + b * across)
        & (np.abs(apart[..., 0] * v[..., 1] - apart[..., 1] * v[..., 0]) + _TOUCH < d + a * across + b * along)
    )


def extents(boxes: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Give the lower and upper corners of the upright boxes around some boxes."""
    turned = np.abs(boxes[..., 2:4])
    half = boxes[..., 4:5] * turned + boxes[..., 5:6] * turned[..., ::-1]
    return boxes[..., :2] - half, boxes[..., :2] + half


class Crowd:
    """Boxes that new ones must keep clear of, each with the number of its owner, if it has one."""

    def __init__(self, boxes: FloatArray, owners: NDArray[np.intp] | None = None) -> None:
        self.boxes = boxes
        self.owners = np.full(len(boxes), -1) if owners is None else owners
        self.low, self.high = extents(boxes)

    def put(self, place: int, box: FloatArray) -> None:
        """Put another box in the place of one; one of NaN is nowhere."""
        self.boxes[place] = box
        self.low[place], self.high[place] = extents(box)

    def free(self, wanted: FloatArray, owner: int = -1) -> NDArray[np.bool_]:
        """Tell which of some boxes overlap none of the crowd, but for those of their own owner (-1: nobody's)."""
        low, high = extents(wanted)
        near = ((self.low <= high.max(axis=0)) & (self.high >= low.min(axis=0))).all(axis=1)
        if owner >= 0:
            near &= self.owners != owner
        return np.asarray(~overlap(wanted[:, None], self.boxes[near][None]).any(axis=1))
