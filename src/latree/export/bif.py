"""BIF, the Bayesian interchange format, which most programs for Bayesian networks read."""

from urllib.parse import quote

from latree.export.graph import state_labels
from latree.export.names import identifier, state_identifier, unique_names
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
    >>> from latree.export import to_bif
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
