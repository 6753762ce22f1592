"""Files of sparse matrices, whole and damaged, from Python and from the command line."""

import gzip
import json

import numpy as np
import pytest
from click.testing import CliRunner
from scipy import io, sparse

from helpers.damage import count_refused
from helpers.tables import assert_error
from latree.__main__ import commands
from latree.table import as_table

RNG = np.random.default_rng(0)
DENSE = RNG.poisson(0.4, (300, 6)) * (RNG.random((300, 1)) < 0.7)


def write(path, matrix=DENSE):
    if path.suffix == ".npz":
        sparse.save_npz(path, sparse.csr_array(matrix))
    else:
        io.mmwrite(path, sparse.coo_array(matrix))
    return path


@pytest.mark.parametrize("ending", [".npz", ".mtx"])
def test_files_are_read_like_the_matrix(tmp_path, ending):
    path = write(tmp_path / f"words{ending}")
    names = list("abcdef")
    assert as_table(path, names=names).fingerprint() == as_table(DENSE != 0, names=names).fingerprint()
    assert as_table(path, counts=True).fingerprint() == as_table(DENSE).fingerprint()
    moved = path.rename(tmp_path / "words.data")
    assert as_table(moved, format=ending[1:]).fingerprint() == as_table(DENSE != 0).fingerprint()
    assert_error(moved, "unknown kind of file", "name its format with format")
    assert_error(moved, "not a", format="mtx" if ending == ".npz" else "npz")


@pytest.mark.parametrize("ending", [".npz", ".mtx"])
def test_commands_take_files_of_matrices(tmp_path, ending):
    path = write(tmp_path / f"words{ending}")
    (tmp_path / "names.txt").write_text("one\ntwo\nthree\nfour\nfive\nsix\n")
    run = tmp_path / "run"

    def latree(*arguments):
        result = CliRunner().invoke(commands, [str(argument) for argument in arguments])
        assert result.exit_code == 0, result.output
        return result.output

    names = tmp_path / "names.txt"
    latree("fit", path, "--names", names, "--counts", "--method", "clrg", "--out", run, "--quiet")
    model = json.loads((run / "model.json").read_text())
    assert [column["name"] for column in model["columns"]] == names.read_text().split()
    assert "--names names.txt --counts" in model["fit"]["command"]
    scored = json.loads(latree("score", run, path, "--json"))
    assert scored["rows"] == 300
    moved = path.rename(tmp_path / "words.data")
    latree("transform", run, moved, "--format", ending[1:], "--out", tmp_path / "scores.csv", "--quiet")
    assert len((tmp_path / "scores.csv").read_text().splitlines()) == 301
    latree("impute", run, moved, "--format", ending[1:], "--out", tmp_path / "filled.csv")
    assert (tmp_path / "filled.csv").read_text().splitlines()[1] == ",".join(map(str, DENSE[0]))


def test_bad_files_are_refused_in_one_line(tmp_path):
    np.savez(tmp_path / "other.npz", a=np.arange(3))
    np.savez(tmp_path / "pickled.npz", format=np.array([{}], dtype=object))
    io.mmwrite(tmp_path / "dense.mtx", DENSE)
    (tmp_path / "wide.mtx").write_text("%%MatrixMarket matrix coordinate integer general\n9 1000001 1\n1 1 1\n")
    (tmp_path / "line.mtx.gz").write_bytes(gzip.compress(b"1 2 3"))
    (tmp_path / "huge.mtx").write_text("%%MatrixMarket matrix coordinate integer general\n9 9 1\n10 1 1\n")
    sparse.save_npz(tmp_path / "long.npz", sparse.coo_array(([1], ([0], [0])), shape=(10**14, 4)))
    for name, fragments in {
        "absent.npz": ["no such file"],
        "absent.mtx": ["no such file"],
        "other.npz": ["not a sparse matrix of SciPy", "save_npz"],
        "pickled.npz": ["not a sparse matrix of SciPy"],
        "dense.mtx": ["its matrix is dense"],
        "huge.mtx": ["not a Matrix Market file", "mmwrite"],
        "wide.mtx": ["1000001 columns, more than 1000000: keep some"],
        "long.npz": ["it asks for more than 1.0 GB of memory"],
        "line.mtx.gz": ["does not begin with %%MatrixMarket"],
    }.items():
        assert_error(tmp_path / name, *fragments)


@pytest.mark.parametrize("ending", [".npz", ".mtx"])
def test_damaged_files_are_read_or_refused_in_one_line(tmp_path, ending):
    content = write(tmp_path / f"small{ending}", DENSE[:8]).read_bytes()
    assert 8 < count_refused(tmp_path / f"damaged{ending}", content, 40, counts=True) < 40
