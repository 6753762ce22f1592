"""Tables with every kind of column, simulated rows, files of them, and what holds for all tables."""

from pathlib import Path

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from latree.counts.contingency import pair_tables, quartet_tables
from latree.errors import InputError
from latree.paper.simulate import random_model, random_tree
from latree.table import Column, Table, as_table
from latree.table.opening import open_source

RNG = np.random.default_rng(0)
MIXED = {
    "colour": ["red", None, "blue", "green", "red", "blue"] * 10,
    "answer": [1, 0, 1, None, 0, 1] * 10,
    "height": [None if j % 7 == 0 else float(x) for j, x in enumerate(RNG.normal(170, 9, 60))],
    "year": [int(x) for x in RNG.integers(1900, 2020, 60)],
    "member": [True, False, False, True, True, False] * 10,
    "grade": ["10", "9", "11", "NA", "9", "10"] * 10,
}
MIXED_FRAME = pl.DataFrame(MIXED)


def mixed_frame(n_rows, seed=0):
    """Random rows of every kind of column, and a column of weights."""
    rng = np.random.default_rng(seed)
    words = np.array(["red", "green", "blue", None], dtype=object)
    return pd.DataFrame(
        {
            "word": words[rng.integers(0, 4, n_rows)],
            "grade": rng.integers(1, 6, n_rows),
            "height": np.where(rng.random(n_rows) < 0.1, np.nan, rng.normal(170, 9, n_rows)),
            "year": rng.integers(1900, 2020, n_rows),
            "yes": rng.random(n_rows) < 0.3,
            "w": rng.exponential(size=n_rows) * (rng.random(n_rows) < 0.9),
        }
    )


def simulated_table(n_rows=3000, n_leaves=6, seed=0):
    model = random_model(
        random_tree(n_leaves, 0.5, seed),
        n_states=3,
        hidden_states=2,
        start="identity",
        perturbation=0.2,
        random_state=seed,
    )
    return model.sample(n_rows, seed)


def permuted(table, order):
    """The same table with its columns in another order."""
    return Table.from_codes([table.columns[column] for column in order], table.codes()[:, order])


def wide_table(sizes, n_rows, seed=0):
    """Columns that follow one hidden variable; ``sizes`` are their numbers of states."""
    rng = np.random.default_rng(seed)
    hidden = rng.integers(0, 4, n_rows)
    columns = [Column(f"x{j}", "integer", tuple(map(str, range(n))), ordered=True) for j, n in enumerate(sizes)]
    codes = np.column_stack([(hidden * n // 4 + rng.integers(0, max(n // 3, 2), n_rows)) % n for n in sizes])
    codes[rng.random(codes.shape) < 0.05] = -1
    return Table.from_codes(columns, codes)


def csv_text(data, delimiter=","):
    rows = [list(data), *zip(*data.values(), strict=True)]
    return "".join(delimiter.join("" if cell is None else str(cell) for cell in row) + "\n" for row in rows)


def write_file(path, content):
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return path


def write_frame(frame, path, **options):
    if path.suffix == ".csv":
        frame.to_csv(path, index=False)
    else:
        pq.write_table(pa.Table.from_pandas(frame, preserve_index=False), path, **options)
    return path


def through_parquet(table, tmp_path):
    """The same table, read from a Parquet file."""
    path = tmp_path / "simulated.parquet"
    pq.write_table(pa.table(table.decode()), path, row_group_size=700)
    return as_table(path, columns=table.columns)


def keep_all_on_disk(monkeypatch):
    """Make batches, blocks and chunks of few rows, cache nothing, and keep all codes of files on disk."""
    monkeypatch.setattr("latree.table.sources.BATCH_CELLS", 400)
    monkeypatch.setattr("latree.table.sources._CACHE_BYTES", 0)
    monkeypatch.setattr("latree.table.rows.MEMORY_BYTES", 0)
    monkeypatch.setattr("latree.table.rows.BLOCK_ROWS", 32)
    monkeypatch.setattr("latree.table.rows.CHUNK_CELLS", 32 * 4 * 6)


def codes_of(data, **options):
    return as_table(data, **options).codes().tolist()


def one_column(values, **options):
    table = as_table(np.asarray(values)[:, None], **options)
    return table.columns[0], table.codes()[:, 0].tolist()


def raw_cells(path):
    """The cells of a file as texts, of all columns, before anything is learned from them; None where one is missing."""
    (batch,) = open_source(path, None).batches(None)
    return {name: [raw.labels()[code] or None for code in raw.codes] for name, raw in batch.columns.items()}


def assert_error(data, *fragments, **options):
    """Assert that reading causes an InputError of one line that holds every fragment, and return the line."""
    with pytest.raises(InputError) as caught:
        as_table(data, **options)
    message = str(caught.value)
    assert "\n" not in message
    file_name = f"{data}: " if isinstance(data, Path) else ""
    assert message.startswith(file_name)
    assert [fragment for fragment in fragments if fragment not in message.removeprefix(file_name)] == []
    return message


def assert_same(table, expected):
    """Assert that tables are the same, however their rows are reached."""
    np.testing.assert_array_equal(table.codes(), expected.codes())
    np.testing.assert_array_equal(table.n_missing, expected.n_missing)
    assert (table.n_rows, table.total_weight) == (expected.n_rows, expected.total_weight)
    np.testing.assert_array_equal(pair_tables(table), pair_tables(expected))
    quartets = np.array([[0, 1, 2, 3], [3, 1, 0, 4]])
    np.testing.assert_array_equal(quartet_tables(table, quartets), quartet_tables(expected, quartets))
    rows = np.array([table.n_rows - 1, 3, 3, table.n_rows // 2, 0])
    if table.raw is not None and expected.raw is not None:
        np.testing.assert_array_equal(table.numbers(rows), expected.numbers(rows))
    for one, other in zip(table.rows.fetch(rows), expected.rows.fetch(rows), strict=True):
        assert (one is None) == (other is None)
        np.testing.assert_array_equal(one, other)
