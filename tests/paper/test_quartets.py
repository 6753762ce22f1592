"""The experiment on quartets."""

import numpy as np
import pytest

from latree.paper import quartets


def test_quartets_hide_the_true_pairing_anywhere():
    """With little noise every method finds it, wherever it is; the counts add up to the rows."""
    rng = np.random.default_rng(0)
    for pairing in range(3):
        counts = np.stack([quartets.draw_counts(2, 2, 0.05, 4000, pairing, rng) for _ in range(8)])
        assert (counts.sum(axis=(1, 2, 3, 4)) == 4000).all()
        answers = quartets.answer(counts)
        assert set(answers) == set(quartets.METHODS)
        for method in ("tensor", "spectral@2"):
            assert (answers[method] == pairing).mean() > 0.8, method


def test_a_quartet_cell_counts_right_answers():
    rows = quartets.run_cell(np.random.default_rng(0), (2, 4), 0.5, 500, 150)
    assert [row["method"] for row in rows] == list(quartets.METHODS)
    by_method = {row["method"]: row["right_percent"] for row in rows}
    assert by_method["spectral@2"] > 90
    assert by_method["tensor"] > 85
    assert by_method["nj"] < by_method["tensor"]
    share = by_method["tensor"] / 100
    error = next(row["standard_error"] for row in rows if row["method"] == "tensor")
    assert error == pytest.approx(100 * np.sqrt(share * (1 - share) / 149))


def test_shares_agree_across_seeds_within_binomial_error():
    shares = [
        quartets.run_cell(np.random.default_rng(seed), (4, 4), 1.0, 300, 200)[0]["right_percent"] for seed in range(4)
    ]
    error = 100 * np.sqrt(0.65 * 0.35 / 200)
    assert np.ptp(shares) < 6 * error


def test_the_grid_is_the_papers():
    cells = quartets.cells(quick=False)
    assert len(cells) == len({cell.name for cell in cells}) == 3 * 2 * 10
