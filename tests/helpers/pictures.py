"""What tests ask of pictures of trees."""

import builtins
from unittest import mock
from xml.etree import ElementTree

import numpy as np
import pytest

from helpers.strategies import names_of, with_lengths
from latree.figure.picture import Line, Text, boxes_of, extents, overlap, shortened
from latree.paper.simulate import random_tree
from latree.tree import Tree

SVG = "{http://www.w3.org/2000/svg}"


every_layout = pytest.mark.parametrize("layout", ["radial", "unrooted", "horizontal"])


FOREST = Tree(names_of(12), [(0, 12), (1, 12), (2, 12), (3, 13), (4, 13), (5, 13), (13, 14), (6, 14), (7, 14), (8, 9)])


def some_tree(n, seed):
    """A random tree with lengths, and support of its inner edges."""
    tree = with_lengths(random_tree(n, 0.4, seed), seed, 0.02)
    inner = tree.edges.min(axis=1) >= n
    return Tree(tree.names, tree.edges, tree.lengths, np.where(inner, np.linspace(0.01, 1, len(inner)), np.nan))


def texts(picture):
    return [drawn for drawn in picture.primitives if isinstance(drawn, Text)]


def lines(picture, dotted=False):
    return [drawn for drawn in picture.primitives if isinstance(drawn, Line) and drawn.dotted == dotted]


def overlapping(one, other):
    return np.argwhere(overlap(boxes_of(one)[:, None], boxes_of(other)[None])).tolist()


def check_picture(tree, picture):
    """Assert that every name is there, that nothing runs into anything else, and that all of it is on the page."""
    names = texts(picture)
    for name in map(shortened, tree.names):
        assert name in [text.text for text in names]
    assert [(i, j) for i, j in overlapping(names, names) if i != j] == []
    assert overlapping(names, lines(picture)) == []
    low, high = extents(boxes_of(picture.primitives))
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
        "mask",
        "g",
    }
    return root


def written(root):
    """The texts of an SVG, without what is only told of them."""
    return ["".join([text.text or "", *(child.tail or "" for child in text)]) for text in root.iter(f"{SVG}text")]


def without_matplotlib():
    real = builtins.__import__

    def refusing(name, *args, **kwargs):
        if name.startswith("matplotlib"):
            raise ImportError(name)
        return real(name, *args, **kwargs)

    return mock.patch.object(builtins, "__import__", refusing)
