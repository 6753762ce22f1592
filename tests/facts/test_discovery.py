"""What a reader would not have guessed."""

from dataclasses import replace

import numpy as np

from helpers.search import copying_model, two_groups
from latree.facts.discovery import unexpected_pairs
from latree.interpret.view import view_of
from latree.table import Table

D = 20
GROUPS = [{"columns": [{"node": node} for node in part]} for part in (range(10), range(10, D))]


def model():
    """Two groups of ten columns with three values that have next to nothing to do with each other."""
    tree = two_groups(range(10), range(10, D))
    drawn = copying_model(tree, lambda u, v: 0.6 if min(u, v) < D else 0.1, [3] * (D + 2))
    return replace(drawn, columns=tuple(replace(column, ordered=True) for column in drawn.columns))


def pairs_in(codes, true):
    return unexpected_pairs(view_of(true), Table.from_codes(true.columns, codes), GROUPS)


def test_pairs_are_seldom_named_by_chance():
    true = model()
    named = sum(bool(pairs_in(true.sample(300, seed).codes(), true)) for seed in range(100))
    assert named <= 10  # 5 are expected at most


def test_a_pair_with_a_dependence_of_its_own_is_named():
    true = model()
    codes = true.sample(300, 0).codes().copy()
    copied = np.random.default_rng(0).random(300) < 0.5
    codes[copied, 3] = codes[copied, 14]
    (pair, *_) = pairs_in(codes, true)
    assert pair["names"] == [true.tree.names[3], true.tree.names[14]]
    assert abs(pair["in_model"]) < 0.1 < 0.3 < pair["in_rows"]
