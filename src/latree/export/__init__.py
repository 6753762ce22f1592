"""A model for other programs: trees, graphs, Bayesian networks and dendrograms."""

from latree.export.graphs import to_dot, to_graphml, to_json, to_networkx
from latree.export.networks import to_bif, to_pgmpy, to_xmlbif
from latree.export.trees import to_linkage, to_newick, to_nexus
from latree.export.write import export_model

__all__ = [
    "export_model",
    "to_bif",
    "to_dot",
    "to_graphml",
    "to_json",
    "to_linkage",
    "to_networkx",
    "to_newick",
    "to_nexus",
    "to_pgmpy",
    "to_xmlbif",
]
