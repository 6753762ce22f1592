"""Pictures of trees: nothing overlaps, whatever the tree and the names; SVG and PNG; the command; notebooks."""

import builtins
import io
from itertools import pairwise
from unittest import mock
from xml.etree import ElementTree

import numpy as np
import pytest
import sklearn
from hypothesis import given, settings
from hypothesis import strategies as st
from matplotlib.image import imread
from sklearn.exceptions import NotFittedError

import latree
from helpers.cli import run, succeed
from helpers.models import naive_joint, small_models
from helpers.strategies import mixed_tree, named_trees, names_of, with_lengths
from latree.errors import InputError
from latree.figure import plot
from latree.figure.boxes import extents, overlap
from latree.figure.picture import Circle, Line, Polygon, Text, boxes_of
from latree.figure.text import LONGEST, shown
from latree.model import LatentTreeModel
from latree.paper.simulate import random_tree
from latree.table import Column
from latree.tree import Tree

SVG = "{http://www.w3.org/2000/svg}"
LAYOUTS = ("radial", "unrooted", "horizontal")
every_layout = pytest.mark.parametrize("layout", LAYOUTS)
checked = settings(deadline=None, derandomize=True, max_examples=60)
HOSTILE = [
    "<script>alert(1)</script>",
    "a & b \"quoted\" 'twice' </text></svg>",
    "]]><!--",
    "\x00\x01\x1b[31m\x7f\x85",
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
FOREST = Tree(names_of(12), [(0, 12), (1, 12), (2, 12), (3, 13), (4, 13), (5, 13), (13, 14), (6, 14), (7, 14), (8, 9)])


def some_tree(n, seed):
    """A random tree with lengths, and support of its inner edges."""
    tree = with_lengths(random_tree(n, 0.4, seed), seed, 0.02)
    inner = tree.edges.min(axis=1) >= n
    return Tree(tree.names, tree.edges, tree.lengths, np.where(inner, np.linspace(0.01, 1, len(inner)), np.nan))


def texts(picture):
    return [drawn for drawn in picture.drawn if isinstance(drawn, Text)]


def lines(picture, dotted=False):
    return [drawn for drawn in picture.drawn if isinstance(drawn, Line) and drawn.dotted == dotted]


def overlapping(one, other):
    return np.argwhere(overlap(boxes_of(one)[:, None], boxes_of(other)[None])).tolist()


def check_picture(tree, picture):
    """Assert that every name is there, that nothing runs into anything else, and that all of it is on the page."""
    names = texts(picture)
    for name in map(shown, tree.names):
        assert name in [text.text for text in names]
    assert [(i, j) for i, j in overlapping(names, names) if i != j] == []
    assert overlapping(names, lines(picture)) == []
    low, high = extents(boxes_of(picture.drawn))
    assert (low > 0).all()
    assert (high < [picture.width, picture.height]).all()


def parse(svg):
    root = ElementTree.fromstring(svg)
    assert {element.tag.removeprefix(SVG) for element in root.iter()} <= {
        "svg",
        "title",
        "rect",
        "polyline",
        "polygon",
        "circle",
        "text",
    }
    return root


def written(root):
    """The texts of an SVG, without what is only told of them."""
    return ["".join([text.text or "", *(child.tail or "" for child in text)]) for text in root.iter(f"{SVG}text")]


@every_layout
@given(named_trees)
@checked
def test_any_tree_is_drawn_and_nothing_overlaps(layout, tree):
    picture = plot(tree, layout=layout)
    check_picture(tree, picture)
    svg = picture.to_svg()
    assert svg == plot(Tree(tree.names, tree.edges, tree.lengths, tree.support), layout=layout).to_svg()
    assert set(map(shown, tree.names)) <= set(written(parse(svg)))


@every_layout
@given(st.integers(3, 90), st.integers(0, 10**6), st.booleans(), st.booleans())
@settings(checked, max_examples=25)
def test_nothing_overlaps_in_large_trees(layout, n, seed, hidden, grouped):
    tree = some_tree(n, seed) if seed % 2 else mixed_tree(max(4, n // 2), seed)
    labels = {name: f"group {i % 7}" for i, name in enumerate(tree.names) if i % 5} if grouped else None
    picture = plot(tree, layout=layout, labels=labels, hidden=hidden)
    check_picture(tree, picture)
    if hidden:
        assert set(tree.node_names) <= {text.text for text in texts(picture)}


@every_layout
@given(st.integers(4, 40), st.integers(0, 10**6))
@settings(checked, max_examples=20)
def test_edges_do_not_cross(layout, n, seed):
    tree = with_lengths(random_tree(n, 0.3, seed), seed)
    drawn = [
        (edge, pair) for edge, line in enumerate(lines(plot(tree, layout=layout))) for pair in pairwise(line.points)
    ]
    ends = np.array([pair for _, pair in drawn])
    near = np.hypot(*np.moveaxis(ends[:, None, :, None] - ends[None, :, None, :], -1, 0)).min(axis=(2, 3)) < 1e-6
    pieces = [Line(pair) for _, pair in drawn]
    assert [(i, j) for i, j in overlapping(pieces, pieces) if drawn[i][0] != drawn[j][0] and not near[i, j]] == []


@every_layout
def test_300_names_are_drawn_without_overlap(layout):
    tree = some_tree(300, 0)
    check_picture(tree, plot(tree, layout=layout, labels={name: name[-1] for name in tree.names}))


def test_a_caterpillar_of_thousands_is_no_recursion():
    n = 1500
    tree = Tree(
        names_of(n), [(i, n + min(max(i - 1, 0), n - 3)) for i in range(n)] + [(n + i, n + i + 1) for i in range(n - 3)]
    )
    assert len(texts(plot(tree, layout="horizontal"))) == n


@every_layout
@pytest.mark.parametrize(
    "tree",
    [
        Tree(["only"], []),
        Tree("ab", [(0, 1)]),
        Tree("ab", [(0, 2), (1, 2)]),
        Tree("abc", []),
        Tree("abcde", [(0, 1), (1, 2), (2, 3), (3, 4)]),
        Tree("abcd", [(i, 4) for i in range(4)], [0, 0, 0, 0]),
        Tree("abcd", [(i, 4) for i in range(4)], [-1, 1e308, 5e-324, np.nan]),
        FOREST,
    ],
    ids=["one", "two", "pair", "apart", "chain", "zero lengths", "odd lengths", "forest"],
)
def test_odd_shapes_are_drawn(layout, tree):
    check_picture(tree, plot(tree, layout=layout))


def test_a_nodes_own_dot_is_drawn_once():
    circles = [drawn for drawn in plot(FOREST).drawn if isinstance(drawn, Circle)]
    assert len(circles) == FOREST.n_nodes


def test_lengths_are_drawn_to_scale():
    tree = some_tree(12, 3)
    straight = lines(plot(tree, layout="unrooted"))
    order = [edge for edge in tree.rooted().up[tree.rooted().order] if edge >= 0]
    drawn = np.array([np.hypot(*np.subtract(*line.points)) for line in straight])
    np.testing.assert_allclose(drawn / drawn.sum(), tree.lengths[order] / tree.lengths.sum(), rtol=1e-9)
    across = np.array([line.points[-1][0] - line.points[0][0] for line in lines(plot(tree, layout="horizontal"))])
    np.testing.assert_allclose(across / across.sum(), tree.lengths[order] / tree.lengths.sum(), rtol=1e-9)


def test_without_lengths_names_of_the_horizontal_layout_stand_below_each_other():
    tree = random_tree(20, 0.3, 1)
    assert len({round(text.x, 6) for text in texts(plot(tree, layout="horizontal"))}) == 1


def test_support_stands_at_inner_edges_in_per_cent():
    edges = [(0, 4), (1, 4), (4, 5), (2, 5), (3, 5)]
    found = [
        [text.text for text in texts(plot(Tree("abcd", edges, None, support))) if text.text not in "abcd"]
        for support in ([np.nan, np.nan, 0.876, np.nan, np.nan], [np.nan, np.nan, 87.6, np.nan, np.nan], [0.5] * 5)
    ]
    assert found == [["88"], ["87.6"], ["50"]]


def test_there_is_no_support_where_there_is_no_room():
    tree = some_tree(60, 1)
    crowded = Tree(tree.names, tree.edges, np.where(np.isnan(tree.support), 1, 1e-6), tree.support)
    assert len(texts(plot(crowded))) == 60
    assert len(texts(plot(tree))) > 70


def test_hidden_variables_are_named_if_asked():
    tree = random_tree(6, 0.3, 0)
    assert {text.text for text in texts(plot(tree))} == set(tree.names)
    assert {text.text for text in texts(plot(tree, hidden=True))} == set(tree.node_names)


def test_no_two_groups_look_alike():
    groups = {f"T{i}": f"group {i:02}" for i in range(16)}
    picture = plot(Tree([*groups, "none"], [(i, 17) for i in range(17)]), labels=groups)
    marks = [
        drawn
        for drawn in picture.drawn
        if isinstance(drawn, Polygon) or (isinstance(drawn, Circle) and drawn.fill != "#808080")
    ]
    assert len(marks) == 32  # at the leaves and in the legend
    assert len({(mark.fill, mark.stroke) for mark in marks}) == 16  # the shape is a second help, not the only one
    shapes = {
        tuple(np.round(np.subtract(mark.points, mark.points[0]), 6).ravel())
        for mark in marks
        if isinstance(mark, Polygon)
    }
    assert len(shapes) == 8
    assert [text.text for text in texts(picture)][-16:] == sorted(groups.values())


def test_a_branch_of_one_group_has_its_colour():
    tree = Tree("abcdef", [(0, 6), (1, 6), (6, 7), (2, 7), (7, 8), (3, 8), (8, 9), (4, 9), (5, 9)])
    groups = {"a": "one", "b": "one", "c": "two", "d": "", "e": "two", "f": "three"}
    colours = {
        frozenset(edge): line.colour
        for edge, line in zip(_edges_as_drawn(tree), lines(plot(tree, labels=groups)), strict=True)
    }
    assert colours[frozenset((0, 6))] == colours[frozenset((6, 7))] == "#0072B2"
    assert colours[frozenset((2, 7))] == "#D55E00"
    assert {colours[frozenset(edge)] for edge in ((3, 8), (8, 9), (7, 8))} == {"#808080"}


def _edges_as_drawn(tree):
    rooted = tree.rooted()
    return [tree.edges[rooted.up[node]].tolist() for node in rooted.order if rooted.up[node] >= 0]


def test_labels_of_no_column_are_refused():
    with pytest.raises(InputError, match="'z', which is none of the tree's columns"):
        plot(Tree("ab", [(0, 1)]), labels={"a": "x", "z": "y"})
    with pytest.raises(InputError, match=r"layout must be one of .*, not 'round'"):
        plot(Tree("ab", [(0, 1)]), layout="round")


@every_layout
def test_hostile_names_are_harmless(layout):
    tree = Tree(HOSTILE, [(i, len(HOSTILE)) for i in range(len(HOSTILE))])
    picture = plot(tree, layout=layout, labels=dict(zip(HOSTILE, reversed(HOSTILE), strict=True)))
    check_picture(tree, picture)
    for page in (True, False):
        svg = picture.to_svg(page=page)
        root = parse(svg)
        assert "<script" not in svg
        assert not [letter for letter in svg if letter in "\u202e\x00\x1b\x85\u2028\ufffe\uffff\ud800"]
        assert len(max(written(root), key=len)) <= LONGEST
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


def test_a_png_shows_what_the_svg_shows():
    picture = plot(FOREST, labels={"x3": "<b>"})
    content = picture.to_png()
    assert content == picture.to_png()
    pixels = imread(io.BytesIO(content))[..., :3]
    height, width, _ = pixels.shape
    assert width / height == pytest.approx(picture.width / picture.height, rel=0.01)
    assert width == pytest.approx(picture.width * 300 / 96, abs=2)
    for circle in (drawn for drawn in picture.drawn if isinstance(drawn, Circle)):
        there = pixels[round(circle.y * height / picture.height), round(circle.x * width / picture.width)]
        assert there == pytest.approx([int(circle.fill[i : i + 2], 16) / 255 for i in (1, 3, 5)], abs=0.02)
    dark = (pixels.max(axis=2) < 0.5).any(axis=(0,))
    assert dark[: width // 3].any()
    assert dark[-width // 3 :].any()


def test_a_large_png_is_kept_small_enough():
    tree = Tree(names_of(150), [])
    pixels = imread(io.BytesIO(plot(tree, layout="horizontal").to_png()))
    assert max(pixels.shape) == 12_000


def test_plot_writes_what_the_name_ends_in(tmp_path):
    plot(FOREST, tmp_path / "a.svg")
    picture = plot(FOREST, str(tmp_path / "a.PNG"))
    assert (tmp_path / "a.svg").read_text(encoding="utf-8") == picture.to_svg()
    assert (tmp_path / "a.PNG").read_bytes() == picture.to_png()
    with pytest.raises(InputError, match=r"a\.pdf: a figure is written as \.svg or \.png"):
        plot(FOREST, tmp_path / "a.pdf")
    assert {path.name for path in tmp_path.iterdir()} == {"a.svg", "a.PNG"}


def without_matplotlib():
    real = builtins.__import__

    def refusing(name, *args, **kwargs):
        if name.startswith("matplotlib"):
            raise ImportError(name)
        return real(name, *args, **kwargs)

    return mock.patch.object(builtins, "__import__", refusing)


def test_without_matplotlib_there_is_svg(tmp_path):
    with without_matplotlib():
        plot(FOREST, tmp_path / "a.svg")
        with pytest.raises(ImportError, match=r"pip install 'latree\[plot\]'"):
            plot(FOREST, tmp_path / "a.png")
    assert [path.name for path in tmp_path.iterdir()] == ["a.svg"]


@pytest.mark.parametrize("model", small_models())
def test_strengths_are_information_over_entropy(model):
    joint = naive_joint(model)
    strengths = model.edge_strengths()
    for (u, v), strength in zip(model.tree.edges.tolist(), strengths, strict=True):
        pair = joint.sum(axis=tuple(set(range(joint.ndim)) - {u, v}))
        p, q = pair.sum(axis=1, keepdims=True), pair.sum(axis=0, keepdims=True)
        information = (pair * np.log(pair / (p * q))).sum()
        entropies = [-(share * np.log(share)).sum() for share in (p, q)]
        assert strength == pytest.approx(np.sqrt(information / min(entropies)), rel=1e-9)


def chain(*tables):
    """A model of a chain of columns with two states, from the tables of each given the one before."""
    names = "abcdef"[: len(tables)]
    tree = Tree(names, [(i, i + 1) for i in range(len(names) - 1)])
    root = tree.rooted()
    assert root.order[0] == 1
    columns = tuple(Column(name, "integer", ("0", "1")) for name in names)
    return LatentTreeModel(tree, columns, tuple(np.array(table) for table in tables))


def test_strengths_reach_from_nought_to_one():
    same, nothing = [[1.0, 0.0], [0.0, 1.0]], [[0.3, 0.3], [0.7, 0.7]]
    model = chain(same, [[0.4], [0.6]], nothing)
    np.testing.assert_allclose(model.edge_strengths(), [1, 0], rtol=0, atol=1e-7)
    constant = chain(same, [[1.0], [0.0]], nothing)
    assert constant.edge_strengths().tolist() == [0, 0]


def test_a_models_weak_edges_are_long(tmp_path):
    strong, weak = [[0.95, 0.05], [0.05, 0.95]], [[0.6, 0.4], [0.4, 0.6]]
    model = chain(weak, [[0.5], [0.5]], strong)
    lengths = -np.log(model.edge_strengths())
    drawn = [np.hypot(*np.subtract(*line.points)) for line in lines(plot(model, layout="unrooted"))]
    assert max(drawn) / min(drawn) == pytest.approx(lengths.max() / lengths.min(), rel=1e-9)
    model.save(tmp_path / "model.json")
    succeed("plot", tmp_path / "model.json", "--out", tmp_path / "a.svg", "--layout", "unrooted")
    assert (tmp_path / "a.svg").read_text(encoding="utf-8") == plot(model, layout="unrooted").to_svg()


LABELS = "column,group,more\nx0,<b>one</b>,1\n\n x1 , two,2\nx2,,3\n"


BAD_LABELS = {
    "unknown": ("column,group\nyy,b\n", "none of its names, such as 'yy', is one of the columns"),
    "no headings": ("x0,a\nx1,b\n", "its first line labels 'x0'; add a header line before it"),
    "twice": ("column,group\nx0,a\nx0,b\n", "line 3 labels 'x0' a second time"),
    "one column": ("column\nx0\n", "needs two columns, the names of columns and their labels, and has one"),
    "empty": ("", "the file is empty"),
    "short": ("column,group\nx0\n", "data row 1 (line 2) has 1 cells"),
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
    for name, options in (("a.svg", {}), ("b.png", {"layout": "horizontal", "hidden": True})):
        more = ["--layout", options.get("layout", "radial"), *(["--hidden"] if options else [])]
        out = tmp_path / name
        assert succeed("plot", tmp_path / "tree.nwk", "--out", out, "--labels", tmp_path / "labels.csv", *more) == ""
        picture = plot(Tree.from_newick(text), labels={"x0": "<b>one</b>", "x1": "two"}, **options)
        assert out.read_bytes() == (picture.to_png() if options else picture.to_svg().encode())


@pytest.mark.parametrize(
    ("source", "out", "complaint"),
    [
        ("tree.nwk", "a.pdf", "a.pdf: a figure is written as .svg or .png"),
        ("tree.nwk", "tree.nwk", "tree.nwk: already exists"),
        ("tree.nwk", "folder/a.svg", "does not exist"),
        ("none.nwk", "a.svg", "none.nwk: no such file"),
        ("bad.nwk", "a.svg", "bad.nwk: not a Newick tree"),
        ("bad.json", "a.svg", "bad.json: "),
    ],
)
def test_the_command_complains_in_one_line(tmp_path, source, out, complaint):
    (tmp_path / "tree.nwk").write_text("(a,b,c);")
    (tmp_path / "bad.nwk").write_text("((a,b,c);")
    (tmp_path / "bad.json").write_text("[1]")
    before = sorted(tmp_path.iterdir())
    code, said, err = run("plot", tmp_path / source, "--out", tmp_path / out)
    assert (code, said) == (2, "")
    assert complaint in err
    assert err.count("\n") == 1
    assert sorted(tmp_path.iterdir()) == before


def test_the_command_says_what_a_png_needs(tmp_path):
    (tmp_path / "tree.nwk").write_text("(a,b,c);")
    with without_matplotlib():
        code, _, err = run("plot", tmp_path / "tree.nwk", "--out", tmp_path / "a.png")
    assert code == 2
    assert (
        err == f"latree: {tmp_path / 'a.png'}: a PNG needs matplotlib: pip install 'latree[plot]' (an SVG does not)\n"
    )


def test_trees_and_pictures_show_themselves():
    assert plot(FOREST)._repr_html_() == plot(FOREST).to_svg(page=False)
    assert Tree(["<b>", "c"], [(0, 1)])._repr_html_() == "<pre>─ &lt;b&gt;\n └─ c\n</pre>"
    assert repr(plot(FOREST)).startswith("<Picture: Tree of 12 columns with 3 hidden variables, ")


def test_a_fitted_estimator_shows_its_tree():
    new = latree.LatentTree(method="lcm", n_states=2, smoothing=0.1, random_state=0)
    with pytest.raises(NotFittedError):
        new.plot()
    assert "sk-" in new._repr_html_()
    assert "sk-" in new._repr_mimebundle_()["text/html"]
    rng = np.random.default_rng(0)
    codes = np.where(rng.random((80, 5)) < 0.8, rng.integers(0, 2, (80, 1)), rng.integers(0, 2, (80, 5)))
    table = latree.as_table(codes, names=["<script>x</script>", "b", "c", "d", "e"])
    fitted = new.fit(table)
    bundle = fitted._repr_mimebundle_(include=None, exclude=None)
    assert bundle["text/plain"] == repr(fitted)
    html = bundle["text/html"]
    assert html == fitted._repr_html_()
    root = ElementTree.fromstring(html)
    assert "script" not in {element.tag for element in root.iter()}
    assert "sk-" not in html
    assert "5 columns, 80 rows, 0 of 400 cells missing" in [element.text for element in root.iter("div")]
    assert fitted.plot().to_svg() == plot(fitted.model_).to_svg()
    assert "<script>x</script>" in written(root)
    with sklearn.config_context(display="text"):
        assert not hasattr(fitted, "_repr_html_")
        assert "text/html" not in fitted._repr_mimebundle_()
