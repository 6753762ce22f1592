"""A model as a Bayesian network: BIF, XMLBIF and pgmpy."""

from typing import Any
from urllib.parse import quote
from xml.sax.saxutils import escape

from latree.export.graphs import state_labels
from latree.export.names import identifier, one_line, state_identifier, unique_names
from latree.model import LatentTreeModel


def to_bif(model: LatentTreeModel) -> str:
    r"""Return a model as a Bayesian network in BIF, which pgmpy, pyAgrum, bnlearn and SamIam read.

    Hidden variables are variables like all others, and every node has its conditional probability table, with all
    digits. Names in BIF are words of ASCII letters, digits and underscores that differ not only in case. A name that is
    not such a word is changed, and the original is kept as a property ``name``; so are the labels of states, as a
    property ``states``, separated by commas. Both are percent-encoded, as in a web address
    (:func:`urllib.parse.unquote` decodes them).

    Examples
    --------
    >>> import latree
    >>> from latree.export.networks import to_bif
    >>> tree = latree.Tree.from_newick("('sleeps well',b,c);")
    >>> model = latree.random_model(tree, n_states=2, hidden_states=2, random_state=0)
    >>> print("\n".join(to_bif(model).splitlines()[:6]))
    network latree {
    }
    variable sleeps_well {
      type discrete [ 2 ] { 0, 1 };
      property name = "sleeps%20well" ;
    }
    """
    originals, labels = model.node_names, state_labels(model)
    names = unique_names(originals, identifier)
    states = [unique_names(one, state_identifier) for one in labels]
    lines = ["network latree {", "}"]
    for name, original, own_states, own_labels in zip(names, originals, states, labels, strict=True):
        lines += [f"variable {name} {{", f"  type discrete [ {len(own_states)} ] {{ {', '.join(own_states)} }};"]
        if name != original:
            lines.append(f'  property name = "{_encoded(original)}" ;')
        if own_states != list(own_labels):
            lines.append(f'  property states = "{",".join(map(_encoded, own_labels))}" ;')
        lines.append("}")
    for node, parent in enumerate(model.tree.rooted().parent.tolist()):
        columns = model.tables[node].T.tolist()
        if parent < 0:
            lines += [f"probability ( {names[node]} ) {{", f"  table {_numbers(columns[0])};", "}"]
            continue
        lines.append(f"probability ( {names[node]} | {names[parent]} ) {{")
        lines += [f"  ({state}) {_numbers(column)};" for state, column in zip(states[parent], columns, strict=True)]
        lines.append("}")
    return "\n".join(lines) + "\n"


def _numbers(probabilities: list[float]) -> str:
    return ", ".join(map(repr, probabilities))


def _encoded(text: str) -> str:
    return quote(text, safe="")


def to_xmlbif(model: LatentTreeModel) -> str:
    r"""Return a model as a Bayesian network in XMLBIF, which pgmpy, pyAgrum, SamIam and Weka read.

    Unlike in BIF (:func:`to_bif`), variables and states may have any names. Only control characters are replaced, and
    spaces at the ends or next to each other are removed. pyAgrum reads files whose names end in ``.bifxml``.

    Examples
    --------
    >>> import latree
    >>> from latree.export.networks import to_xmlbif
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


def to_pgmpy(model: LatentTreeModel) -> Any:
    """Return a model as a :class:`pgmpy.models.DiscreteBayesianNetwork`, with all names as they are.

    Edges point away from the middle of the tree. States of columns are named by their labels, those of hidden variables
    ``"0"``, ``"1"``, ... from low to high. It needs pgmpy.

    Examples
    --------
    >>> import latree
    >>> from latree import to_pgmpy
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
