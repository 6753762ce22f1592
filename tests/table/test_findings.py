"""What is odd about columns: identifiers, dates, codes for missing cells, duplicates."""

import numpy as np
import pandas as pd
import polars as pl
import pytest

from helpers.tables import write_file
from latree._util.words import as_in_shell
from latree.table import as_table, check
from latree.table.findings import Finding, advice, sentences

ROWS = 120


def kinds(values, **options):
    """The kinds of findings about a column, beside an ordinary one."""
    data = pl.DataFrame({"ordinary": np.arange(len(values)) % 2, "x": values}, strict=False)
    return {one.kind: one for one in as_table(data, **options).findings if one.column == "x"}


def repeated(*values, rows=ROWS):
    return [values[i % len(values)] for i in range(rows)]


def test_ordinary_columns_are_not_odd():
    rng = np.random.default_rng(0)
    for values in (
        repeated(1, 2, 3, 4, 5, 6, 7),
        repeated(-2, -1, 0, 1, 2),
        repeated("a", "b", "c"),
        repeated(True, False),
        rng.normal(size=ROWS),
        rng.poisson(30, ROWS),
        [f"word {i % 60}" for i in range(ROWS)],
        rng.integers(0, 30, ROWS),
    ):
        assert kinds(values) == {}


def test_identifiers_and_running_numbers():
    texts = [f"p{i}" for i in range(ROWS)]
    assert [*kinds(texts)] == ["identifier"]
    assert [*kinds(texts[:20])] == ["identifier"]
    assert kinds(texts[:19]) == {}
    assert kinds([*texts[:-1], texts[0]]) == {}
    assert [*kinds([*texts, None, None])] == ["identifier"]
    shuffled = np.random.default_rng(0).permutation(ROWS) + 17
    assert kinds(shuffled)["running number"].what == "is a running number from 17 to 136"
    assert [*kinds(shuffled[:20] * 0 + np.arange(20))] == ["running number"]
    assert kinds(np.arange(19)) == {}
    with_gaps = 3 * np.arange(100) + 500
    assert [*kinds(with_gaps)] == ["identifier"]
    assert kinds(with_gaps[:99]) == {}
    assert kinds(with_gaps + 0.5) == {}  # a measured quantity
    ordered = pd.Categorical(texts[:60], texts[:60], ordered=True)
    assert as_table(pd.DataFrame({"x": ordered, "y": repeated(1, 2, rows=60)})).findings == ()


def test_a_running_number_of_a_long_file(tmp_path, monkeypatch):
    monkeypatch.setattr("latree.table.summary.MAX_NUMBERS", 50)
    monkeypatch.setattr("latree.table.sources.BATCH_CELLS", 100)
    lines = [f"{i + 1},{i % 2},{-999 if i == 77 else i / 7}" for i in range(400)]
    table = as_table(write_file(tmp_path / "a.csv", "nr,a,x\n" + "\n".join(lines)))
    assert [(one.column, one.kind) for one in table.findings] == [("nr", "running number"), ("x", "code")]
    assert "-999 in 1 row, far from its other values (0.0 to 57" not in table.findings[1].what
    assert "-999 in 1 row, far from its other values (0 to 57" in table.findings[1].what


@pytest.mark.parametrize(
    "dates",
    [
        [f"2024/{m:02}/{d:02}" for m in range(1, 7) for d in range(1, 11)] * 2,
        [f"{d}.{m}.2024" for m in range(1, 7) for d in range(1, 11)] * 2,
        [f"{m}/{d}/24 13:05" for m in range(1, 7) for d in range(1, 11)] * 2,
        [f"2024-{m:02}" for m in range(1, 11)] * 12,
        [20240101 + 100 * m + d for m in range(6) for d in range(10)] * 2,
    ],
)
def test_dates(dates):
    assert [*kinds(dates)] == ["date"]
    assert kinds(dates)["date"].remedy == "drop=['x']"


def test_numbers_that_are_no_dates():
    days = [20240101 + i for i in range(5)]
    assert [*kinds(repeated(*days))] == ["date"]
    assert kinds(repeated(*days[:4])) == {}
    assert kinds(repeated(*days, 20241301)) == {}
    assert kinds(repeated(*days, 18991231)) == {}
    assert kinds(repeated("2024-01-01", "never")) == {}


@pytest.mark.parametrize(
    ("values", "codes"),
    [
        ((1, 2, 3, 4, 5, 99), ("99",)),
        ((1, 2, 3, 4, 5, 98, 99), ("98", "99")),
        ((-99, 1, 2, 3, 4, 5, 999), ("-99", "999")),
        ((0, 1, -9), ("-9",)),
        ((1, 2, 9), ("9",)),
        ((1.5, 2.5, 80.25, -999.0), ("-999",)),
        ((18, 40, 90, 7777), ("7777",)),
        # Not far, or not like a code.
        ((1, 2, 3, 4, 5, 9), ()),
        ((1, 2, 3, 6), ()),
        ((18, 40, 90, 99), ()),
        ((-1, 0, 1), ()),
        ((1, 2, 3, 4, 5, 100), ()),
        ((0, 99), ()),
        # The distance must be more than the range of the others.
        ((50, 75, 99), ()),
        ((50, 74, 99), ("99",)),
    ],
)
def test_codes_for_missing_cells(values, codes):
    found = kinds(repeated(*values)).get("code")
    assert (found.values if found else ()) == codes
    if found:
        assert found.remedy == f"missing_also=[{', '.join(codes)}]"
        with as_in_shell():
            assert found.remedy == f"--missing-also {','.join(codes)}"
        assert kinds(repeated(*values), missing_also=codes) == {}


def test_a_single_negative_number_beside_many_others(tmp_path, monkeypatch):
    incomes = [137 * i for i in range(10)]
    for code, codes in ((-99, ("-99",)), (-999, ("-999",)), (-98, ("-98",)), (-9, ()), (-95, ()), (-1, ())):
        found = kinds(repeated(*incomes, code)).get("code")
        assert (found.values if found else ()) == codes
    found = kinds(repeated(*incomes, -99, -77))["code"]
    assert found.what == "has -99 and -77 in 20 rows and no other number below 0, as codes for missing cells are"
    assert kinds(repeated(*incomes, -99, -5)) == {}
    assert kinds(repeated(*incomes[:9], -99)) == {}  # too few others
    monkeypatch.setattr("latree.table.summary.MAX_NUMBERS", 20)  # others are counted together
    assert kinds([*range(1000), -99])["code"].values == ("-99",)


def test_a_mark_among_numbers_that_all_differ():
    for rows in (100, 3000):  # more than are looked at where columns are texts
        found = kinds([*map(str, range(10, 10 + rows)), "n.a."])
        assert [*found] == ["mark"]
        assert found["mark"].values == ("n.a.",)


def test_marks_among_numbers():
    assert kinds(repeated("0", "1", "?"))["mark"].values == ("?",)
    assert kinds(repeated(*map(str, range(9)), "none", "refused", "other"))["mark"].values == (
        "none",
        "other",
        "refused",
    )
    assert kinds(repeated(*map(str, range(8)), "none", "refused", "other")) == {}
    assert kinds(repeated("0", "?")) == {}
    assert kinds(repeated(*map(str, range(30)), "?", "-", "*", "!")) == {}
    assert kinds(repeated("0", "1", "?"), missing_also="?") == {}
    assert kinds(repeated("1,5", "2,25", "3"))["decimal comma"].option is None


def test_sentences_name_all_columns_of_a_kind_and_what_to_type():
    found = [
        Finding("a", "constant", "is constant (every cell is '1')", "left out", None),
        Finding("id", "identifier", "has a different value in every row, as an identifier has", option="identifier"),
        Finding("none", "empty", "has no value at all (every cell is missing)", "left out", None),
        Finding("x, y", "identifier", "has a different value in every row, as an identifier has"),
    ]
    assert sentences(found) == [
        "2 columns that say nothing are left out: 'a' (every cell is '1'), 'none' (no value).",
        "Each of 2 columns ('id', 'x, y') has a different value in every row, as an identifier has. Use "
        "identifier='id' to name rows by it, or drop=['id', 'x, y'] to leave identifiers out.",
    ]
    assert advice(found) == "identifier='id', drop=['x, y']"
    with as_in_shell():
        assert advice(found) == "--id id --drop '\"x, y\"'"
    many = [Finding(f"c{i}", "constant", "is constant (every cell is '1')", "left out", None) for i in range(25)]
    assert "'c18', 'c19' (every cell is '1') and 5 more columns." in sentences(many)[0]
    assert "'c20'" not in sentences(many)[0]


def test_one_sentence_tells_all_columns_with_the_same_code():
    rows = [-99] * 16 + [1, 2, 3] * 20
    frame = pd.DataFrame({f"sleep{i}": rows[i:] + [1] * i for i in range(8)} | {"age": [999, 20, 30, 40] * 19})
    told = [text for text in sentences(as_table(frame).findings) if "99" in text]
    assert told == [
        "8 columns have -99 in 9 to 16 rows ('sleep0', 'sleep1', 'sleep2', 'sleep3', 'sleep4', 'sleep5', ...), unlike "
        "their other values, as codes for missing cells are; 'age' has 999 in 19 rows, far from its other values "
        "(20 to 40), as codes for missing cells are. To make such cells missing, use missing_also=[-99, 999]."
    ]
    frame = pd.DataFrame({"a": rows, "b": rows})
    assert "2 columns have -99 in 16 rows ('a', 'b'), unlike" in sentences(as_table(frame).findings)[0]


@pytest.mark.parametrize(
    ("weights", "problem"),
    [
        (np.arange(30) % 4, None),
        (np.arange(30) / 7, "The weights of rows are not whole numbers, and count as rows: 30 rows count as 62.1429."),
        (np.full(30, 10), "The weights of rows are large, and count as rows: 30 rows count as 300."),
    ],
)
def test_weights_that_do_not_look_like_counts_are_doubted_unless_somebody_says_what_they_are(weights, problem):
    data = pd.DataFrame({"a": np.arange(30) % 2, "b": np.arange(30) % 3, "w": weights})
    for given in ("w", weights):
        found = sentences(as_table(data, drop=[] if given is not weights else ["w"], weights=given).findings)
        assert found == sentences(check(data, drop=[] if given is not weights else ["w"], weights=given).findings)
        assert len(found) == (problem is not None)
        if problem:
            assert found[0].startswith(
                f"{problem} Use weights_are='survey' if a weight says how many people a row stands"
            )
            assert "or weights_are='counts' if it is a number of equal rows" in found[0]
    assert as_table(data, weights="w", weights_are="survey").findings == ()
    said = sentences(as_table(data, weights="w", weights_are="counts").findings)
    assert said == ([] if problem is None or "large" in problem else found)  # fractions of a row are no counts


def test_nothing_is_said_twenty_times():
    rng = np.random.default_rng(0)
    marked = pd.DataFrame({f"q{i}": rng.choice(["1", "2", "3", "?"], 200) for i in range(20)})
    (told,) = sentences(as_table(marked).findings)
    assert told == (
        "Each of 20 columns ('q0', 'q1', 'q2', 'q3', 'q4', 'q5', ...) holds numbers, but for '?', so that all are "
        "taken for names. To make such cells missing, use missing_also=['?']."
    )
    days = pd.DataFrame({f"d{i}": [f"20{10 + i}/01/{1 + row % 28:02}" for row in range(200)] for i in range(20)})
    (told,) = sentences(as_table(days).findings)
    assert told.count("holds dates") == 3
    assert "; 17 more columns ('d3', 'd4', 'd5', 'd6', 'd7', 'd8', ...) are alike. To leave dates out" in told
    (told,) = sentences(as_table(days[["d0", "d1", "d2", "d3"]]).findings)
    assert "; 1 more column ('d3') is alike." in told


def test_codes_are_found_beside_marks_at_once():
    found = kinds(repeated("1", "2", "3", "-99", "?"))
    assert (found["mark"].values, found["code"].values) == (("?",), ("-99",))
    assert kinds(repeated("1", "2", "3", "-99", "?"), missing_also=["?", -99]) == {}
    assert kinds(repeated("a", "b", "c", "-99")) == {}  # no numbers
