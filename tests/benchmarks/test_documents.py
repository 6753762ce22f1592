"""Simulated documents: words by Zipf's law, topics whose words occur together, and words that depend on nothing."""

import numpy as np
import pytest

from documents import OF_TOPIC, SCALE, SHIFT, WITHOUT_TOPIC, documents


@pytest.fixture(scope="module")
def counts():
    return documents(4000, 200, seed=1)


def test_words_are_as_frequent_as_said(counts):
    expected = SCALE / (np.arange(200) + 1 + SHIFT)
    shares = np.asarray((counts > 0).mean(axis=0))
    # A word that is drawn inside its topic and again elsewhere counts once, so that frequent words are rarer.
    assert np.all(np.abs(shares - expected) < 5 * np.sqrt(expected / 4000) + 0.3 * expected)
    assert 0.15 < (counts.data > 1).mean() < 0.3
    assert (documents(4000, 200, seed=1) != counts).nnz == 0
    assert (documents(4000, 200, seed=2) != counts).nnz > 0


def test_words_of_a_topic_occur_together_and_others_do_not(counts):
    correlation = np.corrcoef((counts > 0).toarray().T) - np.eye(200)
    is_alone = np.arange(200) % WITHOUT_TOPIC == 0
    chance = 1 / np.sqrt(4000)
    assert np.abs(correlation[is_alone]).max() < 6 * chance
    assert np.median(correlation[~is_alone].max(axis=1)) > 5 * chance
    assert 0 < OF_TOPIC[0] < OF_TOPIC[1] < 1
