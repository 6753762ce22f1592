"""Types of arrays, seeds, data frames of any library, and plain data of JSON files."""

import json
from collections.abc import Collection, Mapping, Sequence
from importlib.util import find_spec
from typing import Any, TypeAlias

import narwhals as nw
import numpy as np
from numpy.typing import NDArray

from latree._util.words import did_you_mean
from latree.errors import InputError

IntArray: TypeAlias = NDArray[np.intp]
FloatArray: TypeAlias = NDArray[np.float64]
CodeArray: TypeAlias = NDArray[Any]  # of type uint8 or uint16
RandomState: TypeAlias = int | np.random.Generator | np.random.RandomState | None


def generator(random_state: RandomState) -> np.random.Generator:
    """Return the generator for a ``random_state`` argument: a seed, a generator, or None for fresh entropy."""
    if isinstance(random_state, np.random.RandomState):
        return np.random.default_rng(random_state.randint(2**32, size=4, dtype=np.uint64))
    try:
        return np.random.default_rng(random_state)
    except (TypeError, ValueError):
        raise InputError(f"random_state must be an integer >= 0, a generator or None, not {random_state!r}") from None


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
    >>> from latree._util.arrays import make_frame
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


def parse_json(text: str) -> Any:
    """Return the data of JSON text; raise an InputError if it is not JSON, or if an object has a field twice."""
    try:
        return json.loads(text, object_pairs_hook=_object)
    except InputError:
        raise
    except (ValueError, RecursionError):  # ValueError also for a number with more digits than Python reads
        raise InputError("not a JSON file: it is damaged or cut off") from None


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    # JSON leaves open which of two values counts, so that two programs would read two different files.
    found: dict[str, Any] = {}
    for name, value in pairs:
        if name in found:
            raise InputError(f"the field {name!a:.60} appears twice in one object; remove one of them")
        found[name] = value
    return found


def check_fields(plain: Mapping[str, Any], known: Collection[str], where: str) -> None:
    """Raise if an object of a file has a field that the format does not have."""
    for name in plain:
        if name not in known:
            advice = did_you_mean(name, known) or "remove it, or use the latree that wrote the file"
            raise InputError(f"{where} has an unknown field {name!a:.60}; {advice}")
