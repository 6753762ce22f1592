"""Sources of raw rows, and weights of rows."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from helpers.tables import MIXED, MIXED_FRAME, assert_error, csv_text, write_file
from latree.table import as_table
from latree.table.raw import RawColumn
from latree.table.sources import BATCH_CELLS, WeightSums, batch_rows, file_source


@pytest.mark.parametrize("n_rows", [0, 2])
def test_small_files_are_read_once_but_never_remembered_in_part(n_rows):
    read = []

    def pieces(names):
        read.append(names)
        yield [RawColumn(name, np.arange(float(n_rows)), np.arange(n_rows)) for name in names or ("a", "b")]

    source = file_source("x", ["a", "b"], pieces)
    found = [source.reduce(lambda batch: [*batch.columns], list.__add__, names) for names in (["a"], None, None, ["b"])]
    assert found == [["a"], ["a", "b"], ["a", "b"], ["a", "b"]]
    assert read == [["a"], None]


def test_weights_from_an_array_or_a_column():
    weights = np.linspace(0, 2, 60)
    by_name = as_table(MIXED_FRAME.with_columns(w=weights), weights="w")
    by_array = as_table(MIXED_FRAME, weights=weights)
    assert by_name.columns == by_array.columns
    np.testing.assert_allclose([by_name.total_weight, by_array.total_weight], 60, rtol=1e-12)
    np.testing.assert_array_equal(by_name.map(lambda block: block.weights), weights)
    assert as_table(MIXED_FRAME).total_weight == 60


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
    path = write_file(tmp_path / "a.csv", "a,negative,gap,zero,word\nx,1,1,0,1\ny,-1,1,0,abc\nx,1,NA,0,2\n")
    assert_error(path, culprit, weights=weights)


def test_weights_may_all_be_different():
    weights = np.arange(1.0, 70_001.0) / 7
    table = as_table(np.column_stack([weights, np.arange(70_000) % 2]), weights="x0")
    np.testing.assert_allclose(table.total_weight, weights.sum(), rtol=1e-12)


def test_huge_weights_are_refused_as_counts():
    message = assert_error(np.array([[1.5], [2.5]]), "weights count as rows", weights=[1e160, 1e160])
    assert "use weights_are='survey'" in message
    assert as_table([[1.5], [2.5]], weights=[1e160, 1e160], weights_are="survey").total_weight == 2


def survey_weights(weights):
    table = as_table(np.arange(len(weights))[:, None] % 3, weights=weights, weights_are="survey")
    return table.map(lambda block: block.weights)


@given(
    st.lists(st.floats(1e-3, 1e3) | st.integers(0, 9), min_size=2, max_size=40).filter(any),
    st.sampled_from([1e-300, 1e-9, 0.1, 1 / 3, 7.0, 1000.0, 1e290]),
)
def test_weights_of_a_survey_add_up_to_the_effective_number_of_rows_whatever_their_scale(weights, constant):
    weights = np.array(weights, dtype=np.float64)
    scaled = survey_weights(weights)
    assert scaled.sum() == pytest.approx(weights.sum() ** 2 / (weights**2).sum(), rel=1e-6)
    np.testing.assert_allclose(scaled / scaled.max(), weights / weights.max(), rtol=1e-6)
    np.testing.assert_array_equal(survey_weights(weights * constant), scaled)


@given(st.lists(st.floats(0, 1e300), max_size=20), st.integers(0, 20))
def test_sums_of_weights_in_parts_are_those_of_all(weights, first):
    weights = np.array(weights, dtype=np.float64)
    together = WeightSums.of(weights[:first]).merge(WeightSums.of(weights[first:]))
    np.testing.assert_allclose(together, WeightSums.of(weights), rtol=1e-12)


@pytest.mark.parametrize("weight", [1e-300, 0.1, 1.0, 10.0, 1e300])
def test_equal_weights_of_a_survey_are_as_good_as_none(weight):
    np.testing.assert_array_equal(survey_weights(np.full(7, weight)), np.ones(7))


def test_no_rows_have_no_weights():
    assert len(survey_weights(np.zeros(0))) == 0


def test_batches_of_wide_tables_have_as_many_rows_as_others():
    assert batch_rows(30) == BATCH_CELLS // 30
    assert batch_rows(8192) == batch_rows(50_000) == batch_rows(10**6) == 256


def test_a_file_in_batches_has_the_weights_of_a_frame(tmp_path, monkeypatch):
    monkeypatch.setattr("latree.table.sources.BATCH_CELLS", 20)
    frame = MIXED_FRAME.with_columns(w=np.linspace(0.1, 9, 60))
    path = tmp_path / "data.csv"
    frame.write_csv(path)
    by_file, by_frame = (as_table(data, weights="w", weights_are="survey") for data in (path, frame))
    np.testing.assert_array_equal(*(table.map(lambda block: block.weights) for table in (by_file, by_frame)))
    assert (by_file.weights_are, as_table(frame, weights="w").weights_are, as_table(frame).weights_are) == (
        "survey",
        "counts",
        None,
    )


@pytest.mark.parametrize(("name", "junk"), [("colour", "pink"), ("answer", "9"), ("height", "1e6"), ("height", "tall")])
def test_rows_of_zero_weight_are_as_good_as_absent(tmp_path, name, junk):
    padded = {key: [junk if key == name else None, *values, values[0]] for key, values in MIXED.items()}
    present = as_table(write_file(tmp_path / "present.csv", csv_text(MIXED)))
    table = as_table(write_file(tmp_path / "padded.csv", csv_text(padded)), weights=[0, *[1] * 60, 0])
    assert table.columns == present.columns
    np.testing.assert_array_equal(table.codes()[1:-1], present.codes())
