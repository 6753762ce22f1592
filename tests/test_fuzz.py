"""The fuzzers' corpus: valid files, and every input that once crashed a reader."""

from pathlib import Path

import pytest

from fuzz_targets import TARGETS, feed

CORPUS = Path(__file__).parents[1] / "fuzz" / "corpus"
FILES = sorted(CORPUS.glob("*/*"))


def test_every_target_has_a_corpus():
    assert {path.parent.name for path in FILES} == set(TARGETS) == {path.name for path in CORPUS.iterdir()}


@pytest.mark.parametrize("path", FILES, ids=lambda path: f"{path.parent.name}/{path.name}")
def test_a_reader_accepts_a_file_or_refuses_it_in_one_line(path):
    assert feed(path.parent.name, path.read_bytes()) or path.name.startswith("crash-")


@pytest.mark.parametrize("name", TARGETS)
def test_a_reader_refuses_rubbish_in_one_line(name):
    assert not feed(name, b"\x00\xff(" * 10)
