"""Tables of codes, and the data that they are made from."""

from dataclasses import replace

import numpy as np
import pytest

from helpers.bins import bins_at
from helpers.tables import MIXED, MIXED_FRAME, simulated_table
from latree.errors import InputError
from latree.table import Column, Table, as_table
from latree.table.rows import DiskRows


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
        codes, weights, *_ = table.subsample_block(most, 0)
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
    monkeypatch.setattr("latree.table.rows.MEMORY_BYTES", 0)
    on_disk = as_table(path)
    assert isinstance(on_disk.rows, DiskRows)
    assert on_disk.fingerprint() == table.fingerprint() == Table.from_codes(table.columns, codes).fingerprint()


def test_the_fingerprint_stays_as_it_was():
    """A run that was stopped can be resumed only if the fingerprint of its table is still the same."""
    columns = [
        Column("a", "text", ("no", "yes")),
        Column("b", "number", ("low", "high"), (), **bins_at((0.5,), (0.0, 1.0)), ordered=True),
    ]
    table = Table.from_codes(columns, np.array([[0, 1], [1, -1], [1, 0]]), np.array([1.0, 2.0, 0.5]))
    assert table.fingerprint() == "3 rows, 2 columns, 9f084285d60f238c"


def test_columns_are_sorted_by_name_with_their_cells_weights_and_findings():
    table = as_table(MIXED_FRAME, weights=np.arange(60.0))
    ordered = table.by_name()
    assert ordered.names == tuple(sorted(MIXED))
    assert ordered.decode() == {name: table.decode()[name] for name in sorted(MIXED)}
    assert ordered.total_weight == table.total_weight
    assert ordered.findings == table.findings
    assert ordered.by_name() is ordered


def test_whole_weights_repeat_rows_of_which_a_sample_is_drawn():
    codes = np.arange(6)[:, None]
    columns = [Column("a", "integer", tuple("012345"))]
    counts = np.array([3.0, 0, 1, 10**6, 2, 0])
    counted = Table.from_codes(columns, codes, counts)
    repeated = Table.from_codes(columns, np.repeat(codes, [3, 0, 1, 1000, 2, 0], axis=0))
    few = Table.from_codes(columns, codes, np.minimum(counts, 1000)).units(2000, 0)
    assert few.codes().tolist() == repeated.codes().tolist()
    assert few.rows.weights is None
    drawn = counted.units(500, 0)
    assert drawn.codes()[:, 0].tolist().count(3) >= 495
    assert drawn.n_rows == drawn.total_weight == 500
    for table in (repeated, Table.from_codes(columns, repeated.codes(), np.ones(1006))):
        np.testing.assert_array_equal(table.units(200, 3).codes(), repeated.subsample(200, 3).codes())


@pytest.mark.parametrize("factor", [0.5, 1.0, 2.0**60])
def test_other_weights_weigh_rows_those_of_zero_left_out(factor):
    """Also whole numbers whose sum is not exact, or that are weights of a survey."""
    codes, weights = np.arange(5)[:, None], np.array([1.0, 0, 3, 1, 2]) * factor
    table = Table.from_codes([Column("a", "integer", tuple("01234"))], codes, weights)
    units = replace(table, weights_are="survey" if factor == 1 else None).units(100, 0)
    assert units.codes()[:, 0].tolist() == [0, 2, 3, 4]
    assert units.rows.weights.tolist() == weights[weights > 0].tolist()
