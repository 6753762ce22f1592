"""What a fitted model says and is worth: groups, loadings, scores of rows, order of states, gain on new rows."""

from latree.explain.compare import compare_models
from latree.explain.groups import find_groups, group_labels, with_groups
from latree.explain.loadings import loadings, profiles
from latree.explain.order import OrderedModel, order_states
from latree.explain.redundancy import RedundantPair, redundant_columns
from latree.explain.reliability import Reliability, reliability
from latree.explain.scores import RowScores, row_scores, state_names
from latree.explain.worth import measure_worth
from latree.model import Group
from latree.model.worth import SimplerGain, Worth

__all__ = [
    "Group",
    "OrderedModel",
    "RedundantPair",
    "Reliability",
    "RowScores",
    "SimplerGain",
    "Worth",
    "compare_models",
    "find_groups",
    "group_labels",
    "loadings",
    "measure_worth",
    "order_states",
    "profiles",
    "redundant_columns",
    "reliability",
    "row_scores",
    "state_names",
    "with_groups",
]
