"""Columns that say the same as another one: the same rows have equal values in both."""

from collections.abc import Sequence
from dataclasses import dataclass
from hashlib import sha256
from typing import Any

import numpy as np
from numpy.typing import NDArray

from latree._util.words import quoted
from latree.table.chunks import Block, missing_code
from latree.table.columns import Column
from latree.table.findings import Finding
from latree.table.memory import Rows

# Duplicates are searched among columns with at most this many states.
_MAX_STATES = 256


def find_duplicates(columns: Sequence[Column], rows: Rows) -> list[Finding]:
    """Return the columns that say the same as an earlier one: rows with equal values in one have equal ones in both."""
    places = [j for j, column in enumerate(columns) if column.n_states <= _MAX_STATES]
    if not places or not rows.n_rows:
        return []
    n_states = max(columns[j].n_states for j in places)
    checksums = np.asarray(rows.sum(_StateChecksums(tuple(places), n_states)))
    first: dict[tuple[Any, ...], str] = {}
    found = []
    for j, sums in zip(places, checksums.transpose(1, 2, 0).tolist(), strict=True):
        *states, missing = map(tuple, sums)
        name = columns[j].name
        original = first.setdefault((missing, *sorted(state for state in states if any(state))), name)
        if original != name:
            found.append(Finding(name, "duplicate", f"says the same as {quoted(original)} in every row"))
    return found


@dataclass(frozen=True)
class _StateChecksums:
    """A statistic: a checksum of the rows in which each column has each state.

    The checksum of a set of rows is the sum of two random numbers per row. Two columns whose states have the same
    checksums divide the rows in the same way, whatever the states are called.
    """

    columns: tuple[int, ...]
    n_states: int

    def __call__(self, block: Block) -> NDArray[np.uint64]:
        """Return two numbers for each column and state of a block; those of missing cells are last."""
        # The random numbers depend on the block, so that the same place in another block has others.
        rng = np.random.default_rng(np.frombuffer(sha256(block.codes.tobytes(order="F")).digest(), np.uint32))
        random = rng.integers(1, 2**32, (2, len(block.codes))).astype(np.float64)
        result = np.zeros((2, len(self.columns), self.n_states + 1), dtype=np.uint64)
        for place, j in enumerate(self.columns):
            codes = block.codes[:, j]
            states = np.where(codes == missing_code(codes), self.n_states, codes)
            for part in range(2):  # sums over a block are exact as floats; those over blocks wrap around
                result[part, place] = np.bincount(states, random[part], self.n_states + 1).astype(np.uint64)
        return result
