"""JSON in node-link format, which networkx and d3 read."""

from latree._util.files import to_json as json_text
from latree.explain.groups import known_groups
from latree.export.graph import graph_facts
from latree.model import LatentTreeModel


def to_json(model: LatentTreeModel) -> str:
    """Return the graph of a model as JSON, in the node-link format of networkx and d3.

    Nodes and edges have the attributes of :func:`to_networkx`. Nodes also have ``categories`` (the labels of a column's
    states) and ``probabilities`` (the distribution of the variable). The graph has ``groups``: their names, levels,
    columns and the number of the group above. It is for reading by other programs; :meth:`latree.LatentTreeModel.save`
    writes the whole model, to be loaded again.

    Examples
    --------
    >>> import json, latree
    >>> from latree.export import to_json
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
