"""Pictures as SVG: whatever the names are, they do no harm."""

from helpers.pictures import FOREST, SVG, check_picture, every_layout, parse, written
from helpers.report import grouped_model
from latree.figure.draw import plot
from latree.figure.picture import MAX_LETTERS
from latree.tree import Tree

HOSTILE = [
    "<script>alert(1)</script>",
    "a & b \"quoted\" 'twice' </text></svg>",
    "]]><!--",
    "\x01\x1b[31m\x7f\x85",
    "\ud800 half a pair",
    "two\nlines\r\tand a tab",
    "\u2028\ufffe\uffff",
    "\u202eright to left override",
    "שלום עולם",
    "👩‍👩‍👧 family",
    "统计学",
    "$\\frac{1}{0$ _x^",
    "%s {0} \\n",
    "",
    " ",
    "long " * 1000,
    "é" + "\u0301" * 50,
]


@every_layout
def test_hostile_names_are_harmless(layout):
    tree = Tree(HOSTILE, [(i, len(HOSTILE)) for i in range(len(HOSTILE))])
    picture = plot(tree, layout=layout, labels=dict(zip(HOSTILE, reversed(HOSTILE), strict=True)))
    check_picture(tree, picture)
    for page in (True, False):
        svg = picture.to_svg(page=page)
        root = parse(svg)
        assert "<script" not in svg
        assert not [letter for letter in svg if letter in "\u202e\x01\x1b\x85\u2028\ufffe\uffff\ud800"]
        assert len(max(written(root), key=len)) <= MAX_LETTERS
        assert "<script>alert(1)</script>" in written(root)
        assert "שלום עולם" in written(root)
        assert "👩‍👩‍👧 family" in written(root)
    assert picture.to_png().startswith(b"\x89PNG")


def test_a_long_name_is_told_in_full():
    tree = Tree(["a" * 5000 + "z", "b"], [(0, 1)])
    root = parse(plot(tree).to_svg())
    (name,) = [text for text in root.iter(f"{SVG}text") if len(text)]
    assert name[0].text == "a" * 5000 + "z"
    assert name[0].tail.startswith("aaa")
    assert name[0].tail.endswith("aaz")


def test_an_svg_has_a_page_of_its_own_or_the_ink_of_the_page_around_it():
    picture = plot(FOREST, labels={name: name for name in FOREST.names})
    alone, inside = picture.to_svg(), picture.to_svg(page=False)
    assert parse(alone).find(f"{SVG}rect").get("fill") == "#ffffff"
    assert "currentColor" not in alone
    assert parse(inside).find(f"{SVG}rect") is None
    assert "#000000" not in inside
    assert parse(alone).find(f"{SVG}title").text == "Tree of 12 columns with 3 hidden variables"


def test_lines_end_at_hollow_circles_on_a_page_of_unknown_colour():
    two_groups = grouped_model([3, 3])
    root = parse(plot(two_groups).to_svg(page=False))
    (mask,) = root.iter(f"{SVG}mask")
    circles = [(one.get("cx"), one.get("cy")) for one in root.findall(f"{SVG}circle") if one.get("fill") == "none"]
    assert [(one.get("cx"), one.get("cy")) for one in mask.iter(f"{SVG}circle")] == circles
    assert len(circles) == 2
    assert root.findall(f"{SVG}polyline") == []
    assert {one.get("mask") for one in root.findall(f"{SVG}g")} == {f"url(#{mask.get('id')})"}
    assert "<mask" not in plot(two_groups).to_svg()
