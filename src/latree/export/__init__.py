"""A model for other programs: trees, graphs, Bayesian networks and dendrograms."""

from latree.export.bif import to_bif
from latree.export.dot import to_dot
from latree.export.graph import to_networkx
from latree.export.graphml import to_graphml
from latree.export.linkage import to_linkage
from latree.export.newick import to_newick
from latree.export.nexus import to_nexus
from latree.export.node_link import to_json
from latree.export.pgmpy_network import to_pgmpy
from latree.export.write import export_model
from latree.export.xmlbif import to_xmlbif

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
