"""XMLBIF, the Bayesian interchange format in XML."""

from xml.sax.saxutils import escape

from latree.export.graph import state_labels
from latree.export.names import one_line, unique_names
from latree.model import LatentTreeModel


def to_xmlbif(model: LatentTreeModel) -> str:
    r"""Return a model as a Bayesian network in XMLBIF, which pgmpy, pyAgrum, SamIam and Weka read.

    Unlike in BIF (:func:`to_bif`), variables and states may have any names. Only control characters are replaced, and
    spaces at the ends or next to each other are removed. pyAgrum reads files whose names end in ``.bifxml``.

    Examples
    --------
    >>> import latree
    >>> from latree.export import to_xmlbif
    >>> model = latree.random_model(latree.Tree.from_newick("(a,b,c);"), n_states=2, hidden_states=2, random_state=0)
    >>> print("\n".join(to_xmlbif(model).splitlines()[4:9]))
    <VARIABLE TYPE="nature">
    <NAME>a</NAME>
    <OUTCOME>0</OUTCOME>
    <OUTCOME>1</OUTCOME>
    </VARIABLE>
    """
    names = unique_names(model.node_names, one_line, str)
    lines = ['<?xml version="1.0" encoding="UTF-8"?>', '<BIF VERSION="0.3">', "<NETWORK>", "<NAME>latree</NAME>"]
    for name, labels in zip(names, state_labels(model), strict=True):
        outcomes = [_element("OUTCOME", label) for label in unique_names(labels, one_line, str)]
        lines += ['<VARIABLE TYPE="nature">', _element("NAME", name), *outcomes, "</VARIABLE>"]
    for node, parent in enumerate(model.tree.rooted().parent.tolist()):
        # The states of the variable vary fastest: one column of the table after the other.
        numbers = " ".join(map(repr, model.tables[node].T.ravel().tolist()))
        given = [_element("GIVEN", names[parent])] if parent >= 0 else []
        lines += ["<DEFINITION>", _element("FOR", names[node]), *given, _element("TABLE", numbers), "</DEFINITION>"]
    return "\n".join([*lines, "</NETWORK>", "</BIF>"]) + "\n"


def _element(tag: str, text: str) -> str:
    return f"<{tag}>{escape(text)}</{tag}>"
