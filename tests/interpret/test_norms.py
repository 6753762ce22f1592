"""Scores by the norms of the rows of the fit."""

import json

import numpy as np
import pytest
from scipy import stats

from latree import LatentTree
from latree.datasets import make_questionnaire
from latree.errors import InputError
from latree.interpret.scores import norms_of
from latree.model import LatentTreeModel
from latree.table import as_table


@pytest.fixture(scope="module")
def answers():
    return make_questionnaire(300).data


@pytest.fixture(scope="module")
def model(answers):
    return LatentTree(random_state=0, n_resamples=0).fit(answers)


def test_scales_are_those_of_the_rows_of_the_fit(model, answers):
    unit = model.transform(answers).to_numpy()
    z = (unit - unit.mean(axis=0)) / unit.std(axis=0)
    assert model.transform(answers, scale="z").to_numpy() == pytest.approx(z)
    assert model.transform(answers, scale="t").to_numpy() == pytest.approx(50 + 10 * z)
    percentiles = model.transform(answers, scale="percentile").to_numpy()
    # The share of rows that are lower, and half of those that are equal.
    expected = np.column_stack([stats.percentileofscore(own, own, "mean") for own in unit.T])
    assert np.abs(percentiles - expected).max() < 1


def test_new_rows_have_the_norms_of_the_old_ones(model, answers):
    few = answers.head(10)
    assert model.transform(few, scale="t").equals(model.transform(answers, scale="t").head(10))


def test_flipped_scores_have_flipped_norms(model, answers):
    name = model.groups_[0].name
    before = model.transform(answers, scale="percentile")[name]
    turned = LatentTree(random_state=0, n_resamples=0).fit(answers).flip(name)
    after = turned.transform(answers, scale="percentile")[name]
    assert after.to_numpy() == pytest.approx(100 - before.to_numpy(), abs=1e-6)


def test_weights_count(model, answers):
    weights = np.where(np.arange(len(answers)) < 100, 2.0, 0.0)
    weighted = as_table(answers, columns=model.model_.columns, weights=weights)
    half = as_table(answers.head(100), columns=model.model_.columns)
    assert np.array(norms_of(model.model_, weighted)) == pytest.approx(np.array(norms_of(model.model_, half)), abs=0.02)


def test_norms_of_a_file_are_checked(model, tmp_path):
    path = tmp_path / "model.json"
    model.save(path)
    plain = json.loads(path.read_text())
    plain["fit"]["norms"][0][5] = 7.0
    path.write_text(json.dumps(plain))
    with pytest.raises(InputError, match="the fit's norms are not"):
        LatentTreeModel.load(path)


def test_what_has_no_norms_is_refused(model, answers):
    with pytest.raises(InputError, match="scores of groups"):
        model.transform(answers, of="hidden", scale="t")
    with pytest.raises(InputError, match="scale must be one of"):
        model.transform(answers, scale="T")
