"""The three unfoldings of a fourth-order tensor, and their nuclear norms.

The letters are the paper's: A, B and C are the unfoldings for the pairings {12|34}, {13|24} and {14|23} of four
variables.

Unfoldings, singular values and nuclear norms of NumPy arrays are computed on all cores. Arrays of any other library
that follows the array API standard are computed where they are, for instance on a GPU.
"""

from typing import Any, TypeVar, cast

import numpy as np

from latree._util.arrays import FloatArray
from latree._util.workers import map_ordered
from latree.errors import InputError

# The axes of P that become rows and columns of A, B and C. The paper reshapes in column-major order, where the FIRST
# index runs fastest: row x1 + n(x2 - 1). NumPy's reshape lets the last index run fastest, hence (2, 1) and not (1, 2).
_AXES = ((1, 0, 3, 2), (2, 0, 3, 1), (3, 0, 2, 1))

# NumPy releases the interpreter lock for SVDs of stacks of more than 500 matrix rows in all: smaller pieces of a stack
# would not run in parallel.
_MIN_ROWS_PER_PIECE = 501
# A thread decomposes pieces of a stack of this many cells, or more if these have too few rows.
_CELLS_PER_PIECE = 2**16
# From this many columns on, it pays to drop the empty rows and columns of each matrix before its SVD.
_LARGE_MATRIX = 200

Array = TypeVar("Array")


def namespace(array: Any) -> Any:
    """Return the module of array API functions of the library that an array comes from."""
    if hasattr(array, "__array_namespace__"):
        return array.__array_namespace__()
    try:
        from array_api_compat import array_namespace
    except ModuleNotFoundError:
        raise InputError(f"{type(array).__name__} arrays need array-api-compat: pip install array-api-compat") from None
    return array_namespace(array)


def unfoldings(tensors: Array) -> Array:
    """Unfold fourth-order tensors into matrices in three ways: equations (2), (3) and (4) of the paper.

    If the tensor is the joint distribution of four columns whose true pairing is {12|34}, A has rank k, the number of
    states of the hidden variable between the pairs, while B and C have rank up to k².

    Parameters
    ----------
    tensors : array, shape (..., n, n, n, n)

    Returns
    -------
    array, shape (..., 3, n², n²)
        A, B and C. ``A[x1 + n x2, x3 + n x4] = B[x1 + n x3, x2 + n x4] = C[x1 + n x4, x2 + n x3] = P[x1, x2, x3, x4]``
        (counting from zero).

    Examples
    --------
    >>> import numpy as np
    >>> from latree.counts.tensor import unfoldings
    >>> tensor = np.arange(16).reshape(2, 2, 2, 2)
    >>> a, b, c = unfoldings(tensor)
    >>> bool(a[1, 2] == tensor[1, 0, 0, 1]), bool(b[1, 2] == tensor[1, 0, 0, 1]), bool(c[1, 2] == tensor[1, 0, 1, 0])
    (True, True, True)
    """
    xp = namespace(tensors)
    *leading, n = tensors.shape[:-3]  # type: ignore[attr-defined]
    lead = len(leading)
    stack = [
        xp.reshape(xp.permute_dims(tensors, (*range(lead), *(lead + axis for axis in axes))), (*leading, n * n, n * n))
        for axes in _AXES
    ]
    unfolded: Array = xp.stack(stack, axis=lead)
    return unfolded


def singular_values(matrices: Array) -> Array:
    """Return the singular values of every matrix of a stack, largest first.

    Large stacks of NumPy arrays are decomposed on all cores.

    Parameters
    ----------
    matrices : array, shape (..., p, q)

    Returns
    -------
    array, shape (..., min(p, q))

    Examples
    --------
    >>> import numpy as np
    >>> from latree.counts.tensor import singular_values
    >>> singular_values(np.array([[[3.0, 0.0], [0.0, 4.0]], [[0.0, 1.0], [1.0, 0.0]]]))
    array([[4., 3.],
           [1., 1.]])
    """
    if not isinstance(matrices, np.ndarray):
        found: Array = namespace(matrices).linalg.svdvals(matrices)
        return found
    flat = matrices.reshape(-1, *matrices.shape[-2:])
    step = max(-(-_MIN_ROWS_PER_PIECE // max(1, flat.shape[-2])), _CELLS_PER_PIECE // max(1, flat[:1].size))
    pieces = (flat[start : start + step] for start in range(0, len(flat), step))
    values = list(map_ordered(_svd_values, pieces))
    shape = (*matrices.shape[:-2], min(matrices.shape[-2:]))
    return cast("Array", np.concatenate(values).reshape(shape) if values else np.zeros(shape))


def nuclear_norms(matrices: Array) -> Array:
    """Return the nuclear norm ``‖M‖_* = Σ σ_s(M)`` of every matrix of a stack: the sum of its singular values.

    It is the convex stand-in for the rank that Algorithm 1 of the paper compares.

    Parameters
    ----------
    matrices : array, shape (..., p, q)

    Returns
    -------
    array, shape (...)

    Examples
    --------
    >>> import numpy as np
    >>> from latree.counts.tensor import nuclear_norms
    >>> nuclear_norms(np.array([[[3.0, 0.0], [0.0, 4.0]], [[0.0, 1.0], [1.0, 0.0]]]))
    array([7., 2.])
    """
    norms: Array = namespace(matrices).sum(singular_values(matrices), axis=-1)
    return norms


def _svd_values(stack: FloatArray) -> FloatArray:
    if stack.shape[-1] < _LARGE_MATRIX:
        return np.asarray(np.linalg.svd(stack, compute_uv=False))
    # Unfoldings of columns with many states are mostly empty: rows and columns of zeros change no singular value.
    filled = [matrix[np.ix_(matrix.any(axis=1), matrix.any(axis=0))] for matrix in stack]
    dense = np.zeros((len(stack), *np.max([matrix.shape for matrix in filled], axis=0)))
    for target, matrix in zip(dense, filled, strict=True):
        target[: matrix.shape[0], : matrix.shape[1]] = matrix
    nonzero = np.linalg.svd(dense, compute_uv=False)
    values = np.zeros((len(stack), min(stack.shape[-2:])))
    values[:, : nonzero.shape[-1]] = nonzero
    return values
