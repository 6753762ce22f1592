"""Find the hidden variables behind a table of discrete columns.

Start with :class:`latree.LatentTree`, or with :func:`latree.learn_tree` for the tree alone. What users may import is
what ``__all__`` lists here, in :mod:`latree.datasets` and in :mod:`latree.research`, which is for people who study
methods. All other modules are private.
"""

import sys
from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from latree.errors import FitWarning as FitWarning
    from latree.errors import InputError as InputError
    from latree.estimator.estimator import LatentTree as LatentTree
    from latree.export.graphs import to_networkx as to_networkx
    from latree.export.networks import to_pgmpy as to_pgmpy
    from latree.export.trees import to_linkage as to_linkage
    from latree.export.write import export_model as export_model
    from latree.figure.draw import plot as plot
    from latree.interpret.compare import compare_models as compare_models
    from latree.interpret.scores import row_scores as row_scores
    from latree.learn import learn_tree as learn_tree
    from latree.model.group import Group as Group
    from latree.model.model import LatentTreeModel as LatentTreeModel
    from latree.paper.simulate import random_model as random_model
    from latree.paper.simulate import random_tree as random_tree
    from latree.quality.comparison import compare_tables as compare_tables
    from latree.report.render import report_html as report_html
    from latree.table.checking import check as check
    from latree.table.columns import Column as Column
    from latree.table.reading import Reading as Reading
    from latree.table.reading import as_table as as_table
    from latree.table.table import Table as Table
    from latree.tree.tree import Tree as Tree

__version__ = "0.1.0"

# The public names by the modules that define them. These are imported on first use, so that `latree --help` needs
# neither NumPy nor scikit-learn.
_HOMES = {
    "errors": ("FitWarning", "InputError"),
    "estimator.estimator": ("LatentTree",),
    "export.graphs": ("to_networkx",),
    "export.networks": ("to_pgmpy",),
    "export.trees": ("to_linkage",),
    "export.write": ("export_model",),
    "figure.draw": ("plot",),
    "interpret.compare": ("compare_models",),
    "interpret.scores": ("row_scores",),
    "learn": ("learn_tree",),
    "model.group": ("Group",),
    "model.model": ("LatentTreeModel",),
    "paper.simulate": ("random_model", "random_tree"),
    "quality.comparison": ("compare_tables",),
    "report.render": ("report_html",),
    "table.checking": ("check",),
    "table.columns": ("Column",),
    "table.reading": ("Reading", "as_table"),
    "table.table": ("Table",),
    "tree.tree": ("Tree",),
}
_MODULE_OF = {name: module for module, names in _HOMES.items() for name in names}
_PUBLIC_MODULES = ("datasets", "research")
__all__ = sorted(_MODULE_OF)


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
