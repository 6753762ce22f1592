import narwhals as nw
import numpy as np
import pandas
import polars
import pyarrow
import pytest

from latree._util import arrays
from latree._util.arrays import backend_of, frame_like, make_frame

KINDS = {"pandas": pandas.DataFrame, "polars": polars.DataFrame, "pyarrow": pyarrow.Table}


@pytest.mark.parametrize("backend", KINDS)
def test_a_frame_is_of_the_library_that_is_asked_for(backend: str) -> None:
    frame = make_frame({"a": [1, 2], "b": ["x", None], "c": np.array([0.5, np.nan])}, backend)
    assert isinstance(frame, KINDS[backend])
    assert backend_of(frame) == backend
    read = nw.from_native(frame, eager_only=True)
    assert read.columns == ["a", "b", "c"]
    assert read["a"].to_list() == [1, 2]
    assert read["b"].is_null().to_list() == [False, True]
    assert read["c"].to_numpy()[0] == 0.5


@pytest.mark.parametrize("backend", KINDS)
def test_a_frame_may_have_no_columns_or_no_rows(backend: str) -> None:
    assert nw.from_native(make_frame({}, backend), eager_only=True).columns == []
    assert nw.from_native(make_frame({"a": []}, backend), eager_only=True).shape == (0, 1)


@pytest.mark.parametrize("data", [np.zeros((2, 2)), "data.csv", [[1]], None])
def test_other_data_have_no_library_of_frames(data: object) -> None:
    assert backend_of(data) is None


@pytest.mark.parametrize(
    ("installed", "kind"),
    [
        ({"pandas", "polars"}, pandas.DataFrame),
        ({"pyarrow", "polars"}, polars.DataFrame),
        ({"pyarrow"}, pyarrow.Table),
        (set(), dict),
    ],
)
def test_by_default_the_first_installed_library_is_used(
    installed: set[str], kind: type, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(arrays, "find_spec", lambda name: name if name in installed else None)
    assert isinstance(make_frame({"a": [1]}), kind)


@pytest.mark.parametrize("backend", KINDS)
def test_a_frame_like_the_data_has_their_library(backend: str) -> None:
    data = make_frame({"a": [1, 2, 3]}, backend)
    made = frame_like(data, ["x", "y"], np.arange(6.0).reshape(3, 2))
    assert type(made) is type(data)
    np.testing.assert_array_equal(nw.from_native(made, eager_only=True).to_numpy(), np.arange(6.0).reshape(3, 2))


def test_a_frame_like_the_data_has_their_index() -> None:
    data = pandas.DataFrame({"a": [1, 2]}, index=["p", "q"])
    assert frame_like(data, ["x"], np.zeros((2, 1))).index.tolist() == ["p", "q"]
    assert frame_like(data, [], np.zeros((2, 0))).index.tolist() == ["p", "q"]
    assert frame_like("data.csv", [], np.zeros((2, 0))).shape == (2, 0)
    assert frame_like("data.csv", ["x"], np.zeros((2, 1))).index.tolist() == [0, 1]
