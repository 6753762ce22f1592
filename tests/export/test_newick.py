"""Newick of a model: read again by latree and by DendroPy, with lengths, support and names of hidden variables."""

import numpy as np
from hypothesis import given

from helpers.exports import hostile_models
from helpers.models import model_on, small_models
from helpers.strategies import in_dendropy, numbered, same_graph
from latree.export.trees import to_newick
from latree.paper.simulate import random_tree
from latree.tree import Tree


@given(hostile_models())
def test_the_tree_is_read_again(model):
    expected = model.tree.with_numbers(lengths=model.edge_lengths())
    for hidden in (False, True):
        assert same_graph(Tree.from_newick(to_newick(model, hidden=hidden)), expected)


def test_hidden_variables_have_no_names_unless_asked():
    model = small_models()[0]
    assert "H1" not in to_newick(model)
    assert [f"{name}[&hidden=true]" in to_newick(model, hidden=True) for name in ("H1", "H2", "H3")] == [True] * 3


def test_a_tree_with_lengths_keeps_them():
    tree = numbered(random_tree(9, 0.4, 0), 0)
    model = model_on(tree, [2] * tree.n_nodes, 0)
    for hidden in (False, True):
        assert same_graph(Tree.from_newick(to_newick(model, hidden=hidden)), tree)


def test_dendropy_reads_names_and_support_of_hidden_variables():
    tree = numbered(random_tree(9, 0.4, 1), 1)
    model = model_on(tree, [2] * tree.n_nodes, 0)
    read = in_dendropy(to_newick(model, hidden=True))
    rooted, found = tree.rooted(), 0
    for node in read.preorder_internal_node_iter():
        number = tree.node_names.index(node.label)
        leaves = {tree.names.index(leaf.taxon.label) for leaf in node.leaf_iter()}
        below = rooted.combined(({v} & set(range(9)) for v in range(tree.n_nodes)), set.union)[number]
        assert leaves == below
        support = node.annotations.get_value("support")
        edge = rooted.up[number]
        if edge >= 0 and not np.isnan(tree.support[edge]):
            assert float(support) == tree.support[edge]
            found += 1
        else:
            assert support is None
    assert found


def test_lengths_of_a_model_without_any_say_how_strong_edges_are():
    model = small_models()[1]
    assert sorted(Tree.from_newick(to_newick(model)).lengths) == sorted(model.edge_lengths())
