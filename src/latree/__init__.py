"""Find the hidden tree behind a table of discrete variables.

>>> import latree
>>> model = latree.LatentTree().fit(table)        # doctest: +SKIP
>>> tree = latree.learn_tree(table)               # doctest: +SKIP
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from latree.errors import InputError
    from latree.estimator import LatentTree
    from latree.figure import plot
    from latree.learn import learn_tree
    from latree.model import LatentTreeModel
    from latree.paper.simulate import random_model, random_tree
    from latree.table import Table, as_table
    from latree.tree import Tree

__version__ = "0.1.0"

__all__ = [
    "InputError",
    "LatentTree",
    "LatentTreeModel",
    "Table",
    "Tree",
    "as_table",
    "learn_tree",
    "plot",
    "random_model",
    "random_tree",
]

# Public names are imported on first use: `latree --help` needs neither NumPy nor scikit-learn.
_HOMES = {
    "InputError": "latree.errors",
    "LatentTree": "latree.estimator",
    "LatentTreeModel": "latree.model",
    "Table": "latree.table",
    "Tree": "latree.tree",
    "as_table": "latree.table",
    "learn_tree": "latree.learn",
    "plot": "latree.figure",
    "random_model": "latree.paper.simulate",
    "random_tree": "latree.paper.simulate",
}


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module 'latree' has no attribute {name!r}")
    value = getattr(import_module(_HOMES[name]), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
