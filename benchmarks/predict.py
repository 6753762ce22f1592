"""How well `goal="predict"` predicts new rows, beside every method by name: python benchmarks/predict.py FOLDER.

The folder is that of real_tables.py. Per table: the mean log-likelihood of a test row under `auto` and under each other
method, each with its own number of states and smoothing; the difference to the best of them, with the standard error of
the mean difference over the test rows; and the best published value where there is one. The table of tumours is divided
into thirds, `density/` has splits of its own, tables in `folds/` have ten folds, all others are halved. Rows of all
splits of a table are taken together.

--only NAME ... (tables), --methods NAME ... and --splits 4 (random ones per table) choose what is run.
"""

import argparse
import time
from collections.abc import Iterator
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from folds import read_table
from latree import Table
from latree.learn import learn_model
from latree.learners.methods import METHODS
from latree.settings import Settings
from latree.table import Column
from real_tables import FOLDS, SCALES, real_tables

# The best published mean log-likelihood of a test row.
PUBLISHED = {"dna": -79.06, "accidents": -26.55}
TABLES = ("tumours", *(f"{name} (folds)" for name in FOLDS), "bfi", *SCALES, "words", "dna", "accidents")


def splits_of(folder: Path, name: str, splits: int) -> Iterator[tuple[Table, Table]]:
    """Yield pairs of tables: rows to fit, and test rows."""
    if name in PUBLISHED:
        train, valid, test = (
            np.loadtxt(folder / "density" / f"{name}.{part}.csv.gz", dtype=int, delimiter=",", skiprows=1)
            for part in ("train", "valid", "test")
        )
        columns = [Column(f"x{number}", "integer", ("0", "1")) for number in range(test.shape[1])]
        yield Table.from_codes(columns, np.concatenate([train, valid])), Table.from_codes(columns, test)
        return
    if name.endswith("(folds)"):
        fold, table = read_table(folder / "folds", name.removesuffix(" (folds)"))
        for number in sorted(set(fold.tolist())):
            yield table.take(np.flatnonzero(fold != number)), table.take(np.flatnonzero(fold == number))
        return
    table = real_tables(folder)[name]()
    share = 2 / 3 if name == "tumours" else 1 / 2
    for split in range(splits):
        order = np.random.default_rng([0, split]).permutation(table.n_rows)
        train, test = np.split(order, [round(share * table.n_rows)])
        yield table.take(np.sort(train)), table.take(np.sort(test))


def scores_of(method: str, splits: list[tuple[Table, Table]]) -> tuple[NDArray[np.float64], float, str]:
    """Return the log-likelihood of every test row, the processor's seconds per fit, and the models' shapes."""
    scores, seconds, shapes = [], [], []
    for train, test in splits:
        began = time.process_time()
        learned = learn_model(train, Settings(method, "predict", random_state=0))
        seconds.append(time.process_time() - began)
        model = learned.model
        scores.append(model.log_likelihood_rows(test))
        most = max(model.n_states[train.n_columns :], default=0)
        shapes.append(f"{model.tree.n_hidden}x{most}:{learned.smoothing:g}")
    return np.concatenate(scores), float(np.mean(seconds)), " ".join(shapes)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    known = [name for name, method in METHODS.items() if not method.needs_states]
    parser.add_argument("folder", type=Path)
    parser.add_argument("--only", nargs="+", default=TABLES, choices=TABLES, metavar="NAME")
    parser.add_argument("--methods", nargs="+", default=known, choices=known, metavar="NAME")
    parser.add_argument("--splits", type=int, default=4)
    arguments = parser.parse_args()
    for name in arguments.only:
        splits = list(splits_of(arguments.folder, name, arguments.splits))
        train, test = splits[0]
        print(f"{name}: {train.n_columns} columns, {train.n_rows} rows, {len(splits)} x {test.n_rows} test rows")
        results = {}
        for method in arguments.methods:
            results[method] = scores_of(method, splits)
        best = max(results.values(), key=lambda result: float(result[0].mean()))[0]
        for method, (scores, seconds, shapes) in results.items():
            gap = scores - best
            print(
                f"  {method:12}{scores.mean():10.4f}{gap.mean():10.4f} ± {gap.std() / len(gap) ** 0.5:.4f}"
                f"{seconds:8.1f} s  {shapes}",
                flush=True,
            )
        if name in PUBLISHED:
            print(f"  {'published':12}{PUBLISHED[name]:10.4f}")


if __name__ == "__main__":
    main()
