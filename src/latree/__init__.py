"""Find the hidden variables behind a table of discrete columns.

Start with :class:`latree.LatentTree`, or with :func:`latree.learn_tree` for the tree alone. What users may import is
what ``__all__`` lists here and in the folders ``table``, ``tree``, ``counts``, ``learners``, ``model``, ``explain``,
``figure``, ``export``, ``report``, ``datasets`` and ``paper``.
"""

from typing import TYPE_CHECKING

from latree._util.lazy import lazy_names

if TYPE_CHECKING:
    from latree.errors import FitWarning, InputError
    from latree.estimator import LatentTree
    from latree.figure import plot
    from latree.learn import learn_tree
    from latree.model import LatentTreeModel
    from latree.paper.simulate import random_model, random_tree
    from latree.table import Table, as_table, check
    from latree.tree import Tree

__version__ = "0.1.0"

__all__ = [
    "FitWarning",
    "InputError",
    "LatentTree",
    "LatentTreeModel",
    "Table",
    "Tree",
    "as_table",
    "check",
    "learn_tree",
    "plot",
    "random_model",
    "random_tree",
]

# Public names are imported on first use: `latree --help` needs neither NumPy nor scikit-learn.
_HOMES = {
    "FitWarning": "latree.errors",
    "InputError": "latree.errors",
    "LatentTree": "latree.estimator",
    "LatentTreeModel": "latree.model",
    "Table": "latree.table",
    "Tree": "latree.tree",
    "as_table": "latree.table",
    "check": "latree.table",
    "learn_tree": "latree.learn",
    "plot": "latree.figure",
    "random_model": "latree.paper.simulate",
    "random_tree": "latree.paper.simulate",
}
# So are public folders: `latree.interpret.loadings(...)` works after `import latree`.
_FOLDERS = (
    "table",
    "tree",
    "counts",
    "learners",
    "model",
    "interpret",
    "figure",
    "export",
    "report",
    "datasets",
    "paper",
)

__getattr__, __dir__ = lazy_names(__name__, _HOMES, _FOLDERS)
