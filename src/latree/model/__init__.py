"""The fitted model, its file, how it came about, and what may be wrong with it."""

from latree.model.model import LatentTreeModel, aic, bic, identity_table

__all__ = ["LatentTreeModel", "aic", "bic", "identity_table"]
