"""Held-out likelihood on daily stock prices, the paper's Table 1 setting.

    python benchmarks/stocks.py prices.csv.gz [--halves 10] [--states 2 4 8] [--methods ...] [--write]

The file is wide: a date, then one column of closing prices a ticker. Daily relative changes are cut into 10 bins of
equal frequency; each random half is used once for training, the other half for the test. Prints negative test
log-likelihood in nats a cell (mean and standard deviation over the halves), and the paper's unit beside it: x 10^5 for
59 stocks and 3400 test rows. Methods whose model has no number of states to choose (chow-liu, independent), or that
find it themselves (hw), run once.
"""

import csv
import gzip
import time
from pathlib import Path

import numpy as np

from latree.learn import Settings, learn_model
from latree.methods import METHODS, Representatives
from latree.table import Table, as_table
from page import Section, parser

WITHOUT_STATES = ("hw", "chow-liu", "independent")


def daily_changes(path: Path) -> Table:
    opener = gzip.open if path.suffix == ".gz" else open
    with opener(path, "rt", encoding="utf-8") as stream:
        header, *rows = csv.reader(stream)
    prices = np.array([[float(cell) for cell in row[1:]] for row in rows])
    return as_table(prices[1:] / prices[:-1] - 1, names=header[1:])


def main() -> None:
    options = parser(__doc__)
    options.add_argument("prices", type=Path)
    options.add_argument("--halves", type=int, default=10)
    options.add_argument("--states", type=int, nargs="+", default=[2, 4, 8])
    options.add_argument("--representatives", default="nearest", choices=["nearest", "random"])
    arguments = options.parse_args()
    table = daily_changes(arguments.prices)
    codes = table.codes()
    section = Section("stocks", arguments.write)
    section.add(f"{table.n_rows} days, {table.n_columns} stocks, {arguments.halves} random halves")
    section.add(f"{'method':12}{'k':>4}{'nats a cell':>20}{'paper unit':>12}{'seconds':>9}")
    for method in arguments.methods:
        kind: Representatives = arguments.representatives if METHODS[method].has_representatives else "nearest"
        for n_states in [None] if method in WITHOUT_STATES else arguments.states:
            started = time.perf_counter()
            scores = []
            for half in range(arguments.halves):
                order = np.random.default_rng(half).permutation(table.n_rows)
                train, test = np.split(order, [table.n_rows // 2])
                settings = Settings(method, n_states, representatives=kind, smoothing=0.1, random_state=half)
                model = learn_model(Table.from_codes(table.columns, codes[train]), settings).model
                rows = model.log_likelihood_rows(Table.from_codes(table.columns, codes[test]))
                scores.append(-rows.mean() / table.n_columns)
            mean, spread = float(np.mean(scores)), float(np.std(scores))
            seconds = (time.perf_counter() - started) / arguments.halves
            score = f"{mean:12.4f} ± {spread:.4f}{mean * 59 * 3400 / 1e5:12.3f}"
            section.add(f"{method:12}{n_states or '-':>4}{score}{seconds:9.1f}")
    section.publish()


if __name__ == "__main__":
    main()
