"""A model written to a file, in the format that the file's ending names."""

from collections.abc import Callable
from pathlib import Path

from latree._util.files import write_text
from latree.errors import InputError
from latree.export.graphs import to_dot, to_graphml, to_json
from latree.export.networks import to_bif, to_xmlbif
from latree.export.trees import to_newick, to_nexus
from latree.model import LatentTreeModel

# Formats in which names of hidden variables are an option; all others always have them.
_TREES: dict[str, Callable[..., str]] = {".nwk": to_newick, ".nex": to_nexus}
_OTHERS: dict[str, Callable[[LatentTreeModel], str]] = {
    ".graphml": to_graphml,
    ".dot": to_dot,
    ".bif": to_bif,
    ".xmlbif": to_xmlbif,
    ".bifxml": to_xmlbif,
    ".json": to_json,
}


def export_model(model: LatentTreeModel, to: str | Path, *, hidden: bool = False) -> str:
    r"""Return a model as the text of a file for other programs, and write the file.

    Parameters
    ----------
    model : LatentTreeModel
    to : str or Path
        The file, whose ending names the format; one that exists is replaced. Or the ending alone, such as ``"nwk"``, if
        no file is to be written. Endings are ``.nwk`` (Newick), ``.nex`` (NEXUS), ``.graphml``, ``.dot`` (Graphviz),
        ``.bif``, ``.xmlbif`` or ``.bifxml`` (Bayesian networks), and ``.json`` (node-link, as of networkx and d3).
    hidden : bool
        Whether inner nodes have the names of hidden variables in Newick and NEXUS.

    Examples
    --------
    >>> import latree
    >>> model = latree.random_model(latree.Tree.from_newick("((a:1,b:2):3,c:4,d:5);"), random_state=0)
    >>> latree.export_model(model, "nwk")
    '(a:1.0,b:2.0,(c:4.0,d:5.0):3.0);\n'
    """
    path = Path(to)
    is_ending = f".{str(to).lower()}" in (*_TREES, *_OTHERS)
    if not is_ending:
        check_ending(path)
    ending = f".{str(to).lower()}" if is_ending else path.suffix.lower()
    text = _TREES[ending](model, hidden=hidden) if ending in _TREES else _OTHERS[ending](model)
    if not is_ending:
        write_text(path, text)
    return text


def check_ending(path: Path) -> None:
    """Raise an error if the ending of a file's name names no format."""
    known = [*_TREES, *_OTHERS]
    if path.suffix.lower() not in known:
        raise InputError(f"{path}: choose a name that ends in {', '.join(known[:-1])} or {known[-1]}")
