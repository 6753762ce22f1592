"""What a fitted model says and is worth: groups, loadings, scores of rows, order of states, gain on new rows."""

from latree.interpret.columns import RedundantPair, loadings, profiles, redundant_columns
from latree.interpret.compare import compare_models
from latree.interpret.groups import find_groups, group_labels, with_groups
from latree.interpret.order import OrderedModel, order_states
from latree.interpret.scores import Reliability, RowScores, reliability, row_scores, state_names
from latree.interpret.worth import measure_worth
from latree.model import Group
from latree.model.record import SimplerGain, Worth

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
