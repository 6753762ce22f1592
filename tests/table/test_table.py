import gzip
import json
from itertools import combinations
from pathlib import Path

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from latree.errors import InputError
from latree.table import Column, Table, as_table
from latree.table.bins import equal_cuts

RNG = np.random.default_rng(0)
MIXED = {
    "colour": ["red", None, "blue", "green", "red", "blue"] * 10,
    "answer": [1, 0, 1, None, 0, 1] * 10,
    "height": [None if j % 7 == 0 else float(x) for j, x in enumerate(RNG.normal(170, 9, 60))],
    "year": [int(x) for x in RNG.integers(1900, 2020, 60)],
    "member": [True, False, False, True, True, False] * 10,
    "grade": ["10", "9", "11", "NA", "9", "10"] * 10,
}
FRAME = pl.DataFrame(MIXED)


def csv_text(data, delimiter=","):
    rows = [list(data), *zip(*data.values(), strict=True)]
    return "".join(delimiter.join("" if cell is None else str(cell) for cell in row) + "\n" for row in rows)


def write(path, content):
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return path


def codes(data, **options):
    return as_table(data, **options).codes().tolist()


def one_column(values, **options):
    table = as_table(np.asarray(values)[:, None], **options)
    return table.columns[0], table.codes()[:, 0].tolist()


def assert_error(data, *fragments, **options):
    """Assert that reading causes an InputError of one line that holds every fragment."""
    with pytest.raises(InputError) as caught:
        as_table(data, **options)
    message = str(caught.value)
    assert "\n" not in message
    file_name = f"{data}: " if isinstance(data, Path) else ""
    assert message.startswith(file_name)
    assert [fragment for fragment in fragments if fragment not in message.removeprefix(file_name)] == []


@pytest.mark.parametrize(
    ("values", "kind", "categories", "expected"),
    [
        ([3, 1, 3, 10], "integer", ("1", "3", "10"), [1, 0, 1, 2]),
        ([3.0, 1.0, np.nan, 10.0], "integer", ("1", "3", "10"), [1, 0, -1, 2]),
        ([0.5, -0.25, np.nan, 0.5], "number", ("-0.25", "0.5"), [1, 0, -1, 1]),
        (["b", "a", "", "b"], "text", ("a", "b"), [1, 0, -1, 1]),
        (["10", "9", "nan", "1e1"], "integer", ("9", "10"), [1, 0, -1, 1]),
        ([True, False, True], "boolean", ("False", "True"), [1, 0, 1]),
        (np.array(["b", None, 1.0, np.nan], dtype=object), "text", ("1", "b"), [1, -1, 0, -1]),
    ],
)
def test_numpy_arrays(values, kind, categories, expected):
    column, coded = one_column(values)
    assert (column.name, column.kind, column.categories) == ("x0", kind, categories)
    assert coded == expected


def test_names_numbers_of_states_and_drop():
    table = as_table(np.column_stack([np.arange(300) % n for n in (2, 5, 300)]), bins=0, names=["a", "b", "c"])
    assert (table.names, table.n_states.tolist()) == (("a", "b", "c"), [2, 5, 300])
    assert table.codes()[299].tolist() == [1, 4, 299]
    assert as_table(FRAME, drop=["height", "colour"]).names == ("answer", "year", "member", "grade")
    assert_error(FRAME, "no column 'weight'", drop=["weight"])


@pytest.mark.parametrize("frame", [pd.DataFrame, pl.DataFrame, pa.table], ids=["pandas", "polars", "pyarrow"])
def test_frames_are_coded_like_a_file(tmp_path, frame):
    from_file = as_table(write(tmp_path / "mixed.csv", csv_text(MIXED)))
    from_frame = as_table(frame(MIXED))
    assert from_frame.names == from_file.names == tuple(MIXED)
    assert [c.categories for c in from_frame.columns] == [c.categories for c in from_file.columns]
    np.testing.assert_array_equal(from_frame.codes(), from_file.codes())
    np.testing.assert_array_equal(from_frame.n_missing, [10, 10, 9, 0, 0, 10])


@pytest.mark.parametrize("dtype", ["Int64", "Float64", "string", "category", "boolean", "object"])
def test_missing_cells_of_pandas_types(dtype):
    assert codes(pd.DataFrame({"a": pd.Series([1, pd.NA, 0], dtype=dtype)})) == [[1], [-1], [0]]


@pytest.mark.parametrize("delimiter", [",", ";", "\t"])
@pytest.mark.parametrize("suffix", [".csv", ".tsv", ".txt", ".csv.gz", ".TSV.GZ"])
@pytest.mark.parametrize("bom", [b"", b"\xef\xbb\xbf"], ids=["plain", "bom"])
def test_files_of_every_form_are_read_and_left_alone(tmp_path, delimiter, suffix, bom):
    content = bom + csv_text(MIXED, delimiter).encode()
    path = write(tmp_path / f"mixed{suffix}", gzip.compress(content) if suffix.lower().endswith("gz") else content)
    before = path.read_bytes(), path.stat().st_mtime_ns
    assert as_table(path).names == tuple(MIXED)
    assert codes(str(path)) == codes(FRAME)
    assert (path.read_bytes(), path.stat().st_mtime_ns) == before
    assert list(tmp_path.iterdir()) == [path]


def test_long_files_quotes_blank_lines_and_spaces(tmp_path):
    table = as_table(write(tmp_path / "a.csv", "a, b \r\n" + '" x, y",1\r\n\r\n" x, y ",+1.0\r\nz ,2\r\n' * 3000))
    assert [(c.name, c.categories) for c in table.columns] == [("a", ("x, y", "z")), ("b", ("1", "2"))]
    assert table.codes().tolist() == [[0, 0], [0, 0], [1, 1]] * 3000


@pytest.mark.parametrize("cell", ["", "  ", "NA", "N/A", "NaN", "nan", "null", "NULL", " NA "])
def test_default_missing_cells(tmp_path, cell):
    path = write(tmp_path / "a.csv", f"text,number\na,1\n{cell},{cell}\nb,2\n")
    assert codes(path) == [[0, 0], [-1, -1], [1, 1]]
    assert (codes(path, missing=())[1] == [-1, -1]) == (not cell.strip())


@pytest.mark.parametrize("cell", ["-9", "-9.0"])
@pytest.mark.parametrize("token", ["-9", "-9.0"])
@pytest.mark.parametrize("others", [[1, 2], [1.5, 2.5], list(range(1, 30))], ids=["whole", "fraction", "cut"])
def test_configured_missing_number_is_the_same_in_files_and_arrays(tmp_path, others, token, cell):
    path = write(tmp_path / "a.csv", f"x0\n{cell}\n" + "".join(f"{x}\n" for x in others))
    expected = [[-1], *codes(np.array(others)[:, None])]
    assert codes(np.array([-9, *others])[:, None], missing=[token]) == expected
    assert codes(path, missing=[token]) == expected


def test_configured_missing_cells_replace_the_default_ones_and_are_remembered(tmp_path):
    old = as_table(write(tmp_path / "old.csv", "a,b\n?,1\nNA,-9\nx,2\n"), missing=["?", "-9"])
    assert old.codes().tolist() == [[-1, 0], [0, -1], [1, 1]]
    assert codes(pl.DataFrame({"b": [-9, 2], "a": ["x", "?"]}), columns=old.columns) == [[1, -1], [-1, 1]]


def naive_least_sum_of_squares(counts, bins):
    cuts = combinations(range(1, len(counts)), min(bins, len(counts)) - 1)
    return min(sum(part.sum() ** 2 for part in np.split(counts, cut)) for cut in cuts)


def bin_sizes(values, counts, bins):
    return np.bincount(np.searchsorted(equal_cuts(values, counts, bins), values, side="left"), weights=counts)


GAP_AND_COUNT = st.tuples(st.floats(1e-3, 1e3), st.sampled_from([1, 1, 2, 3, 50, 51, 400]))


@settings(deadline=None)
@given(st.lists(GAP_AND_COUNT, min_size=1, max_size=11), st.integers(2, 6), st.sampled_from([1, 0.1]))
def test_equal_cuts_are_the_best_of_all_cuts(pairs, bins, scale):
    gaps, counts = np.array(pairs).T * [[1], [scale]]
    sizes = bin_sizes(np.cumsum(gaps) - 100, counts, bins)
    assert np.count_nonzero(sizes) == len(sizes) == min(bins, len(counts))
    np.testing.assert_allclose(np.square(sizes).sum(), naive_least_sum_of_squares(counts, bins), rtol=1e-12)


@pytest.mark.parametrize("n_rows", [11, 100, 1999, 2001, 10_007])
@pytest.mark.parametrize("bins", [2, 3, 10])
def test_untied_values_fall_into_bins_of_equal_size(n_rows, bins):
    sizes = np.bincount(one_column(np.random.default_rng(n_rows).normal(size=n_rows), bins=bins)[1])
    assert len(sizes) == bins
    assert sizes.max() - sizes.min() <= 1


@pytest.mark.parametrize("seed", range(5))
def test_cuts_of_many_values_with_ties_are_nearly_the_best(monkeypatch, seed):
    values, counts = np.arange(5000.0), np.random.default_rng(seed).pareto(0.8, size=5000) + 1
    sizes = bin_sizes(values, counts, 5)
    monkeypatch.setattr("latree.table.bins.RANKS_PER_BIN", 5000)
    best = bin_sizes(values, counts, 5)
    np.testing.assert_allclose(np.square(sizes).sum(), np.square(best).sum(), rtol=1e-4)


def test_values_at_a_cut_are_below_it():
    column = Column("x", "number", ("low", "middle", "high"), cuts=(1.0, 2.0), centers=(0.0, 1.5, 3.0))
    values = np.array([-1e9, 1.0, np.nextafter(1.0, 2.0), 2.0, 1e9, np.nan])
    assert codes(values[:, None], columns=[column]) == [[0], [0], [1], [1], [2], [-1]]
    assert bin_sizes(values[1:3], np.ones(2), 2).tolist() == [1, 1]


def test_new_rows_keep_columns_and_cuts(tmp_path):
    old = as_table(FRAME)
    new = {name: [None, *MIXED[name][40:3:-3]] for name in reversed(MIXED)} | {"other": ["z"] * 14}
    table = as_table(write(tmp_path / "new.csv", csv_text(new)), columns=old.columns)
    assert table.columns == old.columns
    np.testing.assert_array_equal(table.codes()[1:], old.codes()[40:3:-3])
    assert table.codes()[0].tolist() == [-1] * len(MIXED)
    assert_error(pl.DataFrame({"colour": ["red"]}), "'answer'", columns=old.columns)
    assert_error(np.zeros((3, 2)), "2 columns", columns=old.columns)


@pytest.mark.parametrize("rows", ["", "NA,\n"], ids=["no rows", "one empty row"])
def test_new_rows_without_any_value(tmp_path, rows):
    old = as_table(np.random.default_rng(0).random((40, 2)), names=["a", "b"])
    path = write(tmp_path / "new.csv", f"a,b\n{rows}")
    assert codes(path, columns=old.columns) == [[-1, -1]] * rows.count("\n")


def test_only_many_whole_numbers_and_fractions_are_cut():
    assert [one_column(np.arange(n))[0].n_states for n in (20, 21)] == [20, 10]
    assert [one_column(np.arange(21.0), bins=bins)[0].n_states for bins in (3, 10, 11, 0)] == [3, 10, 21, 21]
    assert [one_column([0.5, 1.5, 1.5], bins=bins)[0].cuts for bins in (10, 0)] == [(1.0,), None]
    for bins in (-1, 1):
        assert_error(np.zeros((2, 2)), str(bins), bins=bins)


@pytest.mark.parametrize(("name", "value"), [("colour", "pink"), ("answer", "7"), ("answer", "x"), ("height", "tall")])
def test_unseen_values_are_errors_or_missing(tmp_path, name, value):
    old = as_table(FRAME)
    path = write(tmp_path / "new.csv", csv_text(MIXED | {name: [value] * 60}))
    assert_error(path, repr(name), repr(value), columns=old.columns)
    if name != "height":
        j = list(MIXED).index(name)
        assert set(as_table(path, columns=old.columns, unseen="missing").codes()[:, j]) == {-1}


def test_weights_from_an_array_or_a_column():
    weights = np.linspace(0, 2, 60)
    by_name, by_array = as_table(FRAME.with_columns(w=weights), weights="w"), as_table(FRAME, weights=weights)
    assert by_name.columns == by_array.columns
    np.testing.assert_allclose([by_name.total_weight, by_array.total_weight], 60, rtol=1e-12)
    np.testing.assert_array_equal(by_name.map(lambda block: block.weights), weights)
    assert as_table(FRAME).total_weight == 60


@pytest.mark.parametrize(
    ("weights", "culprit"),
    [
        ([1, -2, 1], "row 2 has weight -2"),
        ([1, 1, np.nan], "row 3"),
        ([0, 0, 0], "all of them are zero"),
        ([1, 1], "3 rows need 3 weights"),
        ("none", "no column 'none'"),
        ("negative", "'negative': row 2 has weight -1"),
        ("gap", "'gap': row 3"),
        ("zero", "'zero': all of them are zero"),
        ("word", "'word': 'abc' is not a number"),
    ],
)
def test_bad_weights(tmp_path, weights, culprit):
    path = write(tmp_path / "a.csv", "a,negative,gap,zero,word\nx,1,1,0,1\ny,-1,1,0,abc\nx,1,NA,0,2\n")
    assert_error(path, culprit, weights=weights)


def test_weights_may_all_be_different():
    weights = np.arange(1.0, 70_001.0) / 7
    table = as_table(np.column_stack([weights, np.arange(70_000) % 2]), weights="x0")
    np.testing.assert_allclose(table.total_weight, weights.sum(), rtol=1e-12)


@pytest.mark.parametrize(("name", "junk"), [("colour", "pink"), ("answer", "9"), ("height", "1e6"), ("height", "tall")])
def test_rows_of_zero_weight_are_as_good_as_absent(tmp_path, name, junk):
    padded = {key: [junk if key == name else None, *values, values[0]] for key, values in MIXED.items()}
    present = as_table(write(tmp_path / "present.csv", csv_text(MIXED)))
    table = as_table(write(tmp_path / "padded.csv", csv_text(padded)), weights=[0, *[1] * 60, 0])
    assert table.columns == present.columns
    np.testing.assert_array_equal(table.codes()[1:-1], present.codes())


@settings(deadline=None)
@given(rows=st.lists(st.tuples(st.integers(-20, 20), st.integers(0, 4)), min_size=1, max_size=40))
def test_weighted_bins_are_the_bins_of_repeated_rows(rows):
    values, weights = np.array([*rows, (0, 1)]).T
    repeated = np.repeat(values / 4, weights)
    assert one_column(values / 4, weights=weights, bins=3)[0] == one_column(repeated, bins=3)[0]


def through_json(column):
    return Column.from_dict(json.loads(json.dumps(column.to_dict())))


def test_decode_inverts_encode():
    table = as_table(FRAME, missing=["-9", "NA"])
    decoded = table.decode()
    for name in ("colour", "answer", "member"):
        assert decoded[name] == MIXED[name]
    assert set(decoded["year"]) <= set(MIXED["year"])
    np.testing.assert_array_equal(codes(pa.table(decoded), columns=table.columns), table.codes())
    assert {column.kind for column in table.columns} == {"text", "integer", "number", "boolean"}
    assert tuple(map(through_json, table.columns)) == table.columns


@pytest.mark.parametrize("values", [[2.0**53, 1.0], [1e300, 2e300], [2**60, 1], [0.1, 1e-300], ["é", "a\nb"]])
def test_unusual_values_survive_decoding_and_json(values):
    table = as_table(np.array(values)[:, None])
    assert table.decode()["x0"] == values
    assert through_json(table.columns[0]) == table.columns[0]


GOOD = {"name": "x", "kind": "number", "categories": ["a", "b"], "missing": [], "cuts": [0.5], "centers": [0, 1]}
UNCUT = {"cuts": None, "centers": None}
BAD = (
    [{"name": 3}, {"kind": "list"}, {"kind": []}, {"kind": "text"}, {"missing": None}, {"missing": [None]}]
    + [{"categories": bad} for bad in (None, "ab", [1, 2], [], ["a", "a"], ["a"])]
    + [{"cuts": bad} for bad in (None, 3, [], ["0"], [True], [float("nan")], [float("inf")], [10**400])]
    + [{"centers": bad} for bad in (None, [0], [1, 0], [0, float("inf")], [0, None])]
    + [{"categories": ["a", "b", "c"], "cuts": bad, "centers": [0, 1, 2]} for bad in ([1, 0], [1, 1])]
    + [UNCUT, UNCUT | {"kind": "integer", "categories": ["1.5"]}]
    + [UNCUT | {"kind": "text", "categories": [str(x) for x in range(65_536)]}]
)


@pytest.mark.parametrize("plain", [[], *(GOOD | change for change in BAD)])
def test_hostile_columns_are_refused(plain):
    assert Column.from_dict(GOOD).n_states == 2
    with pytest.raises(InputError, match=r"^.{1,200}$"):
        Column.from_dict(plain)


LATIN = b"a,b\n" + b"1,2\n" * 5000 + b"caf\xe9,3\n"
GARBAGE = gzip.compress(b"a,b\n1,2\n", mtime=0)[:12] + b"\xff" * 20


@pytest.mark.parametrize(
    ("name", "content", "culprit"),
    [
        ("short.csv", b"a,b\n1,2\n\n3\n", "data row 2 has 1 cells where the header has 2"),
        ("twice.csv", b"a,b,a \n1,2,3\n", "'a' appears twice (columns 1 and 3)"),
        ("unnamed.csv", b"a, ,b\n1,2,3\n", "column 2 has an empty name"),
        ("empty.csv", b"", "the file is empty"),
        ("latin.csv", LATIN, "line 5002 is not UTF-8 text (byte 0xe9)"),
        ("latin.csv.gz", gzip.compress(LATIN), "line 5002 is not UTF-8 text (byte 0xe9)"),
        ("cut.csv.gz", gzip.compress(LATIN[:5000])[:-12], "not a whole gzip file"),
        ("garbage.csv.gz", GARBAGE, "not a whole gzip file"),
        ("quote.csv", b'a,b\n"1,2\n', "not a well-formed table"),
        ("digits.csv", b"a,b\n1,2\n1" + b"0" * 400 + b",3\n", "column 'a'"),
        ("sheet.xlsx", b"", "unknown kind of file"),
    ],
    ids=lambda parameter: parameter if isinstance(parameter, str) and "." in parameter else "",
)
def test_bad_files(tmp_path, name, content, culprit):
    assert_error(write(tmp_path / name, content), culprit)


def test_other_bad_data(tmp_path):
    (tmp_path / "folder.csv").mkdir()
    assert_error(tmp_path / "folder.csv", "is a folder")
    assert_error(tmp_path / "absent.csv", "no such file")
    assert_error(np.zeros(3), "1 dimension")
    assert_error(np.array([[1.0, 2.0], [1.0, np.inf]]), "'x1' has an infinite value (row 2)")
    assert_error(np.array([[1j]]), "'x0' holds complex")
    assert_error(object(), "from object")
    assert_error([[1, 2], [3]], "rows of different lengths")
    assert_error(FRAME, "names can be given for an array only", names=list(MIXED))


def test_one_text_is_one_token_and_one_column():
    data = np.array([["N", "1"], ["NA", "2"], ["A", "1"]])
    assert codes(data, missing="NA") == [[1, 0], [-1, 1], [0, 0]]
    assert as_table(data, names=["ab", "a"], drop="ab").names == ("a",)


def test_lists_are_arrays():
    old = as_table([[1, 2], [3, 4]])
    assert old.names == ("x0", "x1")
    assert codes([[3, 2]], columns=old.columns) == [[1, 0]]


def test_delimiters_inside_quoted_names_do_not_count(tmp_path):
    path = write(tmp_path / "quoted.csv", '"q1, a, b";"q2, c"\n1;2\n')
    assert as_table(path).names == ("q1, a, b", "q2, c")


def test_leading_zeros_make_a_name(tmp_path):
    column = as_table(write(tmp_path / "zip.csv", "zip,n\n01033,1\n20500,2\n")).columns[0]
    assert (column.kind, column.categories) == ("text", ("01033", "20500"))
    assert as_table(write(tmp_path / "n.csv", "n,m\n0.5,0\n-0,1\n")).columns[0].kind == "number"


@pytest.mark.parametrize("bad", [[[0, 3]], [[0, 0, 0]], [[300, 0]]])
def test_codes_must_fit_their_columns(bad):
    columns = as_table([[0, 0], [1, 1], [2, 2]]).columns
    with pytest.raises(InputError, match="do not fit"):
        Table.from_codes(columns, np.array(bad))


def test_huge_weights_are_refused():
    assert_error(np.array([[1.5], [2.5]]), "weights count as rows", weights=[1e160, 1e160])


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
