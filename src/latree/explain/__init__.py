"""What a fitted model says: groups of columns, loadings, scores of rows, the order of states, directions of columns."""

from latree.explain.compare import compare_models
from latree.explain.groups import find_groups, group_labels, with_groups
from latree.explain.loadings import loadings, profiles
from latree.explain.order import OrderedModel, order_states
from latree.explain.reliability import Reliability, reliability
from latree.explain.scores import RowScores, row_scores, state_names
from latree.model import Group

__all__ = [
    "Group",
    "OrderedModel",
    "Reliability",
    "RowScores",
    "compare_models",
    "find_groups",
    "group_labels",
    "loadings",
    "order_states",
    "profiles",
    "reliability",
    "row_scores",
    "state_names",
    "with_groups",
]
