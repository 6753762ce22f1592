"""Baskets: the same table as the array of what is in them."""

import gzip

import numpy as np
import pytest
from click.testing import CliRunner
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from helpers.damage import count_refused
from helpers.tables import assert_error, write_file
from latree.__main__ import commands
from latree.table import as_table
from latree.table.sparse import SparseRows

BASKETS = 'milk, bread\n\nbread,butter,bread\n"salt, coarse",milk\nbeer\n'


def test_every_item_is_a_column_and_every_line_a_row(tmp_path):
    table = as_table(write_file(tmp_path / "sales.basket", BASKETS))
    assert table.names == ("milk", "bread", "butter", "salt, coarse", "beer")
    assert table.codes().tolist() == [[1, 1, 0, 0, 0], [0, 1, 1, 0, 0], [1, 0, 0, 1, 0], [0, 0, 0, 0, 1]]
    assert isinstance(table.rows, SparseRows)
    assert {column.kind for column in table.columns} == {"boolean"}
    counted = as_table(write_file(tmp_path / "sales.txt", BASKETS), format="basket", counts=True)
    assert counted.decode()["bread"] == [1, 2, 0, 0]
    (tmp_path / "sales.basket.gz").write_bytes(gzip.compress(BASKETS.encode()))
    assert as_table(tmp_path / "sales.basket.gz").fingerprint() == table.fingerprint()


@pytest.mark.parametrize("separator", [",", ";", "\t", " "])
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.lists(st.sets(st.sampled_from("abcdefg"), min_size=1), min_size=2, max_size=20))
def test_separators_and_the_dense_array(tmp_path, separator, baskets):
    baskets = [sorted(basket) for basket in baskets]
    baskets[0] = ["a", "b"]  # the separator is there
    path = write_file(tmp_path / "sales.basket", "\n".join(separator.join(basket) for basket in baskets))
    items = list(dict.fromkeys(item for basket in baskets for item in basket))
    dense = np.array([[item in basket for item in items] for basket in baskets])
    assert as_table(path).fingerprint() == as_table(dense, names=items).fingerprint()


def test_new_baskets_need_not_have_all_items(tmp_path):
    table = as_table(write_file(tmp_path / "sales.basket", BASKETS))
    new = write_file(tmp_path / "new.basket", "beer,wine\nmilk\n")
    assert as_table(new, columns=table.columns).codes().tolist() == [[0, 0, 0, 0, 1], [1, 0, 0, 0, 0]]


def test_commands_take_baskets(tmp_path):
    rng = np.random.default_rng(0)
    kinds = rng.integers(0, 2, 300)
    lines = [
        " ".join(f"i{j}" for j in range(6) if rng.random() < (0.7 if j % 2 == kind else 0.2)) or "i0" for kind in kinds
    ]
    path = write_file(tmp_path / "sales.txt", "\n".join(lines))

    def run(*arguments):
        result = CliRunner().invoke(commands, list(map(str, arguments)))
        assert result.exit_code == 0, result.output or result.exception

    run("fit", path, "--format", "basket", "--method", "lcm", "--out", tmp_path / "run", "--quiet")
    new = write_file(tmp_path / "new.basket", "i1 i3\ni0\nunknown\n")
    run("transform", tmp_path / "run", new, "--out", tmp_path / "scores.csv", "--quiet")
    assert len((tmp_path / "scores.csv").read_text().splitlines()) == 4
    run("score", tmp_path / "run", new, "--json")


@pytest.mark.parametrize(
    ("content", "fragments"),
    [
        ("", ["the file is empty"]),
        ("\n \n", ["the file is empty"]),
        (",,\n,\n", ["no items"]),
        ('a,b\n"a,b\n', ["line 2", "quotes"]),
    ],
)
def test_what_is_wrong_is_said_in_one_line(tmp_path, content, fragments):
    assert_error(write_file(tmp_path / "a.basket", content), *fragments)


def test_damaged_files_are_read_or_refused_in_one_line(tmp_path):
    assert 0 < count_refused(tmp_path / "damaged.basket", BASKETS.encode(), 200) < 150
