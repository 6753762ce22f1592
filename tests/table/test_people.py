"""Rows in groups."""

import datetime

import numpy as np
import pandas as pd
import pytest

from latree.errors import InputError
from latree.table.people import clusters_of, divide_rows, with_enough

FRAME = pd.DataFrame(
    {
        "gender": ["w", "m", None, "w"],
        "age": [20, 31, 55, None],
        "size": pd.Categorical(["small", "large", "small", "middle"], ["small", "middle", "large"], ordered=True),
        "person": ["a", "b", "a", None],
    }
)


def test_texts_are_groups_in_their_order():
    assert divide_rows(FRAME, "gender").names == ("m", "w")
    assert divide_rows(FRAME, "gender").of_row.tolist() == [1, 0, -1, 1]
    assert divide_rows(FRAME, "size").names == ("small", "middle", "large")
    assert divide_rows(FRAME, ["10", "9", "10", ""]).names == ("9", "10")


def test_numbers_are_cut():
    cut = divide_rows(FRAME, "age", cuts=[20, 50])
    assert cut.names == ("<= 20", "> 20 to 50", "> 50")
    assert cut.of_row.tolist() == [0, 1, 2, -1]
    many = divide_rows(None, np.arange(90.0), parts=None)
    assert np.bincount(many.of_row).tolist() == [30, 30, 30]
    assert np.bincount(divide_rows(None, np.arange(90.0), parts=2).of_row).tolist() == [45, 45]


def test_dates_are_cut():
    days = pd.Timestamp("2024-01-01") + pd.to_timedelta(np.arange(90), unit="D")
    frame = pd.DataFrame({"day": days, "text": days.astype(str), "moment": days + pd.Timedelta("90min")})
    thirds = ("<= 2024-01-30", "> 2024-01-30 to 2024-02-29", "> 2024-02-29")
    for by in ("day", "text"):
        assert divide_rows(frame, by).names == thirds
        assert np.bincount(divide_rows(frame, by).of_row).tolist() == [30, 30, 30]
    assert divide_rows(frame, "moment").names[0] == "<= 2024-01-30 01:30"
    for cut in ("2024-02-01", pd.Timestamp("2024-02-01"), datetime.date(2024, 2, 1)):
        assert divide_rows(frame, "day", cuts=[cut]).names == ("<= 2024-02-01", "> 2024-02-01")
        assert np.bincount(divide_rows(frame, days, cuts=[cut]).of_row).tolist() == [32, 58]
    few = divide_rows(None, ["2024-03-01", "2023-03-01"] * 3)
    assert few.names == ("2023-03-01", "2024-03-01")
    with pytest.raises(InputError, match="dates that increase"):
        divide_rows(frame, "day", cuts=[30])


def test_clusters():
    one, other, again, alone = clusters_of(FRAME, "person").tolist()
    assert one == again
    assert len({one, other, alone}) == 3


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"by": "gander"}, "has no column 'gander'; did you mean 'gender'"),
        ({"by": "gender", "cuts": [1]}, "'m' is not a number"),
        ({"by": "age", "cuts": [50, 20]}, "numbers that increase"),
        ({"by": "age", "cuts": [50], "parts": 2}, "choose one"),
        ({"by": [f"p{i}" for i in range(20)]}, "20 different values"),
    ],
)
def test_what_is_refused(options, message):
    with pytest.raises(InputError, match=message):
        divide_rows(FRAME, **options)


def test_small_groups_are_left_out_and_said():
    divided = divide_rows(None, ["x"] * 60 + ["y"] * 60 + ["z"] * 3 + [""])
    kept, notes = with_enough(divided, 50)
    assert kept.names == ("x", "y")
    assert np.unique(kept.of_row, return_counts=True)[1].tolist() == [4, 60, 60]
    assert notes == [
        "'z' is left out: it has 3 rows, and a group needs at least 50.",
        "1 row without a group is left out.",
    ]
    with pytest.raises(InputError, match="two groups of at least 61 rows are needed; there are: 'x' 60 rows"):
        with_enough(divided, 61)
