"""What readers of alignments say about a line."""

from pathlib import Path

from latree.errors import InputError
from latree.table.taxa import Characters, Taxon, bad_line


def test_a_bad_line_is_named_with_its_file_and_remedy():
    error = bad_line(Path("a.phy"), 3, "no sites", "add some")
    assert isinstance(error, InputError)
    assert str(error) == "a.phy: line 3: no sites: add some"


def test_the_kind_of_characters_is_not_known_by_default():
    assert Characters([Taxon("Pan", 1, "ACGT")]).datatype is None
