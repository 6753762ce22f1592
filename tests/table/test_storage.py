"""Values of a model come back in the types of the data that it was fitted to."""

from datetime import date, datetime, timedelta

import narwhals as nw
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import latree
from latree.errors import InputError
from latree.table import Column
from latree.table.storage import Storage

RNG = np.random.default_rng(0)
N = 60
HIDDEN = RNG.integers(0, 2, N)
START = datetime(2024, 3, 1)


def pandas_frame():
    codes = RNG.integers(0, 3, N)
    return pd.DataFrame(
        {
            "i64": RNG.integers(0, 5, N) + HIDDEN,
            "i8": RNG.integers(0, 50, N).astype("int8"),
            "u16": RNG.integers(0, 900, N).astype("uint16"),
            "f64": RNG.normal(size=N),
            "f32": RNG.normal(size=N).round(2).astype("float32"),
            "Int64": pd.array([1, 2, None] * 20, "Int64"),
            "Float64": pd.array(RNG.normal(size=N), "Float64"),
            "bool": HIDDEN > 0,
            "boolean": pd.array([True, False, None] * 20, "boolean"),
            "str": np.array(["x", "y", "z"])[codes],
            "object": pd.Series(np.array(["x", "10", "z"])[codes], dtype=object),
            "string": pd.array(np.array(["1", "2", "3"])[codes], "string"),
            "plain": pd.Categorical.from_codes(codes, ["b", "a", "c", "d"]),
            "ordered": pd.Categorical.from_codes(codes, ["lo", "mid", "hi", "top"], ordered=True),
            "numbered": pd.Categorical.from_codes(codes, [30, 10, 20, 40]),
            "day": pd.to_datetime([START + timedelta(days=int(x)) for x in RNG.integers(0, 300, N)]).as_unit("ns"),
            "then": pd.to_datetime([START + timedelta(seconds=int(x)) for x in RNG.integers(0, 10**6, N)]).tz_localize(
                "Europe/Luxembourg"
            ),
            "lasts": pd.to_timedelta(RNG.integers(1, 400, N), unit="h"),
        }
    )


def polars_frame():
    plain = {
        "i64": RNG.integers(0, 5, N),
        "f32": RNG.normal(size=N).astype("float32"),
        "u8": RNG.integers(0, 90, N).astype("uint8"),
        "bool": HIDDEN > 0,
        "str": ["x", "y", "z"] * 20,
        "digits": ["1", "2", "3"] * 20,
        "day": [date(2024, 3, 1) + timedelta(days=int(x)) for x in RNG.integers(0, 300, N)],
        "then": [START + timedelta(seconds=int(x)) for x in RNG.integers(0, 10**6, N)],
        "time": [(START + timedelta(seconds=int(x))).time() for x in RNG.integers(0, 10**6, N)],
        "lasts": [timedelta(hours=int(x)) for x in RNG.integers(0, 300, N)],
    }
    grades = pl.Enum(["lo", "mid", "hi", "top"])
    return pl.DataFrame(plain).with_columns(
        pl.Series("grade", ["mid", "lo", "hi"] * 20, dtype=grades),
        pl.Series("word", ["b", "a", "c"] * 20, dtype=pl.Categorical),
        pl.col("then").dt.replace_time_zone("Europe/Luxembourg").alias("zoned"),
    )


def fitted(frame):
    return latree.LatentTree("lcm", n_states=2, n_resamples=0, random_state=0).fit(frame)


def with_holes(frame):
    """The same frame with every third cell of each column missing."""
    if isinstance(frame, pd.DataFrame):
        return frame.mask(np.arange(N)[:, None] % 3 == np.arange(frame.shape[1]) % 3)
    rows = pl.Series(np.arange(N) % 3)
    return frame.with_columns(
        pl.when(rows == j % 3).then(None).otherwise(pl.col(name)).alias(name) for j, name in enumerate(frame.columns)
    )


@pytest.mark.filterwarnings("ignore::latree.FitWarning")
def test_a_frame_of_pandas_comes_back_with_its_types(tmp_path):
    frame = pandas_frame()
    model = fitted(frame)
    model.save(tmp_path / "model.json")
    for one in (model, latree.LatentTree.load(tmp_path / "model.json")):
        drawn = one.sample(200, random_state=0)
        assert drawn.dtypes.astype(str).to_dict() == frame.dtypes.astype(str).to_dict()
        for name in ("plain", "ordered", "numbered"):
            assert drawn[name].dtype == frame[name].dtype  # with the categories and their order
        assert set(drawn["object"]) <= {"x", "10", "z"}
        assert set(drawn["string"]) <= {"1", "2", "3"}
        assert drawn["day"].between("2024-02-01", "2025-02-01").mean() > 0.9
        assert (drawn["day"].dt.normalize() == drawn["day"]).all()
        assert (drawn["lasts"] % pd.Timedelta(hours=1) == pd.Timedelta(0)).all()
        assert drawn["then"].min() > pd.Timestamp("2024-02-20", tz="Europe/Luxembourg")


@pytest.mark.filterwarnings("ignore::latree.FitWarning")
def test_a_frame_of_polars_comes_back_with_its_types(tmp_path):
    frame = polars_frame()
    model = fitted(frame)
    model.save(tmp_path / "model.json")
    for one in (model, latree.LatentTree.load(tmp_path / "model.json")):
        assert one.sample(50, random_state=0).schema == frame.schema


@pytest.mark.filterwarnings("ignore::latree.FitWarning")
def test_a_table_of_pyarrow_comes_back_with_its_types():
    frame = polars_frame().drop("word", "grade").to_arrow()
    grade = pa.DictionaryArray.from_arrays(
        pa.array([0, 1, 2] * 20, pa.int8()), pa.array(["lo", "mid", "hi"]), ordered=True
    )
    frame = frame.append_column("grade", grade)
    drawn = fitted(frame).sample(50, random_state=0)
    assert drawn.schema.names == frame.schema.names
    for field, expected in zip(drawn.schema, frame.schema, strict=True):
        if expected.name == "grade":
            assert field.type.ordered
            assert drawn["grade"].combine_chunks().dictionary.to_pylist() == ["lo", "mid", "hi"]
        else:
            assert str(field.type).removeprefix("large_") == str(expected.type).removeprefix("large_")


@pytest.mark.filterwarnings("ignore::latree.FitWarning")
@pytest.mark.parametrize("make", [pandas_frame, polars_frame])
@pytest.mark.parametrize("how", ["auto", "draw"])
def test_filled_frames_keep_their_types(make, how):
    frame = with_holes(make())
    filled = fitted(frame).impute(frame, how=how, random_state=0)
    if isinstance(frame, pd.DataFrame):
        changed = {name for name in frame if frame[name].dtype != filled[name].dtype}
        assert changed == set()
        assert not filled.isna().any().any()
        kept = frame.notna()
        assert filled.where(kept).equals(frame.where(kept))
    else:
        for name, dtype in frame.schema.items():
            # The mean of whole numbers has fractions.
            assert filled.schema[name] == dtype or (how == "auto" and dtype.is_integer())
        assert sum(filled.null_count().row(0)) == 0


@pytest.mark.filterwarnings("ignore::latree.FitWarning")
@pytest.mark.parametrize("make", [pandas_frame, polars_frame])
@pytest.mark.parametrize("missing", [None, float("nan")])
def test_a_column_without_any_cell_is_filled_with_the_type_of_the_fit(make, missing):
    frame = make()
    model = fitted(frame)
    for name in frame.columns:
        is_whole = nw.from_native(frame).schema[name].is_integer()
        if isinstance(frame, pd.DataFrame):
            filled = model.impute(frame.head(6).assign(**{name: missing}))
            assert (filled[name].dtype == frame[name].dtype) or (is_whole and filled[name].dtype.kind == "f")
            assert not filled[name].isna().any()
        elif missing is None:
            filled = model.impute(frame.head(6).with_columns(pl.lit(None).alias(name)))
            assert filled.schema[name] == frame.schema[name] or (is_whole and filled.schema[name].is_float())
            assert filled[name].null_count() == 0


@pytest.mark.parametrize("dtype", ["float32", "int16", "bool"])
def test_an_array_comes_back_with_its_type(dtype):
    data = ((RNG.normal(size=(60, 4)) + HIDDEN[:, None]) * 4 // 2 * 2).clip(0).astype(dtype)
    assert fitted(data).sample(5, random_state=0).dtype == np.dtype(dtype)


def test_a_type_survives_json_and_does_not_count():
    for storage in (Storage("int8"), Storage("datetime64[us, Europe/Paris]"), Storage("category", (1, "a", 2.5), True)):
        column = Column("x", "text", ("a", "b"), storage=storage)
        found = Column.from_dict(column.to_dict())
        assert found == Column("x", "text", ("a", "b"))
        assert found.storage == storage
    assert "dtype" not in Column("x", "text", ("a", "b")).to_dict()


@pytest.mark.parametrize(
    "dtype",
    [
        3,
        "",
        "a b",
        "category",
        "int8; drop",
        "x" * 200,
        ["int8"],
        {},
        {"dtype": "category", "categories": [], "else": 1},
    ]
    + [{"dtype": "category", "categories": bad, "ordered": True} for bad in (None, [None], [[1]], ["1", 1])]
    + [{"dtype": "int8", "categories": [], "ordered": True}, {"dtype": "category", "categories": ["a"], "ordered": 1}],
)
def test_bad_types_are_refused(dtype):
    plain = Column("x", "text", ("a", "b")).to_dict() | {"dtype": dtype}
    with pytest.raises(InputError, match="column 'x': its dtype makes no sense"):
        Column.from_dict(plain)
