import numpy as np

from latree.counts.quartets import PAIRINGS, pair_sums, smallest


def test_sums_are_those_of_the_pairs_of_each_pairing():
    matrix = np.random.default_rng(0).random((7, 7))
    quartets = np.array([[3, 1, 6, 0], [5, 2, 4, 1]])
    expected = [
        [sum(matrix[quartet[i], quartet[j]] for i, j in both) for both in PAIRINGS] for quartet in quartets.tolist()
    ]
    np.testing.assert_allclose(pair_sums(matrix, quartets), expected, rtol=1e-12)


def test_the_smallest_score_is_chosen_and_ties_have_no_margin():
    inf = np.inf
    answers = smallest(np.array([[3.0, 1.0, 2.5], [2.0, 4.0, 2.0], [inf, inf, 1.0], [inf, inf, inf]]))
    assert answers.pairing.tolist() == [1, 0, 2, 0]
    assert answers.margin.tolist() == [1.5, 0, inf, 0]
    assert answers.decided.all()
