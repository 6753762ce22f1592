"""Files that say which group each column belongs to."""

from helpers.strategies import names_of
from latree.table.labels import read_labels

LABELS = "column,group,more\nx0,<b>one</b>,1\n\n x1 , two,2\nx2,,3\n"


def test_labels_are_read(tmp_path):
    path = tmp_path / "labels.csv"
    path.write_text(LABELS)
    assert read_labels(path, names_of(12)) == {"x0": "<b>one</b>", "x1": "two"}
    assert read_labels(path, ["x1", "yy"]) == {"x1": "two"}
