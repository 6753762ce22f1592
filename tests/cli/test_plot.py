"""The command `latree plot`."""

import pytest

from helpers.cli import run, succeed
from helpers.models import chain_model
from helpers.pictures import FOREST, without_matplotlib
from latree.figure.draw import plot
from latree.tree import Tree

LABELS = "column,group,more\nx0,<b>one</b>,1\n\n x1 , two,2\nx2,,3\n"


BAD_LABELS = {
    "unknown": ("column,group\nyy,b\n", "none of its names, such as 'yy', is one of the columns"),
    "no headings": (
        "x0,a\nx1,b\n",
        "its first line is that of the column 'x0'; add a header above it, like column,label",
    ),
    "twice": ("column,group\nx0,a\nx0,b\n", "line 3 is the second one for 'x0'; remove one of the two"),
    "one column": ("column\nx0\n", "needs two columns, the names of columns and their labels, and has one"),
    "empty": ("", "the file is empty"),
    "short": ("column,group\nx0\n", "data row 1 (line 2) has 1 cell where the header has 2"),
}


@pytest.mark.parametrize("kind", BAD_LABELS)
def test_bad_labels_are_refused_in_one_line(tmp_path, kind):
    text, complaint = BAD_LABELS[kind]
    (tmp_path / "labels.csv").write_text(text)
    (tmp_path / "tree.nwk").write_text(FOREST.to_newick())
    code, out, err = run(
        "plot", tmp_path / "tree.nwk", "--out", tmp_path / "a.svg", "--labels", tmp_path / "labels.csv"
    )
    assert (code, out) == (2, "")
    assert err.count("\n") == 1
    assert f"{tmp_path / 'labels.csv'}: {complaint}" in err
    assert not (tmp_path / "a.svg").exists()


def test_the_command_draws_trees(tmp_path):
    text = FOREST.to_newick()
    (tmp_path / "tree.nwk").write_text(text)
    (tmp_path / "labels.csv").write_text(LABELS)
    for name, options in (("a.svg", {}), ("b.png", {"layout": "radial", "hidden": True})):
        more = ["--layout", options.get("layout", "horizontal"), *(["--hidden"] if options else [])]
        out = tmp_path / name
        assert (
            succeed("plot", tmp_path / "tree.nwk", "--out", out, "--labels", tmp_path / "labels.csv", *more)
            == f"Written to {out}\n"
        )
        picture = plot(Tree.from_newick(text), labels={"x0": "<b>one</b>", "x1": "two"}, **options)
        assert out.read_bytes() == (picture.to_png() if options else picture.to_svg().encode())


@pytest.mark.parametrize(
    ("source", "out", "complaint"),
    [
        ("tree.nwk", "a.eps", "a.eps: a figure is written as .svg, .pdf or .png"),
        ("tree.nwk", "tree.nwk", "tree.nwk: is an input of this command"),
        ("tree.nwk", "old.svg", "old.svg: already exists"),
        ("tree.nwk", "tree.nwk/deep/a.svg", "tree.nwk is not a folder; choose another name"),
        ("none.nwk", "a.svg", "none.nwk: no such file"),
        ("bad.nwk", "a.svg", "bad.nwk: not a Newick tree"),
        ("bad.json", "a.svg", "bad.json: "),
    ],
)
def test_the_command_complains_in_one_line(tmp_path, source, out, complaint):
    (tmp_path / "tree.nwk").write_text("(a,b,c);")
    (tmp_path / "bad.nwk").write_text("((a,b,c);")
    (tmp_path / "bad.json").write_text("[1]")
    (tmp_path / "old.svg").write_text("old")
    before = sorted(tmp_path.iterdir())
    code, said, err = run("plot", tmp_path / source, "--out", tmp_path / out)
    assert (code, said) == (2, "")
    assert complaint in err
    assert err.count("\n") == 1
    assert sorted(tmp_path.iterdir()) == before


def test_the_command_makes_a_pdf_for_a_page(tmp_path):
    (tmp_path / "tree.nwk").write_text("((alpha:1,beta:1):1,c:1,d:2);")
    out = tmp_path / "a.pdf"
    succeed("plot", tmp_path / "tree.nwk", "--out", out, "--width", "60", "--font-size", "7", "--no-scale-bar")
    tree = Tree.from_newick("((alpha:1,beta:1):1,c:1,d:2);")
    assert out.read_bytes() == plot(tree, width=60, font_size=7, scale_bar=False).to_pdf()
    code, _, err = run("plot", tmp_path / "tree.nwk", "--out", tmp_path / "b.pdf", "--width", "5")
    assert code == 2
    assert "leaves no room for the tree" in err
    code, _, err = run("plot", tmp_path / "tree.nwk", "--out", tmp_path / "b.svg", "--ring", "loading")
    assert code == 2
    assert "pass the model" in err


def test_the_command_says_what_a_png_needs(tmp_path):
    (tmp_path / "tree.nwk").write_text("(a,b,c);")
    with without_matplotlib():
        code, _, err = run("plot", tmp_path / "tree.nwk", "--out", tmp_path / "a.png")
    assert code == 2
    assert err == f"latree: {tmp_path / 'a.png'}: a PNG needs matplotlib: pip install matplotlib (an SVG does not)\n"


def test_the_command_draws_models(tmp_path):
    model = chain_model([[0.6, 0.4], [0.4, 0.6]], [[0.5], [0.5]], [[0.95, 0.05], [0.05, 0.95]])
    model.save(tmp_path / "model.json")
    succeed("plot", tmp_path / "model.json", "--out", tmp_path / "a.svg", "--layout", "unrooted")
    assert (tmp_path / "a.svg").read_text(encoding="utf-8") == plot(model, layout="unrooted").to_svg()
