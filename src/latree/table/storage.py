"""How a library holds the cells of a column, so that values of a model come back in the same type."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from importlib import import_module
from typing import Any

import narwhals as nw
import numpy as np

from latree._util.arrays import make_frame
from latree._util.words import MAX_NAME
from latree.errors import InputError
from latree.table.raw import label_of

# Types of narwhals, by the names that NumPy and pandas have for them.
_PLAIN: dict[str, Any] = {
    **{f"{sign}int{bits}": getattr(nw, f"{sign.upper()}Int{bits}") for sign in ("", "u") for bits in (8, 16, 32, 64)},
    "float32": nw.Float32,
    "float64": nw.Float64,
    "bool": nw.Boolean,
    "str": nw.String,
    "date": nw.Date,
    "time": nw.Time,
}
_OF_TIME = re.compile(r"(datetime64|timedelta64)\[(ns|us|ms|s)(?:, ([\w/+:-]{1,60}))?\]")
_WHOLE = re.compile(r"(u?int(?:8|16|32|64))(?:\[pyarrow\])?")
# Cells of pandas that are objects of Python, all of one type.
_OBJECTS = {"object[str]": str, "object[bool]": bool}
# Everything else that pandas calls a type, such as Int64, boolean, string or int32[pyarrow].
_OF_PANDAS = re.compile(r"[A-Za-z_0-9]{1,40}(\[[\w ,/+:-]{1,80}\])?")


@dataclass(frozen=True)
class Storage:
    """How a data frame or an array holds a column.

    Attributes
    ----------
    dtype : str
        The name of the type as NumPy and pandas spell it, such as ``int64``, ``float32``, ``bool``, ``str``,
        ``category``, ``date`` or ``datetime64[us, Europe/Paris]``; in a frame of pandas, maybe one that only pandas
        has, such as ``Int64``.
    categories : tuple of str, int, float or bool
        Those of a column of categories, also the ones that no row has.
    ordered : bool
        Whether the categories are in an order.
    """

    dtype: str
    categories: tuple[Any, ...] = ()
    ordered: bool = False

    @classmethod
    def of_series(cls, series: "nw.Series[Any]") -> "Storage | None":
        """Return how a column of a frame is held; None for a type that nothing is known about."""
        dtype, native = series.dtype, series.to_native()
        if isinstance(dtype, nw.Categorical | nw.Enum):
            return _categories(series)
        if series.implementation.is_pandas():
            name = str(native.dtype)
            if name == "object":
                found = {type(value) for value in native.dropna().unique()}
                return next((cls(one) for one, kind in _OBJECTS.items() if found == {kind}), cls("object"))
            return cls(name) if _OF_PANDAS.fullmatch(name) else None
        if isinstance(dtype, nw.Datetime):
            return cls(f"datetime64[{dtype.time_unit}{f', {dtype.time_zone}' if dtype.time_zone else ''}]")
        if isinstance(dtype, nw.Duration):
            return cls(f"timedelta64[{dtype.time_unit}]")
        return next((cls(name) for name, known in _PLAIN.items() if dtype == known), None)

    def merge(self, other: "Storage | None") -> "Storage":
        """Return how a column is held in two parts of the data: with the categories of both."""
        if other is None or other == self:
            return self
        return Storage(self.dtype, tuple(dict.fromkeys((*self.categories, *other.categories))), self.ordered)

    def restore(self, values: Sequence[Any]) -> list[Any]:
        """Return values of a model as a frame holds them; None stays None."""
        if self.dtype == "category":
            known = {label_of(one).strip(): one for one in self.categories}
            return [None if value is None else known.get(label_of(value), value) for value in values]
        if self.dtype in ("bool", "boolean", "object[bool]", "bool[pyarrow]"):
            return [None if value is None else label_of(value) in ("True", "1") for value in values]
        if self._is_text:
            return [None if value is None else label_of(value) for value in values]
        return list(values)

    def within(self, number: float) -> float:
        """Return the nearest number that the type can hold: a drawn one may be larger than those of an int8."""
        match = _WHOLE.fullmatch(self.dtype.lower())
        if match is None or not isinstance(number, int):
            return number
        limits = np.iinfo(match[1])
        return min(max(number, int(limits.min)), int(limits.max))

    @property
    def _is_text(self) -> bool:
        return self.dtype in ("str", "object[str]") or self.dtype.startswith(("string", "large_string"))

    @property
    def generic(self) -> Any:
        """The type of narwhals that is like it; None if there is none."""
        if self.dtype == "category":
            return nw.Enum(list(map(str, self.categories))) if self.ordered else nw.Categorical()
        if match := _OF_TIME.fullmatch(self.dtype):
            unit: Any = match[2]
            return nw.Datetime(unit, match[3]) if match[1] == "datetime64" else nw.Duration(unit)
        if self._is_text:
            return nw.String()
        return _PLAIN.get(self.dtype.lower().removesuffix("[pyarrow]").replace("boolean", "bool"))

    def to_plain(self) -> Any:
        """Return it as plain data for JSON: the name of a type, or an object with categories."""
        if self.dtype != "category":
            return self.dtype
        return {"dtype": self.dtype, "categories": list(self.categories), "ordered": self.ordered}

    @classmethod
    def from_plain(cls, plain: Any) -> "Storage":
        """Make one from plain data, trusting none of it."""
        if isinstance(plain, str) and plain != "category" and _OF_PANDAS.fullmatch(plain):
            return cls(plain)
        if (
            isinstance(plain, dict)
            and set(plain) == {"dtype", "categories", "ordered"}
            and plain["dtype"] == "category"
        ):
            categories, ordered = plain["categories"], plain["ordered"]
            plain_types = (str, bool, int, float)
            if (
                isinstance(categories, list)
                and isinstance(ordered, bool)
                and all(type(one) in plain_types and len(str(one)) <= MAX_NAME for one in categories)
                and len(set(map(label_of, categories))) == len(categories)
            ):
                return cls("category", tuple(categories), ordered)
        raise InputError(f"its dtype makes no sense: {plain!r:.60}")


def _categories(series: "nw.Series[Any]") -> Storage | None:
    """Return how a column of categories is held."""
    native, ordered = series.to_native(), isinstance(series.dtype, nw.Enum)
    if series.implementation.is_pandas():
        categories, ordered = native.cat.categories.tolist(), bool(native.cat.ordered)
    elif isinstance(series.dtype, nw.Enum):
        categories = list(series.dtype.categories)
    elif series.implementation.is_pyarrow():
        ordered = native.type.ordered
        categories = native.unify_dictionaries().combine_chunks().dictionary.to_pylist()
    else:  # of polars, which forgets those that no row has
        categories = sorted(set(series.drop_nulls().cast(nw.String).to_list()))
    are_plain = all(type(one) in (str, bool, int, float) for one in categories)
    return Storage("category", tuple(categories), ordered) if are_plain else None


def typed_frame(cells: Mapping[str, Sequence[Any]], storages: Mapping[str, Storage | None], backend: str | None) -> Any:
    """Make a data frame whose columns have the types of the data that a model was fitted to.

    Parameters
    ----------
    cells : mapping of str to sequence
        The values of each column, as :meth:`latree.Column.decode` returns them; None where one is missing.
    storages : mapping of str to Storage or None
        How each column is held.
    backend : str, optional
        The library, as for :func:`latree._util.arrays.make_frame`.
    """
    implementation = nw.from_native(make_frame({}, backend), eager_only=True).implementation
    columns = {
        name: list(values)
        if (storage := storages.get(name)) is None
        else _series(name, values, storage, implementation)
        for name, values in cells.items()
    }
    return make_frame(columns, backend)


def typed_like(series: "nw.Series[Any]", cells: Sequence[Any], fitted: Storage | None) -> "nw.Series[Any]":
    """Return other cells as a column of the same type; numbers with fractions instead of whole ones where needed.

    A column without any cell has the type that its library gives to missing cells: its cells are held as in the data of
    the fit.
    """
    is_untyped = fitted is not None and bool(series.is_null().all())
    storage = fitted if is_untyped else Storage.of_series(series)
    if storage is not None and (is_untyped or series.implementation.is_pandas()):
        return nw.from_native(_series(series.name, cells, storage, series.implementation), series_only=True)
    return nw.new_series(series.name, cells, _with_fractions(series.dtype, cells), backend=series.implementation)


def _with_fractions(dtype: Any, cells: Sequence[Any]) -> Any:
    """Return the type of narwhals for cells, which may be numbers with fractions in a column of whole ones."""
    is_whole = dtype is not None and dtype.is_integer()
    return nw.Float64() if is_whole and any(isinstance(cell, float) and cell % 1 for cell in cells) else dtype


def _series(name: str, values: Sequence[Any], storage: Storage, implementation: Any) -> Any:
    """Make a column of a library."""
    cells = storage.restore(values)
    if implementation.is_pandas():
        return _pandas_series(name, storage, cells)
    if implementation.is_pyarrow() and storage.dtype == "category":  # narwhals cannot make ordered categories there
        return _arrow_dictionary(storage, cells)
    return nw.to_native(nw.new_series(name, cells, _with_fractions(storage.generic, cells), backend=implementation))


def _pandas_series(name: str, storage: Storage, values: list[Any]) -> Any:
    """Make a column of pandas. A type without missing cells, such as int64, becomes the one that pandas takes then."""
    pandas: Any = import_module("pandas")
    if storage.dtype == "category":
        return pandas.Series(pandas.Categorical(values, list(storage.categories), ordered=storage.ordered), name=name)
    if storage.dtype.startswith("object") or storage.dtype == "date":
        return pandas.Series(values, dtype=object, name=name)
    try:
        return pandas.Series(values, dtype=storage.dtype, name=name)
    except (TypeError, ValueError):
        # Fractions of a column of whole numbers; those of pandas' own types keep its form of missing cells.
        is_nullable = storage.dtype[0] in "IU" and storage.generic is not None
        return pandas.Series(values, dtype="Float64" if is_nullable else None, name=name)


def _arrow_dictionary(storage: Storage, values: list[Any]) -> Any:
    arrow: Any = import_module("pyarrow")
    place = {one: number for number, one in enumerate(storage.categories)}
    indices = arrow.array([None if value is None else place[value] for value in values], arrow.int32())
    return arrow.DictionaryArray.from_arrays(indices, arrow.array(storage.categories), ordered=storage.ordered)


def common_type(storages: Sequence[Storage | None]) -> np.dtype[Any] | None:
    """Return the type of an array that held all columns; None if they were held in different types."""
    names = {None if storage is None else storage.dtype for storage in storages}
    name = names.pop() if len(names) == 1 else None
    return None if name is None or name not in _PLAIN or name in ("str", "date", "time") else np.dtype(name)
