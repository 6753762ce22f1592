import numpy as np

from helpers.strategies import path_distances
from latree.counts.quartets import four_point_test
from latree.tree import Tree


def test_the_margin_of_the_four_point_rule_is_twice_the_inner_edge():
    tree = Tree("abcd", [(0, 4), (1, 5), (2, 4), (3, 5), (4, 5)], [1.0, 2.0, 3.0, 4.0, 0.5])
    answer = four_point_test(path_distances(tree))(np.array([[0, 1, 2, 3], [0, 2, 1, 3], [3, 0, 2, 1]]))
    assert answer.pairing.tolist() == [1, 0, 2]
    np.testing.assert_allclose(answer.margin, 1, rtol=1e-12)
    other = np.array([[0, 1, 9, 9], [1, 0, 9, 5], [9, 9, 0, 1], [9, 5, 1, 0]], dtype=float)
    assert four_point_test(other)(np.array([[0, 1, 2, 3]])).margin.tolist() == [12]  # to the better of the others


def test_infinite_distances_make_infinite_margins_or_none():
    inf = np.inf
    apart = np.array([[0, 1, inf, inf], [1, 0, inf, inf], [inf, inf, 0, 1], [inf, inf, 1, 0]])
    answers = [four_point_test(matrix)(np.array([[0, 1, 2, 3]])) for matrix in (apart, np.full((4, 4), inf))]
    assert [(int(answer.pairing[0]), float(answer.margin[0])) for answer in answers] == [(0, inf), (0, 0)]
