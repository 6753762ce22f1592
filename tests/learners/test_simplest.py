import numpy as np
import pytest

from latree import LatentTree
from latree.counts.distances import information, pairwise
from latree.learn import learn_model
from latree.paper.simulate import random_model, random_tree
from latree.settings import Settings


def sampled(n_rows=400, seed=0):
    tree = random_tree(7, 0.5, seed)
    return random_model(
        tree, n_states=3, hidden_states=2, start="identity", perturbation=0.3, random_state=seed
    ).sample(n_rows, seed)


def test_independent_columns_have_the_likelihood_of_their_entropies():
    table = sampled()
    learned = learn_model(table, Settings("independent", smoothing=0))
    assert len(learned.model.tree.edges) == learned.model.tree.n_hidden == 0
    entropies = np.trace(pairwise(table, information))
    assert learned.model.log_likelihood(table) == pytest.approx(-table.n_rows * entropies, rel=1e-9)


def test_more_structure_fits_better():
    table = sampled(2000)
    scores = {
        method: LatentTree(method, n_states=2, random_state=0).fit(table).score(table)
        for method in ("independent", "chow-liu", "tensor")
    }
    assert scores["independent"] < scores["chow-liu"] < scores["tensor"]
