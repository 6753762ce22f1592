import networkx as nx
import numpy as np
import pytest

from latree import LatentTree, learn_tree
from latree.counts.distances import information, pairwise
from latree.learn import learn_model
from latree.learners.chow_liu import chow_liu
from latree.paper.simulate import random_model, random_tree
from latree.settings import Settings


def sampled(n_rows=400, seed=0):
    tree = random_tree(7, 0.5, seed)
    return random_model(
        tree, n_states=3, hidden_states=2, start="identity", perturbation=0.3, random_state=seed
    ).sample(n_rows, seed)


def holed(table, seed=1):
    codes = table.codes()
    codes[np.random.default_rng(seed).random(codes.shape) < 0.2] = -1
    return type(table).from_codes(table.columns, codes)


def naive_information(table):
    codes = table.codes()
    d = table.n_columns
    result = np.zeros((d, d))
    for i, j in np.ndindex(d, d):
        both = (codes[:, i] >= 0) & (codes[:, j] >= 0)
        joint = np.histogram2d(codes[both, i], codes[both, j], bins=(np.arange(4), np.arange(4)))[0] / both.sum()
        for x, y in np.argwhere(joint > 0):
            result[i, j] += joint[x, y] * np.log(joint[x, y] / (joint[x].sum() * joint[:, y].sum()))
    return result


@pytest.mark.parametrize("cells_at_once", [1, 100, 2**22])
def test_mutual_information_equals_a_naive_loop(cells_at_once, monkeypatch):
    monkeypatch.setattr("latree.counts.contingency._CELLS_AT_ONCE", cells_at_once)
    table = holed(sampled())
    measured = pairwise(table, information)
    np.testing.assert_allclose(measured, naive_information(table), rtol=1e-10, atol=1e-13)
    np.testing.assert_array_equal(measured, measured.T)


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


def test_independent_columns_have_the_likelihood_of_their_entropies():
    table = sampled()
    learned = learn_model(table, Settings("independent", smoothing=0))
    assert len(learned.model.tree.edges) == learned.model.tree.n_hidden == 0
    entropies = np.trace(pairwise(table, information))
    assert learned.model.log_likelihood(table) == pytest.approx(-table.n_rows * entropies, rel=1e-9)


def test_a_latent_class_model_is_a_star():
    tree = learn_tree(sampled(), method="lcm")
    assert tree.edges.tolist() == [[column, 7] for column in range(7)]


def test_more_structure_fits_better():
    table = sampled(2000)
    scores = {
        method: LatentTree(method, n_states=2, random_state=0).fit(table).score(table)
        for method in ("independent", "chow-liu", "tensor")
    }
    assert scores["independent"] < scores["chow-liu"] < scores["tensor"]
