"""Raw columns of data frames."""

from dataclasses import replace
from typing import Any

import narwhals as nw

from latree.errors import InputError
from latree.table.raw import (
    EXACT,
    RawColumn,
    check_names,
    from_integers,
    from_objects,
    from_seconds,
    from_texts,
    from_values,
    label_of,
    order_of,
)
from latree.table.storage import Storage


def from_frame(frame: Any) -> list[RawColumn]:
    """Make raw columns of any data frame that narwhals supports."""
    check_frame_names(frame)
    try:
        eager: Any = nw.from_native(frame)
    except TypeError:
        raise InputError(
            f"cannot read a table from {type(frame).__name__}: pass a data frame, a 2-D array or the name of a file"
        ) from None
    if isinstance(eager, nw.LazyFrame):
        eager = eager.collect()
    series = ((str(name), eager.get_column(name)) for name in eager.columns)
    return [replace(_from_series(name, _dense(one)), storage=Storage.of_series(one)) for name, one in series]


def _dense(series: "nw.Series[Any]") -> "nw.Series[Any]":
    """Return a sparse column of pandas as a plain one."""
    native = series.to_native()
    if series.implementation.is_pandas() and hasattr(native.dtype, "subtype") and hasattr(native, "sparse"):
        series = nw.from_native(native.sparse.to_dense(), series_only=True)
    return series


def check_frame_names(frame: Any) -> None:
    """Raise if columns of a data frame have the same name; libraries say that in lines that nobody understands."""
    if not nw.dependencies.is_polars_lazyframe(frame):  # its names are unique, and finding them may take long
        names = frame.column_names if nw.dependencies.is_pyarrow_table(frame) else getattr(frame, "columns", ())
        check_names(list(map(str, names)), "the data frame")


def _from_series(name: str, series: "nw.Series[Any]") -> RawColumn:
    if series.dtype == nw.Boolean and not series.is_null().any():
        return from_values(name, series.to_numpy().astype(bool))
    if series.dtype.is_integer():
        has_nulls, is_wide = series.is_null().any(), series.dtype in (nw.Int128, nw.UInt128)
        if not has_nulls and not is_wide:
            return from_values(name, series.to_numpy())
        present = series.drop_nulls()
        if is_wide or (len(present) and max(abs(present.max()), abs(present.min())) >= EXACT):
            return from_integers(name, series.to_list())
    if series.dtype.is_numeric():
        return from_values(name, series.cast(nw.Float64).to_numpy())
    if isinstance(series.dtype, nw.Datetime):
        seconds = series.dt.timestamp("us").cast(nw.Float64).to_numpy() / 1e6
        return from_seconds(name, seconds, "datetime" if series.dtype.time_zone is None else "instant")
    if series.dtype in (nw.Date, nw.Time, nw.Duration, nw.Object):
        return from_objects(name, series.to_list())
    return from_texts(name, [label_of(value) for value in series.to_list()], _order_of_series(series))


def _order_of_series(series: "nw.Series[Any]") -> tuple[str, ...] | None:
    """Return the labels of ordered categories from low to high; none for plain categories, None for other types."""
    if isinstance(series.dtype, nw.Enum):  # also an ordered Categorical of pandas
        return order_of(series.dtype.categories)
    if series.dtype != nw.Categorical:
        return None
    if series.implementation.is_pyarrow() and series.to_native().type.ordered:
        return order_of(series.to_native().unify_dictionaries().combine_chunks().dictionary.to_pylist())
    return ()
