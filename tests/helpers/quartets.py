"""Quartets of known distribution, evidence about quartets, and the unfolding lemma as a judge."""

from itertools import combinations

import numpy as np
from scipy.linalg import khatri_rao

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


def factorised_unfoldings(p1_h, p2_h, p3_g, p4_g, p_hg):
    """Return A, B and C of a quartet {12|34}, computed from its parameters by the paper's unfolding lemma.

    ``A = (P2|H ⊙ P1|H) P_HG (P4|G ⊙ P3|G)ᵀ``,
    ``B = (P3|G ⊗ P1|H) diag(P_HG(:)) (P4|G ⊗ P2|H)ᵀ``,
    ``C = (P4|G ⊗ P1|H) diag(P_HG(:)) (P3|G ⊗ P2|H)ᵀ``.
    H and G are the hidden neighbours of the two sides, and columns of the conditional tables are distributions.
    """
    diagonal = p_hg.ravel(order="F")  # P_HG(:), its columns below each other
    a = khatri_rao(p2_h, p1_h) @ p_hg @ khatri_rao(p4_g, p3_g).T
    b = (np.kron(p3_g, p1_h) * diagonal) @ np.kron(p4_g, p2_h).T
    c = (np.kron(p4_g, p1_h) * diagonal) @ np.kron(p3_g, p2_h).T
    return a, b, c
