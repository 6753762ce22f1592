"""ARFF files, with SciPy as the judge."""

import numpy as np
import pytest
from scipy.io import arff

from helpers.damage import count_refused
from helpers.tables import assert_error, write_file
from latree.table import as_table

WEATHER = """% a comment
@RELATION weather

@attribute outlook {sunny, overcast, rainy}
@ATTRIBUTE 'wind speed' numeric
@attribute "play" { yes , 'not today', no}
@attribute note string
@data
sunny,1.5,yes,'it''s fine'
% another one
rainy,?,'not today',"a, b"
?,3,no,x
overcast,2.5,yes,y
"""


def test_nominal_values_are_ordered_as_the_file_lists_them(tmp_path):
    table = as_table(write_file(tmp_path / "weather.arff", WEATHER), bins=0)
    assert table.names == ("outlook", "wind speed", "play", "note")
    assert table.columns[0].categories == ("sunny", "overcast", "rainy")
    assert table.columns[0].ordered
    assert table.columns[2].categories == ("yes", "not today", "no")
    assert table.decode() == {
        "outlook": ["sunny", "rainy", None, "overcast"],
        "wind speed": [1.5, None, 3.0, 2.5],
        "play": ["yes", "not today", "no", "yes"],
        "note": ["it's fine", "a, b", "x", "y"],
    }


@pytest.mark.parametrize("seed", range(5))
def test_scipy_reads_the_same(tmp_path, seed):
    rng = np.random.default_rng(seed)
    values = ["low", "mid", "high"]
    cells = [[str(rng.choice([*values, "?"])), str(rng.choice(["?", "1", "2.5", "-3e2"]))] for _ in range(40)]
    text = "@relation r\n@attribute a {low,mid,high}\n@attribute b real\n@data\n" + "\n".join(map(",".join, cells))
    path = write_file(tmp_path / "r.arff", text)
    judged, facts = arff.loadarff(path)
    read = as_table(path, bins=0)
    assert read.columns[0].categories == tuple(value for value in facts["a"][1])
    assert read.decode()["a"] == [None if x == b"?" else x.decode() for x in judged["a"]]
    np.testing.assert_array_equal(np.array(read.decode()["b"], dtype=float), judged["b"])


HEAD = "@relation r\n@attribute a {x,y}\n@attribute b numeric\n"


@pytest.mark.parametrize(
    ("content", "fragments"),
    [
        ("", ["no line @data"]),
        (HEAD, ["no line @data"]),
        ("@relation r\n@data\n", ["line 2", "no attributes"]),
        ("@relation r\nx,1\n", ["line 2", "'x,1' in the header", "@data"]),
        ("@relation r\n@attribute a\n@data\n", ["line 2", "is not an attribute"]),
        ("@attribute a relational\n@data\n", ["line 1", "'a' is of type 'relational'", "numeric"]),
        ("@attribute a real\n@attribute a real\n@data\n1,2\n", ["'a' appears twice"]),
        (HEAD + "@data\nx,1\nz,1\n", ["line 6", "'z' is not a value of 'a'"]),
        (HEAD + "@data\nx,1\ny,one\n", ["line 6", "'one' of 'b' is not a number"]),
        (HEAD + "@data\nx\n", ["line 5", "1 cells for 2 attributes"]),
        (HEAD + "@data\n{0 x}\n", ["line 5", "sparse row"]),
        (HEAD + "@data\n'x,1\n", ["line 5", "quotes"]),
    ],
)
def test_what_is_wrong_is_said_with_its_line(tmp_path, content, fragments):
    assert_error(write_file(tmp_path / "a.arff", content), *fragments)


def test_damaged_files_are_read_or_refused_in_one_line(tmp_path):
    assert count_refused(tmp_path / "damaged.arff", WEATHER.encode(), 200, bins=0) > 40
