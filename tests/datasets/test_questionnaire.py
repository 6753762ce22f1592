"""The simulated questionnaire: what it promises about its answers."""

import numpy as np
import pytest

from latree.datasets import make_questionnaire
from latree.errors import InputError


def test_answers_follow_the_levels_as_promised():
    answers = make_questionnaire(20_000)
    for item, scale in answers.labels.items():
        means = [answers.data[item][answers.rows[scale] == level].mean() for level in range(3)]
        slope = -0.26 if item.endswith("_5") else {"1": 0.35, "2": 0.32, "3": 0.29, "4": 0.26}[item[-1]]
        assert means == pytest.approx([3 - 4 * slope, 3, 3 + 4 * slope], abs=0.07)


def test_scales_depend_on_each_other_through_one_factor():
    levels = make_questionnaire(20_000).rows
    correlations = np.corrcoef(levels.T)[np.triu_indices(4, 1)]
    # The two levels of the factor have mean levels of 0.65 and 1.35, and the variance of a level is 0.65.
    assert correlations == pytest.approx(np.full(6, 0.35**2 / 0.65), abs=0.03)


def test_missing_answers():
    assert make_questionnaire(2000, missing=0.2).data.isna().to_numpy().mean() == pytest.approx(0.2, abs=0.01)
    assert not make_questionnaire(2000).data.isna().to_numpy().any()
    whole, holes = make_questionnaire(50).data, make_questionnaire(50, missing=0.3).data
    assert (whole[holes.notna()].fillna(0) == holes.fillna(0)).all(axis=None)
    for share in (-0.1, 1):
        with pytest.raises(InputError, match=f"not {share}"):
            make_questionnaire(10, missing=share)
