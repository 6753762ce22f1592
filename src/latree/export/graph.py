"""The nodes and edges of a model with all that is known about them: what formats for graphs share, and networkx."""

from typing import Any, NamedTuple

import numpy as np

from latree._util.arrays import FloatArray
from latree.explain.groups import known_groups
from latree.model import LatentTreeModel

# The attribute of a node that has the name of its group, for each level of groups.
_GROUP_KEYS = {"main": "group", "broad": "broad_group", "fine": "fine_group"}


class GraphFacts(NamedTuple):
    """The nodes and edges of a model, each with what is known about it."""

    nodes: list[dict[str, Any]]
    edges: list[dict[str, Any]]  # "source" and "target" are numbers of nodes


def to_networkx(model: LatentTreeModel) -> Any:
    """Return a model as a :class:`networkx.Graph` whose nodes are the names of the variables.

    Nodes have the attributes ``hidden``, ``states``, ``group``, ``broad_group``, ``fine_group``, ``stability`` (how
    sure it is that a column is in its group) and ``alias`` (``H1``, ... of a hidden variable). Edges have ``strength``
    from 0 to 1 (:meth:`latree.LatentTreeModel.edge_strengths`), the same as ``weight``, ``length`` and ``support``.
    What is not known is not there. It needs networkx.

    Examples
    --------
    >>> import latree
    >>> from latree.export import to_networkx
    >>> tree = latree.Tree.from_newick("((a,b,c)0.9,(d,e,f));")
    >>> model = latree.random_model(tree, n_states=2, hidden_states=2, start="identity", random_state=5)
    >>> graph = to_networkx(model)
    >>> graph.nodes["a"]
    {'hidden': False, 'states': 2, 'group': 'b, a +1'}
    >>> sorted(graph.edges["a", "H1"])
    ['length', 'strength', 'weight']
    """
    try:
        import networkx
    except ImportError:
        raise ImportError("to_networkx needs networkx: pip install networkx") from None

    graph, facts = networkx.Graph(), graph_facts(model)
    names = [node.pop("name") for node in facts.nodes]
    for name, node in zip(names, facts.nodes, strict=True):
        graph.add_node(name, **node)
    for edge in facts.edges:
        graph.add_edge(names[edge.pop("source")], names[edge.pop("target")], **edge)
    return graph


def graph_facts(model: LatentTreeModel) -> GraphFacts:
    """Return the nodes and edges of a model with what is known about them.

    Nodes have ``name``, ``hidden``, ``states`` (their number), ``group``, ``broad_group`` and ``fine_group`` (names of
    the groups that they are in); hidden ones have their technical name as ``alias``, columns the ``stability`` of their
    membership in the main group. Edges have ``strength``, the same again as ``weight``, which programs for graphs look
    for, ``length`` and ``support``. What is not known is not there.
    """
    tree, names = model.tree, model.node_names
    nodes: list[dict[str, Any]] = []
    for node, (name, n_states) in enumerate(zip(names, model.n_states.tolist(), strict=True)):
        alias = {"alias": tree.node_names[node]} if node >= tree.n_observed else {}
        nodes.append({"name": name, "hidden": node >= tree.n_observed, "states": n_states, **alias})
    for group in known_groups(model):
        for node in group.nodes:
            nodes[node][_GROUP_KEYS[group.level]] = group.name
        if group.level == "main" and group.column_stability is not None:
            for name, stability in zip(group.columns, group.column_stability, strict=True):
                nodes[model.node(name)]["stability"] = stability
    edges: list[dict[str, Any]] = []
    numbers = zip(model.edge_strengths().tolist(), edge_lengths(model).tolist(), tree.support.tolist(), strict=True)
    for (u, v), (strength, length, support) in zip(tree.edges.tolist(), numbers, strict=True):
        known = {"strength": strength, "weight": strength, "length": length, "support": support}
        edges.append({"source": u, "target": v} | {key: x for key, x in known.items() if not np.isnan(x)})
    return GraphFacts(nodes, edges)


def state_labels(model: LatentTreeModel) -> list[tuple[str, ...]]:
    """Return the names of the states of every node: the labels of a column, and numbers from 0 for hidden ones."""
    hidden = model.n_states[model.tree.n_observed :].tolist()
    return [*(column.categories for column in model.columns), *(tuple(map(str, range(n))) for n in hidden)]


def edge_lengths(model: LatentTreeModel) -> FloatArray:
    """Return the lengths of the tree's edges, or those that figures have if the tree has none.

    See :meth:`latree.LatentTreeModel.edge_lengths`.
    """
    return model.edge_lengths() if np.isnan(model.tree.lengths).all() else model.tree.lengths
