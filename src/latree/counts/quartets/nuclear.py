"""Algorithm 1 of the paper: the pairing whose unfolding has the smallest nuclear norm.

It needs no number of hidden states. For the right pairing the unfolding has rank k, for a wrong one up to k². The
nuclear norm is the convex stand-in for that rank.
"""

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from latree._util.arrays import FloatArray, IntArray
from latree._util.parallel import map_ordered
from latree.counts.quartets.pairings import Pairings, QuartetTest, smallest, tensor_test
from latree.counts.tensor import namespace, nuclear_norms, unfoldings

# A thread works on tensors of this many cells at a time: with fewer, threads would wait for each other.
_CELLS_PER_THREAD = 2**18


def nuclear_pairings(tensors: Any) -> Pairings:
    """Return the pairings that Algorithm 1 chooses for a stack of tensors.

    Parameters
    ----------
    tensors : array, shape (q, n, n, n, n)
        Joint distributions or counts; each is divided by its sum. If a tensor is empty (no row has all four cells),
        the three pairings are tied. Arrays of other libraries than NumPy stay where they are until their three norms
        are known; see :mod:`latree.counts.tensor`.
    """
    if not isinstance(tensors, np.ndarray):
        norms: FloatArray = np.asarray(np.from_dlpack(_norms(tensors), device="cpu"), dtype=np.float64)
        return smallest(norms)
    step = max(1, _CELLS_PER_THREAD // max(1, tensors[:1].size))
    pieces = (tensors[start : start + step] for start in range(0, max(1, len(tensors)), step))
    return smallest(np.concatenate(list(map_ordered(_norms, pieces))))


def _norms(tensors: Any) -> Any:
    """Return the nuclear norms of the three unfoldings of each tensor, divided by its sum; shape (q, 3)."""
    xp = namespace(tensors)
    shares = xp.astype(tensors, xp.float64, copy=False)
    total = xp.sum(shares, axis=(1, 2, 3, 4), keepdims=True)
    return nuclear_norms(unfoldings(shares / xp.where(total > 0, total, xp.ones_like(total))))


def nuclear_test(tables: Callable[[IntArray], NDArray[np.int64] | FloatArray], n_states: int) -> QuartetTest:
    """Return Algorithm 1 of the paper as a test of quadruples of columns.

    The pairing is the one whose unfolding has the smallest nuclear norm: {12|34} if ``‖A‖_*`` is the smallest of
    ``‖A‖_*``, ``‖B‖_*`` and ``‖C‖_*`` (:func:`latree.counts.unfoldings`). The margin is the difference to the second
    smallest. Use it if the number of hidden states is unknown, and columns have few states: a tensor has n⁴ cells.

    Parameters
    ----------
    tables : callable
        From quadruples, shape (q, 4), to tensors, shape (q, n, n, n, n): counts or distributions.
    n_states : int
        n, the largest number of states of any column.

    References
    ----------
    Ishteva, Park and Song (2013), Unfolding Latent Tree Structures using 4th Order Tensors.

    Examples
    --------
    Four columns of a table, the first two and the last two of which belong together:

    >>> from functools import partial
    >>> import latree, numpy as np
    >>> from latree.counts import quartet_tables
    >>> from latree.counts.quartets import nuclear_test
    >>> tree = latree.Tree("abcd", [(0, 4), (1, 4), (4, 5), (2, 5), (3, 5)])
    >>> model = latree.random_model(tree, n_states=3, hidden_states=2, start="identity", random_state=0)
    >>> table = model.sample(2000, random_state=0)
    >>> test = nuclear_test(partial(quartet_tables, table), n_states=3)
    >>> test(np.array([[0, 1, 2, 3], [0, 2, 1, 3]])).pairing
    array([0, 1])
    """
    return tensor_test(nuclear_pairings, tables, n_states)
