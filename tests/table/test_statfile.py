"""Files of SPSS and Stata: labels, missing values, descriptions and weights; scores that are written back."""

import csv
import json
import sys
from datetime import date, datetime
from pathlib import Path

import numpy as np
import pandas as pd
import pyreadstat
import pytest
from click.testing import CliRunner

from helpers.damage import count_refused
from helpers.tables import assert_error
from latree.__main__ import commands
from latree.errors import InputError
from latree.table import as_table
from latree.table.formats.stat import _number, sav_names

ANSWERS = {1: "no", 2: "maybe", 3: "yes", 9: "refused"}
FRAME = pd.DataFrame(
    {
        "a": [3.0, 2, 9, np.nan, 1, 2],
        "ends": [1.0, 2, 3, 4, 5, 5],
        "age": [18.0, 99, 30, 30, 40, 98],
        "size": [1.5, 2.5, 3.5, np.nan, 4, 1],
        "sex": ["m", "f", "", "x", "m", "f"],
        "twice": [1.0, 2, 3, 1, 2, 3],
        "day": [pd.Timestamp(2020, 1, day).date() for day in (1, 2, 3, 1, 2, 3)],
        "w": [1.0, 2, 1, 1, 2, 1],
    }
)
DETAILS = {
    "column_labels": {"a": "Do you\nlike  it?", "w": "weight"},
    "variable_value_labels": {
        "a": ANSWERS,
        "ends": {1: "never", 5: "always"},
        "age": {98: "do not know", 99: "refused"},
        "sex": {"m": "male", "f": "female"},
        "twice": {1: "same", 2: "same", 3: " "},
    },
}
SPSS_ONLY = {
    "missing_ranges": {"a": [9], "age": [{"lo": 98, "hi": 99}]},
    "variable_measure": {"a": "nominal", "ends": "ordinal", "age": "scale", "size": "scale"},
}


def write_sav(path, frame=FRAME, **details):
    pyreadstat.write_sav(frame, path, compress=path.suffix == ".zsav", **(details or DETAILS | SPSS_ONLY))
    return path


def column(table, name):
    (found,) = (column for column in table.columns if column.name == name)
    return found


@pytest.mark.parametrize("ending", [".sav", ".zsav"])
def test_labels_are_categories_in_the_order_of_their_values(tmp_path, ending):
    table = as_table(write_sav(tmp_path / f"survey{ending}"), bins=0, weights="w")
    values = table.decode()
    assert values["a"] == ["yes", "maybe", None, None, "no", "maybe"]  # 9 is declared missing
    assert (column(table, "a").categories, column(table, "a").ordered) == (("no", "maybe", "yes"), True)
    assert column(table, "ends").categories == ("never", "2", "3", "4", "always")
    assert column(table, "ends").ordered
    assert values["age"] == [18, None, 30, 30, 40, None]  # only its missing values have labels
    assert values["size"] == [1.5, 2.5, 3.5, None, 4.0, 1.0]
    assert values["sex"] == ["male", "female", None, "x", "male", "female"]
    assert not column(table, "sex").ordered
    assert column(table, "twice").categories == ("same (1)", "same (2)", "3")
    assert values["day"][0] == "2020-01-01"
    assert table.total_weight == 8
    assert column(table, "a").description == "Do you like it?"
    assert column(table, "size").description == ""


def test_fractions_without_a_label_stand_between_values_that_have_one(tmp_path):
    frame = FRAME.assign(ends=[5.0, np.nan, 2.5, 1, np.nan, 1.25])
    path = write_sav(tmp_path / "survey.sav", frame, variable_value_labels=DETAILS["variable_value_labels"])
    assert column(as_table(path, bins=0), "ends").categories == ("never", "1.25", "2.5", "always")


def test_very_many_labels(tmp_path):
    """As of a list of all places or diagnoses, of which few occur; work that grows with their square would not end."""
    labels = {"ends": {place: f"place {place}" for place in range(100_000)}}
    path = write_sav(tmp_path / "places.sav", variable_value_labels=labels, variable_measure={"ends": "nominal"})
    assert column(as_table(path, bins=0), "ends").categories == tuple(f"place {place}" for place in range(1, 6))


@pytest.mark.parametrize("ending", [".sav", ".dta"])
def test_columns_that_were_learned_from_codes_read_labels(tmp_path, ending):
    codes = pd.DataFrame({"a": [3.0, 2, np.nan, np.nan, 1, 2], "ends": [1.0, 2, 3, 4, 5, 5], "two": [0, 1, 1, 0, 1, 0]})
    labels = {"a": {1: "no", 2: "maybe", 3: "yes"}, "ends": {1: "never", 5: "always"}, "two": {0: "man", 1: "woman"}}
    path = tmp_path / f"labels{ending}"
    if ending == ".sav":
        pyreadstat.write_sav(codes, path, variable_value_labels=labels)
    else:
        pyreadstat.write_dta(codes, path, variable_value_labels=labels)
    assert as_table(path).columns[0].categories == ("no", "maybe", "yes")
    for known in (as_table(codes), as_table(codes, kinds={"ends": "number"}, bins=3), as_table(codes[["two"]] == 1)):
        again = as_table(path, columns=known.columns)
        assert np.array_equal(again.codes(), as_table(codes, columns=known.columns).codes())
    # A column that was learned from labels wants labels.
    with pytest.raises(InputError, match="was never seen in the fit"):
        as_table(codes, columns=as_table(path).columns)


def test_a_scale_is_numbers_also_with_labels(tmp_path):
    details = {"variable_value_labels": {"ends": {1: "never", 5: "always"}}}
    measures = {"scale": "integer", "ordinal": "text", "unknown": "text"}
    for measure, kind in measures.items():
        path = write_sav(tmp_path / f"{measure}.sav", **details, variable_measure={"ends": measure})
        assert column(as_table(path, bins=0), "ends").kind == kind
    alone = write_sav(tmp_path / "alone.sav", variable_value_labels={"ends": {1: "never"}})
    assert column(as_table(alone, bins=0), "ends").kind == "integer"


def test_stata_files(tmp_path):
    path = tmp_path / "survey.dta"
    pyreadstat.write_dta(FRAME, path, column_labels=DETAILS["column_labels"], variable_value_labels={"a": ANSWERS})
    table = as_table(path, bins=0)
    assert table.decode()["a"] == ["yes", "maybe", "refused", None, "no", "maybe"]
    assert column(table, "a").categories == ("no", "maybe", "yes", "refused")
    assert column(table, "a").description == "Do you like it?"
    tagged = tmp_path / "tagged.dta"
    frame = pd.DataFrame({"q": pd.Series([1, 2, "a", 2], dtype=object), "r": [1, 2, 1, 2]})
    pyreadstat.write_dta(
        frame,
        tagged,
        missing_user_values={"q": ["a"]},
        variable_value_labels={"q": {1: "no", 2: "yes", "a": "refused"}},
    )
    assert as_table(tagged).decode()["q"] == ["no", "yes", None, "yes"]


def test_new_rows_with_other_values_are_encoded_alike(tmp_path):
    table = as_table(write_sav(tmp_path / "survey.sav"), bins=0)
    other = FRAME.assign(a=[1.0, 7, 2, 3, 9, np.nan])
    path = write_sav(tmp_path / "other.sav", other)
    assert_error(path, "column 'a'", "'7' was never seen", columns=table.columns)
    assert as_table(path, columns=table.columns, unseen="missing").decode()["a"] == [
        "no",
        None,
        "maybe",
        "yes",
        None,
        None,
    ]
    # A CSV file with the labels as texts is read in the same way.
    as_text = tmp_path / "labels.csv"
    as_text.write_text("a\nmaybe\nno\n")
    assert as_table(as_text, columns=[column(table, "a")]).codes().tolist() == [[1], [0]]


def survey(tmp_path, n_rows=300):
    rng = np.random.default_rng(0)
    hidden = rng.integers(0, 2, n_rows)
    items = {f"q{j}": 1 + hidden + (rng.random(n_rows) < 0.15) * 1.0 for j in range(5)}
    frame = pd.DataFrame(
        {"person": [f"p{i}" for i in range(n_rows)], **items, "weight": rng.integers(1, 3, n_rows) * 1.0}
    )
    labels = {name: {1: "no", 2: "maybe", 3: "yes"} for name in items}
    questions = {name: f"Question {name}" for name in list(items)[:4]}
    return write_sav(tmp_path / "survey.sav", frame, variable_value_labels=labels, column_labels=questions)


def run(*arguments):
    result = CliRunner().invoke(commands, [str(argument) for argument in arguments])
    assert result.exit_code == 0, result.output or result.exception
    return result.output


def test_a_survey_from_spss_and_back(tmp_path):
    data, folder = survey(tmp_path), tmp_path / "run"
    run("fit", data, "--drop", "person", "--weights", "weight", "--method", "lcm", "--out", folder, "--quiet")
    model = json.loads((folder / "model.json").read_text())
    assert [c.get("description") for c in model["columns"]] == [*(f"Question q{j}" for j in range(4)), None]
    lines = list(csv.reader((folder / "groups.csv").read_text().splitlines()))
    assert lines[0][-1] == "description"
    assert {line[0]: line[-1] for line in lines[1:]}["q2"] == "Question q2"
    run("transform", folder, data, "--id", "person", "--out", tmp_path / "scores.csv", "--quiet")
    run("transform", folder, data, "--id", "person", "--out", tmp_path / "scores.sav", "--quiet")
    expected = list(csv.reader((tmp_path / "scores.csv").read_text().splitlines()))
    cells, facts = pyreadstat.read_sav(tmp_path / "scores.sav", apply_value_formats=True)
    assert facts.column_labels == expected[0]
    for (name, values), given in zip(cells.items(), zip(*expected[1:], strict=True), strict=True):
        assert [x if isinstance(x, str) else f"{x:.4f}" for x in values] == list(given), name
    assert facts.column_names[0] == "person"
    assert {name.rsplit("_", 1)[-1] for name in facts.column_names[2:5]} == {"se", "state", "p"}
    again = CliRunner().invoke(commands, ["transform", str(folder), str(data), "--out", str(tmp_path / "scores.sav")])
    assert isinstance(again.exception, InputError)
    assert "already exists" in str(again.exception)


@pytest.mark.parametrize(
    ("person", "kind", "expected"),
    [
        ([float(10_001 + i) for i in range(60)], "F10.0", 10_001),
        ([i + 0.5 for i in range(60)], "F10.4", 0.5),
        ([f"{i:03}" for i in range(60)], "A3", "000"),
        ([f"9007199254740993{i:02}" for i in range(60)], "A18", "900719925474099300"),
    ],
)
def test_numbers_that_name_rows_stay_numbers(tmp_path, person, kind, expected):
    data = write_sav(tmp_path / "survey.sav", pd.DataFrame({c: [1.0, 2, 1] * 20 for c in "abcd"} | {"person": person}))
    run("fit", data, "--id", "person", "--method", "lcm", "--states", 2, "--out", tmp_path / "run", "--quiet")
    run("transform", tmp_path / "run", data, "--out", tmp_path / "scores.sav", "--quiet")
    cells, facts = pyreadstat.read_sav(tmp_path / "scores.sav")
    assert cells["person"][0] == expected
    assert facts.original_variable_types["person"] == kind
    assert list(facts.original_variable_types.values())[1:] == ["F10.4", "F10.4", "F10.0", "F10.4", "F10.4"]


def test_names_of_variables():
    names = ["A1, A2 +3", "a1 a2 3", "123", "", "with", "é", "x" * 80, "X" * 80, "log-likelihood"]
    found = sav_names(names)
    assert found[:6] == ["A1_A2_3", "a1_a2_3_2", "v_123", "v_", "v_with", "v__2"]
    assert (found[6], found[7], found[8]) == ("x" * 64, "X" * 62 + "_2", "log_likelihood")


def test_without_pyreadstat_one_line_says_what_to_install(tmp_path, monkeypatch):
    path = write_sav(tmp_path / "survey.sav")
    monkeypatch.setitem(sys.modules, "pyreadstat", None)
    assert_error(path, "SPSS and Stata files need pyreadstat: pip install pyreadstat")


@pytest.mark.parametrize("ending", [".sav", ".zsav", ".dta"])
def test_damaged_files_are_read_or_refused_in_one_line(tmp_path, ending):
    path = tmp_path / f"survey{ending}"
    assert_error(path, "no such file")
    small = FRAME[["a", "ends", "sex"]]
    if ending == ".dta":
        pyreadstat.write_dta(small, path, variable_value_labels={"a": ANSWERS})
    else:
        write_sav(path, small)
    assert count_refused(tmp_path / f"damaged{ending}", path.read_bytes(), 40, bins=0) > 5


def test_impute_writes_a_file_like_the_one_it_reads(tmp_path):
    rng = np.random.default_rng(0)
    hidden = rng.integers(0, 2, 200)
    answers = {f"q{i}": np.where(rng.random(200) < 0.8, hidden + 1, rng.integers(1, 4, 200)) * 1.0 for i in range(5)}
    frame = pd.DataFrame(answers).assign(
        size=np.round(hidden + rng.random(200), 3), sex=np.where(hidden, "m", "f"), note=[np.nan, *range(199)]
    )
    frame["day"] = [pd.Timestamp(2020, 1, 1 + number % 30).date() for number in range(200)]
    frame.loc[3, "q0"], frame.loc[4, "q0"], frame.loc[5, "size"], frame.loc[6, "sex"] = np.nan, 9.0, np.nan, ""
    frame.loc[7, "q1"] = -99.0
    details = {
        "variable_value_labels": {f"q{i}": ANSWERS for i in range(5)} | {"sex": {"m": "male", "f": "female"}},
        "column_labels": {"q0": "Do you like it?"},
        "missing_ranges": {"q0": [9], "note": [7]},
        "variable_measure": {"q0": "ordinal", "size": "scale"},
    }
    path = write_sav(tmp_path / "holes.sav", frame, **details)
    fit = ["fit", str(path), "--out", str(tmp_path / "run"), "--drop", "note,day", "--missing-also", "-99", "--quiet"]
    assert CliRunner().invoke(commands, fit).exit_code == 0
    out = tmp_path / "filled.sav"
    result = CliRunner().invoke(commands, ["impute", str(tmp_path / "run"), str(path), "--out", str(out)])
    assert result.exit_code == 0, result.output
    assert "5 cells filled" in result.output
    filled, facts = pyreadstat.read_sav(out, user_missing=True)
    given, expected = pyreadstat.read_sav(path, user_missing=True)
    for name in ("column_names_to_labels", "variable_value_labels", "missing_ranges", "variable_measure"):
        assert getattr(facts, name) == getattr(expected, name)
    assert facts.original_variable_types == expected.original_variable_types
    changed = {(3, "q0"), (4, "q0"), (5, "size"), (6, "sex"), (7, "q1")}
    for name in given:
        for row in range(200):
            old, new = given[name][row], filled[name][row]
            if (row, name) in changed:
                if name == "size":
                    assert frame["size"].min() <= new <= frame["size"].max()
                else:
                    assert new in ({"m", "f"} if name == "sex" else {1.0, 2.0, 3.0})
            else:
                assert new == old or (np.isnan(new) and np.isnan(old))
    for options, message in (
        (["--draws", "2"], "are written as CSV"),
        (["--format", "csv"], "a .sav file is written if DATA is one"),
    ):
        bad = ["impute", str(tmp_path / "run"), str(path), "--out", str(tmp_path / "b.sav"), *options]
        result = CliRunner().invoke(commands, bad)
        assert result.exit_code
        assert message in str(result.exception) + result.output


@pytest.mark.parametrize("labels", [{1: "0", 2: "1", 3: "2"}, {1: "0.0", 2: "1", 3: "2"}])
def test_a_value_without_a_label_is_not_the_label_of_another(tmp_path, labels):
    frame = pd.DataFrame({"kids": [0.0, 1, 1, 2, 2, 2, 3, 3, 3, 3, np.nan], "sex": ["m", "f", "male"] * 3 + ["m", "f"]})
    values = {"kids": labels, "sex": {"m": "male", "f": "female"}}
    path = write_sav(tmp_path / "a.sav", frame, variable_value_labels=values, variable_measure={"kids": "ordinal"})
    table = as_table(path)
    assert column(table, "kids").categories == ("0 (0)", labels[1], "1", "2")
    assert np.bincount(table.codes()[:10, 0]).tolist() == [1, 2, 3, 4]
    assert column(table, "sex").categories == ("female", "male", "male (male)")
    without = write_sav(tmp_path / "b.sav", frame[1:], variable_value_labels=values)
    assert column(as_table(without), "kids").categories == ("0", "1", "2")


def test_dates_that_have_labels(tmp_path):
    days = [13_800_000_000.0 + 86_400 * (i % 3) for i in range(10)]
    frame = pd.DataFrame({"day": [0.0, 1.0, np.nan, *days], "a": [1.0, 2] * 6 + [1.0]})
    labels = {"day": {0: "unknown", 1: "refused"}}
    path = write_sav(tmp_path / "a.sav", frame, variable_value_labels=labels, variable_format={"day": "DATE11"})
    table = as_table(path)
    assert column(table, "day").categories == ("2020-02-02", "2020-02-03", "2020-02-04", "refused", "unknown")
    assert not column(table, "day").ordered
    assert table.decode()["day"][:4] == ["unknown", "refused", None, "2020-02-02"]


def test_missing_dates_are_filled(tmp_path):
    rng = np.random.default_rng(0)
    hidden = rng.integers(0, 2, 200)
    frame = pd.DataFrame({f"q{i}": np.where(rng.random(200) < 0.9, hidden, 1 - hidden) * 1.0 for i in range(4)})
    holes = rng.random((2, 200)) < 0.1
    frame["day"] = [None if hole else date(2020, 1, 1 + 2 * x) for x, hole in zip(hidden, holes[0], strict=True)]
    frame["then"] = [None if hole else datetime(2020, 1, 1, 5 * x) for x, hole in zip(hidden, holes[1], strict=True)]
    path = write_sav(tmp_path / "a.sav", frame, variable_value_labels={"q0": {0: "no", 1: "yes"}})
    run("fit", path, "--method", "lcm", "--states", 2, "--out", tmp_path / "run", "--quiet")
    run("impute", tmp_path / "run", path, "--out", tmp_path / "filled.sav")
    given, expected = pyreadstat.read_sav(path)
    found, facts = pyreadstat.read_sav(tmp_path / "filled.sav")
    assert facts.original_variable_types == expected.original_variable_types
    for name, holes_of in zip(("day", "then"), holes, strict=True):
        assert found[name].notna().all()
        assert (found[name][~holes_of] == given[name][~holes_of]).all()
        assert found[name][holes_of].between(given[name].min(), given[name].max()).all()


def test_texts_of_dates_and_times_are_numbers_of_spss():
    assert _number("x", "1.5") == 1.5
    assert _number("x", "1582-10-15") == 86_400
    assert _number("x", "1582-10-14 00:01:00") == 60
    assert _number("x", "01:00:30") == 3630
    with pytest.raises(InputError, match=r"column 'x': 'soon' is neither a number nor a date"):
        _number("x", "soon")


def test_variables_without_a_name_are_refused(tmp_path):
    crash = Path(__file__).parents[2] / "fuzz" / "corpus" / "sav" / "crash-sav_102.sav"
    assert_error(crash, "a variable has no name: save the file again, or as CSV")
