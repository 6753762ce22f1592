"""What a table is taken for, before anything is learned from it."""

import json

import numpy as np
import pandas as pd
import pytest

import latree
from helpers.tables import write_file
from latree._util.words import as_in_shell
from latree.errors import InputError
from latree.table import as_table
from latree.table.checking import ColumnFacts, column_facts
from latree.table.findings import sentences

RNG = np.random.default_rng(0)
N = 200
FRAME = pd.DataFrame(
    {
        "person": [f"p{i}" for i in range(N)],
        "size": RNG.normal(size=N),
        "answer": pd.Categorical(["low", "high"] * (N // 2), ["low", "high"], ordered=True),
        "word": ["b", None, "a", "b"] * (N // 4),
        "yes": [True, False] * (N // 2),
        "grade": [1, 2, 3, 99] * (N // 4),
        "planet": "earth",
        "gone": None,
        "w": 1.0,
    }
)


def test_what_each_column_is_taken_for():
    found = latree.check(FRAME, weights="w", bins=5)
    facts = {one.column: (one.taken_for, one.states, one.ordered, one.missing) for one in found.columns}
    assert facts == {
        "person": ("refused: identifier", 200, None, 0),
        "size": ("number, 5 bins", 5, True, 0),
        "answer": ("texts in order", 2, True, 0),
        "word": ("texts", 2, False, 50),
        "yes": ("true or false", 2, True, 0),
        "grade": ("whole numbers", 4, True, 0),
        "planet": ("left out: constant", None, None, 0),
        "gone": ("left out: empty", None, None, 200),
    }
    assert found.columns[2].labels == ("low", "high")
    assert len(found.columns[1].labels) == 5
    assert {(one.column, one.kind, one.action) for one in found.findings} == {
        ("person", "identifier", "refused"),
        ("grade", "code", "kept"),
        ("planet", "constant", "left out"),
        ("gone", "empty", "left out"),
        ("yes", "duplicate", "kept"),
    }
    assert found.advice == "identifier='person', missing_also=[99], drop=['yes']"
    settings = "reading=dict(identifier='person', missing_also=[99],\n      drop=['yes'], weights_are='counts')"
    command = f"  latree.LatentTree({settings}).fit(..., sample_weight='w')"
    assert str(found).endswith(f"To fit a model, with what helps:\n{command}")
    with as_in_shell():
        assert "LatentTree" not in str(found)
        assert found.advice == "--id person --missing-also 99 --drop yes"
    assert found.n_rows == N


def test_options_change_what_is_found():
    found = latree.check(FRAME, identifier="person", drop=["w", "yes"], missing_also=[99], keep=None)
    facts = {one.column: one for one in found.columns}
    assert facts["person"] == ColumnFacts("person", "names of the rows", None, None, 0)
    assert facts["w"].taken_for == "dropped"
    assert (facts["grade"].missing, facts["grade"].states) == (50, 3)
    assert found.advice == ""
    kept = latree.check(FRAME, keep=["word", "grade"])
    assert [one.column for one in kept.columns if one.states] == ["word", "grade"]


def test_columns_that_cannot_be_read_are_said_all_at_once(monkeypatch):
    monkeypatch.setattr("latree.table.summary.MAX_STATES", 150)
    data = FRAME[["person", "word", "grade"]].assign(other=[f"q{i}" for i in range(N)])
    found = latree.check(data)
    assert [(one.column, one.kind) for one in found.findings if one.action == "refused"] == [
        ("person", "unreadable"),
        ("other", "unreadable"),
    ]
    with pytest.raises(
        InputError, match=r"'person' has more than 150 .*'other' has more than 150 .*drop=\['person', 'other'\]"
    ):
        as_table(data)


def test_nothing_to_learn_from(tmp_path):
    assert str(latree.check(write_file(tmp_path / "a.csv", "a,b\n"))).startswith(
        f"{tmp_path}/a.csv: 0 rows, 2 columns, 0"
    )
    assert [one.taken_for for one in latree.check([[1, 2]]).columns] == ["left out: constant"] * 2
    with pytest.raises(InputError, match="a Table is encoded already"):
        latree.check(as_table([[1], [2]]))


def test_forms_of_the_result():
    found = latree.check(FRAME)
    frame = found.to_frame("pandas")
    assert frame.column.tolist() == list(FRAME)
    assert frame.odd[6] == "is constant (every cell is 'earth')"
    plain = json.loads(json.dumps(found.to_dict()))
    assert plain["columns"][2]["labels"] == ["low", "high"]
    assert plain["findings"][0]["remedy"] == "identifier='person'"
    lines = str(found).splitlines()
    assert max(map(len, lines)) <= 80
    assert lines[0] == "the data frame: 200 rows, 9 columns, 5 of them to learn from"
    assert any(line.split() == ["answer", "texts", "in", "order", "2", "0", "low", "<", "high"] for line in lines)
    wide = latree.check(pd.DataFrame(RNG.integers(0, 2, (9, 70))).add_prefix("a column with a very long name "))
    assert "and 10 more columns (to_frame() lists all)" in str(wide)
    with as_in_shell():
        assert "and 10 more columns (--json lists all)" in str(wide)
    assert max(map(len, str(wide).splitlines())) <= 80
    assert "Nothing looks odd." in str(latree.check([[1, "a"], [2, "a"], [1, "b"]] * 10))


def test_facts_of_a_table():
    table = as_table(FRAME, drop=["person", "w"])
    assert [one.column for one in column_facts(table)] == ["size", "answer", "word", "yes", "grade", "planet", "gone"]
    assert column_facts(table)[-1] == ColumnFacts("gone", "left out: empty", None, None, N)


def test_a_fit_warns_of_nothing_about_the_table_that_a_check_does_not_say():
    frame = pd.DataFrame(RNG.integers(0, 4, (60, 4)) * 1.0, columns=list("abcd"))
    frame.loc[:34, "a"] = np.nan
    frame.loc[35:, "b"] = np.nan
    frame["size"] = RNG.normal(size=60)
    said = str(latree.check(frame, bins=10))
    assert "Nothing looks odd" not in said
    fitted = latree.LatentTree("lcm", n_states=2, reading={"bins": 10}, random_state=0).fit(frame)
    expected = [
        "60 rows are few for columns of up to 10 categories",
        "'a' is missing in 35 of 60 rows",
        "'a' and 'b' are never present in the same row",
    ]
    for text in expected:
        assert any(warning.startswith(text) for warning in fitted.summary_["warnings"])
        assert f"- {text}" in " ".join(said.split())
    assert sentences(latree.check(frame, bins=10).findings) == sentences(as_table(frame, bins=10).oddities)
