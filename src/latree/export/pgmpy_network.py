"""A model as a Bayesian network of pgmpy."""

from typing import Any

from latree.export.graph import state_labels
from latree.model import LatentTreeModel


def to_pgmpy(model: LatentTreeModel) -> Any:
    """Return a model as a :class:`pgmpy.models.DiscreteBayesianNetwork`, with all names as they are.

    Edges point away from the middle of the tree. States of columns are named by their labels, those of hidden variables
    ``"0"``, ``"1"``, ... from low to high. It needs pgmpy.

    Examples
    --------
    >>> import latree
    >>> from latree.export import to_pgmpy
    >>> model = latree.random_model(latree.Tree.from_newick("(a,b,c);"), n_states=2, hidden_states=3, random_state=0)
    >>> sorted(to_pgmpy(model).edges)  # doctest: +SKIP
    [('H1', 'a'), ('H1', 'b'), ('H1', 'c')]
    """
    try:
        from pgmpy.factors.discrete import TabularCPD
        from pgmpy.models import DiscreteBayesianNetwork
    except ImportError:
        raise ImportError("to_pgmpy needs pgmpy: pip install pgmpy") from None

    names, labels = model.node_names, [list(own) for own in state_labels(model)]
    network = DiscreteBayesianNetwork()
    network.add_nodes_from(names)
    for node, parent in enumerate(model.tree.rooted().parent.tolist()):
        above = [parent] if parent >= 0 else []
        network.add_edges_from((names[one], names[node]) for one in above)
        table = TabularCPD(
            names[node],
            len(labels[node]),
            model.tables[node],
            evidence=[names[one] for one in above],
            evidence_card=[len(labels[one]) for one in above],
            state_names={names[one]: labels[one] for one in (node, *above)},
        )
        network.add_cpds(table)
    return network
