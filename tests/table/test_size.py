"""Tables larger than memory: read piece by piece, kept on disk, and the same as in memory to the last bit."""

import datetime
import decimal
import sys

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from click.testing import CliRunner
from hypothesis import given, settings
from hypothesis import strategies as st
from latree.table.factors import Factor
from latree.table.learning import learn_columns

from helpers.tables import assert_same, mixed, simulated, written
from latree.__main__ import commands
from latree.counts.contingency import pair_tables
from latree.counts.distances import chance, covariance, information, log_det, nuclear, pairwise
from latree.errors import InputError
from latree.estimator import LatentTree
from latree.learn import Settings, learn_model, learn_tree
from latree.learners.support import bootstrap_trees
from latree.model import LatentTreeModel
from latree.model.heldout import held_out
from latree.paper.simulate import random_tree
from latree.table import Column, MemoryRows, Table, as_table
from latree.table.chunks import added_up
from latree.table.disk import DiskRows
from latree.table.sources import Weights, in_files


@pytest.fixture
def small(monkeypatch):
    """Pieces, blocks and chunks of few rows, nothing remembered, everything on disk."""
    monkeypatch.setattr("latree.table.textfile.CELLS_AT_ONCE", 400)
    monkeypatch.setattr("latree.table.parquet.CELLS_AT_ONCE", 400)
    monkeypatch.setattr("latree.table.sources._REMEMBERED_BYTES", 0)
    monkeypatch.setattr("latree.table.disk.MEMORY_BYTES", 0)
    monkeypatch.setattr("latree.table.chunks.BLOCK_ROWS", 32)
    monkeypatch.setattr("latree.table.chunks.CHUNK_CELLS", 32 * 4 * 6)


@pytest.mark.parametrize("suffix", [".csv", ".parquet"])
@pytest.mark.parametrize("weights", [None, "w"])
def test_a_file_on_disk_is_the_table_in_memory(small, tmp_path, suffix, weights):
    frame = mixed(1000)
    expected = as_table(frame, weights=weights)
    path = written(frame, tmp_path / f"data{suffix}", **({} if suffix == ".csv" else {"row_group_size": 170}))
    table = as_table(path, weights=weights)
    assert isinstance(table.rows, DiskRows)
    assert isinstance(expected.rows, MemoryRows)
    kinds = {"boolean": "text"} if suffix == ".csv" else {}
    assert [(c.name, kinds.get(c.kind, c.kind), c.categories, c.cuts, c.centers) for c in expected.columns] == [
        (c.name, c.kind, c.categories, c.cuts, c.centers) for c in table.columns
    ]
    assert_same(table, expected)
    again = as_table(path, columns=table.columns, weights=weights)
    np.testing.assert_array_equal(again.codes(), expected.codes())


def test_patterns_stand_for_files_in_the_order_of_their_names(small, tmp_path):
    frame = mixed(500)
    for number, part in enumerate(np.array_split(np.arange(500), 3)):
        written(frame.iloc[part], tmp_path / f"part-{number}.parquet")
        written(frame.iloc[part], tmp_path / f"part-{number}.csv")
    for suffix in ("parquet", "csv"):
        table = as_table(str(tmp_path / f"*.{suffix}"))
        np.testing.assert_array_equal(table.codes(), as_table(frame).codes())
    whole = written(frame, tmp_path / "odd[1].csv")  # a file of that very name goes first
    assert as_table(whole).n_rows == 500


def test_a_pattern_is_remembered_with_its_folder(tmp_path):
    (tmp_path / "parts").mkdir()
    pattern = tmp_path / "parts" / "*.csv"
    codes = np.random.default_rng(0).integers(0, 2, (200, 4))
    np.savetxt(tmp_path / "parts" / "a.csv", codes, fmt="%d", delimiter=",", header="a,b,c,d", comments="")
    options = ["--method", "independent", "--smoothing", "0.1", "--quiet"]
    result = CliRunner().invoke(commands, ["fit", str(pattern), "--out", str(tmp_path / "run"), *options])
    assert result.exit_code == 0, result.output
    record = LatentTreeModel.load(tmp_path / "run" / "model.json").record
    assert record.source == "parts/*.csv"
    assert record.command.startswith("latree fit 'parts/*.csv' --method independent")
    assert "The hidden tree of parts/*.csv" in (tmp_path / "run" / "report.html").read_text(encoding="utf-8")


def test_bad_patterns_and_files(tmp_path, monkeypatch):
    frame = mixed(50)
    written(frame, tmp_path / "a.parquet")
    written(frame[["word", "grade"]], tmp_path / "b.parquet")
    (tmp_path / "broken.parquet").write_bytes(b"PAR1 and no more")
    pq.write_table(pa.table({"a": [1, 2], "b": [[1], [2, 3]]}), tmp_path / "nested.parquet")
    pq.write_table(pa.table({"a": [1.0, float("inf")]}), tmp_path / "infinite.parquet")
    written(frame, tmp_path / "mix.csv")
    (tmp_path / "other.csv").write_text("b,word\n1,2\n")
    pq.write_table(pa.table({}), tmp_path / "bare.parquet")
    content = (tmp_path / "a.parquet").read_bytes()
    (tmp_path / "damaged.parquet").write_bytes(content[:4] + bytes(200) + content[204:])
    for name, message in {
        "none*.parquet": "no file has a name like this",
        "[ab].parquet": r"b.parquet: its columns are not those of .*a.parquet: '\w+' is in .*a.parquet and not in .*b",
        "[mo]*.csv": r"other.csv: its columns are not those of .*mix.csv: 'b' is in .*other.csv and not in .*mix.csv",
        "bare.parquet": "bare.parquet: the file has no columns",
        "damaged.parquet": r"damaged.parquet: (a damaged|not a readable) Parquet file \(.*\)$",
        "broken.parquet": "not a readable Parquet file",
        "absent.parquet": "no such file",
        "nested.parquet": "column 'b' holds list<",
        "infinite.parquet": "column 'a' has an infinite value",
        "*": "broken.parquet: |both text and Parquet",
        ".": "is a folder, not a file; '.*/\\*.parquet' means all",
    }.items():
        with pytest.raises(InputError, match=message) as caught:
            as_table(tmp_path / name)
        assert "\n" not in str(caught.value)
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    monkeypatch.setitem(sys.modules, "pyarrow.parquet", None)
    with pytest.raises(
        InputError, match=r"a\.parquet: Parquet files are read with pyarrow; pip install 'latree\[arrow\]'"
    ):
        as_table(tmp_path / "a.parquet")


def test_every_plain_type_of_parquet_is_coded_like_the_frame(tmp_path):
    day = datetime.date(2020, 1, 1)
    table = pa.table(
        {
            "tiny": pa.array([1, None, 3, 1], pa.int8()),
            "category": pa.array(["x", "y", None, "x"]).dictionary_encode(),
            "codes": pa.DictionaryArray.from_arrays(pa.array([0, 1, 1, None], pa.int8()), pa.array([10, 20, 30])),
            "money": pa.array([decimal.Decimal("1.50"), None, decimal.Decimal("2.25"), decimal.Decimal("1.50")]),
            "day": pa.array([day, None, day, datetime.date(2021, 1, 1)]),
            "flag": pa.array([True, False, True, True]),
            "hole": pa.array([True, None, False, True]),
            "large": pa.array(["a", "b", "a", "b"], pa.large_string()),
            "huge": pa.array([2**60, 2**60 + 1, 1, 2], pa.int64()),
            "nothing": pa.array([None, None, None, None], pa.string()),
        }
    )
    pq.write_table(table, tmp_path / "a.parquet")
    for bins in (10, 0):
        found, expected = as_table(tmp_path / "a.parquet", bins=bins), as_table(table, bins=bins)
        assert found.columns == expected.columns
        np.testing.assert_array_equal(found.codes(), expected.codes())
    frame = mixed(20).iloc[::2]  # with an index that is no range, which pandas writes as one more column
    frame.to_parquet(tmp_path / "index.parquet")
    assert as_table(tmp_path / "index.parquet").names == tuple(frame.columns)
    pq.write_table(table.slice(0, 0), tmp_path / "empty.parquet")
    assert as_table(tmp_path / "empty.parquet").n_rows == 0
    assert as_table(tmp_path / "empty.parquet", columns=found.columns).names == found.names


def test_a_column_that_changes_its_type_is_refused(tmp_path):
    pq.write_table(pa.table({"a": [1, 2], "b": [1, 2]}), tmp_path / "1.parquet")
    pq.write_table(pa.table({"a": ["x", "y"], "b": [1, 2]}), tmp_path / "2.parquet")
    with pytest.raises(InputError, match="column 'a' has texts in some places and numbers in others"):
        as_table(tmp_path / "?.parquet")


def test_identifiers_are_refused_before_they_fill_the_memory(small, tmp_path, monkeypatch):
    monkeypatch.setattr("latree.table.summaries.MAX_STATES", 300)
    read = []

    def pieces(names):
        for start in range(0, 10_000, 100):
            read.append(start)
            yield [Factor("id", np.array([f"no {i}" for i in range(start, start + 100)], dtype=object), np.arange(100))]

    with pytest.raises(InputError, match="column 'id' has more than 300 different values"):
        learn_columns(in_files("x", ["id"], pieces), ["id"], 10, ())
    assert len(read) < 20


@settings(deadline=None, max_examples=80)
@given(
    seed=st.integers(0, 10**6),
    n_rows=st.integers(1, 400),
    digits=st.sampled_from([0, 1, 6]),  # few digits make ties, and whole numbers
    common=st.sampled_from([np.min, np.median, np.max]),
    size=st.integers(1, 90),
    bins=st.integers(2, 4),
    weighted=st.booleans(),
    as_text=st.booleans(),
)
def test_cuts_of_a_stream_are_those_of_all_values(seed, n_rows, digits, common, size, bins, weighted, as_text):
    rng = np.random.default_rng(seed)
    cells = np.round(rng.standard_t(2, n_rows) * 10, digits) + 0.0
    cells[rng.random(n_rows) < 0.3] = common(cells)  # one value that many rows have
    weights = rng.integers(0, 3, n_rows).astype(float) if weighted else None
    if weighted:
        weights[-1] = 1
    passes = []

    def pieces(names):
        passes.append(names)
        for start in range(0, n_rows, size):
            some = cells[start : start + size]
            texts = np.array([repr(float(x)) for x in some], dtype=object)
            yield [Factor("x", texts if as_text else some, np.arange(len(some)))]

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("latree.table.bins.RANKS_PER_BIN", 3)
        expected = as_table(cells[:, None], names=["x"], bins=bins, weights=weights, missing=()).columns
        patch.setattr("latree.table.sources._REMEMBERED_BYTES", 0)
        patch.setattr("latree.table.summaries.MOST_NUMBERS", 2 * bins * 3)
        patch.setattr("latree.table.summaries._STEP", 4)
        source = in_files("x", ["x"], pieces)
        if weighted:
            source = source.weighted(Weights(None, weights, ()))
        assert tuple(learn_columns(source, ["x"], bins, ())) == expected
    distinct = np.unique(cells if weights is None else cells[weights > 0])
    assert len(passes) == (4 if len(distinct) > 2 * bins * 3 else 1)


def test_many_columns_of_many_numbers_are_collected_in_batches(small, tmp_path, monkeypatch):
    frame = pd.DataFrame(np.random.default_rng(0).normal(size=(3000, 4)), columns=list("abcd"))
    expected = as_table(frame)
    monkeypatch.setattr("latree.table.summaries.MOST_NUMBERS", 2000)
    monkeypatch.setattr("latree.table.learning._NUMBERS_AT_ONCE", 3500)
    table = as_table(written(frame, tmp_path / "a.parquet"))
    assert table.columns == expected.columns
    np.testing.assert_array_equal(table.codes(), expected.codes())


def on_disk(table, tmp_path):
    path = tmp_path / "simulated.parquet"
    pq.write_table(pa.table(table.decode()), path, row_group_size=700)
    return as_table(path, columns=table.columns)


@pytest.mark.parametrize("method", ["auto", "tensor", "hw"])
def test_a_model_of_rows_on_disk_is_that_of_rows_in_memory(small, tmp_path, method, monkeypatch):
    monkeypatch.setattr("latree.table.chunks.BLOCK_ROWS", 256)
    monkeypatch.setattr("latree.learners.auto._REPLICATES", 4)
    monkeypatch.setattr("latree.model.heldout._MANY_ROWS", 1000)
    monkeypatch.setattr("latree.model.heldout.FEW_ROWS", 500)
    monkeypatch.setattr("latree.model.states.MAX_STATES", 4)
    table = simulated(2500)
    disk = on_disk(table, tmp_path)
    assert isinstance(disk.rows, DiskRows)
    chosen = Settings(method, random_state=0, bootstrap=2, max_iterations=5)
    one, other = (learn_model(rows, chosen) for rows in (table, disk))
    assert one.model.tree.to_newick() == other.model.tree.to_newick()
    for a, b in zip(one.model.tables, other.model.tables, strict=True):
        np.testing.assert_array_equal(a, b)
    assert {**one.summary, "seconds": 0} == {**other.summary, "seconds": 0}


def test_resampled_rows_are_the_same_everywhere_and_add_up(small, tmp_path):
    table = simulated()
    disk = on_disk(table, tmp_path)
    counts = []
    for number in range(3):
        one, other = (Table(table.columns, rows.rows.resampled(5, number)) for rows in (table, disk))
        counts.append(pair_tables(one))
        assert_same(other, one)
        assert one.total_weight == table.n_rows
    assert (counts[0] != counts[1]).any()
    learned = [
        bootstrap_trees(
            rows, lambda some, chance: random_tree(4, 0.5, int(pairwise(some, covariance).sum() * 1e6)), 3, 7
        )
        for rows in (table, disk)
    ]
    assert [tree.to_newick() for tree in learned[0]] == [tree.to_newick() for tree in learned[1]]


def test_resampling_draws_by_weight(small):
    codes = np.arange(1000)[:, None] % 2
    weights = np.where(codes[:, 0] == 0, 3.0, 1.0)
    columns = as_table([[0], [1]], bins=0).columns
    drawn = Table.from_codes(columns, codes, weights).rows.resampled(0, 0)
    assert drawn.total_weight == weights.sum() == 2000
    share = drawn.weights[drawn.codes[:, 0] == 0].sum() / 2000
    assert abs(share - 0.75) < 5 * np.sqrt(0.75 * 0.25 / 2000)


def test_every_chunk_has_draws_of_its_own(small):
    columns = as_table(np.arange(128)[:, None] % 64, bins=0).columns
    codes = np.tile(np.arange(64), 1000)[:, None]
    rows = Table.from_codes(columns, codes).rows
    size = len(next(rows.chunks()).codes)
    drawn = rows.resampled(0, 0)
    times = np.zeros(len(codes))
    place = -1
    for code, weight in zip(drawn.codes[:, 0].tolist(), drawn.weights.tolist(), strict=True):
        place += (code - place % 64) % 64 or 64
        times[place] = weight
    chunks = times[: len(times) // size * size].reshape(-1, size)
    assert len({chunk.tobytes() for chunk in chunks}) == len(chunks) > 10


@pytest.mark.parametrize("parts", [1, 2, 15, 16, 17, 31, 33, 256, 257, 300, 4097])
def test_sums_have_a_fixed_shape(parts):
    """Level by level, as machines do it."""
    rng = np.random.default_rng(parts)
    values = [rng.normal(size=3) * 10.0 ** rng.integers(-8, 8) for _ in range(parts)]
    level = values
    while len(level) > 1:
        groups = [level[start : start + 16] for start in range(0, len(level), 16)]
        level = [sum(group[1:], group[0]) for group in groups]
    np.testing.assert_array_equal(added_up(iter(values)), level[0])
    np.testing.assert_allclose(level[0], np.sum(values, axis=0), rtol=1e-6, atol=1e-6)


def test_held_out_rows_of_a_large_table_are_few(small, tmp_path, monkeypatch):
    monkeypatch.setattr("latree.model.heldout._MANY_ROWS", 2400)
    table = simulated()
    weights = np.ones(3000)
    weights[::7] = 0
    weighted = Table(table.columns, MemoryRows(table.rows.codes, weights))
    for data in (table, on_disk(table, tmp_path), weighted):
        (part,) = held_out(data, np.random.default_rng(0))
        assert part.fitted.n_rows + part.judged.n_rows == 2400
        assert part.fitted.total_weight + part.judged.total_weight == 2400


def test_the_estimator_takes_names_of_files(small, tmp_path):
    table = simulated(600)
    frame = pd.DataFrame(table.decode())
    path = written(frame, tmp_path / "a.parquet")
    options = {"method": "nj", "n_states": 2, "smoothing": 0.1, "max_iterations": 3, "random_state": 0}
    from_frame, from_file = LatentTree(**options).fit(frame), LatentTree(**options).fit(str(path))
    assert from_file.tree_.to_newick() == from_frame.tree_.to_newick()
    assert from_file.n_features_in_ == 6
    assert from_file.feature_names_in_.tolist() == list(frame.columns)
    np.testing.assert_array_equal(from_file.transform(frame), from_frame.transform(frame))
    np.testing.assert_array_equal(from_file.score_samples(path), from_frame.score_samples(frame))
    assert from_file.impute(path).n_rows == 600
    assert isinstance(from_file.model_, LatentTreeModel)


def test_rows_on_disk_stay_in_their_process(small, tmp_path):
    import pickle

    with pytest.raises(InputError, match="cannot be sent to other processes"):
        pickle.dumps(on_disk(simulated(300), tmp_path).rows)


def test_a_full_disk_is_said_in_one_line(small, tmp_path, monkeypatch):
    class Full:
        def tell(self):
            return 0

        def close(self):
            pass

        def write(self, _):
            raise OSError(28, "No space left on device")

    monkeypatch.setattr("tempfile.TemporaryFile", Full)
    with pytest.raises(InputError, match=r"No space left on device; the table is larger than memory.*TMPDIR"):
        as_table(written(mixed(300), tmp_path / "a.parquet"))


@pytest.mark.parametrize("n_rows", [0, 2])
def test_small_files_are_read_once_but_never_remembered_in_part(n_rows):
    read = []

    def pieces(names):
        read.append(names)
        yield [Factor(name, np.arange(float(n_rows)), np.arange(n_rows)) for name in names or ("a", "b")]

    source = in_files("x", ["a", "b"], pieces)
    found = [source.reduce(lambda piece: [*piece.factors], list.__add__, names) for names in (["a"], None, None, ["b"])]
    assert found == [["a"], ["a", "b"], ["a", "b"], ["a", "b"]]
    assert read == [["a"], None]


def wide_table(sizes, n_rows, seed=0):
    """Columns that follow one hidden variable, with so many states each."""
    rng = np.random.default_rng(seed)
    hidden = rng.integers(0, 4, n_rows)
    columns = [Column(f"x{j}", "integer", tuple(map(str, range(n)))) for j, n in enumerate(sizes)]
    codes = np.column_stack([(hidden * n // 4 + rng.integers(0, max(n // 3, 2), n_rows)) % n for n in sizes])
    codes[rng.random(codes.shape) < 0.05] = -1
    return Table.from_codes(columns, codes)


@pytest.mark.parametrize("measure", [covariance, information, log_det, nuclear, chance])
def test_pairs_of_wide_columns_are_measured_like_others(monkeypatch, measure):
    table = wide_table([3, 2, 11, 6, 40], 500)
    expected = pairwise(table, measure)
    monkeypatch.setattr("latree.counts.distances.FEW_STATES", 5)
    monkeypatch.setattr("latree.counts.distances._WIDE_CELLS_AT_ONCE", 800)
    np.testing.assert_allclose(pairwise(table, measure), expected, rtol=1e-9, atol=1e-12)


def test_columns_of_many_states_are_learned_or_refused_before_the_work_starts(monkeypatch):
    monkeypatch.setattr("latree.learners.auto._REPLICATES", 2)
    table = wide_table([200, 3, 4, 80, 5], 4000)
    for method in ("auto", "nj", "chow-liu", "lcm"):
        model = LatentTree(method, n_states=2, smoothing=0.1, max_iterations=2, random_state=0).fit(table).model_
        assert model.n_states[:5].tolist() == [200, 3, 4, 80, 5]
    for method in ("tensor", "hw", "spectral"):
        with pytest.raises(InputError, match=r"'x0' has 200 .*more than 64 \(other methods take more\).*'x3' has 80"):
            LatentTree(method, n_states=2).fit(table)
    with pytest.raises(InputError, match=r"'x3' has 80 .*fewer than 20 rows each: drop it if it is an identifier"):
        learn_tree(table.take(np.arange(1500)))
    with pytest.raises(InputError, match="'x0' has 1001 different values, such as '0', more than 1000:"):
        learn_tree(wide_table([1001, 2, 2, 2], 30_000))
    monkeypatch.setattr("latree.counts.distances._MOST_WIDE_CELLS", 2**17)
    with pytest.raises(InputError, match="2 columns have more than 64 states, such as 'x0' with 200: all"):
        learn_tree(table)
