"""Pictures are written to files, and show themselves in notebooks."""

import pytest

from helpers.pictures import FOREST
from latree.errors import InputError
from latree.figure.draw import plot
from latree.tree import Tree


def test_plot_writes_what_the_name_ends_in(tmp_path):
    plot(FOREST, tmp_path / "a.svg")
    picture = plot(FOREST, str(tmp_path / "a.PNG"))
    assert (tmp_path / "a.svg").read_text(encoding="utf-8") == picture.to_svg()
    assert (tmp_path / "a.PNG").read_bytes() == picture.to_png()
    plot(FOREST, tmp_path / "a.pdf")
    assert (tmp_path / "a.pdf").read_bytes() == picture.to_pdf()
    assert picture.to_pdf().startswith(b"%PDF")
    with pytest.raises(InputError, match=r"a\.eps: a figure is written as \.svg, \.pdf or \.png"):
        plot(FOREST, tmp_path / "a.eps")
    assert {path.name for path in tmp_path.iterdir()} == {"a.svg", "a.PNG", "a.pdf"}


def test_trees_and_pictures_show_themselves():
    assert plot(FOREST)._repr_html_() == plot(FOREST).to_svg(page=False)
    assert Tree(["<b>", "c"], [(0, 1)])._repr_html_() == "<pre>─ &lt;b&gt;\n └─ c\n</pre>"
    assert repr(plot(FOREST)).startswith("<Picture: Tree of 12 columns with 3 hidden variables, ")
