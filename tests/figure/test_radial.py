"""Trees around their centre: cones of equal angles, and names in a circle where there are many."""

from math import atan2, hypot, pi

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from helpers.pictures import some_tree
from helpers.strategies import mixed_tree, with_lengths
from latree.figure.layout import LayoutPlan, radial, unrooted
from latree.paper.simulate import random_tree

checked = settings(deadline=None, derandomize=True, max_examples=40)


def directions(text):
    """The direction of a name as seen from its node, in radians."""
    return np.radians(text.angle + (180 if text.anchor == "end" else 0)) % (2 * pi)


@pytest.mark.parametrize("layout", [radial, unrooted])
@given(st.integers(3, 60), st.integers(0, 10**6))
@checked
def test_names_share_the_circle_equally(layout, n, seed):
    (placed,) = layout(LayoutPlan.of(mixed_tree(n, seed), 0.5))
    angles = np.sort([directions(text) for text in placed.names.values()])
    steps = np.diff([*angles, angles[0] + 2 * pi])
    # Angles are rounded to a hundredth of a degree.
    np.testing.assert_allclose(steps, 2 * pi / len(angles), rtol=0, atol=np.radians(0.011))


@pytest.mark.parametrize("n", [5, 90, 120])
def test_names_stand_in_a_circle(n):
    (placed,) = radial(LayoutPlan.of(some_tree(n, 0), 0.5))
    reach = [hypot(text.x, text.y) for text in placed.names.values()]
    assert max(reach) - min(reach) < 1e-6


@given(st.integers(4, 40), st.integers(0, 10**6))
@checked
def test_unrooted_edges_are_straight_and_an_edges_cone_holds_its_subtree(n, seed):
    tree = with_lengths(random_tree(n, 0.4, seed), seed)
    plan = LayoutPlan.of(tree, 0.5)
    (placed,) = unrooted(plan)
    below = plan.rooted.combined(({node} for node in range(tree.n_nodes)), set.union)
    for node in range(tree.n_nodes):
        if plan.parent(node) >= 0:
            route = placed.routes[plan.edge_above(node)]
            assert route == (placed.position[plan.parent(node)], placed.position[node])
            (x0, y0), (x1, y1) = route
            half = pi * plan.n_names_below[node] / n
            for other in below[node]:
                x, y = placed.position[other]
                turn = abs((atan2(y - y0, x - x0) - atan2(y1 - y0, x1 - x0) + pi) % (2 * pi) - pi)
                assert turn <= half + 1e-6


def test_a_name_is_never_upside_down():
    (placed,) = radial(LayoutPlan.of(some_tree(40, 1), 0.5))
    assert all(-90 <= text.angle <= 90 for text in placed.names.values())
