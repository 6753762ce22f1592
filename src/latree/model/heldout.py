"""Rows that are not fitted, to judge by."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from latree._util.arrays import IntArray
from latree.table import Block, Table

FEW_ROWS = 2000  # of fewer, every row is held out once; of more, a fifth of the rows
_PARTS = 3  # stretches of few rows that are held out, and as many parts of rows drawn at random
_MANY_ROWS = 50_000  # no more are needed to choose


@dataclass(frozen=True)
class Part:
    """Rows to fit, and others to judge by."""

    fitted: Table
    judged: Table


def held_out(table: Table, rng: np.random.Generator) -> tuple[Part, ...]:
    """Part a table's rows: half of those that are judged by are drawn at random, half are stretches of neighbours.

    Neighbouring rows are often alike (days, or a file that somebody sorted), and new rows may be unlike all of them:
    stretches tell how badly a model does then. Of few rows, each is judged once; of many, a fifth. Rows without weight
    are left out. Repeated rows may fall on both sides: a weight is not quite the same as repeating a row.
    """
    rows = _some_with_weight(table, rng)
    few = len(rows) < FEW_ROWS
    stretches = np.array_split(rows, 2 * _PARTS if few else 10 * _PARTS)
    if few:
        others = rng.permutation(np.concatenate(stretches[1::2]))
        judged = [*stretches[::2], *np.array_split(others, _PARTS)]
    else:
        together = np.concatenate(stretches[5::10])
        others = np.setdiff1d(rows, together)
        judged = [np.concatenate([together, rng.choice(others, len(together), replace=False)])]
    return tuple(Part(table.take(np.setdiff1d(rows, part)), table.take(np.sort(part))) for part in judged if len(part))


def _some_with_weight(table: Table, rng: np.random.Generator) -> IntArray:
    """Give the numbers of all rows with weight, or of many at random; only weights of zero make arrays as long."""

    def count(block: Block) -> NDArray[np.int64]:
        return np.array([np.count_nonzero(_has_weight(block))])

    n_with_weight = int(np.asarray(table.sum(count))[0])
    if n_with_weight <= _MANY_ROWS:
        places = np.arange(n_with_weight)
    else:
        places = np.sort(rng.choice(n_with_weight, _MANY_ROWS, replace=False))
    return places if n_with_weight == table.n_rows else np.flatnonzero(table.map(_has_weight))[places]


def _has_weight(block: Block) -> NDArray[np.bool_]:
    return np.ones(len(block.codes), dtype=bool) if block.weights is None else block.weights > 0
