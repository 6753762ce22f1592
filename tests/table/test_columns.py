"""Columns as plain data, read as hostile input."""

import json

import numpy as np
import pyarrow as pa
import pytest

from helpers.tables import MIXED, MIXED_FRAME, codes_of
from latree.errors import InputError
from latree.table import Column, as_table
from latree.table.density import Density


def through_json(column):
    return Column.from_dict(json.loads(json.dumps(column.to_dict())))


def test_decode_inverts_encode():
    table = as_table(MIXED_FRAME, missing=["-9", "NA"])
    decoded = table.decode()
    for name in ("colour", "answer", "member"):
        assert decoded[name] == MIXED[name]
    assert all(isinstance(year, int) for year in decoded["year"])
    np.testing.assert_array_equal(codes_of(pa.table(decoded), columns=table.columns), table.codes())
    assert {column.kind for column in table.columns} == {"text", "integer", "number", "boolean"}
    assert tuple(map(through_json, table.columns)) == table.columns


@pytest.mark.parametrize("values", [[2.0**53, 1.0], [1e300, 2e300], [2**60, 1], [0.1, 1e-300], ["é", "a\nb"]])
def test_unusual_values_survive_decoding_and_json(values):
    table = as_table(np.repeat(values, 5)[:, None])
    found = table.decode()["x0"][::5]
    assert found == (values if isinstance(values[0], str) else pytest.approx(values, abs=1e-12))
    assert through_json(table.columns[0]) == table.columns[0]


def test_descriptions_survive_json_and_do_not_count():
    column = Column("q1", "integer", ("1", "2"), ordered=True, description="Do you like it?")
    assert through_json(column).description == "Do you like it?"
    assert column == Column("q1", "integer", ("1", "2"), ordered=True)
    assert "description" not in Column("q1", "integer", ("1", "2")).to_dict()


DENSITY = Density.learn(np.array([0.0, 1.0]), np.array([7.0, 7.0]), np.array([0.5])).to_dict()
CUTS = {"cuts": [0.5], "density": DENSITY}
GOOD = {"name": "x", "kind": "number", "categories": ["a", "b"], "ordered": True, "missing": [], **CUTS}
UNCUT = {"cuts": None, "density": None}
BAD = (
    [{"name": 3}, {"kind": "list"}, {"kind": []}, {"kind": "text"}, {"missing": None}, {"missing": [None]}]
    + [{"categories": bad} for bad in (None, "ab", [1, 2], [], ["a", "a"], ["a"])]
    + [{"cuts": bad} for bad in (None, 3, [], ["0"], [True], [float("nan")], [float("inf")], [10**400])]
    + [{"density": bad} for bad in (None, [0], {}, DENSITY | {"else": 1})]
    + [{"density": DENSITY | {"starts": bad}} for bad in (None, [0], [0, 2], [1, 0], [0, 0.5], [0, "1"], [0, True])]
    + [{"density": DENSITY | {"low": bad}} for bad in ([0], [0.5, -0.5], [-0.5, None], [-0.5, 0.4], [None, 0.5])]
    + [{"density": DENSITY | {"high": bad}} for bad in ([0.5], [0.6, 1.5], [0.5, 0.5], [0.5, 10**400], [0.5, None])]
    + [{"density": DENSITY | {"rows": bad}} for bad in ([0, 7], [-1, 7], [float("nan"), 7], [7])]
    + [{"density": DENSITY | {"tails": bad}} for bad in ([0], [-1, 0], "00")]
    + [{"density": DENSITY | {"step": bad}} for bad in (0, -1, None, "1", float("inf"))]
    + [{"categories": ["a", "b", "c"], "cuts": bad} for bad in ([1, 0], [1, 1])]
    + [{"ordered": bad} for bad in (None, 1, "true", False)]
    + [{"description": bad} for bad in (None, 3, ["a"], "\ud800")]
    + [UNCUT, UNCUT | {"kind": "integer", "categories": ["1.5"]}]
    + [UNCUT | {"kind": "text", "categories": [str(x) for x in range(65_536)]}]
)


@pytest.mark.parametrize("plain", [[], *(GOOD | change for change in BAD)])
def test_hostile_columns_are_refused(plain):
    assert Column.from_dict(GOOD).n_states == 2
    with pytest.raises(InputError, match=r"^.{1,200}$"):
        Column.from_dict(plain)
