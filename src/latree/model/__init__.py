"""The fitted model, its fit by EM, its file, how it came about, and what may be wrong with it."""

from latree.inference.em import ConvergenceMonitor
from latree.model.fitting import Fit, fit_model
from latree.model.group import Group
from latree.model.model import LatentTreeModel

__all__ = ["ConvergenceMonitor", "Fit", "Group", "LatentTreeModel", "fit_model"]
