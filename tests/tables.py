"""Tables of every kind of column, and of simulated rows, for tests of where rows may live."""

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq

from latree.simulate import random_model, random_tree


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
