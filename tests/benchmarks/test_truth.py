from types import SimpleNamespace
from typing import get_args

import numpy as np
import pytest

from helpers.models import copying_model, model_on
from latree import Tree
from latree.interpret.groups import find_groups, group_labels
from latree.model.group import Level
from truth import (
    LEVELS,
    SUPPORT_BINS,
    compared,
    hidden_parts,
    label_columns,
    matched_hidden,
    right_by_stability,
    right_by_support,
)


def model_of(newick, hidden_states=2):
    tree = Tree.from_newick(newick).reordered("abcdef")
    return model_on(tree, [2] * tree.n_observed + [hidden_states] * tree.n_hidden, 0)


TRUE = model_of("(a,b,c,(d,e,f));")


def test_the_true_model_is_right_in_everything():
    row = compared(TRUE, TRUE)
    assert (row["true_hidden"], row["hidden"], row["matched"], row["right_states"]) == (2, 2, 2, 2)
    assert (row["edges"], row["right_edges"], row["true_edges"], row["found_edges"]) == (1, 1, 1, 1)
    assert row["robinson_foulds"] == 0


def test_an_edge_too_many_is_false_and_hides_the_variable_that_it_divides():
    row = compared(TRUE, model_of("((a,b),c,(d,e,f));"))
    assert (row["edges"], row["right_edges"], row["found_edges"]) == (2, 1, 1)
    assert (row["hidden"], row["matched"]) == (3, 1)


def test_an_edge_too_few_is_missed():
    row = compared(TRUE, model_of("(a,b,c,d,e,f);"))
    assert (row["edges"], row["right_edges"], row["true_edges"], row["found_edges"]) == (0, 0, 1, 0)
    assert (row["hidden"], row["matched"], row["right_states"]) == (1, 0, 0)


def test_numbers_of_states_count_only_where_they_are_equal():
    row = compared(TRUE, model_of("(a,b,c,(d,e,f));", hidden_states=3))
    assert (row["matched"], row["right_states"]) == (2, 0)


def test_a_cut_at_a_true_edge_misses_it_and_draws_nothing_false():
    row = compared(TRUE, model_of("(a,b,c); (d,e,f);"))
    assert (row["edges"], row["found_edges"], row["matched"]) == (0, 0, 0)


def test_parts_without_hidden_variables_do_not_count():
    forest = Tree("abcdef", [(0, 1), (6, 2), (6, 3), (6, 4)])
    assert hidden_parts(forest) == {0b011100}


def test_hidden_variables_match_by_their_splits_whatever_their_numbers():
    other = Tree("abcdef", [(7, 0), (7, 1), (7, 2), (6, 3), (6, 4), (6, 5), (6, 7)])
    matched = matched_hidden(TRUE.tree, other)
    leaves = {
        frozenset(node for node, _ in TRUE.tree.neighbors[a] if node < 6): frozenset(
            node for node, _ in other.neighbors[b] if node < 6
        )
        for a, b in matched.items()
    }
    assert leaves == {side: side for side in (frozenset({0, 1, 2}), frozenset({3, 4, 5}))}


@pytest.mark.parametrize(
    ("support", "expected"),
    [(0.0, 0), (0.49, 0), (0.5, 1), (0.79, 1), (0.8, 2), (0.89, 2), (0.9, 3), (1.0, 3), (np.nan, None)],
)
def test_edges_are_counted_by_support(support, expected):
    tree = TRUE.tree
    inner = [split.smaller_side > 1 for split in tree.edge_splits]
    row = right_by_support(tree, tree.with_numbers(support=np.where(inner, support, 1.0)))
    counts = [(row[f"edges {name}"], row[f"right {name}"]) for name in SUPPORT_BINS]
    assert counts == [(1, 1) if place == expected else (0, 0) for place in range(4)]


def test_a_false_edge_is_not_right_by_support():
    found = Tree.from_newick("(a,d,c,(b,e,f));").reordered("abcdef")
    row = right_by_support(TRUE.tree, found.with_numbers(support=np.ones(len(found.edges))))
    assert (row["edges 0.9-1"], row["right 0.9-1"]) == (1, 0)


def test_other_columns_are_refused():
    other = model_on(Tree("abcdeg", TRUE.tree.edges), TRUE.n_states.tolist(), 0)
    with pytest.raises(ValueError, match="other columns"):
        compared(TRUE, other)


def groups_at(**columns_of):
    """Groups by their levels: the columns of each, as words of one letter each."""
    return [
        SimpleNamespace(level=level, columns=tuple(columns))
        for level, groups in columns_of.items()
        for columns in groups.split()
    ]


def test_columns_are_counted_by_the_stability_of_their_group():
    """The group cd is the true cde without e, and e is with f; g is stable, but in no true group."""
    found = groups_at(main="ab cd ef g")
    shares = [(1.0, 0.9), (0.89, 0.5), (0.3, 0.8), (0.95,)]
    for group, own in zip(found, shares, strict=True):
        group.column_stability = own
    row = right_by_stability(groups_at(main="ab cde f"), found, "abcdefg")
    assert row == {
        "columns 0-0.5": 1,
        "right 0-0.5": 0,
        "columns 0.5-0.8": 1,
        "right 0.5-0.8": 1,
        "columns 0.8-0.9": 2,
        "right 0.8-0.9": 2,
        "columns 0.9-1": 3,
        "right 0.9-1": 2,
    }


def test_columns_without_a_stability_are_not_counted():
    found = groups_at(main="ab", broad="abc")
    for group in found:
        group.column_stability = None
    assert set(right_by_stability(found, found, "abc").values()) == {0}


# As in the list of a model: main groups first, then broad ones, then parts of main ones. No group has the columns g, h.
GROUPS = groups_at(main="ab cd ef", broad="abcd", fine="a b")


@pytest.mark.parametrize(
    ("level", "expected"),
    [
        ("main", ["ab", "cd", "ef", "g", "h"]),
        ("broad", ["abcd", "ef", "g", "h"]),
        ("fine", ["a", "b", "cd", "ef", "g", "h"]),
    ],
)
def test_a_column_keeps_its_main_group_where_a_level_has_none(level, expected):
    labels = label_columns(GROUPS, "abcdefgh", level)
    assert [
        "".join(name for name, label in zip("abcdefgh", labels, strict=True) if label == number)
        for number in dict.fromkeys(labels)
    ] == expected


def test_levels_are_those_of_groups():
    assert set(LEVELS) == set(get_args(Level))


def test_labels_of_a_model_are_those_of_its_main_groups():
    model = copying_model(TRUE.tree, lambda node, parent: 0.3 if min(node, parent) >= 6 else 0.8)
    groups = find_groups(model)
    assert label_columns(groups, "abcdef", "main") == group_labels(groups, "abcdef").tolist() == [0, 0, 0, 1, 1, 1]
