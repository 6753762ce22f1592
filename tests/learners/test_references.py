"""Independent libraries as judges."""

import warnings

import dendropy
import numpy as np
import pandas as pd
import pytest
from dendropy.calculate.treecompare import symmetric_difference

from helpers.strategies import noisy_distances, path_distances, with_lengths
from latree import learn_tree
from latree.learners.neighbor_joining import join, neighbor_joining
from latree.paper.simulate import random_model, random_tree
from latree.tree import Tree

with warnings.catch_warnings():  # their compiled parts warn when imported, and crash if that is an error
    warnings.simplefilter("ignore")
    from pgmpy.estimators import TreeSearch
    from skbio import DistanceMatrix
    from skbio.tree import nj


def scikit_bio_tree(names, distance, **options):
    """Neighbour joining by scikit-bio, and the distances in its tree."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        found = nj(DistanceMatrix(distance, names), **options)
        return Tree.from_newick(str(found)), found.cophenet().filter(names).data


@pytest.mark.parametrize("kind", ["tree", "noisy tree", "noise"])
@pytest.mark.parametrize("d", [4, 5, 8, 20, 60, 150])
def test_scikit_bio_joins_the_same_neighbours(d, kind):
    for seed in range(3 if d < 100 else 1):
        tree = with_lengths(random_tree(d, 0.3, seed), seed)
        upper = np.triu(np.random.default_rng(seed).random((d, d)), 1)
        distance = upper + upper.T if kind == "noise" else noisy_distances(tree, 0.1 * (kind == "noisy tree"), seed)
        raw = Tree(tree.names, *join(distance))
        theirs, between = scikit_bio_tree(tree.names, distance, neg_as_zero=False)
        assert raw.robinson_foulds(theirs) == 0
        np.testing.assert_allclose(path_distances(raw), between, rtol=1e-9, atol=1e-9)
        ours = neighbor_joining(tree.names, distance).tree
        theirs, between = scikit_bio_tree(tree.names, distance)
        assert ours.robinson_foulds(theirs) == 0
        np.testing.assert_allclose(path_distances(ours), between, rtol=1e-9, atol=1e-9)
        assert (raw.lengths < 0).any() or kind != "noise"


@pytest.mark.parametrize("seed", range(4))
def test_pgmpy_finds_the_same_chow_liu_tree(seed):
    tree = random_tree(15, 0.3, seed)
    model = random_model(tree, n_states=4, hidden_states=3, start="identity", perturbation=0.3, random_state=seed)
    codes = model.sample(500, seed).codes()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        search = TreeSearch(pd.DataFrame(codes, columns=tree.names), n_jobs=1)
        theirs = search.estimate(estimator_type="chow-liu", show_progress=False)
    learned = learn_tree(codes, method="chow-liu")
    ours = {frozenset(tree.names[end] for end in edge) for edge in learned.edges.tolist()}
    assert ours == {frozenset(edge) for edge in theirs.edges()}


def with_all_columns_at_leaves(tree):
    """Observed inner nodes replaced by hidden ones with a leaf: the same splits, in a form that DendroPy knows."""
    inner = [node for node in range(tree.n_observed) if len(tree.neighbors[node]) > 1]
    number = {node: tree.n_nodes + i for i, node in enumerate(inner)}
    edges = [[number.get(end, end) for end in edge] for edge in tree.edges.tolist()]
    return Tree(tree.names, [*edges, *number.items()])


@pytest.mark.parametrize("method", ["spectral", "rg", "clrg", "clnj"])
def test_dendropy_agrees_on_how_far_learned_trees_are_from_the_truth(method):
    distances, many = [], 0
    for seed in range(6):
        tree = random_tree(14, 0.3, seed)
        model = random_model(tree, n_states=3, hidden_states=3, start="identity", perturbation=0.4, random_state=seed)
        learned = learn_tree(model.sample(300, seed), method=method, n_states=3)
        taxa = dendropy.TaxonNamespace(tree.names)
        texts = [with_all_columns_at_leaves(one).to_newick() for one in (learned, tree)]
        theirs = symmetric_difference(
            *(
                dendropy.Tree.get(data=text, schema="newick", rooting="force-unrooted", taxon_namespace=taxa)
                for text in texts
            )
        )
        distances.append(learned.robinson_foulds(tree))
        assert distances[-1] == theirs
        many += len(learned.splits) < 11
    assert max(distances) > 0
    assert many or method == "spectral"
