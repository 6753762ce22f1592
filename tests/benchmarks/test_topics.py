"""The measures of benchmarks/topics.py, beside the formulas written out."""

from itertools import combinations

import numpy as np
import pytest

from topics import Found, coherence, diversity, hierarchy, npmi_matrix, of_factors, parent_child_coherence


def naive_npmi(there, one, other):
    p, q = there[:, one].mean(), there[:, other].mean()
    both = (there[:, one] & there[:, other]).mean()
    return -1.0 if both == 0 else 1.0 if both == 1 else np.log(both / (p * q)) / -np.log(both)


def test_coherence_is_the_mean_over_pairs():
    there = np.random.default_rng(0).random((60, 6)) < 0.4
    there[:, 5] = there[:, 4]  # always together
    there[:, 3] = ~there[:, 4]  # never together
    npmi = npmi_matrix(there)
    for one, other in combinations(range(6), 2):
        assert npmi[one, other] == pytest.approx(naive_npmi(there, one, other))
    assert npmi[4, 5] == pytest.approx(1)
    assert npmi[3, 4] == -1
    pairs = [[naive_npmi(there, *pair) for pair in combinations(words, 2)] for words in ([0, 1, 2], [4, 5])]
    assert coherence([[0, 1, 2], [4, 5], [3]], npmi) == pytest.approx(np.mean([np.mean(some) for some in pairs]))


def test_measures_of_a_hierarchy_by_hand():
    npmi = np.arange(36.0).reshape(6, 6)
    assert diversity([[0, 1], [1, 2]]) == 0.5
    # Word 1 is in both; the pairs of the others are (0, 2) and (0, 3).
    assert sorted(parent_child_coherence([0, 1], [1, 2, 3], npmi)) == [-1, npmi[0, 2], npmi[0, 3]]
    found = Found([[0, 1], [4, 5], [1, 2], [3, 0], [4]], [-1, -1, 0, 0, 1])
    assert found.bottom == [[1, 2], [3, 0], [4]]
    measures = hierarchy(found, npmi)
    assert measures["PCC"] == np.mean([-1, npmi[0, 2], -1, npmi[1, 3], -1])
    assert measures["PCD"] == np.mean([0.5, 0.5, 1 / 3])
    assert measures["SD"] == 1
    assert measures["PnCD"] == 1
    assert np.isnan(list(hierarchy(Found([[0, 1], [2, 3]], [-1, -1]), npmi).values())).all()


def test_topics_of_weights_have_the_most_similar_parent():
    class Weights:
        def __init__(self, k):
            self.components_ = {
                2: np.array([[9, 8, 1, 0], [0, 1, 7, 9]]),
                3: np.array([[0, 0, 5, 6], [9, 5, 0, 0], [0, 0, 9, 3]]),
            }[k]

        def fit(self, matrix):
            return self

        def fit_transform(self, matrix):
            return np.array([[1, 3, 2]])[:, : len(self.components_)]  # how large the topics are

    found = of_factors(Weights, np.zeros((1, 4)), 3, 2)
    assert [words[0] for words in found.words] == [0, 3, 0, 2, 3]
    assert found.parents == [-1, -1, 0, 1, 1]
    assert of_factors(Weights, np.zeros((1, 4)), 3, 0).parents == [-1, -1, -1]
    # A topic above that is nearest to none below is left out.
    assert of_factors(Weights, np.zeros((1, 4)), 2, 3).parents == [-1, -1, 0, 1]
