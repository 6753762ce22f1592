import warnings

import networkx as nx
import numpy as np
import pandas as pd
import pytest

from latree import learn_tree
from latree.counts.distances import information, pairwise
from latree.learn import learn_model
from latree.learners.grouping import chow_liu
from latree.paper.simulate import random_model, random_tree
from latree.settings import Settings

with warnings.catch_warnings():  # their compiled parts warn when imported, and crash if that is an error
    warnings.simplefilter("ignore")
    from pgmpy.estimators import TreeSearch


def sampled(n_rows=400, seed=0):
    tree = random_tree(7, 0.5, seed)
    return random_model(
        tree, n_states=3, hidden_states=2, start="identity", perturbation=0.3, random_state=seed
    ).sample(n_rows, seed)


@pytest.mark.parametrize("seed", range(8))
def test_chow_liu_is_the_maximum_spanning_tree_of_networkx(seed):
    rng = np.random.default_rng(seed)
    information = rng.random((12, 12))
    information = information + information.T
    learned = chow_liu([f"x{i}" for i in range(12)], information).tree
    graph = nx.Graph()
    graph.add_weighted_edges_from((i, j, information[i, j]) for i in range(12) for j in range(i))
    expected = {frozenset(edge) for edge in nx.maximum_spanning_edges(graph, data=False)}
    assert {frozenset(edge) for edge in learned.edges.tolist()} == expected
    assert learned.n_hidden == 0


def test_the_likelihood_of_chow_liu_is_its_information_less_the_entropies():
    table = sampled()
    learned = learn_model(table, Settings("chow-liu", smoothing=0))
    measured = pairwise(table, information)
    edges = learned.model.tree.edges
    per_row = measured[edges[:, 0], edges[:, 1]].sum() - np.trace(measured)
    assert learned.model.log_likelihood(table) == pytest.approx(table.n_rows * per_row, rel=1e-9)


def test_a_chain_of_columns_comes_back():
    rng = np.random.default_rng(0)
    columns = [rng.integers(0, 3, 5000)]
    for _ in range(5):
        columns.append(np.where(rng.random(5000) < 0.7, columns[-1], rng.integers(0, 3, 5000)))
    order = rng.permutation(6)
    tree = learn_tree(np.column_stack([columns[i] for i in order]), method="chow-liu")
    assert {frozenset(order[list(edge)]) for edge in tree.edges} == {frozenset((i, i + 1)) for i in range(5)}


# pgmpy as a judge


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
