"""What a fitted model says: groups of columns, loadings, the order of states, the direction of columns."""

from latree.explain.groups import find_groups, group_labels
from latree.explain.loadings import loadings
from latree.explain.order import OrderedModel, order_states
from latree.model import Group

__all__ = ["Group", "OrderedModel", "find_groups", "group_labels", "loadings", "order_states"]
