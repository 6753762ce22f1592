"""Algorithm 1 of the paper: the pairing whose unfolding has the smallest nuclear norm.

It needs no number of hidden states. With the right pairing the unfolding has rank k, with a wrong one up to k²; the
nuclear norm is the convex stand-in for that rank.
"""

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from latree._util.arrays import FloatArray, IntArray
from latree._util.parallel import map_ordered
from latree.counts.quartets import Pairings, QuartetTest, smallest, tensor_test
from latree.counts.tensor import namespace, nuclear_norms, unfoldings

_CELLS_AT_ONCE = 2**18  # of the tensors that a thread works on: fewer would make threads wait for each other


def nuclear_pairings(tensors: Any) -> Pairings:
    """Apply Algorithm 1 to a stack of tensors.

    Parameters
    ----------
    tensors : array, shape (q, n, n, n, n)
        Joint distributions or counts; each is divided by its sum. An empty table (no row has all four cells) leaves
        the three pairings tied. Arrays of other libraries than NumPy stay where they are until the three norms of each
        are known; see :mod:`latree.counts.tensor`.
    """
    if not isinstance(tensors, np.ndarray):
        norms: FloatArray = np.asarray(np.from_dlpack(_norms(tensors), device="cpu"), dtype=np.float64)
        return smallest(norms)
    step = max(1, _CELLS_AT_ONCE // max(1, tensors[:1].size))
    pieces = (tensors[start : start + step] for start in range(0, max(1, len(tensors)), step))
    return smallest(np.concatenate(list(map_ordered(_norms, pieces))))


def _norms(tensors: Any) -> Any:
    xp = namespace(tensors)
    shares = xp.astype(tensors, xp.float64, copy=False)
    total = xp.sum(shares, axis=(1, 2, 3, 4), keepdims=True)
    return nuclear_norms(unfoldings(shares / xp.where(total > 0, total, xp.ones_like(total))))


def nuclear_test(tables: Callable[[IntArray], NDArray[np.int64] | FloatArray], n_states: int) -> QuartetTest:
    """Make the test for quadruples whose tensors ``tables`` gives; see :func:`latree.counts.quartets.tensor_test`."""
    return tensor_test(nuclear_pairings, tables, n_states)
