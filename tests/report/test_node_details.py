"""The categories that are shown of a column."""

import numpy as np
import pytest

import latree
from latree.report.node_details import MAX_CATEGORIES, CategoryList
from latree.table import Column


def test_rare_categories_are_added_up():
    n = MAX_CATEGORIES + 5
    shares = np.arange(1, n + 1) / np.arange(1, n + 1).sum()
    categories = CategoryList.of(Column("x", "text", tuple(f"v{i:02}" for i in range(n))), shares)
    assert categories.names == (*(f"v{i:02}" for i in range(6, n)), "6 others")
    assert not categories.ordered
    assert sum(categories.per_mille(shares)) == pytest.approx(1000, abs=len(categories.names) / 2)
    assert categories.per_mille(shares)[-1] == round(1000 * shares[:6].sum())


def test_bins_are_named_by_their_bounds():
    column = latree.as_table(np.linspace(0, 10, 41)[:, None], bins=3).columns[0]
    assert column.categories == ("<= 3.125", "(3.125, 6.625]", "> 6.625")
    categories = CategoryList.of(column, np.ones(3))
    assert categories.names == ("≤ 3.125", "3.125 to 6.625", "> 6.625")
    assert categories.bounds == ("3.125", "6.625")
    assert categories.ordered
    halves = latree.as_table(np.array([0.5, 1.5] * 5)[:, None]).columns[0]  # too few values to part: they name the bins
    assert CategoryList.of(halves, np.ones(2)).names == halves.categories
    assert CategoryList.of(halves, np.ones(2)).bounds == ()
    text = Column("x", "text", ("(a, b]", "<= c"))
    assert CategoryList.of(text, np.ones(2)).names == ("(a, b]", "<= c")
