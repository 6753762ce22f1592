"""Held-out rows: some rows to fit a model to, and others to score it on."""

from dataclasses import dataclass

import numpy as np

from latree._util.arrays import FloatArray, IntArray
from latree.table import Table
from latree.table.table import row_weights

# With fewer rows than this, or if their order matters, every row is held out once (cross-validation); with more, a
# fifth of the rows.
FEW_ROWS = 2000

# Number of parts of neighbouring rows, and of parts of rows drawn at random, if the order of rows matters.
_PARTS = 3

# At most this many rows are used, those that are fitted and those that are held out together.
_MANY_ROWS = 50_000

# The order of rows is tested on a sample of at most this many: a drift that they do not show changes no choice.
_ORDER_ROWS = 5000

# The order matters if holding out stretches costs this many times as much as holding out random rows. Where all columns
# say the same, chance alone does that with a probability of 0.0001 (chi-squared, 5 degrees of freedom), and less often
# elsewhere. Of nineteen real tables, none lies between 3 and 7 (docs/lab/predict.md).
_TIMES = 5.0

# So many random orders say what holding out random rows costs.
_SHUFFLES = 10


@dataclass(frozen=True)
class Part:
    """Rows to fit a model to, and held-out rows to score it on."""

    fitted: Table
    judged: Table


def held_out(table: Table, rng: np.random.Generator) -> tuple[Part, ...]:
    """Split a table's rows into fitted and held-out ones: one part for many rows, cross-validation for few.

    Rows are held out at random, and their order changes nothing. The exception is an order that matters
    (:func:`cost_of_order`), as that of days, or of a sorted file: new rows may be unlike all of these. Then half of the
    rows are held out as stretches of neighbours, a sixth of the table each, to show how well a model predicts such
    rows. Rows with weight zero are left out. A row with the count 2 is two rows, which may fall on both sides.
    """
    units = table.units(_MANY_ROWS, rng)
    rows = np.arange(units.n_rows)
    if cost_of_order(table) > 0:
        stretches = np.array_split(rows, 2 * _PARTS)
        others = rng.permutation(np.concatenate(stretches[1::2]))
        judged = [*stretches[::2], *np.array_split(others, _PARTS)]
    else:
        units = units.sorted_rows()
        n_parts, n_judged = (2 * _PARTS, 2 * _PARTS) if len(rows) < FEW_ROWS else (5, 1)
        judged = np.array_split(rng.permutation(rows), n_parts)[:n_judged]
    return tuple(Part(units.take(np.setdiff1d(rows, part)), units.take(np.sort(part))) for part in judged if len(part))


def cost_of_order(table: Table) -> float:
    """Return by how many nats a row is less probable if its neighbours are held out with it, not random rows.

    A sixth of the rows is held out at a time, and the others tell the frequencies of each column's values. The same is
    done after the rows are shuffled. If the difference is small, the order of the rows does not matter: 0 is returned.
    Rows that are counted have no order.
    """
    if table.has_counts:
        return 0.0
    units = table.units(_ORDER_ROWS, 0)
    block = units.rows.fetch(np.arange(units.n_rows))
    weights, rng = row_weights(block), np.random.default_rng(0)
    stretch = np.arange(units.n_rows) * 2 * _PARTS // max(units.n_rows, 1)
    orders = [stretch, *(rng.permutation(stretch) for _ in range(_SHUFFLES))]
    losses = np.zeros(len(orders))
    for codes, k in zip(block.codes.T, units.n_states.tolist(), strict=True):
        cells = np.minimum(codes, k).astype(np.intp)  # k where a cell is missing
        losses += [_held_out_loss(cells + (k + 1) * order, k, weights) for order in orders]
    own, shuffled = losses[0], losses[1:].mean()
    return float((own - shuffled) / units.total_weight) if own > _TIMES * shuffled else 0.0


def _held_out_loss(cells: IntArray, k: int, weights: FloatArray) -> float:
    """Return how much less probable a column's cells are given the frequencies outside their stretch, not given all.

    A cell is its stretch times k + 1 plus its code, from 0 to k - 1; a code of k is missing.
    """
    counts = np.bincount(cells, weights, 2 * _PARTS * (k + 1)).reshape(-1, k + 1)[:, :k]
    together = counts.sum(axis=0) + 0.5
    elsewhere = together - counts
    ratio = together / together.sum() * elsewhere.sum(axis=1, keepdims=True) / elsewhere
    return float((counts * np.log(ratio)).sum())
