"""Find the hidden variables behind a table of discrete columns.

Start with :class:`latree.LatentTree`, or with :func:`latree.learn_tree` for the tree alone. What users may import is
what ``__all__`` lists here, in :mod:`latree.datasets` and in :mod:`latree.research`, which is for people who study
methods. All other modules are private.
"""

import sys
from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from latree.errors import FitWarning, InputError
    from latree.estimator import LatentTree
    from latree.export.graphs import to_networkx
    from latree.export.networks import to_pgmpy
    from latree.export.trees import to_linkage
    from latree.export.write import export_model
    from latree.figure.draw import plot
    from latree.interpret.columns import redundant_columns
    from latree.interpret.compare import compare_models
    from latree.interpret.scores import row_scores
    from latree.learn import learn_tree
    from latree.model.group import Group
    from latree.model.model import LatentTreeModel
    from latree.paper.simulate import random_model, random_tree
    from latree.report.write import report_html
    from latree.table.checking import check
    from latree.table.columns import Column
    from latree.table.labels import read_labels
    from latree.table.reading import Reading, as_table
    from latree.table.table import Table
    from latree.tree.tree import Tree

__version__ = "0.1.0"

__all__ = [
    "Column",
    "FitWarning",
    "Group",
    "InputError",
    "LatentTree",
    "LatentTreeModel",
    "Reading",
    "Table",
    "Tree",
    "as_table",
    "check",
    "compare_models",
    "export_model",
    "learn_tree",
    "plot",
    "random_model",
    "random_tree",
    "read_labels",
    "redundant_columns",
    "report_html",
    "row_scores",
    "to_linkage",
    "to_networkx",
    "to_pgmpy",
]

# The modules that define the public names. They are imported on first use: `latree --help` needs neither NumPy nor
# scikit-learn.
_HOMES = {
    "errors": ("FitWarning", "InputError"),
    "estimator": ("LatentTree",),
    "export.graphs": ("to_networkx",),
    "export.networks": ("to_pgmpy",),
    "export.trees": ("to_linkage",),
    "export.write": ("export_model",),
    "figure.draw": ("plot",),
    "interpret.columns": ("redundant_columns",),
    "interpret.compare": ("compare_models",),
    "interpret.scores": ("row_scores",),
    "learn": ("learn_tree",),
    "model.group": ("Group",),
    "model.model": ("LatentTreeModel",),
    "paper.simulate": ("random_model", "random_tree"),
    "report.write": ("report_html",),
    "table.checking": ("check",),
    "table.columns": ("Column",),
    "table.labels": ("read_labels",),
    "table.reading": ("Reading", "as_table"),
    "table.table": ("Table",),
    "tree.tree": ("Tree",),
}
_MODULE_OF = {name: module for module, names in _HOMES.items() for name in names}
_PUBLIC_MODULES = ("datasets", "research")


def __getattr__(name: str) -> Any:
    if name in _PUBLIC_MODULES:
        return import_module(f"latree.{name}")  # sets the attribute, too
    if name not in _MODULE_OF:
        raise AttributeError(f"module 'latree' has no attribute {name!r}")
    value = getattr(import_module(f"latree.{_MODULE_OF[name]}"), name)
    setattr(sys.modules[__name__], name, value)  # the next access does not come here
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *_MODULE_OF, *_PUBLIC_MODULES})
