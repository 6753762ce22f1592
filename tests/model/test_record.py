"""What a model remembers of its fit."""

import json
from dataclasses import replace
from itertools import combinations

import pytest

from helpers.report import learned_run
from latree.errors import InputError
from latree.interpret.view import View
from latree.model import LatentTreeModel
from latree.model.record import Candidate, Record


@pytest.fixture(scope="module")
def learned():
    return learned_run()


def test_a_model_remembers_its_fit_and_so_does_its_file(learned, tmp_path):
    learned.model.save(tmp_path / "model.json")
    record = LatentTreeModel.load(tmp_path / "model.json").record
    assert record == learned.model.record
    assert record.settings == learned.settings
    assert record.history == tuple(learned.fit.monitor.history)
    assert record.log_likelihood == learned.summary["log_likelihood"]
    assert record.tried
    chosen = {(attempt.most, attempt.smoothing) for attempt in record.tried}
    assert (max(learned.choice.n_states), learned.smoothing) in chosen


def test_attempts_contain_the_held_out_likelihood(learned):
    own = [
        attempt.held_out
        for attempt in learned.choice.tried
        if (attempt.fewest, attempt.most) == (min(learned.choice.n_states), max(learned.choice.n_states))
        and attempt.smoothing == learned.choice.smoothing
    ]
    assert pytest.approx(learned.choice.scores.sum() / 300, rel=1e-9) in own


def test_a_record_of_no_rows_is_refused(learned):
    plain_record = json.loads(json.dumps(learned.model.record.to_dict()))
    for change in ({"total_weight": 0.0}, {"n_missing": [301] + [0] * 6}):
        with pytest.raises(InputError, match="too small"):
            Record.from_dict(plain_record | change, 7)


WRONG = {
    "latree": 1,
    "source": ["x"],
    "settings": {"method": "nj"},
    "n_rows": 2.5,
    "total_weight": "many",
    "n_missing": [0, 1],
    "log_likelihood": True,
    "converged": 1,
    "smoothing": None,
    "history": [1.0, "2"],
    "tried": [[1, 2, 3.0]],
    "counts": [["exchanges", 1.5]],
    "odd": "none",
    "worth": ["latent tree", 300, 1.0, 0.1, [["chow-liu", 0, 1.0, 0.1, "0.2", 0.1]]],
    "candidates": [["hclt", 0.0]],
    "correlations": [100] * 20 + [0.5],
    "reliability": [[0.5]],
    "redundant": [["a", "b", "much"]],
    "left_out": [["a", 1]],
    "reading": {"bins": 10},
    "columns": "abc",
    "library": 1,
    "labels": [["a"]],
    "version": 2,
    "command": "\ud800",
}


IMPOSSIBLE = {
    "log_likelihood": 0.001,
    "history": [-3.0, 1e9],
    "smoothing": -0.1,
    "tried": [[2, 1, 0.1, -1.0]],
    "tried ": [[0, 1, 0.1, -1.0]],
    "tried  ": [[1, 1, -0.1, -1.0]],
    "tried   ": [[1, 1, 0.1, 1.0]],
    "worth": ["latent tree", 300, 1.0, -0.1, []],
    "worth ": ["latent tree", 300, 1.0, 0.1, [["chow-liu", 0, 1.0, 0.1, 0.2, -0.1]]],
    "candidates": [["hclt", 0.0, 0.0], ["lcm", 0.1, -0.1]],
    "correlations": [100] * 20,
    "correlations ": [100] * 20 + [201],
    "unseen": "ignored",
    "weights_are": "heavy",
    "unknown field": 1,
}


@pytest.mark.parametrize("field", IMPOSSIBLE)
def test_numbers_that_no_fit_gives_are_refused(learned, field):
    plain_record = json.loads(json.dumps(learned.model.record.to_dict()))
    with pytest.raises(InputError, match="smoothing" if field == "tried  " else field.strip()):
        Record.from_dict(plain_record | {field.strip(): IMPOSSIBLE[field]}, 7)


@pytest.mark.parametrize("field", WRONG)
def test_a_record_is_read_as_hostile_input(learned, field):
    plain_record = json.loads(json.dumps(learned.model.record.to_dict()))
    assert Record.from_dict(plain_record, 7) == learned.model.record
    with pytest.raises(InputError, match=field if field != "version" else "version 2"):
        Record.from_dict(plain_record | {field: WRONG[field]}, 7)
    with pytest.raises(InputError, match="fit"):
        Record.from_dict([plain_record], 7)


def test_a_record_has_the_correlations_of_all_pairs_of_columns(learned):
    record = learned.model.record
    expected = View(learned.model).correlation_in_rows(learned.table)
    for one, other in combinations(range(7), 2):
        assert (
            record.correlation(one, other)
            == record.correlation(other, one)
            == pytest.approx(expected[one, other], abs=0.006)
        )
    assert replace(record, correlations=None).correlation(0, 1) is None
    assert replace(record, correlations=(None, *record.correlations[1:])).correlation(0, 1) is None


def test_a_record_without_worth_is_read(learned):
    plain_record = json.loads(json.dumps(learned.model.record.to_dict()))
    assert Record.from_dict(plain_record, 7).worth == learned.worth
    del plain_record["worth"]
    assert Record.from_dict(plain_record, 7).worth is None


@pytest.mark.parametrize(("name", "value"), [("method", None), ("random_state", -1)])
def test_the_settings_of_a_record_are_read_as_hostile_input(learned, name, value):
    plain_record = json.loads(json.dumps(learned.model.record.to_dict()))
    with pytest.raises(InputError, match=name):
        Record.from_dict(plain_record | {"settings": plain_record["settings"] | {name: value}}, 7)


def test_a_record_remembers_the_candidates(learned):
    candidates = (Candidate("hclt", 0.0, 0.0), Candidate("lcm", 0.25, 0.03))
    record = replace(learned.model.record, candidates=candidates)
    again = Record.from_dict(json.loads(json.dumps(record.to_dict())), 7)
    assert again.candidates == candidates
