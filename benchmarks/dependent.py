"""What dependent rows do to a fit, and whether latree warns: python benchmarks/dependent.py [--tables 10] [KIND ...].

Tables of 20 columns with 4 answers: four scales of five items, which have nothing to do with each other. Of so many
tables of each kind of dependence between rows:

  warned     share of those with the warning that rows are like their neighbours
  joined     share of those with a tree that connects columns of different scales
  edges      mean number of edges between hidden variables with a support of .9 or more: all are false
"""

import argparse
import warnings
from collections.abc import Callable
from functools import partial
from typing import TypeAlias

import numpy as np
import pandas as pd

import latree
from lines import Settings, Shown, mean, run
from truth import Row

N_ROWS, N_SCALES, N_ITEMS, LOADING = 1000, 4, 5, 0.7
Traits: TypeAlias = Callable[[np.random.Generator], np.ndarray]


def alike(size: int, correlation: float) -> Traits:
    """Traits of persons in groups of neighbours, with a correlation within groups."""

    def traits(rng: np.random.Generator) -> np.ndarray:
        common = np.repeat(rng.normal(size=(N_ROWS // size, N_SCALES)), size, axis=0)
        own = rng.normal(size=(N_ROWS, N_SCALES))
        return np.asarray(np.sqrt(correlation) * common + np.sqrt(1 - correlation) * own)

    return traits


def series(correlation: float) -> Traits:
    """Traits of which each row keeps a part of those of the row before."""

    def traits(rng: np.random.Generator) -> np.ndarray:
        found = rng.normal(size=(N_ROWS, N_SCALES))
        for row in range(1, N_ROWS):
            found[row] = correlation * found[row - 1] + np.sqrt(1 - correlation**2) * found[row]
        return found

    return traits


KINDS: dict[str, Traits] = {
    "independent": alike(1, 0.0),
    **{f"classes of 25, {r}": alike(25, r) for r in (0.2, 0.4)},
    **{f"5 times, {r}": alike(5, r) for r in (0.5, 0.8, 1.0)},
    **{f"series, {r}": series(r) for r in (0.5, 0.8, 0.95)},
    "sorted": lambda rng: (found := rng.normal(size=(N_ROWS, N_SCALES)))[np.argsort(found[:, 0])],
}


def fitted(kind: str, seed: int) -> Row:
    """Return what a fit says about a table of this kind."""
    rng = np.random.default_rng(seed)
    scores = LOADING * KINDS[kind](rng).repeat(N_ITEMS, axis=1)
    scores += np.sqrt(1 - LOADING**2) * rng.normal(size=scores.shape)
    data = pd.DataFrame(np.digitize(scores, [-0.67, 0.0, 0.67])).add_prefix("x")
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        tree = latree.LatentTree(random_state=seed).fit(data).tree_
    scales = [(2**N_ITEMS - 1) << N_ITEMS * scale for scale in range(N_SCALES)]  # of components: a bit for each column
    inner = (tree.edges >= tree.n_observed).all(axis=1)
    support = np.zeros(0) if tree.support is None else tree.support[inner]
    return {
        "warned": any("like their neighbours" in str(one.message) for one in said),
        "joined": any(sum(bool(part & scale) for scale in scales) > 1 for part in tree.components),
        "edges": int((np.nan_to_num(support) >= 0.9).sum()),
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("kinds", metavar="KIND", nargs="*", default=list(KINDS), help=f"of {'; '.join(KINDS)}")
    parser.add_argument("--tables", type=int, default=10)
    parser.add_argument("--first", type=int, default=0, help="the first seed")
    options = parser.parse_args()
    seeds = range(options.first, options.first + options.tables)
    settings: Settings = {kind: [partial(fitted, kind, seed) for seed in seeds] for kind in options.kinds}
    run(settings, [Shown(name, mean(name)) for name in ("warned", "joined", "edges")])


if __name__ == "__main__":
    main()
