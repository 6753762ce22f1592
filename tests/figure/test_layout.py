"""Layouts: edges do not cross, and lengths are drawn to scale."""

from itertools import pairwise

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from helpers.pictures import every_layout, lines, overlapping, some_tree, texts
from helpers.strategies import with_lengths
from latree.figure.draw import plot
from latree.figure.picture import Line
from latree.paper.simulate import random_tree
from latree.tree.leaves import leaves_of

checked = settings(deadline=None, derandomize=True, max_examples=60)


@every_layout
@given(st.integers(4, 40), st.integers(0, 10**6))
@settings(checked, max_examples=20)
def test_edges_do_not_cross(layout, n, seed):
    tree = with_lengths(random_tree(n, 0.3, seed), seed)
    drawn = [
        (edge, pair)
        for edge, line in enumerate(lines(plot(tree, layout=layout, scale_bar=False)))
        for pair in pairwise(line.points)
    ]
    ends = np.array([pair for _, pair in drawn])
    near = np.hypot(*np.moveaxis(ends[:, None, :, None] - ends[None, :, None, :], -1, 0)).min(axis=(2, 3)) < 1e-6
    pieces = [Line(pair) for _, pair in drawn]
    assert [(i, j) for i, j in overlapping(pieces, pieces) if drawn[i][0] != drawn[j][0] and not near[i, j]] == []


def test_lengths_are_drawn_to_scale():
    tree = some_tree(12, 3)
    straight = lines(plot(tree, layout="unrooted", scale_bar=False))
    rooted = tree.rooted()
    order = [edge for edge in rooted.up[leaves_of(rooted, tree.n_observed).order] if edge >= 0]
    drawn = np.array([np.hypot(*np.subtract(*line.points)) for line in straight])
    np.testing.assert_allclose(drawn / drawn.sum(), tree.lengths[order] / tree.lengths.sum(), rtol=1e-9)
    across = np.array([line.points[-1][0] - line.points[0][0] for line in lines(plot(tree, scale_bar=False))])
    np.testing.assert_allclose(across / across.sum(), tree.lengths[order] / tree.lengths.sum(), rtol=1e-9)


def test_names_of_columns_stand_below_each_other_in_the_horizontal_layout():
    for tree in (random_tree(20, 0.3, 1), some_tree(20, 1)):
        picture = plot(tree.with_numbers(support=np.full(len(tree.edges), np.nan)), scale_bar=False)
        assert len({round(text.x, 6) for text in texts(picture)}) == 1
    # Names of hidden variables are beside their nodes.
    assert len({round(text.x, 6) for text in texts(plot(some_tree(20, 1), layout="horizontal", hidden=True))}) > 2
