"""A model as a graph: its nodes and edges with all that is known about them, for networkx, GraphML, DOT and JSON."""

from typing import Any, NamedTuple
from xml.sax.saxutils import escape

import numpy as np

from latree._util.arrays import FloatArray
from latree._util.files import to_json as json_text
from latree._util.words import percent, printable
from latree.figure.colours import colour_of
from latree.interpret.groups import known_groups
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
    >>> from latree import to_networkx
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


_TYPES = {bool: "boolean", int: "int", float: "double", str: "string"}


def to_graphml(model: LatentTreeModel) -> str:
    """Return a model as GraphML, which Gephi, Cytoscape, yEd, igraph and networkx read.

    Nodes and edges have the attributes of :func:`to_networkx`; nodes also have their ``name``, and the same as
    ``label``, which Gephi shows. It does not need networkx.

    Examples
    --------
    >>> import latree
    >>> from latree.export.graphs import to_graphml
    >>> text = to_graphml(latree.random_model(latree.random_tree(4, random_state=0), random_state=0))
    >>> text.splitlines()[-3:]
    ['</edge>', '</graph>', '</graphml>']
    """
    facts = graph_facts(model)
    nodes = [{"label": node["name"]} | node for node in facts.nodes]
    ends = [(edge.pop("source"), edge.pop("target")) for edge in facts.edges]
    lines = ['<?xml version="1.0" encoding="UTF-8"?>', '<graphml xmlns="http://graphml.graphdrawing.org/xmlns">']
    for kind, all_facts in (("node", nodes), ("edge", facts.edges)):
        types = {key: _TYPES[type(value)] for one in all_facts for key, value in one.items()}
        lines += [
            f'<key id="{kind}_{key}" for="{kind}" attr.name="{key}" attr.type="{kind_of_value}"/>'
            for key, kind_of_value in types.items()
        ]
    lines.append('<graph id="latree" edgedefault="undirected">')
    for number, node in enumerate(nodes):
        lines += [f'<node id="n{number}">', *_data("node", node), "</node>"]
    for number, ((source, target), edge) in enumerate(zip(ends, facts.edges, strict=True)):
        attributes = f'id="e{number}" source="n{source}" target="n{target}"'
        lines += [f"<edge {attributes}>", *_data("edge", edge), "</edge>"]
    return "\n".join([*lines, "</graph>", "</graphml>"]) + "\n"


def _data(kind: str, facts: dict[str, Any]) -> list[str]:
    texts = {key: str(value).lower() if isinstance(value, bool) else str(value) for key, value in facts.items()}
    return [f'<data key="{kind}_{key}">{escape(printable(text))}</data>' for key, text in texts.items()]


def to_dot(model: LatentTreeModel) -> str:
    """Return a model in the DOT language of Graphviz: ``dot -Tsvg tree.dot -o tree.svg`` draws it.

    Columns are boxes in the colour of their group, hidden variables are ellipses. Wide edges mean strong dependence,
    and long edges weak dependence. The number at an edge is its support in per cent.

    Examples
    --------
    >>> import latree
    >>> from latree.export.graphs import to_dot
    >>> text = to_dot(latree.random_model(latree.random_tree(4, random_state=0), random_state=0))
    >>> text.splitlines()[0]
    'graph latree {'
    """
    facts = graph_facts(model)
    main = [group.name for group in known_groups(model) if group.level == "main"]
    lines = [
        "graph latree {",
        '  graph [layout="neato", overlap="false"];',
        '  node [fontname="sans-serif"];',
        '  edge [fontname="sans-serif", fontsize="10"];',
    ]
    for number, node in enumerate(facts.nodes):
        shown = {"label": node["name"], "shape": "ellipse" if node["hidden"] else "box"}
        if "group" in node:
            shown |= {"color": colour_of(main.index(node["group"])), "group": node["group"]}
        lines.append(f"  n{number} [{_attributes(shown)}];")
    for edge in facts.edges:
        strength, length = edge["strength"], edge["length"]
        shown = {"penwidth": f"{0.5 + 3 * strength:.2f}", "len": f"{0.5 + max(length, 0):.3f}"}
        shown |= {"label": str(percent(edge["support"]))} if "support" in edge else {}
        shown |= {key: repr(edge[key]) for key in ("strength", "length", "support") if key in edge}
        lines.append(f"  n{edge['source']} -- n{edge['target']} [{_attributes(shown)}];")
    return "\n".join([*lines, "}"]) + "\n"


def _attributes(facts: dict[str, str]) -> str:
    return ", ".join(f'{key}="{_escaped(value)}"' for key, value in facts.items())


def _escaped(text: str) -> str:
    """Return text for a quoted string of DOT, in which Graphviz would replace backslashes and HTML entities."""
    return printable(text).replace("&", "&amp;").replace("\\", "\\\\").replace('"', '\\"')


def to_json(model: LatentTreeModel) -> str:
    """Return the graph of a model as JSON, in the node-link format of networkx and d3.

    Nodes and edges have the attributes of :func:`to_networkx`. Nodes also have ``categories`` (the labels of a column's
    states) and ``probabilities`` (the distribution of the variable). The graph has ``groups``: their names, levels,
    columns and the number of the group above. It is for reading by other programs; :meth:`latree.LatentTreeModel.save`
    writes the whole model, to be loaded again.

    Examples
    --------
    >>> import json, latree
    >>> from latree.export.graphs import to_json
    >>> model = latree.random_model(latree.Tree.from_newick("((a,b),c,d);"), n_states=2, random_state=0)
    >>> [node["id"] for node in json.loads(to_json(model))["nodes"]]
    ['a', 'b', 'c', 'd', 'H1', 'H2']
    """
    facts = graph_facts(model)
    names = [node.pop("name") for node in facts.nodes]
    nodes = [{"id": name} | node for name, node in zip(names, facts.nodes, strict=True)]
    for node, column in zip(nodes, model.columns, strict=False):
        node["categories"] = list(column.categories)
    for node, marginal in zip(nodes, model.marginals().values(), strict=True):
        node["probabilities"] = marginal.tolist()
    edges = [{**edge, "source": names[edge["source"]], "target": names[edge["target"]]} for edge in facts.edges]
    groups = [
        {"name": group.name, "level": group.level, "columns": list(group.columns), "parent": group.parent}
        for group in known_groups(model)
    ]
    graph = {"directed": False, "multigraph": False, "graph": {"groups": groups}}
    return json_text({**graph, "nodes": nodes, "edges": edges})
