"""For people who study methods: published learners and their evidence, the paper's theory and experiments.

These names may change more often than those of :mod:`latree`. A learner goes from evidence about columns (distances, a
quartet test, ...) to a tree; :func:`latree.learn_tree` computes the evidence, too.

Examples
--------
Neighbour joining, step by step:

>>> import latree
>>> from latree.research import log_det, neighbor_joining, pairwise
>>> true = latree.random_tree(6, random_state=0)
>>> model = latree.random_model(true, n_states=2, start="identity", perturbation=0.1, random_state=0)
>>> table = model.sample(20_000, random_state=0)
>>> neighbor_joining(table.names, pairwise(table, log_det)).tree.robinson_foulds(true)
0
"""

from latree.counts.contingency import pair_tables, quartet_tables
from latree.counts.distances import as_pairs, covariance, information, log_det, nuclear, pairwise
from latree.counts.quartets import covariance_test, four_point_test, nuclear_test, spectral_products, spectral_test
from latree.learners.divide_conquer import divide_and_conquer
from latree.learners.grouping import chow_liu, chow_liu_grouping, hidden_chow_liu, recursive_grouping
from latree.learners.harmeling_williams import harmeling_williams
from latree.learners.joining import neighbor_joining, spectral_joining
from latree.learners.minimum_evolution import minimum_evolution
from latree.learners.spectral_grouping import spectral_grouping
from latree.model.fitting import fit_model
from latree.paper.cells import Run
from latree.paper.power import recovery_power
from latree.paper.reproduce import reproduce
from latree.paper.theory import tree_facts

__all__ = [
    "Run",
    "as_pairs",
    "chow_liu",
    "chow_liu_grouping",
    "covariance",
    "covariance_test",
    "divide_and_conquer",
    "fit_model",
    "four_point_test",
    "harmeling_williams",
    "hidden_chow_liu",
    "information",
    "log_det",
    "minimum_evolution",
    "neighbor_joining",
    "nuclear",
    "nuclear_test",
    "pair_tables",
    "pairwise",
    "quartet_tables",
    "recovery_power",
    "recursive_grouping",
    "reproduce",
    "spectral_grouping",
    "spectral_joining",
    "spectral_products",
    "spectral_test",
    "tree_facts",
]
