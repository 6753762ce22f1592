"""Tables of codes, and the data that they are made from."""

import numpy as np
import polars as pl
import pytest

from helpers.tables import MIXED, MIXED_FRAME, assert_error, codes_of, csv_text, simulated_table, write_file
from latree.errors import InputError
from latree.table import Column, Table, as_table
from latree.table.disk import DiskRows


def test_names_numbers_of_states_and_drop():
    table = as_table(np.column_stack([np.arange(300) % n for n in (2, 5, 300)]), bins=0, names=["a", "b", "c"])
    assert (table.names, table.n_states.tolist()) == (("a", "b", "c"), [2, 5, 300])
    assert table.codes()[299].tolist() == [1, 4, 299]
    assert as_table(MIXED_FRAME, drop=["height", "colour"]).names == ("answer", "year", "member", "grade")
    assert_error(MIXED_FRAME, "no column 'weight'", drop=["weight"])


def test_new_rows_keep_columns_and_cuts(tmp_path):
    old = as_table(MIXED_FRAME)
    new = {name: [None, *MIXED[name][40:3:-3]] for name in reversed(MIXED)} | {"other": ["z"] * 14}
    table = as_table(write_file(tmp_path / "new.csv", csv_text(new)), columns=old.columns)
    assert table.columns == old.columns
    np.testing.assert_array_equal(table.codes()[1:], old.codes()[40:3:-3])
    assert table.codes()[0].tolist() == [-1] * len(MIXED)
    assert_error(pl.DataFrame({"colour": ["red"]}), "'answer'", columns=old.columns)
    assert_error(np.zeros((3, 2)), "2 columns", columns=old.columns)


@pytest.mark.parametrize("rows", ["", "NA,\n"], ids=["no rows", "one empty row"])
def test_new_rows_without_any_value(tmp_path, rows):
    old = as_table(np.random.default_rng(0).random((40, 2)), names=["a", "b"])
    path = write_file(tmp_path / "new.csv", f"a,b\n{rows}")
    assert codes_of(path, columns=old.columns) == [[-1, -1]] * rows.count("\n")


def test_other_bad_data(tmp_path):
    (tmp_path / "folder.csv").mkdir()
    assert_error(tmp_path / "folder.csv", "is a folder")
    assert_error(tmp_path / "absent.csv", "no such file")
    assert_error(np.zeros(3), "1 dimension")
    assert_error(np.array([[1.0, 2.0], [1.0, np.inf]]), "'x1' has an infinite value in row 2")
    assert_error(np.array([[1j]]), "'x0' holds complex")
    assert_error(object(), "from object")
    assert_error([[1, 2], [3]], "rows of different lengths")
    assert_error(MIXED_FRAME, "names can be given for an array only", names=list(MIXED))


def test_one_text_is_one_token_and_one_column():
    data = np.array([["N", "1"], ["NA", "2"], ["A", "1"]])
    assert codes_of(data, missing="NA") == [[1, 0], [-1, 1], [0, 0]]
    assert as_table(data, names=["ab", "a"], drop="ab").names == ("a",)


def test_lists_are_arrays():
    old = as_table([[1, 2], [3, 4]])
    assert old.names == ("x0", "x1")
    assert codes_of([[3, 2]], columns=old.columns) == [[1, 0]]


@pytest.mark.parametrize(
    ("bad", "message"),
    [
        (
            [[0, 3]],
            "column 'x1': the code 3 is not one of its 3 states: use codes from 0 to 2, and -1 for missing",
        ),
        ([[300, 0]], "column 'x0': the code 300 is not one of its 3 states"),
        ([[0, 0, 0]], r"codes of shape \(1, 3\) for 2 columns: pass"),
    ],
)
def test_codes_must_fit_their_columns(bad, message):
    columns = as_table([[0, 0], [1, 1], [2, 2]]).columns
    with pytest.raises(InputError, match=message):
        Table.from_codes(columns, np.array(bad))


@pytest.mark.parametrize("weighted", [False, True])
def test_some_rows_can_be_taken(weighted):
    rng = np.random.default_rng(0)
    cells = rng.integers(-1, 3, (5000, 4))
    weights = rng.exponential(size=5000) if weighted else None
    columns = [Column(name, "integer", ("0", "1", "2")) for name in "abcd"]
    table = Table.from_codes(columns, cells, weights)
    rows = np.array([4999, 3, 3, 2050, 0])
    taken = table.take(rows)
    assert taken.columns == table.columns
    np.testing.assert_array_equal(taken.codes(), cells[rows])
    assert taken.total_weight == pytest.approx(5 if weights is None else weights[rows].sum(), rel=1e-12)
    block = table.rows.fetch(rows)
    assert block.codes.flags.f_contiguous
    assert block.codes.dtype == table.rows.codes.dtype
    if weights is None:
        assert block.weights is None
    else:
        np.testing.assert_array_equal(block.weights, weights[rows])
    block.codes[:] = 0
    np.testing.assert_array_equal(table.codes(), cells)  # what is fetched is a copy
    assert table.take(np.array([], dtype=int)).n_rows == 0


def test_some_rows_are_all_or_some_at_random_in_their_order():
    numbers = np.arange(250)
    columns = [Column("a", "integer", tuple(map(str, range(250))))]
    table = Table.from_codes(columns, numbers[:, None], numbers / 10)
    for most in (250, 1000):
        codes, weights, _ = table.subsample_block(most, 0)
        np.testing.assert_array_equal(codes[:, 0], numbers)
        np.testing.assert_array_equal(weights, numbers / 10)
    drawn = [
        table.subsample_block(249, 1),
        table.subsample_block(100, 1),
        table.subsample_block(100, 1),
        table.subsample_block(100, 2),
    ]
    for block, count in zip(drawn, (249, 100, 100, 100), strict=True):
        assert len(np.unique(block.codes)) == count
        assert (np.diff(block.codes[:, 0].astype(int)) > 0).all()
        np.testing.assert_array_equal(block.weights, block.codes[:, 0] / 10)
    assert (drawn[1].codes == drawn[2].codes).all()
    assert (drawn[1].codes != drawn[3].codes).any()


def test_the_fingerprint_knows_columns_codes_and_weights_but_not_the_place(tmp_path, monkeypatch):
    codes = simulated_table(500).codes()
    path = tmp_path / "data.csv"
    np.savetxt(path, codes, "%d", ",", header=",".join(f"x{j}" for j in range(6)), comments="")
    table = as_table(path)
    np.testing.assert_array_equal(table.codes(), codes)
    changed = codes.copy()
    changed[300, 2] = (changed[300, 2] + 1) % 3
    others = [
        Table.from_codes(table.columns, changed),
        Table.from_codes(table.columns, codes, np.ones(500)),
        Table.from_codes(table.columns[::-1], codes),
        Table.from_codes(table.columns, codes[:-1]),
    ]
    assert len({other.fingerprint() for other in (table, *others)}) == 5
    monkeypatch.setattr("latree.table.disk.MEMORY_BYTES", 0)
    on_disk = as_table(path)
    assert isinstance(on_disk.rows, DiskRows)
    assert on_disk.fingerprint() == table.fingerprint() == Table.from_codes(table.columns, codes).fingerprint()


def test_the_fingerprint_stays_as_it_was():
    """A run that was stopped can be resumed only if the fingerprint of its table is still the same."""
    columns = [Column("a", "text", ("no", "yes")), Column("b", "number", ("low", "high"), (), (0.5,), (0.0, 1.0), True)]
    table = Table.from_codes(columns, np.array([[0, 1], [1, -1], [1, 0]]), np.array([1.0, 2.0, 0.5]))
    assert table.fingerprint() == "3 rows, 2 columns, 6cb425ac089c7261"
