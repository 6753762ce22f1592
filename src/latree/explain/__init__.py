"""What a fitted model says: the order of states and the direction of columns."""

from latree.explain.order import OrderedModel, order_states

__all__ = ["OrderedModel", "order_states"]
