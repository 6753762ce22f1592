"""The experiment on trees."""

import numpy as np

from latree.learners.methods import METHODS
from latree.paper import trees


def test_the_grid_is_the_papers():
    cells = trees.cells(quick=False)
    assert len(cells) == len({cell.name for cell in cells}) == 2 * 2 * 3 * 6 * 5
    shown = {settings.method for settings in trees.LEARNERS.values()}
    # The default is no method of the paper's, and the others learn nothing about the hidden tree.
    assert shown == set(METHODS) - {"auto", "hclt", "lcm", "independent"}


def test_a_tree_cell_measures_every_learner():
    rows = trees.run_cell(np.random.default_rng(0), "identity", 0.5, 0.2, 1000, 1)
    assert [row["method"] for row in rows] == list(trees.LEARNERS)
    distances = {row["method"]: row["robinson_foulds"] for row in rows}
    assert distances["spectral@2"] <= 4 < distances["clnj"]
    (one,) = trees.summary([{**rows[0], "robinson_foulds": x} for x in (2, 4)])[:1]
    assert (one["robinson_foulds"], one["repeats"]) == (3, 2)
