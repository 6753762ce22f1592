"""NEXUS, the format of PAUP*, MrBayes, SplitsTree and FigTree."""

from latree.export.names import one_line, unique_names
from latree.export.newick import newick_text
from latree.model import LatentTreeModel
from latree.tree.newick import quoted_name


def to_nexus(model: LatentTreeModel, *, hidden: bool = False) -> str:
    """Return the tree of a model in NEXUS format: the columns are the taxa, each component of a forest is a tree.

    NEXUS does not tell upper and lower case apart. Of two names that differ only in case, the second gets a number.

    Parameters
    ----------
    model : LatentTreeModel
    hidden : bool
        Whether inner nodes have the names of hidden variables; see :func:`to_newick`.

    Examples
    --------
    >>> import latree
    >>> from latree.export import to_nexus
    >>> tree = latree.Tree.from_newick("((a:1,'b c':2):3,d:4,e:5);")
    >>> print(to_nexus(latree.random_model(tree, random_state=0)), end="")
    #NEXUS
    BEGIN TAXA;
      DIMENSIONS NTAX=4;
      TAXLABELS a 'b c' d e;
    END;
    BEGIN TREES;
      TREE part1 = [&U] (a:1.0,'b c':2.0,(d:4.0,e:5.0):3.0);
    END;
    """
    names = unique_names(model.node_names, one_line)
    columns = names[: model.tree.n_observed]
    lines = [
        "#NEXUS",
        "BEGIN TAXA;",
        f"  DIMENSIONS NTAX={len(columns)};",
        f"  TAXLABELS {' '.join(map(quoted_name, columns))};",
        "END;",
        "BEGIN TREES;",
    ]
    for number, statement in enumerate(newick_text(model, names, hidden).splitlines(), start=1):
        lines.append(f"  TREE part{number} = [&U] {statement}")
    return "\n".join([*lines, "END;"]) + "\n"
