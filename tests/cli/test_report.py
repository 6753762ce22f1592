"""The command report."""

from pathlib import Path

import pytest

from helpers.cli import succeed
from helpers.csv import table, with_cell

pytestmark = pytest.mark.usefixtures("folder")


@pytest.mark.parametrize("options", ["", "--weights w --method nj --drop c --bins 3 --states 2"])
def test_a_report_can_be_made_again(options):
    holes = with_cell("colour", "", range(5)).splitlines()
    Path("more.csv").write_text("\n".join(f"{line},{'w' if i == 0 else i % 3}" for i, line in enumerate(holes)))
    succeed("fit", "more.csv", "--out", "run", *options.split())
    assert succeed("report", "run/model.json", "more.csv", "--out", "again.html") == ""
    assert Path("again.html").read_bytes() == Path("run/report.html").read_bytes()
    succeed("report", "run/model.json", "--out", "bare.html")
    page = Path("bare.html").read_text()
    assert "Without the data" in page
    assert ("From column" in page) == bool(options)
    Path("labels.csv").write_text("column,label\na,letters\nb,letters\nsize,others\n")
    more = ("--labels", "labels.csv", "--test", "more.csv", "--rows", 3)
    succeed("report", "run/model.json", "more.csv", "--out", "more.html", *more)
    page = Path("more.html").read_text()
    assert all(text in page for text in ("letters", "60 other rows", "The strangest"))


def test_a_report_tells_neither_folders_nor_times(tmp_path):
    Path("deep").mkdir()
    Path("deep/data.csv").write_text(table())
    for folder in ("one", "two"):
        succeed("fit", Path("deep/data.csv").absolute(), "--out", folder, "--states", 2)
    assert Path("one/report.html").read_bytes() == Path("two/report.html").read_bytes()
    assert str(tmp_path) not in Path("one/report.html").read_text()
