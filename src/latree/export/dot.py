"""DOT, the language of Graphviz."""

from latree._util.rounding import percent
from latree._util.text import printable
from latree.explain.groups import known_groups
from latree.export.graph import graph_facts
from latree.figure.colours import colour_of
from latree.model import LatentTreeModel


def to_dot(model: LatentTreeModel) -> str:
    """Return a model in the DOT language of Graphviz: ``dot -Tsvg tree.dot -o tree.svg`` draws it.

    Columns are boxes in the colour of their group, hidden variables are ellipses. Wide edges mean strong dependence,
    and long edges weak dependence. The number at an edge is its support in per cent.

    Examples
    --------
    >>> import latree
    >>> from latree.export import to_dot
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
