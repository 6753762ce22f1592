"""The command ask: it writes one page, or says what is wrong."""

import pytest

from helpers.cli import run, succeed
from helpers.report import grouped_model


@pytest.fixture(scope="module")
def path(tmp_path_factory):
    folder = tmp_path_factory.mktemp("ask")
    grouped_model([5, 4]).save(folder / "model.json")
    return folder / "model.json"


def test_it_writes_a_page(path, tmp_path):
    out = tmp_path / "new" / "ask.html"
    how = "--group", "group of item 0", "--items", 3, "--reliability", 0.8, "--title", "Twenty <questions>"
    assert succeed("ask", path, "--out", out, *how) == f"Written to {out}\n"
    text = out.read_text(encoding="utf-8")
    assert text.startswith("<!doctype html>")
    assert "<h1>Twenty &lt;questions&gt;</h1>" in text
    assert "group of item 5" not in text
    # The same input gives the same page, and a file is replaced only if that was asked for.
    assert run("ask", path, "--out", out, *how)[0] == 2
    succeed("ask", path, "--out", out, *how, "--force")
    assert out.read_text(encoding="utf-8") == text


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (("--group", "group of item 1"), "no group with a score 'group of item 1': did you mean"),
        (("--items", 0), "'0' is not a whole number of at least 1"),
        (("--reliability", 1), "'1' is not a number above 0 and below 1"),
    ],
)
def test_what_is_wrong_is_said_in_one_line(path, tmp_path, options, message):
    code, out, error = run("ask", path, "--out", tmp_path / "ask.html", *options)
    assert (code, out) == (2, "")
    assert message in error
    assert error.count("\n") == 1
    assert not (tmp_path / "ask.html").exists()
