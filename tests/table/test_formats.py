"""How the format of a file is told from its name, or by an option."""

import numpy as np
import pytest
from click.testing import CliRunner
from scipy import sparse

from helpers.tables import assert_error
from latree.__main__ import commands
from latree.errors import InputError
from latree.table import as_table
from latree.table.opening import FORMATS, find_files


@pytest.mark.parametrize("format", FORMATS, ids=lambda format: format.name)
def test_every_ending_tells_its_format(tmp_path, format):
    for ending in format.endings:
        for name in [f"data{ending}", f"DATA{ending.upper()}", *([f"data{ending}.gz"] if format.gzipped else [])]:
            assert find_files(tmp_path / name)[0] == format


def test_endings_are_those_of_one_format():
    endings = [ending for format in FORMATS for ending in format.endings]
    assert len(set(endings)) == len(endings)
    assert len({format.name for format in FORMATS}) == len(FORMATS)


def test_a_given_format_goes_before_the_ending(tmp_path):
    path = tmp_path / "table.npz"
    path.write_text("a,b\n1,2\n3,4\n")
    assert as_table(path, format="csv").decode() == {"a": [1, 3], "b": [2, 4]}
    with pytest.raises(InputError, match="unknown format 'npy': did you mean 'npz'"):
        as_table(path, format="npy")


def test_names_and_several_files(tmp_path):
    for name in "ab":
        sparse.save_npz(tmp_path / f"{name}.npz", sparse.csr_array(np.eye(3)))
    with pytest.raises(InputError, match=r"matches 2 files, .* read one at a time: name one of them"):
        as_table(tmp_path / "[ab].npz")
    (tmp_path / "table.csv").write_text("a,b\n1,2\n")
    assert_error(tmp_path / "table.csv", "names are for files of matrices", names=["a", "b"])
    with pytest.raises(InputError, match="matches both"):
        as_table(tmp_path / "*")
    (tmp_path / "table.xyz").write_text("a,b\n1,2\n")
    assert_error(tmp_path / "table.xyz", "unknown kind of file", ".parquet", "name its format with format")


def test_every_command_that_reads_a_table_takes_a_format():
    for name, command in commands.commands.items():
        options = {option.name: option for option in command.params}
        if "data" in options and name != "compare":
            assert "format" in options, name
    shown = CliRunner().invoke(commands, ["score", "--help"]).output
    assert all(format.name in shown for format in FORMATS)
