"""Rows of files, some at a time: the same codes as in a table, with the cells that name them."""

import numpy as np
import pandas as pd
import pytest

from latree import InputError, as_table
from latree.table import sources
from latree.table.reading import stream_rows


def frame(n_rows=50):
    rng = np.random.default_rng(0)
    return pd.DataFrame(
        {
            "key": [f"p{i:03}" for i in range(n_rows)],
            "grade": rng.integers(1, 5, n_rows),
            "colour": rng.choice(["red", "blue", ""], n_rows),
            "height": rng.normal(size=n_rows).round(3),
        }
    )


@pytest.mark.parametrize("kind", ["csv", "tsv", "parquet", "csv.gz"])
@pytest.mark.parametrize("batch_cells", [8, 2**21])
def test_parts_together_are_the_table(tmp_path, monkeypatch, kind, batch_cells):
    path = tmp_path / f"data.{kind}"
    if kind == "parquet":
        frame().to_parquet(path, row_group_size=20)
    else:
        frame().to_csv(path, index=False, sep="\t" if kind == "tsv" else ",")
    table = as_table(path, drop=["key"])
    monkeypatch.setattr(sources, "BATCH_CELLS", batch_cells)
    parts = list(stream_rows(path, table.columns, identifier="key"))
    assert (len(parts) > 1) == (batch_cells == 8 or kind == "parquet") or len(parts) == 1
    np.testing.assert_array_equal(np.concatenate([part.table.codes() for part in parts]), table.codes())
    assert [name for part in parts for name in part.identifiers] == frame()["key"].tolist()


def test_a_column_of_the_model_may_name_rows_and_rows_may_have_no_names(tmp_path):
    frame().to_csv(tmp_path / "data.csv", index=False)
    columns = as_table(tmp_path / "data.csv", drop=["key"]).columns
    (part,) = stream_rows(tmp_path / "data.csv", columns, identifier="grade")
    assert part.identifiers == frame()["grade"].astype(str).tolist()
    (part,) = stream_rows(tmp_path / "data.csv", columns)
    assert part.identifiers is None


def test_rows_have_the_weights_of_the_table(tmp_path, monkeypatch):
    path = tmp_path / "data.csv"
    frame().assign(w=np.arange(50) / 3).to_csv(path, index=False)
    how = {"weights": "w", "weights_are": "survey"}
    table = as_table(path, drop=["key"], **how)
    monkeypatch.setattr(sources, "BATCH_CELLS", 40)
    parts = list(stream_rows(path, table.columns, identifier="key", **how))
    assert len(parts) > 1
    weights = np.concatenate([part.table.map(lambda block: block.weights) for part in parts])
    np.testing.assert_array_equal(weights, table.map(lambda block: block.weights))


def test_what_is_wrong_is_said_in_one_line(tmp_path):
    path = tmp_path / "data.csv"
    frame().to_csv(path, index=False)
    columns = as_table(path, drop=["key"]).columns
    with pytest.raises(InputError, match=r"data.csv: there is no column 'name' that names rows: its columns are 'key'"):
        list(stream_rows(path, columns, identifier="name"))
    frame().drop(columns="grade").to_csv(path, index=False)
    with pytest.raises(InputError, match=r"data.csv: there is no column 'grade', which the model needs"):
        list(stream_rows(path, columns))
    frame().replace("red", "pink").to_csv(path, index=False)
    with pytest.raises(InputError, match=r"data.csv: .*'colour'.*'pink'"):
        list(stream_rows(path, columns))
    (part,) = stream_rows(path, columns, unseen="missing")
    assert part.table.n_missing[1] == (frame()["colour"] != "blue").sum()
