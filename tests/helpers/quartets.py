"""Quartets of known distribution, and evidence about quartets."""

from itertools import combinations

import numpy as np

from latree.counts.contingency import pair_tables
from latree.counts.distances import as_pairs
from latree.paper.simulate import random_model, random_tree


def exact_quartet(rng, n, k_h, k_g):
    leaves = [rng.dirichlet(np.ones(n), size=k).T for k in (k_h, k_h, k_g, k_g)]
    p_hg = rng.dirichlet(np.ones(k_h * k_g)).reshape(k_h, k_g)
    return np.einsum("ah,bh,hg,cg,dg->abcd", *leaves[:2], p_hg, *leaves[2:])


def sampled_pairs(n_rows, seed, d=7, n=4, k=2, perturbation=0.2):
    tree = random_tree(d, 0.4, seed)
    model = random_model(
        tree, n_states=n, hidden_states=k, start="identity", perturbation=perturbation, random_state=seed
    )
    return as_pairs(pair_tables(model.sample(n_rows, seed)))


def all_quartets(d):
    return np.array(list(combinations(range(d), 4)))
