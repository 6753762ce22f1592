import numpy as np
import pytest

from helpers.joining import symmetric
from helpers.strategies import names_of
from latree.learners.grouping import chow_liu, hidden_chow_liu


@pytest.mark.parametrize("d", [2, 3, 12])
def test_the_twins_form_the_chow_liu_tree_and_every_column_hangs_on_its_own(d):
    information = symmetric(np.random.default_rng(d).random((d, d)))
    edges = {frozenset(edge) for edge in hidden_chow_liu(names_of(d), information).tree.edges.tolist()}
    columns = chow_liu(names_of(d), information).tree.edges
    assert len(edges) == 2 * d - 1
    assert edges == {frozenset((i, d + i)) for i in range(d)} | {frozenset(edge) for edge in (columns + d).tolist()}
