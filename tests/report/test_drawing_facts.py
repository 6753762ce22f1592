"""What the drawing shows."""

import numpy as np

import latree
from latree.explain.dependence import Dependence
from latree.report.drawing_facts import drawing_facts
from latree.tree import Tree


def test_support_is_rounded_once_for_the_whole_page():
    tree = Tree("abcdef", [(0, 6), (1, 6), (2, 7), (3, 7), (4, 8), (5, 8), (6, 7), (7, 8)])
    supported = Tree(tree.names, tree.edges, support=np.array([np.nan] * 6 + [0.945, 0.5]))
    facts = drawing_facts(Dependence(latree.random_model(supported, random_state=0)), None)
    assert sorted(share for share in facts["tree"]["support"] if share is not None) == [50, 95]
    assert "95─" in facts["drawing"]
