"""The fitted model, its fit by EM, its file, how it came about, and what may be wrong with it."""

from latree.inference.em import ConvergenceMonitor as ConvergenceMonitor
from latree.model.fitting import Fit as Fit
from latree.model.fitting import fit_model as fit_model
from latree.model.group import Group as Group
from latree.model.model import LatentTreeModel as LatentTreeModel
