"""What the estimator does with data before they are rows of a model: checks of scikit-learn, and encoding."""

import warnings
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import narwhals as nw
import numpy as np
from numpy.typing import NDArray
from sklearn import get_config
from sklearn.base import BaseEstimator
from sklearn.utils.validation import check_array, check_is_fitted, validate_data

from latree._util.arrays import frame_like
from latree.errors import FitWarning, InputError
from latree.model import LatentTreeModel
from latree.table import Table, as_table
from latree.table.columns import Unseen
from latree.table.frames import check_frame_names
from latree.table.opening import is_annotated, is_elsewhere, is_frame, names_of, open_source
from latree.table.reading import Reading, as_reading
from latree.table.sparse import is_sparse


class DataMethods(BaseEstimator):  # type: ignore[misc]
    """How new data become rows of the fitted model, and results take the form of the data."""

    reading: Reading | Mapping[str, Any] | None
    unseen: Unseen
    model_: LatentTreeModel
    _weights: str | None  # the column of weights
    _library: str | None  # that of the frame of the fit; "numpy" for an array
    _names_in: list[str]

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        tags.input_tags.string = True
        tags.input_tags.categorical = True
        tags.input_tags.sparse = True
        return tags

    def _output_is_set(self) -> bool:
        """Return whether scikit-learn was told what :meth:`transform` returns, for this estimator or for all."""
        config = getattr(self, "_sklearn_output_config", {}).get("transform", get_config()["transform_output"])
        return bool(config != "default")

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
            wanted = set(as_reading(self.reading).select(names)) - {self._weights}
        else:
            wanted = set(self.feature_names_in_)
        frame = nw.from_native(X, eager_only=True)
        kept = [name for name in frame.columns if str(name) in wanted]
        # Columns that say nothing, and were left out, need not be there: drawn rows do not have them.
        added = [] if reset else self._silent(names)
        for name in added:
            before = self._names_in[: self._names_in.index(name)]
            kept.insert(sum(str(one) in before for one in kept), name)
        if not added and len(kept) == len(names):
            return X
        return frame.with_columns(nw.lit(None).alias(name) for name in added).select(kept).to_native()

    def _silent(self, names: Sequence[str]) -> list[str]:
        """Return the columns of the fit that are not in the model, and not among some names."""
        known = {*names, *self.model_.tree.names}
        return [name for name in self._names_in if name not in known]

    @property
    def _backend(self) -> str | None:
        """The library of frames that the model was fitted to; None if it was something else."""
        return None if self._library == "numpy" else self._library

    def _like(self, X: Any, names: Sequence[str], values: NDArray[Any]) -> Any:
        """Return an array as it is, or named columns like the data, unless these are an array."""
        if not (is_frame(X) or is_elsewhere(X) or isinstance(X, Table)):
            return values
        return frame_like(X, names, values)

    def _encoded(self, X: Any, weights: Any = None, identifier: str | None = None) -> Table:
        """Return new data as a table of the model's columns."""
        check_is_fitted(self)
        X = self._validated(X, reset=False)
        is_matrix = isinstance(X, np.ndarray) or is_sparse(X)
        names = self._names_in if is_matrix and X.shape[1] == len(self._names_in) else None
        if weights is None and identifier is None:
            table = self.model_.encode(X, unseen=self.unseen, names=names)
        else:
            reading = Reading(identifier=identifier, weights_are=as_reading(self.reading).weights_are)
            how: dict[str, Any] = {"names": names, "unseen": self.unseen, "weights": weights}
            table = as_table(X, reading, columns=self.model_.columns, **how)
        if table.n_rows == 0:
            raise InputError("no rows (0 sample(s)) to work on")
        return table

    def _of_fit(self, X: Any) -> Any:
        """Return a frame without columns that the fit did not have, such as those that tell groups of rows."""
        if not is_frame(X):
            return X
        known = {*self._names_in, self._weights}
        extra = set(as_reading(self.reading).select(names_of(X))) - known
        frame = nw.from_native(X)
        return frame.drop([name for name in frame.collect_schema().names() if str(name) in extra]).to_native()

    def _column_in(self, X: Any, column: str | None) -> str | None:
        """Return the name of a column that is not learned from, if the data have it; None if not."""
        if X is None or isinstance(X, Table):
            return None
        names: Sequence[str] = open_source(X, None).names if isinstance(X, str | Path) else names_of(X)
        return column if column in names else None


def warn(texts: Iterable[str]) -> None:
    """Warn the user who called a method of :class:`LatentTree`."""
    for text in texts:
        warnings.warn(text, FitWarning, stacklevel=3)
