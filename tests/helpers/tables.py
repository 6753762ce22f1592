"""Tables of every kind of column, and of simulated rows, for tests of where rows may live."""

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq

from latree.counts.contingency import pair_tables, quartet_tables
from latree.paper.simulate import random_model, random_tree


def mixed(n_rows, seed=0):
    rng = np.random.default_rng(seed)
    words = np.array(["red", "green", "blue", None], dtype=object)
    return pd.DataFrame(
        {
            "word": words[rng.integers(0, 4, n_rows)],
            "grade": rng.integers(1, 6, n_rows),
            "height": np.where(rng.random(n_rows) < 0.1, np.nan, rng.normal(170, 9, n_rows)),
            "year": rng.integers(1900, 2020, n_rows),
            "yes": rng.random(n_rows) < 0.3,
            "w": rng.exponential(size=n_rows) * (rng.random(n_rows) < 0.9),
        }
    )


def written(frame, path, **options):
    if path.suffix == ".csv":
        frame.to_csv(path, index=False)
    else:
        pq.write_table(pa.Table.from_pandas(frame, preserve_index=False), path, **options)
    return path


def simulated(n_rows=3000, n_leaves=6, seed=0):
    model = random_model(
        random_tree(n_leaves, 0.5, seed),
        n_states=3,
        hidden_states=2,
        start="identity",
        perturbation=0.2,
        random_state=seed,
    )
    return model.sample(n_rows, seed)


def assert_same(table, expected):
    """Assert that tables are the same, however their rows are reached."""
    np.testing.assert_array_equal(table.codes(), expected.codes())
    np.testing.assert_array_equal(table.n_missing, expected.n_missing)
    assert (table.n_rows, table.total_weight) == (expected.n_rows, expected.total_weight)
    np.testing.assert_array_equal(pair_tables(table), pair_tables(expected))
    quartets = np.array([[0, 1, 2, 3], [3, 1, 0, 4]])
    np.testing.assert_array_equal(quartet_tables(table, quartets), quartet_tables(expected, quartets))
    rows = np.array([table.n_rows - 1, 3, 3, table.n_rows // 2, 0])
    for one, other in zip(table.rows.fetch(rows), expected.rows.fetch(rows), strict=True):
        assert (one is None) == (other is None)
        np.testing.assert_array_equal(one, other)
