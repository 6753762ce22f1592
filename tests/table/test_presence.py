"""What rows are too few for, each finding on both sides of its threshold."""

import numpy as np
import pytest

from latree.table import Column, Table, as_table
from latree.table.findings import find_scarce, present_together, sentences


def found_in(n_rows, hide=None, weights=None, n_columns=3, n_states=4, names="abcdef"):
    """What is said about columns of some states, four by default."""
    columns = [Column(name, "integer", tuple(map(str, range(n_states)))) for name in names[:n_columns]]
    codes = np.random.default_rng(0).integers(0, n_states, (n_rows, n_columns))
    if hide is not None:
        hide(codes)
    table = Table.from_codes(columns, codes, weights)
    return sentences(find_scarce(table.columns, table.rows))


@pytest.mark.parametrize(("n_rows", "warned"), [(35, True), (45, False)])
def test_few_rows_are_less_than_ten_per_state(n_rows, warned):
    said = "35 rows are few for columns of up to 4 categories, such as 'a': probabilities of single categories are "
    assert found_in(n_rows) == [f"{said}uncertain. Use more rows, or merge rare categories."] * warned


def test_columns_that_are_refused_need_no_more_rows():
    assert found_in(630, n_states=64)
    assert not found_in(640, n_states=64)
    assert not found_in(640, n_states=65)


@pytest.mark.parametrize(("n_rows", "n_bins"), [(45, 4), (15, 2)])
def test_few_rows_of_binned_columns_need_fewer_bins(n_rows, n_bins):
    table = as_table(np.random.default_rng(0).normal(size=(n_rows, 3)), bins=10)
    (said,) = sentences(table.oddities)
    assert said.endswith(f"Use more rows, or fewer bins, such as bins={n_bins}.")


def test_the_weight_of_rows_counts():
    (said,) = found_in(50, weights=np.full(50, 0.5))
    assert said.startswith("25 rows (by their weights) are few")


DROP = "To leave a column out, use drop=['b']."


@pytest.mark.parametrize(("n_missing", "warned"), [(45, False), (55, True)])
def test_columns_that_are_missing_in_most_rows(n_missing, warned):
    def hide(codes):
        codes[:n_missing, 1] = -1

    said = f"'b' is missing in 55 of 100 rows: few rows say where in the tree it belongs. {DROP}"
    assert found_in(100, hide) == [said] * warned


@pytest.mark.parametrize(
    ("n_columns", "said"),
    [(4, "'b', 'c' and 'd'"), (5, "4 columns, such as 'b', 'c' and 'd',")],
)
def test_several_columns_that_are_missing_in_most_rows_are_counted(n_columns, said):
    def hide(codes):
        codes[:60, 1:] = -1

    assert found_in(100, hide, n_columns=n_columns) == [
        f"{said} are missing in more than half of the rows: few rows say where in the tree they belong. {DROP}"
    ]


def test_columns_that_are_never_present_together():
    def hide(codes):
        codes[:50, 0] = -1
        codes[50:, 1] = -1

    said = "'a' and 'b' are never present in the same row: only other columns say how they depend on each other, and "
    assert found_in(100, hide) == [f"{said}edges that no row shows have a support of 0. {DROP}"]


def test_many_pairs_that_are_never_present_together_are_counted():
    def hide(codes):
        codes[:50, 0] = -1
        codes[50:, 1:] = -1

    (said,) = found_in(100, hide)
    assert said.startswith("2 pairs of columns, such as 'a' and 'b', are never present in the same row")


def test_rows_in_which_two_columns_are_present():
    table = as_table([["a", 1, None], ["b", None, None], ["a", 2, 3], ["", 1, 4]])
    assert present_together(table.rows).tolist() == [[3, 2, 1], [2, 3, 2], [1, 2, 2]]


def test_nothing_is_said_of_an_empty_table():
    assert found_in(0) == []


def test_every_finding_fits_into_the_report_with_long_names():
    """The report cuts a warning after 500 characters."""
    names = [f"{letter} question with a very long text that nobody wants to read twice" for letter in "abcdef"]

    def hide(codes):
        codes[:15, :4] = -1
        codes[15:, 4:] = -1
        codes[15, :] = -1

    found = found_in(30, hide, n_columns=6, names=names)
    assert len(found) == 3
    assert max(map(len, found)) <= 500
