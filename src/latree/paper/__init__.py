"""What belongs to the paper alone: its random trees and models, its theory, its experiments.

The paper is Ishteva, Park and Song, *Unfolding Latent Tree Structures using 4th Order Tensors*. Names are imported on
first use, because the command line imports this package and must start without NumPy.
"""

from typing import TYPE_CHECKING

from latree._util.lazy import lazy_names

if TYPE_CHECKING:
    from latree.paper.cells import Run
    from latree.paper.power import recovery_power
    from latree.paper.reproduce import reproduce_quartets, reproduce_stocks, reproduce_trees
    from latree.paper.simulate import random_model, random_tree
    from latree.paper.theory import quartet_facts, tree_facts

__all__ = [
    "Run",
    "quartet_facts",
    "random_model",
    "random_tree",
    "recovery_power",
    "reproduce_quartets",
    "reproduce_stocks",
    "reproduce_trees",
    "tree_facts",
]

__getattr__, __dir__ = lazy_names(
    __name__,
    {
        "Run": "latree.paper.cells",
        "quartet_facts": "latree.paper.theory",
        "random_model": "latree.paper.simulate",
        "random_tree": "latree.paper.simulate",
        "recovery_power": "latree.paper.power",
        "reproduce_quartets": "latree.paper.reproduce",
        "reproduce_stocks": "latree.paper.reproduce",
        "reproduce_trees": "latree.paper.reproduce",
        "tree_facts": "latree.paper.theory",
    },
)
