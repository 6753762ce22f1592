"""GraphML, the XML format of programs that draw and analyse graphs."""

from typing import Any
from xml.sax.saxutils import escape

from latree._util.text import printable
from latree.export.graph import graph_facts
from latree.model import LatentTreeModel

_TYPES = {bool: "boolean", int: "int", float: "double", str: "string"}


def to_graphml(model: LatentTreeModel) -> str:
    """Return a model as GraphML, which Gephi, Cytoscape, yEd, igraph and networkx read.

    Nodes and edges have the attributes of :func:`to_networkx`; nodes also have their ``name``, and the same as
    ``label``, which Gephi shows. It does not need networkx.

    Examples
    --------
    >>> import latree
    >>> from latree.export import to_graphml
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
