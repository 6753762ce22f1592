"""The command ``latree report``."""

import json
from pathlib import Path

import numpy as np
import pytest

from helpers.cli import run, succeed

COLOURS = ("red", "green", "blue")


def rows(n_rows=60):
    """Return rows of five columns that depend on one hidden variable; the last column is numeric."""
    rng = np.random.default_rng(0)
    hidden, noise = (rng.integers(0, 3, (n_rows, n)) for n in (1, 5))
    codes = np.where(rng.random((n_rows, 5)) < 0.7, hidden, noise).tolist()
    return [[a, b, c, COLOURS[colour], size + i / 100] for i, (a, b, c, colour, size) in enumerate(codes)]


def csv_text(header, rows):
    return "".join(",".join(map(str, row)) + "\n" for row in [header, *rows])


@pytest.fixture(autouse=True)
def _folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)


@pytest.mark.parametrize("options", ["", "--weights w --method nj --drop c --bins 3 --states 2"])
def test_a_report_can_be_made_again(options):
    # The first five cells of the fourth column are missing.
    cells = [[*row[:3], "" if i < 5 else row[3], row[4], (i + 1) % 3] for i, row in enumerate(rows())]
    Path("more.csv").write_text(csv_text(["a", "b", "c", "colour", "size", "w"], cells))
    succeed("fit", "more.csv", "--out", "run", *options.split())
    assert succeed("report", "run/model.json", "more.csv", "--out", "again.html") == "Written to again.html\n"
    assert Path("again.html").read_bytes() == Path("run/report.html").read_bytes()
    succeed("report", "run/model.json", "--out", "bare.html")
    page = Path("bare.html").read_text()
    # The figures on new rows are in the model's file.
    assert json.loads(Path("run/summary.json").read_text())["worth"]["headline"] in page
    meaning = "survey weights of column &#39;w&#39; are scaled to the effective number of rows (Kish): 60 rows count as"
    assert (meaning in page) == bool(options)
    Path("labels.csv").write_text("column,label\na,letters\nb,letters\nsize,others\n")
    more = ("--labels", "labels.csv", "--test", "more.csv", "--rows", 3)
    succeed("report", "run/model.json", "more.csv", "--out", "more.html", *more)
    page = Path("more.html").read_text()
    assert all(text in page for text in ("letters", "60 test rows", "The most unusual rows"))


def test_rows_are_called_by_the_users_names():
    named = [[f"person {i}", *row] for i, row in enumerate(rows())]
    Path("named.csv").write_text(csv_text(["who", "a", "b", "c", "colour", "size"], named))
    succeed("fit", "named.csv", "--out", "run", "--id", "who", "--states", 2)
    page = Path("run/report.html").read_text()
    assert "person 0" in page
    assert "--id who" in page  # in the command
    succeed("report", "run", "named.csv", "--id", "who", "--out", "again.html")
    assert Path("again.html").read_text() == page
    code, _, error = run("report", "run", "named.csv", "--id", "whom", "--out", "other.html")
    assert code == 2
    assert "'whom'" in error
    code, _, error = run("report", "run", "--id", "who", "--out", "other.html")
    assert code == 2
    assert "--id needs the data" in error


def test_a_report_contains_neither_folders_nor_times(tmp_path):
    Path("deep").mkdir()
    Path("deep/data.csv").write_text(csv_text(["a", "b", "c", "colour", "size"], rows()))
    for folder in ("one", "two"):
        succeed("fit", Path("deep/data.csv").absolute(), "--out", folder, "--states", 2)
    assert Path("one/report.html").read_bytes() == Path("two/report.html").read_bytes()
    assert str(tmp_path) not in Path("one/report.html").read_text()
