"""Test log-likelihood per fold, beside published learners: python benchmarks/folds.py FOLDER [--write].

The folder holds tables as NAME.csv.gz with a column `fold` (the test fold of each row), the states of their columns as
NAME.states.json, and published.csv with the log-likelihoods of other learners on the same folds. The number of hidden
states is the one of 2, 3, 4, 6 and 8 with the best BIC on the training rows, and the smoothing is 0.1. Exceptions:
`auto` chooses both itself, `hw` chooses the states, and `spectral` cannot use more states than the columns have. Folds
are contiguous blocks of rows and not shuffled, so some states occur only in the test fold: compare within a fold only.
"""

import csv
import gzip
import json
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from latree.learn import Learned, learn_model
from latree.settings import Settings
from latree.table import Column, Table
from page import Section, parser

STATES = (2, 3, 4, 6, 8)


def read_table(folder: Path, name: str) -> tuple[NDArray[np.int64], Table]:
    states = json.loads((folder / f"{name}.states.json").read_text(encoding="utf-8"))
    with gzip.open(folder / f"{name}.csv.gz", "rt", encoding="utf-8") as stream:
        rows = list(csv.DictReader(stream))
    columns = [Column(column, "text", tuple(labels)) for column, labels in states.items()]
    codes = np.array([[states[column].index(row[column]) for column in states] for row in rows])
    return np.array([int(row["fold"]) for row in rows]), Table.from_codes(columns, codes)


def best_by_bic(method: str, train: Table) -> Learned:
    choices: list[int | None] = [None]
    if method == "spectral":
        choices = [k for k in STATES if k <= train.n_states.min()]
    elif method not in ("auto", "hw", "chow-liu", "independent"):
        choices = list(STATES)
    smoothing = None if method == "auto" else 0.1
    fits = [
        learn_model(train, Settings(method, "predict", n_states=n_states, smoothing=smoothing, random_state=0))
        for n_states in choices
    ]
    return min(fits, key=lambda learned: float(learned.summary["bic"]))


def line(name: str, scores: list[float]) -> str:
    return f"{name:16}" + "".join(f"{score:9.1f}" for score in [*scores, float(np.median(scores))])


def main() -> None:
    options = parser(__doc__)
    options.add_argument("folder", type=Path)
    arguments = options.parse_args()
    with (arguments.folder / "published.csv").open(encoding="utf-8") as stream:
        published = list(csv.DictReader(stream))
    section = Section("folds", arguments.write)
    for name in sorted({row["dataset"] for row in published}):
        fold, table = read_table(arguments.folder, name)
        codes, numbers = table.codes(), sorted(set(fold.tolist()))
        header = "".join(f"{f'fold {number}':>9}" for number in numbers)
        section.add(f"{name}: {table.n_columns} columns, {table.n_rows} rows")
        section.add(f"{'':16}{header}{'median':>9}")
        for method in arguments.methods:
            scores = []
            for number in numbers:
                train = Table.from_codes(table.columns, codes[fold != number])
                test = Table.from_codes(table.columns, codes[fold == number])
                scores.append(best_by_bic(method, train).model.log_likelihood(test))
            section.add(line(method, scores))
        section.add("published")
        for row in published:
            if row["dataset"] == name and row["fold_1"]:
                section.add(line(f"  {row['method']}", [float(row[f"fold_{number}"]) for number in numbers]))
        section.add("")
    section.publish()


if __name__ == "__main__":
    main()
