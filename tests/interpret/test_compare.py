"""Comparing models, against scikit-learn and the obvious way."""

from dataclasses import replace
from itertools import combinations, permutations

import numpy as np
import pandas as pd
import pytest
from scipy.stats import pearsonr
from sklearn.metrics import adjusted_rand_score

from helpers.models import grouped_model, model_on, on_tree
from helpers.strategies import naive_splits
from latree.errors import InputError
from latree.interpret.compare import _labels, compare_models, compare_trees
from latree.interpret.groups import find_groups
from latree.interpret.scores import row_scores
from latree.paper.simulate import random_tree
from latree.tree import Tree


def test_the_adjusted_rand_index_of_groups_counts_pairs_of_columns():
    """A column in no group is a group of its own."""
    one, two = [0, 0, 0, 1, 1, 2], [0, 0, 1, 1, 1, 2]

    def agreement(order):
        together = [{pair for pair in combinations(range(6), 2) if a[pair[0]] == a[pair[1]]} for a in (one, order)]
        return len(together[0] & together[1]), (len(together[0]) + len(together[1])) / 2

    by_chance = np.mean([agreement(order)[0] for order in permutations(two)])
    both, largest = agreement(two)
    found = [
        {
            "g": [c for c, own in zip("abcdef", labels, strict=True) if own == 0],
            "h": [c for c, own in zip("abcdef", labels, strict=True) if own == 1],
        }
        for labels in (one, two)
    ]
    index = adjusted_rand_score(*(_labels(groups, "abcdef") for groups in found))
    assert index == pytest.approx((both - by_chance) / (largest - by_chance))


@pytest.mark.parametrize("seed", range(6))
def test_trees_are_compared_on_their_common_columns(seed):
    one, two = random_tree(9, 0.4, seed), random_tree(8, 0.4, seed + 100)
    two = Tree([f"x{i}" for i in range(3, 11)], two.edges)
    facts = compare_trees(one, two)
    common = [f"x{i}" for i in range(3, 9)]
    assert facts["columns"] == {
        "common": [name for name in one.names if name in common],
        "only_first": [name for name in one.names if name not in common],
        "only_second": ["x9", "x10"],
    }
    splits = [naive_splits(tree.restricted(common)) for tree in (one, two)]
    assert facts["robinson_foulds"] == len(splits[0] ^ splits[1])
    assert facts["max"] == 6
    assert facts["splits"] == {
        "first": len(splits[0]), "second": len(splits[1]),
        "only_first": len(splits[0] - splits[1]), "only_second": len(splits[1] - splits[0]),
    }  # fmt: skip


def test_a_model_is_like_itself():
    model = grouped_model()
    facts = compare_models(model, model)
    assert (facts["robinson_foulds"], facts["adjusted_rand"]) == (0, 1)
    for pair, group in zip(facts["groups"], find_groups(model), strict=True):
        assert pair["first"] == pair["second"] == group.name
        assert pair["overlap"] == 1
        assert sorted(pair["shared"]) == sorted(group.columns)
        assert pair["only_first"] == pair["only_second"] == []


def test_the_order_of_columns_means_nothing():
    model = grouped_model(sizes=(5, 3, 4))
    names = np.random.default_rng(0).permutation(model.tree.names).tolist()
    facts = compare_models(model, on_tree(model, model.tree.reordered(names)))
    assert (facts["robinson_foulds"], facts["adjusted_rand"]) == (0, 1)
    assert [pair["overlap"] for pair in facts["groups"]] == [1, 1, 1]


def grouped(names, sizes):
    """Independent groups of these sizes over the given columns."""
    model = grouped_model(sizes=sizes, top=False)
    columns = tuple(replace(column, name=name) for column, name in zip(model.columns, names, strict=True))
    return replace(model, tree=Tree(names, model.tree.edges), columns=columns)


@pytest.mark.parametrize("seed", range(5))
def test_groups_that_correspond_have_the_largest_sum_of_overlaps(seed):
    rng = np.random.default_rng(seed)
    names = [f"x{i:02}" for i in range(14)]
    one, two = (grouped(rng.permutation(names).tolist(), sizes) for sizes in ((4, 4, 3, 3), (3, 5, 6)))
    facts = compare_models(one, two)
    sets = [[set(group.columns) for group in find_groups(model)] for model in (one, two)]
    overlaps = np.array([[len(a & b) / len(a | b) for b in sets[1]] for a in sets[0]])
    best = max(sum(overlaps[row, column] for column, row in enumerate(rows)) for rows in permutations(range(4), 3))
    assert sum(pair["overlap"] for pair in facts["groups"]) == pytest.approx(best)
    named = [{group.name: set(group.columns) for group in find_groups(model)} for model in (one, two)]
    for pair in facts["groups"]:
        first, second = named[0].get(pair["first"], set()), named[1].get(pair["second"], set())
        assert pair["shared"] == sorted(first & second, key=one.tree.names.index)
        assert pair["only_first"] == sorted(first - second, key=one.tree.names.index)
        assert set(pair["only_second"]) == second - first
    numbers = [[next(i for i, own in enumerate(groups) if name in own) for name in names] for groups in sets]
    assert facts["adjusted_rand"] == pytest.approx(adjusted_rand_score(*numbers))
    assert sorted(pair["first"] for pair in facts["groups"] if pair["first"]) == sorted(named[0])
    assert sorted(pair["second"] for pair in facts["groups"] if pair["second"]) == sorted(named[1])


def test_groups_without_a_common_column_do_not_correspond():
    one, two = grouped("abcd", (2, 2)), grouped("abcd", (4,))
    forest = model_on(Tree("abcd", [(2, 3)]), [2] * 4, 1)  # a and b are alone
    assert [group.columns for group in find_groups(forest)] == [("c", "d")]
    first = {group.name: group.columns for group in find_groups(one)}
    for pair in compare_models(one, forest)["groups"]:
        assert (pair["second"] is None) == (first[pair["first"]] == ("a", "b"))
    assert [pair["second"] is None for pair in compare_models(one, two)["groups"]].count(True) == 1
    parts = [model_on(Tree("abcd", [edge]), [2] * 4, 1) for edge in ((0, 1), (2, 3))]
    assert [pair["overlap"] for pair in compare_models(*parts)["groups"]] == [0, 0]


def test_a_column_in_no_group_is_a_group_of_its_own():
    names = [f"x{i}" for i in range(8)]
    whole = grouped(names, (4, 4))
    forest = Tree(names, [(i, 8) for i in range(4)])  # the last four columns are alone
    apart = model_on(forest, [2] * 9, 1)
    groups = [group.columns for group in find_groups(apart)]
    assert groups == [("x0", "x1", "x2", "x3")]
    expected = adjusted_rand_score([0] * 4 + [1] * 4, [0] * 4 + [1, 2, 3, 4])
    assert compare_models(whole, apart)["adjusted_rand"] == pytest.approx(expected)


def test_models_without_a_common_column_are_refused():
    with pytest.raises(InputError, match="no column is in both"):
        compare_models(grouped("abcd", (2, 2)), grouped("wxyz", (2, 2)))


def two_models():
    """Two models of the same groups with other strengths."""
    sizes = {"sizes": (4, 3), "hidden_states": 2, "column_states": 3}
    return grouped_model(strength=0.6, **sizes), grouped_model(strength=0.8, **sizes)


def test_scores_of_the_same_rows_are_correlated():
    one, two = two_models()
    rows = pd.DataFrame(one.sample(200, 0).decode())
    facts = compare_models(one, two, rows)
    assert facts["n_rows"] == 200
    for pair in facts["groups"]:
        scores = [
            found.scores[:, found.names.index(pair[key])]
            for found, key in ((row_scores(one, rows), "first"), (row_scores(two, rows), "second"))
        ]
        assert pair["correlation"] == pytest.approx(pearsonr(*scores).statistic)
        assert pair["correlation"] > 0.9
    assert {pair.pop("correlation") for pair in facts["groups"]} - {None}
    del facts["n_rows"]
    assert facts == compare_models(one, two)


def test_scores_may_count_in_opposite_directions():
    one, two = two_models()
    rows = pd.DataFrame(one.sample(200, 0).decode())
    tables = list(two.tables)
    hidden = two.tree.n_observed  # the hidden variable of the first group, with its states in the other order
    for node, parent in enumerate(two.tree.rooted().parent.tolist()):
        tables[node] = tables[node][::-1] if node == hidden else tables[node]
        tables[node] = tables[node][:, ::-1] if parent == hidden else tables[node]
    turned = replace(two, tables=tuple(tables))
    usual, opposite = (compare_models(one, model, rows)["groups"] for model in (two, turned))
    assert usual[0]["correlation"] > 0.9
    # Whether scores follow the states' numbers or the columns' order, both are the same up to the sign.
    assert abs(opposite[0]["correlation"]) == pytest.approx(usual[0]["correlation"])
    assert opposite[1]["correlation"] == pytest.approx(usual[1]["correlation"])


def test_groups_without_scores_have_no_correlation():
    whole = grouped([f"x{i}" for i in range(6)], (3, 3))
    chain = model_on(Tree(whole.tree.names, [(0, 1), (1, 2), (3, 6), (4, 6), (5, 6)]), [4] * 6 + [3], 0)
    rows = pd.DataFrame(whole.sample(50, 0).decode())
    facts = compare_models(whole, chain, rows)
    without = {group.name for group in find_groups(chain) if group.hidden is None}
    assert without
    for pair in facts["groups"]:
        assert (pair["correlation"] is None) == (pair["second"] in without or None in (pair["first"], pair["second"]))
    constant = compare_models(whole, whole, rows.iloc[[0, 0, 0]])["groups"]
    assert [pair["correlation"] for pair in constant] == [None, None]


def test_unknown_categories_are_refused_or_missing():
    one, two = two_models()
    rows = pd.DataFrame(one.sample(20, 0).decode())
    rows.loc[3, "x00"] = 7
    with pytest.raises(InputError, match="'x00'"):
        compare_models(one, two, rows)
    assert compare_models(one, two, rows, unseen="missing")["n_rows"] == 20
