"""The estimator's usual data, and estimators that many tests share."""

from functools import cache

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa

from latree import LatentTree
from latree.paper.simulate import random_model, random_tree

CONVERT = {"pandas": lambda f: f, "polars": pl.from_pandas, "pyarrow": pa.Table.from_pandas}


def quick(**options):
    """The estimator for tests that are about something else than how it learns."""
    return LatentTree("nj", n_states=3, smoothing=0.1, random_state=0, **options)


def frame(n_rows=300, seed=0):
    """Mixed kinds of columns that follow one hidden tree, as a pandas frame."""
    tree = random_tree(6, 0.5, 0)
    codes = (
        random_model(tree, n_states=4, hidden_states=3, start="identity", perturbation=0.1, random_state=0)
        .sample(n_rows, seed)
        .codes()
    )
    noise = np.random.default_rng(seed).random(n_rows)
    return pd.DataFrame(
        {
            "count": codes[:, 0],
            "colour": np.array(["red", "green", "blue", "white"])[codes[:, 1]],
            "size": codes[:, 2] + 0.9 * noise,
            "flag": codes[:, 3] > 1,
            "grade": pd.Categorical(np.array(["a", "b", "c", "d"])[codes[:, 4]]),
            "level": codes[:, 5].astype(float),
        }
    )


def with_holes(data, seed=1):
    data = data.astype({"flag": object})
    holes = np.random.default_rng(seed).random(data.shape) < 0.1
    return data.mask(holes), holes


def easy_codes(n_rows=200):
    tree = random_tree(6, 0.5, 0)
    model = random_model(tree, n_states=3, hidden_states=2, start="identity", perturbation=0.1, random_state=0)
    return model.sample(n_rows, 0).codes()


def odd_frame():
    """Return columns that `latree check` has something to say about, and an order that only people know."""
    data = frame(n_rows=200)
    often = pd.Series(["never", "sometimes", "often", "always"])[data["count"]].to_numpy()
    age = np.where(np.arange(len(data)) % 10 == 0, -99, data["count"] + 20)
    return data.assign(person=[f"p{row}" for row in range(len(data))], planet="earth", age=age, often=often)


@cache
def fitted_quickly(n_rows=300):
    """The quick estimator, fitted to the frame. Do not change it: other tests have the same one."""
    return quick().fit(frame(n_rows))
