"""FASTA and PHYLIP files, with scikit-bio as the judge."""

import gzip
import json

import numpy as np
import pytest
import skbio
from click.testing import CliRunner
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from helpers.damage import count_refused
from helpers.tables import assert_error, raw_cells, write_file
from latree.__main__ import commands
from latree.table import as_table

SITES = {"Homo": "ACGTACGT-N", "Pan": "ACGTRCGT?A", "Gorilla": "acgtuCGTAA", "Pongo": "AAGTACGTAA"}
FASTA = "".join(f">{name} a primate\n{sites[:4]}\n{sites[4:]}\n\n" for name, sites in SITES.items())
READ = {
    "Homo": [*"ACGTACGT", None, None],
    "Pan": [*"ACGT", None, *"CGT", None, "A"],
    "Gorilla": [*"ACGTTCGTAA"],
    "Pongo": [*"AAGTACGTAA"],
}


def phylip(layout, sites=SITES, width=4):
    names = {"strict": lambda name: f"{name[:10]:10}", "relaxed": lambda name: f"{name}  "}[layout.split()[1]]
    lines = [f" {len(sites)} {len(next(iter(sites.values())))}"]
    if layout.startswith("sequential"):
        for name, letters in sites.items():
            lines += [
                names(name) + letters[:width],
                *(letters[at : at + width] for at in range(width, len(letters), width)),
            ]
    else:
        for at in range(0, len(next(iter(sites.values()))), width):
            lines += [
                (names(name) if at == 0 else "") + letters[at : at + width] for name, letters in sites.items()
            ] + [""]
    return "\n".join(lines) + "\n"


LAYOUTS = ["sequential relaxed", "interleaved relaxed", "sequential strict", "interleaved strict"]


def test_taxa_are_columns_and_sites_are_rows(tmp_path):
    table = as_table(write_file(tmp_path / "primates.fasta", FASTA))
    assert table.decode() == READ
    assert table.columns[0].categories == tuple("ACGT")
    assert not table.columns[0].ordered
    (tmp_path / "primates.fa.gz").write_bytes(gzip.compress(FASTA.encode()))
    assert as_table(tmp_path / "primates.fa.gz").decode() == READ


@pytest.mark.parametrize("layout", LAYOUTS)
def test_phylip_in_every_layout(tmp_path, layout):
    assert as_table(write_file(tmp_path / "primates.phy", phylip(layout))).decode() == READ
    whole = write_file(tmp_path / "whole.phylip", phylip(layout, width=100))
    assert as_table(whole).decode() == READ


def test_names_of_ten_letters_may_touch_the_sites(tmp_path):
    sites = {"Homo sap..": "ACGT", "Pan trogl.": "ACGA", "Gorilla123": "ACGC"}
    path = write_file(tmp_path / "strict.phy", phylip("sequential strict", sites))
    assert list(as_table(path).decode()) == list(sites)
    judged = skbio.TabularMSA.read(str(path), format="phylip", constructor=skbio.DNA)
    assert [str(sequence) for sequence in judged] == ["".join(column) for column in as_table(path).decode().values()]


def test_a_dot_is_the_first_sequence_in_phylip_and_a_gap_in_fasta(tmp_path):
    assert raw_cells(write_file(tmp_path / "a.phy", "2 3\none ACG\ntwo .T.\n"))["two"] == ["A", "T", "G"]
    assert raw_cells(write_file(tmp_path / "a.fa", ">one\nACG\n>two\n.T.\n"))["two"] == [None, "T", None]


def test_kinds_of_characters(tmp_path):
    protein = as_table(write_file(tmp_path / "protein.faa", ">one\nMKNX-\n>two\nMRNBE\n"))
    assert protein.decode() == {"one": ["M", "K", "N", None, None], "two": ["M", "R", "N", None, "E"]}
    cognates = as_table(write_file(tmp_path / "words.phy", "3 4\nold 01?0\nnew 0110\nmid 1-01\n"))
    assert cognates.decode() == {"old": [0, 1, None, 0], "new": [0, 1, 1, 0], "mid": [1, None, 0, 1]}
    assert cognates.columns[0].ordered
    shapes = as_table(write_file(tmp_path / "shapes.phy", "2 4\nold 0129\nnew 01A0\n"))
    assert shapes.decode()["new"] == ["0", "1", "A", "0"]
    assert not shapes.columns[0].ordered


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.integers(2, 6), st.integers(1, 40), st.integers(0, 2**32), st.sampled_from(["fasta", "phylip"]))
def test_scikit_bio_reads_the_same(tmp_path, n_taxa, n_sites, seed, form):
    rng = np.random.default_rng(seed)
    letters = rng.choice(list("ACGTACGTACGT-NRY"), (n_taxa, n_sites))
    sequences = [skbio.DNA("".join(row), metadata={"id": f"t{j}"}) for j, row in enumerate(letters)]
    alignment = skbio.TabularMSA(sequences, minter="id")
    path = tmp_path / f"written.{form}"
    alignment.write(str(path), format=form)
    read = raw_cells(path)
    judged = skbio.TabularMSA.read(str(path), format=form, constructor=skbio.DNA)
    for (name, cells), sequence in zip(read.items(), judged, strict=True):
        known = [letter if letter in "ACGT" else None for letter in str(sequence)]
        assert cells == known, name
    assert list(read) == [f"t{j}" for j in range(n_taxa)]


@pytest.mark.parametrize(
    ("name", "content", "fragments"),
    [
        ("a.fasta", "", ["no sequences", "format fasta"]),
        ("a.fasta", "ACGT\n", ["line 1", "before the first name", ">name"]),
        ("a.fasta", ">\nACGT\n", ["line 1", "without a name"]),
        ("a.fasta", ">one\nACGT\n>two\nACG\n", ["line 3", "'two' has 3 sites, and 'one' has 4", "align"]),
        ("a.fasta", ">one\nACGT\n>one\nACGT\n", ["'one' appears twice"]),
        ("a.fasta", ">one\nACéT\n>two\nACGT\n", ["line 1", "'é' at site 3 of 'one'", "?"]),
        ("a.fasta", ">one\nAC€T\n>two\nACGT\n", ["line 1", "'€' at site 3 of 'one'"]),
        ("a.fasta", b">one\nA\xff\n", ["line 2", "not UTF-8"]),
        ("a.phy", "", ["line 1", "two numbers"]),
        ("a.phy", "2 x\n", ["line 1", "two numbers"]),
        ("a.phy", "0 3\n", ["line 1", "0 sequences"]),
        ("a.phy", "3 3\none ACG\n", ["line 1", "3 sequences, but 1 lines follow"]),
        ("a.phy", "2 4\none ACGT\n\ntwo ACG\n", ["line 4", "'two' has 3 of 4 sites"]),
        ("a.phy", "2 4\none ACGT\ntwo ACGA\nmore ACGT\n", ["line 4", "has 0 of 4 sites"]),
        ("a.phy", "2 999999999\none ACGT\ntwo ACGA\n", ["line 2", "of 999999999 sites"]),
    ],
)
def test_what_is_wrong_is_said_with_its_line(tmp_path, name, content, fragments):
    assert_error(write_file(tmp_path / name, content), *fragments)


@pytest.mark.parametrize("layout", ["fasta", *LAYOUTS])
def test_damaged_files_are_read_or_refused_in_one_line(tmp_path, layout):
    content = FASTA if layout == "fasta" else phylip(layout)
    path = tmp_path / ("damaged.fasta" if layout == "fasta" else "damaged.phy")
    assert count_refused(path, content.encode(), 200) > 60


def test_a_tree_of_taxa(tmp_path):
    rng = np.random.default_rng(0)
    ancestor = rng.integers(0, 4, 400)
    halves = [np.where(rng.random(400) < 0.3, rng.integers(0, 4, 400), ancestor) for _ in range(2)]
    taxa = {
        f"t{j}": "".join("ACGT"[x] for x in np.where(rng.random(400) < 0.1, rng.integers(0, 4, 400), halves[j // 3]))
        for j in range(6)
    }
    path = write_file(tmp_path / "taxa.txt", phylip("interleaved relaxed", taxa, 60))
    arguments = [
        "fit",
        path,
        "--format",
        "phylip",
        "--method",
        "nj",
        "--states",
        4,
        "--out",
        tmp_path / "run",
        "--quiet",
    ]
    result = CliRunner().invoke(commands, list(map(str, arguments)))
    assert result.exit_code == 0, result.output
    model = json.loads((tmp_path / "run" / "model.json").read_text())
    assert [column["name"] for column in model["columns"]] == list(taxa)
