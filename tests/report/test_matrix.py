"""The matrix of the heat map."""

import numpy as np
import pytest

from latree.report import matrix
from latree.report.matrix import matrix_facts


def symmetric(d, seed=0):
    values = np.random.default_rng(seed).uniform(-1, 1, (d, d))
    values = (values + values.T) / 2
    np.fill_diagonal(values, 1)
    return values


def test_values_are_hundredths_in_the_order_of_the_tree():
    correlation, order = symmetric(4), [2, 0, 3, 1]
    facts = matrix_facts(correlation, order, [True] * 4)
    assert (facts["order"], facts["block"], facts["signed"]) == (order, 1, True)
    for i in range(4):
        for j in range(i, 4):
            assert facts["values"][i][j - i] - 100 == round(100 * correlation[order[i], order[j]])


@pytest.mark.parametrize(("d", "block"), [(4, 1), (5, 2), (8, 2), (9, 3), (10, 3)])
def test_neighbours_share_a_cell_if_there_are_too_many_columns(monkeypatch, d, block):
    monkeypatch.setattr(matrix, "MAX_CELLS", 4)
    correlation = symmetric(d)
    facts = matrix_facts(correlation, range(d), [False] * d)
    assert facts["block"] == block
    cells = [range(start, min(start + block, d)) for start in range(0, d, block)]
    assert len(facts["values"]) == len(cells)
    for i, rows in enumerate(cells):
        for j in range(i, len(cells)):
            # The mean of all pairs of different columns, or 1 for a column that is alone in its cell.
            pairs = [correlation[a, b] for a in rows for b in cells[j] if a != b] or [1]
            assert facts["values"][i][j - i] - 100 == pytest.approx(100 * np.mean(pairs), abs=0.51)


def test_only_two_ordered_columns_have_a_sign():
    for ordered, signed in (([True, True, False], True), ([True, False, False], False)):
        assert matrix_facts(symmetric(3), range(3), ordered)["signed"] is signed
