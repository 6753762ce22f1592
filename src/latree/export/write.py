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


def export_model(model: LatentTreeModel, path: str | Path, *, hidden: bool = False) -> None:
    r"""Write a model to a file, in the format that the ending of its name says; one that exists is replaced.

    Parameters
    ----------
    model : LatentTreeModel
    path : str or Path
        Ends in ``.nwk`` (:func:`to_newick`), ``.nex`` (:func:`to_nexus`), ``.graphml`` (:func:`to_graphml`), ``.dot``
        (:func:`to_dot`), ``.bif`` (:func:`to_bif`), ``.xmlbif`` or ``.bifxml`` (:func:`to_xmlbif`), or ``.json``
        (:func:`to_json`).
    hidden : bool
        Whether inner nodes have the names of hidden variables in Newick and NEXUS.

    Examples
    --------
    >>> import pathlib, tempfile, latree
    >>> from latree.export import export_model
    >>> model = latree.random_model(latree.Tree.from_newick("((a:1,b:2):3,c:4,d:5);"), random_state=0)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     export_model(model, f"{folder}/tree.nwk")
    ...     pathlib.Path(folder, "tree.nwk").read_text()
    '(a:1.0,b:2.0,(c:4.0,d:5.0):3.0);\n'
    """
    path = Path(path)
    check_ending(path)
    ending = path.suffix.lower()
    write_text(path, _TREES[ending](model, hidden=hidden) if ending in _TREES else _OTHERS[ending](model))


def check_ending(path: Path) -> None:
    """Raise an error if the ending of a file's name names no format."""
    known = [*_TREES, *_OTHERS]
    if path.suffix.lower() not in known:
        raise InputError(f"{path}: choose a name that ends in {', '.join(known[:-1])} or {known[-1]}")
