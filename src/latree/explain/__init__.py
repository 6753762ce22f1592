"""What a fitted model says: groups of columns, the order of states, the direction of columns."""

from latree.explain.groups import Group, find_groups, group_labels
from latree.explain.order import OrderedModel, order_states

__all__ = ["Group", "OrderedModel", "find_groups", "group_labels", "order_states"]
