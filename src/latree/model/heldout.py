"""Held-out rows: some rows to fit a model to, and others to score it on."""

from dataclasses import dataclass

import numpy as np

from latree.table import Table

# With fewer rows than this, every row is held out once (cross-validation); with more, a fifth of the rows.
FEW_ROWS = 2000

# Number of parts of neighbouring rows, and of parts of rows drawn at random, when every row is held out once.
_PARTS = 3

# At most this many rows are used, those that are fitted and those that are held out together.
_MANY_ROWS = 50_000


@dataclass(frozen=True)
class Part:
    """Rows to fit a model to, and held-out rows to score it on."""

    fitted: Table
    judged: Table


def held_out(table: Table, rng: np.random.Generator) -> tuple[Part, ...]:
    """Split a table's rows into fitted and held-out ones: one part for many rows, cross-validation for few.

    Half of the held-out rows are drawn at random, and half are stretches of neighbouring rows. Neighbouring rows are
    often alike (days, or a sorted file), and new rows may be unlike all of them: stretches show how well a model
    predicts then. Rows with weight zero are left out. A row with the count 2 is two rows, which may fall on both sides.
    """
    units = table.units(_MANY_ROWS, rng)
    rows = np.arange(units.n_rows)
    few = len(rows) < FEW_ROWS
    stretches = np.array_split(rows, 2 * _PARTS if few else 10 * _PARTS)
    if few:
        others = rng.permutation(np.concatenate(stretches[1::2]))
        judged = [*stretches[::2], *np.array_split(others, _PARTS)]
    else:
        together = np.concatenate(stretches[5::10])
        others = np.setdiff1d(rows, together)
        judged = [np.concatenate([together, rng.choice(others, len(together), replace=False)])]
    return tuple(Part(units.take(np.setdiff1d(rows, part)), units.take(np.sort(part))) for part in judged if len(part))
