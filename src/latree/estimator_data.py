"""The forms of data that the estimator takes: checks as of scikit-learn, encoding, and results of the same form."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import narwhals as nw
import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import check_array, check_is_fitted, validate_data

from latree._util.arrays import frame_like, make_frame
from latree.errors import InputError
from latree.model import LatentTreeModel
from latree.table import Table, as_table
from latree.table.columns import Unseen
from latree.table.opening import is_annotated, is_dask_dataframe, open_source
from latree.table.raw import array_names, check_frame_names
from latree.table.reading import Options
from latree.table.sources import WeightsAre
from latree.table.sparse import is_sparse

# The parameters that :func:`latree.as_table` takes.
HOW_TO_READ = ("bins", "missing", "missing_also", "drop", "keep", "identifier", "ordered")


class DataMixin:
    """Methods of an estimator that read data."""

    model_: LatentTreeModel
    n_features_in_: int
    feature_names_in_: NDArray[Any]
    identifier: str | None
    unseen: Unseen
    weights: WeightsAre | None
    _names_in: list[str]  # the columns of the data that must be the same in every call
    _weights: str | None  # the column that held the weights of the rows
    _library: str | None  # of a frame; "numpy" for an array or a sparse matrix; None for a Table, a file and others

    def _validated(self, X: Any, reset: bool) -> Any:
        """Check the data as scikit-learn does; frames keep their columns' types."""
        if isinstance(X, Table) or is_elsewhere(X):
            return X
        if is_annotated(X):
            if reset:
                self.feature_names_in_ = np.array(list(map(str, X.var_names)), dtype=object)
                self.n_features_in_ = len(self.feature_names_in_)
            return X
        if nw.dependencies.is_polars_lazyframe(X):
            X = X.collect()
        if is_frame(X):
            check_frame_names(X)
            validate_data(self, self._features(X, reset), reset=reset, skip_check_array=True)
            return X
        if isinstance(X, np.ma.MaskedArray):
            plain = {"dtype": None, "ensure_all_finite": "allow-nan"}
            validate_data(self, np.ma.getdata(X), reset=reset, **plain)  # it would forget what is masked
            return X
        # Sparse matrices of other kinds are converted to the first, because they cannot be checked.
        how = {"accept_sparse": ["csr", "csc", "coo"], "dtype": None, "ensure_all_finite": "allow-nan"}
        if not reset and self._library is None:  # a Table has names where the array that it was made from has none
            return check_array(X, **how)
        return validate_data(self, X, reset=reset, **how)

    def _features(self, X: Any, reset: bool) -> Any:
        """Return the columns of a frame that must be the same in every call; others may be there or not."""
        if not is_frame(X):
            return X
        names = names_of(X)
        if reset or self._library is not None:
            wanted = set(self._options.select(names)) - {self._weights}
        else:
            wanted = set(self.feature_names_in_)
        frame = nw.from_native(X, eager_only=True)
        if wanted.issuperset(names):
            return X
        return frame.select(name for name in frame.columns if str(name) in wanted).to_native()

    @property
    def _backend(self) -> str | None:
        """The library of frames that the model was fitted to; None if it was something else."""
        return None if self._library == "numpy" else self._library

    @property
    def _options(self) -> Options:
        return Options.checked(**{name: getattr(self, name) for name in HOW_TO_READ})

    def _like(self, X: Any, names: Sequence[str], values: NDArray[Any]) -> Any:
        """Return an array as it is, or named columns like the data, unless these are an array."""
        if not (is_frame(X) or is_elsewhere(X) or isinstance(X, Table)):
            return values
        return frame_like(X, names, values)

    def _encoded(self, X: Any, weights: Any = None, identifier: str | None = None) -> Table:
        check_is_fitted(self)
        X = self._validated(X, reset=False)
        is_matrix = isinstance(X, np.ndarray) or is_sparse(X)
        names = self._names_in if is_matrix and X.shape[1] == len(self._names_in) else None
        if weights is None and identifier is None:
            table = self.model_.encode(X, unseen=self.unseen, names=names)
        else:
            how: dict[str, Any] = {"names": names, "unseen": self.unseen, "identifier": identifier}
            table = as_table(X, columns=self.model_.columns, weights=weights, weights_are=self.weights, **how)
        if table.n_rows == 0:
            raise InputError("no rows (0 sample(s)) to work on")
        return table

    def _column_in(self, X: Any, column: str | None) -> str | None:
        """Return the name of a column that is not learned from, if the data have it; None if not."""
        if X is None or isinstance(X, Table):
            return None
        names: Sequence[str] = open_source(X, None).names if isinstance(X, str | Path) else names_of(X)
        return column if column in names else None

    def _as_fitted(self, columns: dict[str, list[Any]]) -> Any:
        if self._backend is not None:
            frame = nw.from_native(make_frame(columns, self._backend), eager_only=True)
            if not frame.implementation.is_pyarrow():  # narwhals cannot make ordered categories there
                categories = {
                    c.name: nw.Enum(c.categories) for c in self.model_.columns if c.ordered and c.kind == "text"
                }
                frame = frame.with_columns(frame.get_column(name).cast(dtype) for name, dtype in categories.items())
            return frame.to_native()
        return np.column_stack([np.array(values) for values in columns.values()])


def is_frame(X: Any) -> bool:
    """Return whether data are a frame in memory, or one of polars that is not computed yet."""
    return bool(nw.dependencies.is_into_dataframe(X) or nw.dependencies.is_polars_lazyframe(X))


def names_of(X: Any) -> list[str]:
    """Return the names of all columns of a frame or an array, also of those that are not learned from."""
    if isinstance(X, np.ndarray) or is_sparse(X):
        return array_names(X.shape[1])
    if is_annotated(X):
        return list(map(str, X.var_names))
    if nw.dependencies.is_polars_lazyframe(X):
        return X.collect_schema().names()
    return list(map(str, nw.from_native(X, eager_only=True).columns)) if is_frame(X) else []


def is_elsewhere(X: Any) -> bool:
    """Return whether data are in files or on a cluster, not in memory."""
    return isinstance(X, str | Path) or is_dask_dataframe(X)
