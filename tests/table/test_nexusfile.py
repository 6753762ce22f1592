"""NEXUS files, with DendroPy as the judge."""

import dendropy
import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from helpers.damage import count_refused
from helpers.tables import assert_error, raw_cells, write_file
from latree.table import as_table

SEQUENTIAL = """#NEXUS
[ a comment [ in a comment ] with ; and ' ]
begin taxa;
  dimensions ntax=3;
  taxlabels 'Homo sapiens' Pan Gor_illa;
end;
Begin Characters;
  Title 'a matrix';
  Dimensions NTax=3 nchar = 8;
  Format Datatype=DNA Missing=? Gap=~ MatchChar=.;
  Matrix
    'Homo sapiens' ACGT [here] ~?
      {AC}(GT)
    Pan  A..A .... Gor_illa
      ACGTNRYA ;
end;
begin trees; tree one = (a,b); end;
"""
INTERLEAVED = """#nexus
BEGIN DATA;
DIMENSIONS NTAX=3 NCHAR=6;
FORMAT DATATYPE=STANDARD SYMBOLS="01" MISSING=? GAP=- INTERLEAVE;
MATRIX
old  010
new  0{01}1
'it''s'  ?-1

old  111
new  000
'it''s'  101
;
END;
"""


def test_a_sequential_matrix(tmp_path):
    table = as_table(write_file(tmp_path / "primates.nex", SEQUENTIAL))
    assert table.decode() == {
        "Homo sapiens": [*"ACGT", None, None, None, None],
        "Pan": [*"ACGA", None, None, None, None],
        "Gor_illa": [*"ACGT", None, None, None, "A"],
    }


def test_an_interleaved_matrix_of_cognates(tmp_path):
    table = as_table(write_file(tmp_path / "words.nexus", INTERLEAVED))
    assert table.decode() == {"old": [0, 1, 0, 1, 1, 1], "new": [0, None, 1, 0, 0, 0], "it's": [None, None, 1, 1, 0, 1]}
    assert all(column.ordered for column in table.columns)


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.integers(2, 6), st.integers(1, 40), st.integers(0, 2**32), st.sampled_from(["dna", "standard", "protein"]))
def test_dendropy_writes_and_reads_the_same(tmp_path, n_taxa, n_sites, seed, kind):
    rng = np.random.default_rng(seed)
    known, others = {"dna": ("ACGT", "-?NR"), "standard": ("01", "-?"), "protein": ("ARNDE", "-?XB")}[kind]
    letters = {f"taxon {j}'s": "".join(rng.choice(list(known * 3 + others), n_sites)) for j in range(n_taxa)}
    matrices = {
        "dna": dendropy.DnaCharacterMatrix,
        "standard": dendropy.StandardCharacterMatrix,
        "protein": dendropy.ProteinCharacterMatrix,
    }
    path = tmp_path / "written.nex"
    matrices[kind].from_dict(letters).write(path=str(path), schema="nexus")
    judged = matrices[kind].get(path=str(path), schema="nexus", preserve_underscores=True)
    read = raw_cells(path)
    assert list(read) == list(letters)
    for taxon in judged:
        symbols = judged[taxon].symbols_as_string()
        expected = [letter if letter in known else None for letter in symbols]
        assert read[taxon.label] == expected


def matrix(text, dimensions="dimensions nchar=4;", form="format datatype=dna;"):
    return f"#NEXUS\nbegin data;\n{dimensions}\n{form}\nmatrix\n{text};\nend;\n"


@pytest.mark.parametrize(
    ("content", "fragments"),
    [
        ("", ["line 1", "#NEXUS"]),
        ("#NEXUS\nbegin trees;\ntree a = (b,c);\nend;\n", ["no matrix"]),
        ("#NEXUS\n[never", ["line 2", "a comment that never ends", "]"]),
        (matrix("one ACGT\ntwo ACG\n"), ["line 7", "'two' has 3 of 4 sites", "NCHAR"]),
        (matrix("one ACGT\ntwo AC1T\n"), ["line 7", "'1' at site 3 of 'two' is not a nucleotide"]),
        (matrix("one ACGTA\n"), ["line 6", "'A' has 0 of 4 sites"]),
        (matrix("one ACGT\none ACGT\n"), ["'one' appears twice"]),
        (matrix("one ACGT\n", ""), ["line 5", "number of sites is not known"]),
        (matrix("one ACGT\n", "dimensions ntax=2 nchar=4;"), ["1 taxa where NTAX is 2"]),
        (matrix("one ACGT\n", form="format datatype=continuous;"), ["type 'continuous'", "dna"]),
        (matrix("one ACGT\n", form="format datatype=dna transpose;"), ["TRANSPOSE"]),
        (matrix("= ACGT\n"), ["line 6", "'=' where the name of a taxon should stand"]),
        (matrix(""), ["no sequences"]),
    ],
)
def test_what_is_wrong_is_said_with_its_line(tmp_path, content, fragments):
    assert_error(write_file(tmp_path / "a.nex", content), *fragments)


@pytest.mark.parametrize("content", [SEQUENTIAL, INTERLEAVED])
def test_damaged_files_are_read_or_refused_in_one_line(tmp_path, content):
    assert count_refused(tmp_path / "damaged.nex", content.encode(), 200) > 40


@pytest.mark.parametrize("hostile", ["'" * 100_001, "(" * 100_000, "a" * 100_000, "a;" * 100_000, "[]" * 100_000])
def test_hostile_texts_take_no_long_time(tmp_path, hostile):
    assert_error(write_file(tmp_path / "a.nex", matrix(hostile)))
