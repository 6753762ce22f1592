"""What latree claims about tables of noise: python benchmarks/honesty.py [--seeds 30] [--first 0] [SHAPE ...].

Ten shapes of tables whose columns are independent. Of so many tables of each shape:

  groups      have any group
  edges       have an edge between hidden variables with a support of .9 or more
  stable      have a group with a stability of .9 or more

At most two tables of a hundred may have a group, and none one that is stable or an edge that is supported.
"""

import argparse
import warnings
from collections.abc import Callable
from typing import NamedTuple, TypeAlias

import numpy as np
import pandas as pd

import latree

Noise: TypeAlias = Callable[[np.random.Generator], pd.DataFrame]


def columns(values: np.ndarray) -> pd.DataFrame:
    return pd.DataFrame(values).add_prefix("x")


def with_holes(rng: np.random.Generator, values: np.ndarray, share: float) -> pd.DataFrame:
    return columns(np.where(rng.random(values.shape) < share, np.nan, values))


def mixed(rng: np.random.Generator) -> pd.DataFrame:
    """Ordered answers, numbers, yes or no, and rare events in one table."""
    answers = rng.choice(5, size=(2000, 4), p=[0.05, 0.1, 0.2, 0.25, 0.4])
    numbers, kinds, rare = rng.lognormal(size=(2000, 3)), rng.integers(2, size=(2000, 3)), rng.random((2000, 2)) < 0.01
    return columns(np.hstack([answers, numbers, kinds, rare]))


def weighted(rng: np.random.Generator) -> pd.DataFrame:
    """With weights of a survey, a few of which are large."""
    return columns(rng.integers(3, size=(300, 10))).assign(weight=100 * rng.lognormal(sigma=1.0, size=300))


ZIPF = 1 / np.arange(1, 9) / (1 / np.arange(1, 9)).sum()
SHAPES: dict[str, Noise] = {
    "rare": lambda rng: columns((rng.random((200, 20)) < 0.03).astype(int)),
    "baskets": lambda rng: columns((rng.random((1000, 40)) < np.geomspace(0.003, 0.3, 40)).astype(int)),
    "weights": weighted,
    "missing": lambda rng: with_holes(rng, rng.integers(2, size=(200, 8)), 0.4),
    "rare missing": lambda rng: with_holes(rng, rng.random((400, 12)) < 0.05, 0.3),
    "skewed": lambda rng: columns(rng.choice(8, size=(300, 12), p=ZIPF)),
    "binned": lambda rng: columns(rng.normal(size=(200, 8))),
    "few rows": lambda rng: columns(rng.integers(5, size=(50, 6))),
    "wide": lambda rng: columns(rng.integers(2, size=(60, 40))),
    "mixed": mixed,
}


class Claims(NamedTuple):
    """What is claimed about a table."""

    groups: bool
    edges: bool
    stable: bool


def claimed(shape: str, seed: int) -> Claims:
    """Return what latree claims about a table of noise."""
    data = SHAPES[shape](np.random.default_rng(seed))
    weight = data.pop("weight") if "weight" in data else None
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # constant columns, few rows
        model = latree.LatentTree(reading={"weights_are": "survey"}, random_state=seed).fit(data, sample_weight=weight)
    tree = model.tree_
    inner = (tree.edges >= tree.n_observed).all(axis=1)
    support = np.zeros(0) if tree.support is None else tree.support[inner]
    return Claims(
        bool(model.groups_),
        bool((np.nan_to_num(support) >= 0.9).any()),
        any((group.stability or 0) >= 0.9 for group in model.groups_),
    )


def line(name: str, found: list[Claims]) -> str:
    return f"{name:14}{len(found):8}" + "".join(f"{sum(claims):8}" for claims in zip(*found, strict=True))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("shapes", metavar="SHAPE", nargs="*", default=list(SHAPES), help=f"of {', '.join(SHAPES)}")
    parser.add_argument("--seeds", type=int, default=30)
    parser.add_argument("--first", type=int, default=0, help="the first seed")
    options = parser.parse_args()
    print(f"{'shape':14}{'tables':>8}{'groups':>8}{'edges':>8}{'stable':>8}")
    every: list[Claims] = []
    for shape in options.shapes:
        found = [claimed(shape, options.first + seed) for seed in range(options.seeds)]
        print(
            f"{shape:14}{len(found):8}" + "".join(f"{sum(claims):8}" for claims in zip(*found, strict=True)), flush=True
        )
        every += found
    print(f"{'all':14}{len(every):8}" + "".join(f"{sum(claims):8}" for claims in zip(*every, strict=True)))


if __name__ == "__main__":
    main()
