"""Dates and times are numbers, in frames and in files, and come back as they were."""

import json
from datetime import UTC, date, datetime, time, timedelta

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

import latree
from helpers.tables import assert_error, assert_same, keep_all_on_disk, write_file, write_frame
from latree.table import Column, as_table
from latree.table.clock import CLOCKS, clock_label, clock_value, parse_clock, parse_date, seconds_of

RNG = np.random.default_rng(0)
DAYS = [date(2024, 1, 1) + timedelta(days=int(x)) for x in RNG.integers(0, 700, 90)]
MOMENTS = [datetime(2024, 1, 1) + timedelta(minutes=int(x)) for x in RNG.integers(0, 10**6, 90)]
OTHERS = {
    "instant": [one.replace(tzinfo=UTC) for one in MOMENTS],
    "time": [one.time() for one in MOMENTS],
    "duration": [one - MOMENTS[0] for one in MOMENTS],
}


def through_json(column):
    return Column.from_dict(json.loads(json.dumps(column.to_dict())))


@given(st.datetimes(datetime(1, 1, 2), datetime(9999, 12, 30)), st.sampled_from(CLOCKS))
def test_seconds_mean_the_value_that_they_were_made_of(moment, clock):
    value = {
        "date": moment.date(),
        "datetime": moment,
        "instant": moment.replace(tzinfo=UTC),
        "time": moment.time(),
        "duration": moment - datetime(2000, 1, 1),
    }[clock]
    found, seconds = seconds_of(value)
    assert found == clock
    # A float holds seconds of this century to a microsecond, and of the year 9999 to some tens of them.
    assert abs(seconds_of(clock_value(clock, seconds))[1] - seconds) < 1e-4
    whole = float(np.floor(seconds))
    assert parse_clock(clock_label(clock, whole), clock) == whole


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("2024-03-01", ("date", 1709251200.0)),
        ("2024-03-01T12:30", ("datetime", 1709296200.0)),
        ("2024-03-01 12:30:15.5", ("datetime", 1709296215.5)),
        ("2024-03-01T12:30+01:00", ("instant", 1709292600.0)),
        ("2024-03-01T12:30Z", ("instant", 1709296200.0)),
        ("2024-02-30", None),
        ("2024-3-1", None),
        ("20240301", None),
        ("2024-03", None),
        ("1.3.2024", None),
    ],
)
def test_texts_of_dates(text, expected):
    assert parse_date(text) == expected


@pytest.mark.parametrize("library", ["pandas", "objects", "polars", "pyarrow", "csv", "parquet", "array"])
def test_dates_and_times_are_the_same_numbers_everywhere(library, tmp_path):
    cells = {"day": [None, *DAYS], "then": [None, *MOMENTS], "a": range(91)}
    frame = pd.DataFrame({"day": cells["day"], "then": pd.Series(cells["then"]), "a": cells["a"]})
    expected = as_table(pl.DataFrame(cells), bins=4, drop="a")
    assert [(column.kind, column.unit, column.n_states) for column in expected.columns] == [
        ("date", "day", 4),
        ("datetime", "minute", 4),
    ]
    assert expected.n_missing.tolist() == [1, 1]
    data = {
        "pandas": lambda: frame.assign(day=pd.to_datetime(frame["day"])),
        "objects": lambda: frame,
        "polars": lambda: pl.DataFrame(cells).lazy(),
        "pyarrow": lambda: pa.table(cells),
        "csv": lambda: write_frame(frame, tmp_path / "a.csv"),
        "parquet": lambda: write_frame(frame, tmp_path / "a.parquet"),
        "array": lambda: frame.to_numpy(dtype=object),
    }[library]()
    if library == "array":
        found = as_table(data, bins=4, names=["day", "then", "a"], drop="a")
    else:
        found = as_table(data, bins=4, drop="a")
    assert found.codes().tolist() == expected.codes().tolist()
    assert found.columns[1] == expected.columns[1]
    assert found.columns[0].cuts == expected.columns[0].cuts
    assert found.columns[0].categories == expected.columns[0].categories
    assert as_table(data if library != "array" else frame, columns=expected.columns).codes().tolist() == (
        expected.codes().tolist()
    )


def test_bins_of_days_end_with_a_day():
    column, other = as_table(pl.DataFrame({"d": DAYS, "t": MOMENTS}), bins=2).columns
    last = column.categories[0].removeprefix("<= ")
    assert column.categories == (f"<= {last}", f"> {last}")
    codes = as_table(pl.DataFrame({"d": [date.fromisoformat(last)] * 2, "t": MOMENTS[:2]}), columns=[column, other])
    assert codes.codes()[:, 0].tolist() == [0, 0]
    later = date.fromisoformat(last) + timedelta(days=1)
    assert as_table(pl.DataFrame({"d": [later], "t": MOMENTS[:1]}), columns=[column, other]).codes()[0, 0] == 1
    assert type(column.decode(0)) is date
    assert min(DAYS) <= column.decode(0) <= date.fromisoformat(last) < column.decode(1) <= max(DAYS)
    assert all(through_json(one) == one for one in (column, other))


@pytest.mark.parametrize("clock", OTHERS)
def test_instants_times_of_a_day_and_durations(clock):
    values = OTHERS[clock]
    (column,) = as_table(pl.DataFrame({"x": values}), bins=3).columns
    assert (column.kind, column.n_states) == (clock, 3)
    assert through_json(column) == column
    assert min(values) <= column.decode(0) < column.decode(2) <= max(values)
    texts = [clock_label(clock, seconds_of(value)[1]) for value in values]
    codes = [as_table(pl.DataFrame({"x": cells}), columns=[column]).codes().tolist() for cells in (values, texts)]
    assert codes[0] == codes[1]


def test_dates_outside_the_fit_are_in_the_outermost_bins():
    columns = as_table(pl.DataFrame({"d": DAYS}), bins=3).columns
    far = pl.DataFrame({"d": ["1066-10-14", "2999-01-01T12:00", None, "NA"]})
    assert as_table(far, columns=columns).codes()[:, 0].tolist() == [0, 2, -1, -1]
    assert_error(pl.DataFrame({"d": ["soon"]}), "'soon' is not a date such as 2024-03-01", columns=columns)
    assert_error(pl.DataFrame({"d": [3]}), "'3' is not a date", columns=columns)
    assert as_table(pl.DataFrame({"d": ["soon"]}), columns=columns, unseen="missing").codes().tolist() == [[-1]]
    (number,) = as_table(pl.DataFrame({"d": RNG.random(30)}), bins=2).columns
    assert_error(pl.DataFrame({"d": DAYS}), "is not a number", columns=[number])


def test_a_column_that_is_not_all_dates_is_one_of_texts(tmp_path):
    cells = [str(day) for day in DAYS[:30]]
    for wrong in ("soon", "5", "2024-02-30", "12:30", "2024-01-01T00:00Z"):
        for place in (0, 15, 30):
            mixed = pl.DataFrame({"x": [*cells[:place], wrong, *cells[place:]]})
            assert as_table(mixed).columns[0].kind == "text"
    assert as_table(pl.DataFrame({"x": [*cells, "2024-01-01T13:00"]})).columns[0].kind == "datetime"


def test_dates_on_disk_are_those_in_memory(tmp_path, monkeypatch):
    frame = pd.DataFrame({"day": DAYS, "then": MOMENTS, "a": RNG.integers(0, 3, 90), "b": DAYS, "x": RNG.random(90)})
    for name in ("a.csv", "a.parquet"):
        path = write_frame(frame, tmp_path / name)
        expected = as_table(path)
        with monkeypatch.context() as patch:
            keep_all_on_disk(patch)
            found = as_table(path)
            assert found.columns == expected.columns
            assert_same(found, expected)


def test_one_late_text_makes_all_dates_of_a_file_texts(tmp_path, monkeypatch):
    keep_all_on_disk(monkeypatch)
    texts = [*map(str, DAYS * 5), "never"]
    path = write_file(tmp_path / "a.csv", "x,y\n" + "".join(f"{text},{row % 2}\n" for row, text in enumerate(texts)))
    column = as_table(path).columns[0]
    assert (column.kind, column.n_states) == ("text", len(set(texts)))


def test_a_check_says_that_dates_are_dates():
    found = latree.check(pl.DataFrame({"day": DAYS, "then": MOMENTS, "a": [0, 1, 2] * 30}), bins=3)
    assert [one.taken_for for one in found.columns] == ["date, 3 bins", "date and time, 3 bins", "whole numbers"]
    midnights = pl.DataFrame({"day": DAYS}).cast(pl.Datetime)
    assert [one.taken_for for one in latree.check(midnights, bins=3).columns] == ["date, 3 bins"]
    assert not found.findings
    as_names = latree.check(pl.DataFrame({"day": DAYS[:20] * 3, "a": [0, 1, 2] * 20}), kinds={"day": "category"})
    assert as_names.columns[0].taken_for == "texts"
    assert as_names.columns[0].labels[0] == str(min(DAYS[:20]))


def test_times_of_a_day_stay_within_it():
    (column,) = as_table(pl.DataFrame({"x": [time(0, 1), time(12), time(23, 59)]}), bins=3).columns
    assert column.value_of(2e9) == time(23, 59, 59, 999999)
    assert column.value_of(-5.0) == time(0)
