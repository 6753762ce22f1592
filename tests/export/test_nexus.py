"""NEXUS: DendroPy reads the taxa and the trees."""

import dendropy
import pytest
from hypothesis import given, settings

from helpers.exports import JUDGED_IDS, hostile_models, judged_models
from helpers.models import model_on
from helpers.strategies import naive_edge_splits, numbered
from latree.export.names import one_line
from latree.export.trees import to_newick, to_nexus
from latree.paper.simulate import random_tree
from latree.tree import Tree


def read(text):
    """The names of the taxa, and the tree or forest, as DendroPy reads them."""
    data = dendropy.DataSet.get(data=text, schema="nexus", suppress_internal_node_taxa=True)
    (taxa,), (trees,) = data.taxon_namespaces, data.tree_lists
    return [taxon.label for taxon in taxa], trees


@settings(max_examples=60)
@given(hostile_models())
def test_dendropy_reads_every_name(model):
    taxa, trees = read(to_nexus(model))
    assert len(taxa) == model.tree.n_observed
    assert len({taxon.lower() for taxon in taxa}) == len(taxa)
    assert all(taxon.startswith(one_line(name)) for taxon, name in zip(taxa, model.tree.names, strict=True))
    assert len(trees) == len(model.tree.components)


@pytest.mark.parametrize("model", judged_models(), ids=JUDGED_IDS)
def test_leaves_of_the_trees_are_taxa(model):
    taxa, trees = read(to_nexus(model))
    leaves = {leaf.taxon.label for tree in trees for leaf in tree.leaf_node_iter()}
    assert leaves <= set(taxa)
    rooted = model.tree.rooted()
    assert leaves == {taxa[column] for column in range(len(taxa)) if not rooted.children[column]}


@pytest.mark.parametrize("hidden", [False, True])
def test_the_tree_is_the_one_of_newick(hidden):
    tree = numbered(random_tree(9, 0.4, 0), 0)
    model = model_on(tree, [2] * tree.n_nodes, 0)
    text = to_nexus(model, hidden=hidden)
    assert f"  TREE part1 = [&U] {to_newick(model, hidden=hidden)}" in text
    taxa, (found,) = read(text)
    assert taxa == list(tree.names)
    below = {frozenset(leaf.taxon.label for leaf in node.leaf_iter()) for node in found.nodes()}
    assert all(below & {*sides} for sides in naive_edge_splits(tree))
    assert len(found.nodes()) == tree.n_nodes
    assert sum(edge.length or 0 for edge in found.edges()) == pytest.approx(tree.lengths.sum())


def test_names_that_differ_only_in_case_get_numbers():
    model = model_on(Tree(["Ab", "aB", "c"], [(0, 1), (1, 2)]), [2] * 3, 0)
    assert "TAXLABELS Ab 'aB_2' c;" in to_nexus(model)
