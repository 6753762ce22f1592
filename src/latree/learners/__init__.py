"""Learners of structure, from evidence about columns to a tree, and their registry by name."""

from latree.learners.divide_conquer import divide_and_conquer
from latree.learners.grouping import chow_liu, chow_liu_grouping, hidden_chow_liu, recursive_grouping
from latree.learners.harmeling_williams import harmeling_williams
from latree.learners.joining import average_linkage, neighbor_joining, spectral_joining
from latree.learners.methods import METHODS, Method
from latree.learners.minimum_evolution import minimum_evolution
from latree.learners.spectral_grouping import spectral_grouping
from latree.learners.structure import Structure, independent, latent_class
from latree.learners.support import bootstrap_trees, consensus, with_support

__all__ = [
    "METHODS",
    "Method",
    "Structure",
    "average_linkage",
    "bootstrap_trees",
    "chow_liu",
    "chow_liu_grouping",
    "consensus",
    "divide_and_conquer",
    "harmeling_williams",
    "hidden_chow_liu",
    "independent",
    "latent_class",
    "minimum_evolution",
    "neighbor_joining",
    "recursive_grouping",
    "spectral_grouping",
    "spectral_joining",
    "with_support",
]
