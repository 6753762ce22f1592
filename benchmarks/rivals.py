"""What others do with a frame of mixed columns: imputers, synthesizers and densities, made of scikit-learn.

Imputers and synthesizers take and return data frames; texts are names of categories, all else is numbers.
"""

from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy import stats
from sklearn.ensemble import (
    HistGradientBoostingClassifier,
    HistGradientBoostingRegressor,
    RandomForestClassifier,
    RandomForestRegressor,
)
from sklearn.experimental import enable_iterative_imputer  # noqa: F401
from sklearn.impute import IterativeImputer, KNNImputer
from sklearn.mixture import GaussianMixture
from sklearn.model_selection import GridSearchCV
from sklearn.neighbors import KernelDensity
from sklearn.preprocessing import StandardScaler
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor

Floats = NDArray[np.float64]
Names = list[str]


def mean_and_mode(holes: pd.DataFrame, names: Names) -> pd.DataFrame:
    """Fill numbers with the mean of the column, and names with the most frequent one."""
    return holes.fillna({name: holes[name].mode()[0] if name in names else holes[name].mean() for name in holes})


def by_numbers(make: Callable[[], Any]) -> Callable[[pd.DataFrame, Names], pd.DataFrame]:
    """Return an imputer of numbers for mixed frames: numbers are scaled, and names are zeros and ones.

    The first name of a column has no zeros and ones of its own: those of the others would predict them without error,
    so that an imputer that works in rounds would stay where it began.
    """

    def fill(holes: pd.DataFrame, names: Names) -> pd.DataFrame:
        numbers = [name for name in holes if name not in names]
        center, scale = holes[numbers].mean(), holes[numbers].std()
        shown = {name: pd.get_dummies(holes[name], dtype=float).where(holes[name].notna()) for name in names}
        parts = [(holes[numbers] - center) / scale, *(part.iloc[:, 1:] for part in shown.values())]
        filled = make().fit_transform(pd.concat(parts, axis=1).to_numpy())
        found = holes.copy()
        found[numbers] = filled[:, : len(numbers)] * scale.to_numpy() + center.to_numpy()
        start = len(numbers)
        for name, part in shown.items():
            others = filled[:, start : start + part.shape[1] - 1]
            shares = np.column_stack([1 - others.sum(axis=1), others])
            found[name] = holes[name].where(holes[name].notna(), part.columns.to_numpy()[shares.argmax(axis=1)])
            start += others.shape[1]
        return found

    return fill


def by_forests(regressor: Any, classifier: Any, rounds: int) -> Callable[[pd.DataFrame, Names], pd.DataFrame]:
    """Return an imputer like missForest: column by column, from those with fewest holes, a forest of all others.

    D. Stekhoven, P. Bühlmann: *MissForest*, 2012.
    """

    def fill(holes: pd.DataFrame, names: Names) -> pd.DataFrame:
        found = mean_and_mode(holes, names)
        order = [name for name in holes.isna().sum().sort_values(kind="stable").index if holes[name].isna().any()]
        for _ in range(rounds):
            for name in order:
                known = _coded(found.drop(columns=name), names).to_numpy()
                here = holes[name].notna().to_numpy()
                model = classifier() if name in names else regressor()
                found.loc[~here, name] = model.fit(known[here], holes.loc[here, name]).predict(known[~here])
        return found

    return fill


def _coded(data: pd.DataFrame, names: Names) -> pd.DataFrame:
    return data.assign(**{name: data[name].astype("category").cat.codes for name in names if name in data})


IMPUTERS: dict[str, Callable[[pd.DataFrame, Names], pd.DataFrame]] = {
    "mean and mode": mean_and_mode,
    "IterativeImputer": by_numbers(lambda: IterativeImputer(random_state=0, max_iter=20)),
    "KNNImputer, 10 neighbours": by_numbers(lambda: KNNImputer(n_neighbors=10, weights="distance")),
    "missForest-like": by_forests(
        lambda: RandomForestRegressor(50, max_features="sqrt", n_jobs=2, random_state=0),
        lambda: RandomForestClassifier(50, n_jobs=2, random_state=0),
        rounds=4,
    ),
    "gradient boosting, by column": by_forests(
        lambda: HistGradientBoostingRegressor(max_iter=50, random_state=0),
        lambda: HistGradientBoostingClassifier(max_iter=50, random_state=0),
        rounds=2,
    ),
}


def gaussian_copula(rows: pd.DataFrame, n_rows: int, seed: int) -> pd.DataFrame:
    """Draw rows whose columns are as the data's and whose dependence is that of a normal distribution.

    Ties are broken at random, so that names and whole numbers have places on the normal scale, too.
    """
    rng = np.random.default_rng(seed)
    order = np.array([rng.permutation(len(rows)) for _ in rows]).T
    ranks = np.empty((len(rows), rows.shape[1]))
    by_size = {}
    for j, name in enumerate(rows):
        values = rows[name].to_numpy()
        positions = pd.Series(pd.factorize(values, sort=True)[0]).replace(-1, len(values)).to_numpy()  # missing: last
        by_size[name] = values[np.argsort(positions, kind="stable")]
        ranks[np.lexsort((order[:, j], positions)), j] = np.arange(len(rows))
    normal = stats.norm.ppf((ranks + 0.5) / len(rows))
    drawn = stats.norm.cdf(rng.multivariate_normal(np.zeros(rows.shape[1]), np.corrcoef(normal.T), n_rows))
    places = np.minimum((drawn * len(rows)).astype(int), len(rows) - 1)
    return pd.DataFrame({name: by_size[name][places[:, j]] for j, name in enumerate(rows)})


def sequential_trees(rows: pd.DataFrame, n_rows: int, seed: int) -> pd.DataFrame:
    """Draw columns one after the other, each from the leaf of a tree of those before it, as synthpop does by default.

    B. Nowok, G. Raab, C. Dibben: *synthpop*, 2016; the leaves have at least five rows, as there.
    """
    rng = np.random.default_rng(seed)
    data = rows.reset_index(drop=True)
    first = data.columns[0]
    drawn = pd.DataFrame({first: rng.choice(data[first].to_numpy(), n_rows)})
    for name in data.columns[1:]:
        known, new = _same_codes(data[list(drawn)], drawn)
        present = data[name].notna()
        is_number = pd.api.types.is_numeric_dtype(data[name])
        make = DecisionTreeRegressor if is_number else DecisionTreeClassifier
        tree = make(min_samples_leaf=5, random_state=seed).fit(known[present], data.loc[present, name])
        leaf_of, new_leaf = tree.apply(known), tree.apply(new)
        members = pd.Series(data[name].to_numpy()).groupby(leaf_of).apply(np.asarray)
        drawn[name] = [rng.choice(members[leaf]) for leaf in new_leaf]
    return drawn


def _same_codes(rows: pd.DataFrame, drawn: pd.DataFrame) -> tuple[Floats, Floats]:
    """Return two frames as numbers, with the same number for the same name, and -1 where a cell is missing."""
    both = pd.concat([rows, drawn], ignore_index=True)
    names = [name for name in both if not pd.api.types.is_numeric_dtype(both[name])]
    codes = _coded(both, names).fillna(-1).to_numpy(dtype=float)
    return codes[: len(rows)], codes[len(rows) :]


def independent_columns(rows: pd.DataFrame, n_rows: int, seed: int) -> pd.DataFrame:
    """Draw each column by itself."""
    rng = np.random.default_rng(seed)
    return pd.DataFrame({name: rng.choice(rows[name].to_numpy(), n_rows) for name in rows})


SYNTHESIZERS: dict[str, Callable[[pd.DataFrame, int, int], pd.DataFrame]] = {
    "columns by themselves": independent_columns,
    "Gaussian copula": gaussian_copula,
    "CART, column by column": sequential_trees,
}


def mixture_density(train: Floats, test: Floats) -> Floats:
    """Return the log density of test rows under a Gaussian mixture, its size and covariances cross-validated."""
    grid = {"n_components": [1, 2, 3, 4, 6, 8], "covariance_type": ["full", "tied", "diag"], "reg_covar": [1e-3, 1e-2]}
    return _scaled(GridSearchCV(GaussianMixture(random_state=0, n_init=2), grid, cv=5), train, test)


def kernel_density(train: Floats, test: Floats) -> Floats:
    """Return the log density of test rows under Gaussian kernels, their width cross-validated."""
    return _scaled(GridSearchCV(KernelDensity(), {"bandwidth": np.geomspace(0.05, 1.5, 20)}, cv=5), train, test)


def normal_density(train: Floats, test: Floats) -> Floats:
    """Return the log density of test rows if every column is normal and independent of the others."""
    found: Floats = stats.norm.logpdf(test, train.mean(axis=0), train.std(axis=0)).sum(axis=1)
    return found


def _scaled(search: Any, train: Floats, test: Floats) -> Floats:
    """Fit to scaled columns; return the density in the units of the data."""
    scaler = StandardScaler().fit(train)
    model = search.fit(scaler.transform(train)).best_estimator_
    found: Floats = model.score_samples(scaler.transform(test)) - np.log(scaler.scale_).sum()
    return found


DENSITIES: dict[str, Callable[[Floats, Floats], Floats]] = {
    "normal, independent columns": normal_density,
    "Gaussian mixture": mixture_density,
    "kernel density": kernel_density,
}
