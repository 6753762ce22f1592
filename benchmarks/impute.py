"""How well missing cells are filled, beside scikit-learn's imputers: python benchmarks/impute.py FOLDER.

The folder is that of real_tables.py. A share of a table's cells is taken out at random. Every imputer is fitted to the
table with its holes, fills them, and is judged by the cells that were taken out. bfi: the share of cells that are right
(latree by mode), the mean absolute error (by median) and the root mean squared error (by mean). words: the area under
the ROC curve of each word, by the probability that it occurs, as the mean over all words, and with all cells together.

scikit-learn's imputers return numbers. These are rounded to the nearest answer for the share of right cells. For the
absolute error they are rounded or not, whatever is better.

--tables, --repeats (other cells are taken out each time), --share and --rows (random rows of a table) choose what is
run. The two columns of latree differ in the goal of the fit.
"""

import argparse
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from sklearn.experimental import enable_iterative_imputer  # noqa: F401
from sklearn.impute import IterativeImputer, KNNImputer, SimpleImputer
from sklearn.metrics import roc_auc_score

from latree import LatentTree
from latree.model.impute import How
from latree.settings import Goal
from real_tables import real_tables

Cells = NDArray[np.float64]
# A filled table for each measure of error.
Filled = dict[str, Cells]


def latree(goal: Goal) -> Callable[[Cells, bool], Filled]:
    """Return an imputer that fits latree with a goal."""

    def fill(holes: Cells, binary: bool) -> Filled:
        model = LatentTree(goal=goal, random_state=0).fit(holes)
        hows: tuple[How, ...] = ("mean",) if binary else ("mode", "median", "mean")
        return {how: model.impute(holes, how) for how in hows}

    return fill


def scikit_learn(make: Callable[[], Any]) -> Callable[[Cells, bool], Filled]:
    """Return an imputer of scikit-learn."""

    def fill(holes: Cells, binary: bool) -> Filled:
        numbers = make().fit_transform(holes)
        low, high = np.nanmin(holes, axis=0), np.nanmax(holes, axis=0)
        rounded = np.clip(np.round(numbers), low, high)
        return {"mode": rounded, "median": numbers, "median, rounded": rounded, "mean": numbers}

    return fill


IMPUTERS = {
    "latree, to predict": latree("predict"),
    "latree, to explain": latree("explain"),
    "IterativeImputer": scikit_learn(lambda: IterativeImputer(random_state=0)),
    "KNNImputer, 5 neighbours": scikit_learn(KNNImputer),
    "KNNImputer, 25 neighbours": scikit_learn(lambda: KNNImputer(n_neighbors=25)),
    "mean of the column": scikit_learn(SimpleImputer),
}


def errors(true: Cells, filled: Filled) -> dict[str, float]:
    """Return the measures of error of filled cells whose true values are numbers of a scale."""
    absolute = min(np.abs(true - cells).mean() for how, cells in filled.items() if how.startswith("median"))
    squared = np.square(true - filled["mean"]).mean()
    return {"right": (true == filled["mode"]).mean(), "MAE": absolute, "RMSE": np.sqrt(squared)}


def areas(true: Cells, filled: Filled, columns: NDArray[np.intp]) -> dict[str, float]:
    """Return the areas under the ROC curve of cells whose true values are 0 or 1."""
    score = filled["mean"]
    single = [roc_auc_score(true[columns == j], score[columns == j]) for j in np.unique(columns)]
    return {"AUC per word": float(np.mean(single)), "AUC of all cells": roc_auc_score(true, score)}


def print_table(results: dict[str, pd.DataFrame]) -> None:
    """Print the means over all repeats, and how much single repeats vary."""
    measures = list(next(iter(results.values())))
    print(f"| imputer | {' | '.join(measures)} |\n|---|{'---|' * len(measures)}")
    for imputer, rows in results.items():
        print(f"| {imputer} | {' | '.join(f'{mean:.3f}' for mean in rows.mean())} |")
    spread = pd.concat([rows.std() for rows in results.values()], axis=1).max(axis=1)
    print(f"largest standard deviation over the repeats: {spread.round(4).to_dict()}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--tables", nargs="+", default=["bfi", "words"])
    parser.add_argument("--imputers", nargs="+", default=list(IMPUTERS), choices=list(IMPUTERS))
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--share", type=float, default=0.2)
    parser.add_argument("--rows", type=int)
    arguments = parser.parse_args()
    for name in arguments.tables:
        table = real_tables(arguments.folder)[name]()
        if arguments.rows:
            table = table.subsample(arguments.rows, 0)
        values = pd.DataFrame(table.decode()).to_numpy(dtype=float)
        binary = table.n_states.max() == 2
        print(f"\n{name}: {values.shape[0]} rows, {values.shape[1]} columns, {arguments.share:.0%} of cells taken out")
        results: dict[str, list[dict[str, float]]] = {imputer: [] for imputer in arguments.imputers}
        for repeat in range(arguments.repeats):
            taken = (np.random.default_rng([0, repeat]).random(values.shape) < arguments.share) & ~np.isnan(values)
            holes = np.where(taken, np.nan, values)
            for imputer in arguments.imputers:
                began = time.perf_counter()
                filled = {how: cells[taken] for how, cells in IMPUTERS[imputer](holes, binary).items()}
                seconds = time.perf_counter() - began
                judged = areas(values[taken], filled, np.nonzero(taken)[1]) if binary else errors(values[taken], filled)
                results[imputer].append({**judged, "seconds": seconds})
        print_table({imputer: pd.DataFrame(rows) for imputer, rows in results.items()})


if __name__ == "__main__":
    main()
