"""What a fitted estimator offers for other programs."""

from pathlib import Path
from typing import Any

from sklearn.utils.validation import check_is_fitted

from latree import export
from latree._util.arrays import FloatArray
from latree.model import LatentTreeModel


class ExportMixin:
    """Methods of an estimator that pass its ``model_`` to the functions of :mod:`latree.export`."""

    model_: LatentTreeModel

    def export(self, path: str | Path, *, hidden: bool = False) -> None:
        """Write the model for another program, by the ending of the path; see :func:`latree.export.export_model`."""
        export.export_model(self._exported, path, hidden=hidden)

    def to_newick(self, *, hidden: bool = False) -> str:
        """Return the tree in Newick format; see :func:`latree.export.to_newick`."""
        return export.to_newick(self._exported, hidden=hidden)

    def to_nexus(self, *, hidden: bool = False) -> str:
        """Return the tree in NEXUS format; see :func:`latree.export.to_nexus`."""
        return export.to_nexus(self._exported, hidden=hidden)

    def to_graphml(self) -> str:
        """Return the graph as GraphML; see :func:`latree.export.to_graphml`."""
        return export.to_graphml(self._exported)

    def to_dot(self) -> str:
        """Return the graph in the language of Graphviz; see :func:`latree.export.to_dot`."""
        return export.to_dot(self._exported)

    def to_json(self) -> str:
        """Return the graph as JSON; see :func:`latree.export.to_json`."""
        return export.to_json(self._exported)

    def to_bif(self) -> str:
        """Return the model as a Bayesian network in BIF; see :func:`latree.export.to_bif`."""
        return export.to_bif(self._exported)

    def to_xmlbif(self) -> str:
        """Return the model as a Bayesian network in XMLBIF; see :func:`latree.export.to_xmlbif`."""
        return export.to_xmlbif(self._exported)

    def to_networkx(self) -> Any:
        """Return the model as a graph of networkx; see :func:`latree.export.to_networkx`."""
        return export.to_networkx(self._exported)

    def to_pgmpy(self) -> Any:
        """Return the model as a Bayesian network of pgmpy; see :func:`latree.export.to_pgmpy`."""
        return export.to_pgmpy(self._exported)

    def to_linkage(self) -> FloatArray:
        """Return the tree as a linkage of scipy, for dendrograms; see :func:`latree.export.to_linkage`."""
        return export.to_linkage(self._exported)

    @property
    def _exported(self) -> LatentTreeModel:
        check_is_fitted(self)
        return self.model_
