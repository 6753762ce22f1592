"""Columns with bins that are made by hand."""

from typing import Any

import numpy as np

from latree.table.density import Density


def bins_at(cuts: tuple[float, ...], numbers: tuple[float, ...]) -> dict[str, Any]:
    """Return the arguments of a column whose bins have a single number each."""
    return {"cuts": cuts, "density": Density.learn(np.array(numbers), np.full(len(numbers), 10.0), np.array(cuts))}
