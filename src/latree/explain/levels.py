"""The levels of groups: the thresholds of each, and the cut of the tree that it takes.

====== ========== =======================================================================================
level  range      what it finds
====== ========== =======================================================================================
broad  0.20-0.45  groups of main groups, such as the domains of a personality questionnaire
main   0.50-0.75  the scales of a questionnaire, sectors, branches of a language family
fine   0.80-0.90  parts of main groups. A latent correlation above 0.85 is commonly read as: the same thing
====== ========== =======================================================================================

Within its range, each level takes the number of groups that the most thresholds agree on. So a level shows the division
that is stable, and not what one threshold happens to cut.
"""

from collections.abc import Iterable
from typing import NamedTuple

import numpy as np

from latree._util.arrays import FloatArray, IntArray
from latree.explain.cutting import TreeCutter

# The thresholds of each level: its lowest and highest latent correlation.
_BROAD = (0.2, 0.45)
_MAIN = (0.5, 0.75)
_FINE = (0.8, 0.9)
_STEP = 0.025
# A main group has at least two columns. A part of a main group has at least three, which is what it takes to identify a
# factor: two columns that share a little more with each other than with the rest are a pair, not a group.
MIN_COLUMNS = 2
_MIN_COLUMNS_FINE = 3
# A main group that has this share of all columns in groups says as little as a single group.
_NEARLY_ALL = 0.9


class Levels(NamedTuple):
    """The cuts of a tree at the three levels.

    Attributes
    ----------
    broad, main, fine : array of int
        Cuts: the top of the piece of each inner node, see :class:`TreeCutter`.
    main_cuts, fine_cuts : array of int, shape (thresholds, inner nodes)
        The best cut at each threshold of the range.
    """

    broad: IntArray
    main: IntArray
    fine: IntArray
    main_cuts: IntArray
    fine_cuts: IntArray


def find_levels(cutter: TreeCutter) -> Levels:
    """Return the cuts of the three levels, which are nested."""
    main_cuts = _best_cuts(cutter, _MAIN, MIN_COLUMNS)
    main = most_persistent(main_cuts)
    fine_cuts = _best_cuts(cutter, _FINE, _MIN_COLUMNS_FINE, start=main)
    fine = most_persistent(fine_cuts)
    if _is_one_group(cutter, main):
        main = fine
    broad = most_persistent(_best_cuts(cutter, _BROAD, MIN_COLUMNS, among=main))
    return Levels(broad, main, fine, main_cuts, fine_cuts)


def main_level_nearby(cutter: TreeCutter, levels: Levels) -> IntArray:
    """Return the cut of the main level for another similarity of the columns, from cuts near those of known levels."""
    main = most_persistent(cutter.nearby(levels.main_cuts, _thresholds(_MAIN), MIN_COLUMNS))
    if not _is_one_group(cutter, main):
        return main
    return most_persistent(cutter.nearby(levels.fine_cuts, _thresholds(_FINE), _MIN_COLUMNS_FINE, start=main))


def most_persistent(cuts: Iterable[IntArray]) -> IntArray:
    """Return the cut with the number of pieces that the most cuts agree on, the smaller among equals.

    Of the cuts that agree, which are sorted by threshold, the one in the middle is taken.
    """
    cuts = list(cuts)
    numbers = [len(np.unique(cut)) for cut in cuts]
    chosen = min(numbers, key=lambda number: (-numbers.count(number), number))
    agreeing = [cut for cut, number in zip(cuts, numbers, strict=True) if number == chosen]
    return agreeing[len(agreeing) // 2]


def _is_one_group(cutter: TreeCutter, cut: IntArray) -> bool:
    """Return whether there is at most one group beside pairs, or one that has nearly all columns.

    One group says little. If it falls into parts, these are of more use.
    """
    sizes = np.bincount(cut, cutter.n_columns)
    in_groups = sizes[sizes >= MIN_COLUMNS].sum()
    return bool((sizes >= _MIN_COLUMNS_FINE).sum() <= 1 or sizes.max() >= _NEARLY_ALL * in_groups)


def _best_cuts(
    cutter: TreeCutter,
    bounds: tuple[float, float],
    min_columns: int,
    start: IntArray | None = None,
    among: IntArray | None = None,
) -> IntArray:
    return np.array([cutter.best(threshold, min_columns, start, among) for threshold in _thresholds(bounds).tolist()])


def _thresholds(bounds: tuple[float, float]) -> FloatArray:
    lowest, highest = bounds
    return np.linspace(lowest, highest, round((highest - lowest) / _STEP) + 1)
