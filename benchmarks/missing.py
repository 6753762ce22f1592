"""How the structure that is found degrades with missing cells: at random, in runs, and by design.

python benchmarks/missing.py                     # 38 fits
python benchmarks/missing.py --seeds 10 --jobs 2 --csv missing.csv

Tables are drawn from a questionnaire of 6 scales with 4 items each, under one general factor (`recipe_model`), and then
lose a share of their cells in one of three ways. `random`: each cell by itself. `runs`: each row lacks a run of
neighbouring columns, such as the pages that a person skipped; the first column follows the last one. `design`: columns
are divided into 12 booklets at random, and each row has some of them (matrix sampling).

Precision is the share of drawn edges that are right, recall the share of true edges that are drawn. `scales` is the
share of the true scales whose hidden variable the tree has with exactly the same edges, `groups` the adjusted Rand
index of the main groups with the scales.
"""

import argparse
import time
from functools import partial
from pathlib import Path
from typing import Literal, TypeAlias, get_args

import numpy as np
from sklearn.metrics import adjusted_rand_score

import latree
from lines import Settings, Shown, mean, ratio, run
from simulated_tables import recipe_model
from truth import Row, compared, matched_hidden

Way: TypeAlias = Literal["random", "runs", "design"]
SHARES = (0.1, 0.2, 0.3, 0.4, 0.5, 0.6)
SCALES, ITEMS = 6, 4
BOOKLETS = 12

SHOWN = (
    Shown("missing", mean("missing")),
    Shown("found", mean("hidden"), ".1f"),
    Shown("precision", ratio("right_edges", "edges"), ".3f"),
    Shown("recall", ratio("found_edges", "true_edges"), ".3f"),
    Shown("scales", mean("scales")),
    Shown("groups", mean("rand_index")),
    Shown("seconds", mean("seconds"), ".1f"),
)


def with_holes(table: latree.Table, way: Way, share: float, seed: int) -> latree.Table:
    """Return the table without a share of its cells, which are missing in one of three ways."""
    rng = np.random.default_rng([seed, 5])
    codes = table.codes()
    n_rows, n_columns = codes.shape
    if way == "random":
        holes = rng.random(codes.shape) < share
    elif way == "runs":
        starts = rng.integers(0, n_columns, (n_rows, 1))
        holes = (np.arange(n_columns) - starts) % n_columns < round(share * n_columns)
    else:
        booklet = rng.permutation(np.arange(n_columns) % BOOKLETS)
        lacks = np.argsort(rng.random((n_rows, BOOKLETS)), axis=1) < round(share * BOOKLETS)
        holes = lacks[:, booklet]
    codes[holes] = -1
    return latree.Table.from_codes(table.columns, codes)


def missing_row(way: Way, share: float, rows: int, seed: int) -> Row:
    truth = recipe_model(SCALES, ITEMS)
    table = truth.sample(rows, seed)
    table = with_holes(table, way, share, seed) if share else table
    started = time.perf_counter()
    learned = latree.LatentTree(random_state=seed).fit(table)
    seconds = time.perf_counter() - started
    top = truth.tree.n_nodes - 1
    scales = len(matched_hidden(truth.tree, learned.tree_).keys() - {top}) / SCALES
    rand_index = adjusted_rand_score(np.arange(SCALES * ITEMS) // ITEMS, learned.labels_)
    facts = {"way": way, "missing": float(table.n_missing.sum() / table.n_rows / table.n_columns), "seed": seed}
    return {**facts, **compared(truth, learned.model_), "scales": scales, "rand_index": rand_index, "seconds": seconds}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seeds", type=int, default=2, help="tables per line")
    parser.add_argument("--rows", type=int, default=1000)
    parser.add_argument("--shares", type=float, nargs="+", default=SHARES)
    parser.add_argument("--ways", nargs="+", choices=get_args(Way), default=get_args(Way))
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--csv", type=Path)
    arguments = parser.parse_args()
    settings: Settings = {}
    for way in arguments.ways:
        for share in (0.0, *arguments.shares) if way == "random" else arguments.shares:
            settings[f"{way if share else 'whole'} {share:.0%}"] = [
                partial(missing_row, way, share, arguments.rows, seed) for seed in range(arguments.seeds)
            ]
    run(settings, SHOWN, arguments.jobs, arguments.csv)


if __name__ == "__main__":
    main()
