"""Data frames as results: of the library that the data came from, or of one that is installed."""

from collections.abc import Mapping, Sequence
from importlib.util import find_spec
from typing import Any

import narwhals as nw
from numpy.typing import NDArray

# Libraries of data frames, the one that most people have first.
_LIBRARIES = ("pandas", "polars", "pyarrow")


def backend_of(data: Any) -> str | None:
    """Return the library of a data frame in memory, such as "polars"; None for anything else."""
    if nw.dependencies.is_polars_lazyframe(data):
        return "polars"
    if not nw.dependencies.is_into_dataframe(data):
        return None
    return str(nw.from_native(data, eager_only=True).implementation.value)


def make_frame(columns: Mapping[str, Any], backend: str | None = None) -> Any:
    """Make a data frame of named columns.

    Parameters
    ----------
    columns : mapping of str to sequence
        Lists or arrays, all of the same length.
    backend : str, optional
        The library, such as "pandas", "polars" or "pyarrow"; see :func:`backend_of`. By default the first of these
        three that is installed.

    Returns
    -------
    data frame
        Of that library; without any library, a dict from names to columns.

    Examples
    --------
    >>> from latree._util.frames import make_frame
    >>> make_frame({"group": ["N1, N2 +3", "E4, E2 +2"], "columns": [5, 4]}, "pandas")
           group  columns
    0  N1, N2 +3        5
    1  E4, E2 +2        4
    """
    if backend is None:
        backend = next(filter(find_spec, _LIBRARIES), None)
    if backend is None:
        return dict(columns)
    library: Any = backend
    return nw.from_dict(dict(columns), {} if not columns else None, backend=library).to_native()


def frame_like(data: Any, names: Sequence[str], values: NDArray[Any]) -> Any:
    """Make a data frame of the columns of an array: of the library of other data, and with their index.

    Parameters
    ----------
    data : data frame, or anything else
        The data that the values were computed from, row by row.
    names : sequence of str
        The names of the columns.
    values : array of two dimensions
    """
    backend = backend_of(data)
    made = make_frame({name: values[:, j] for j, name in enumerate(names)}, backend)
    if not nw.dependencies.is_pandas_like_dataframe(made):
        return made
    index = None if backend is None else nw.maybe_get_index(nw.from_native(data, eager_only=True))
    if not len(names):
        return made.reindex(range(len(values)) if index is None else index)  # rows without columns
    if index is not None:
        made.index = index
    return made
