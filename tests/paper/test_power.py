"""Power: how many rows it takes to find a tree."""

import contextlib

import pytest

from helpers.checkpoint import Stopped, Stopping, model_of
from helpers.paper import easy_model
from latree._util.checkpoint import Keeper
from latree.errors import InputError
from latree.paper.power import RecoveryRate, recovery_power
from latree.paper.simulate import random_model, random_tree


def test_wilson_intervals():
    low, high = RecoveryRate(100, 40, 40).interval
    assert 0.9 < low < 1
    assert high == pytest.approx(1)
    low, high = RecoveryRate(100, 40, 20).interval
    assert low == pytest.approx(1 - high)
    assert (low, high) == pytest.approx((0.352, 0.648), abs=0.001)


def test_power_finds_the_rows_that_are_enough():
    power = recovery_power(easy_model(), target=0.9, repeats=20, random_state=0)
    sizes = [point.rows for point in power.points]
    assert sizes == sorted(sizes)
    shares = {point.rows: point.share for point in power.points}
    assert shares[power.rows_needed] >= 0.9
    assert max((share for rows, share in shares.items() if rows < power.rows_needed), default=0) < 0.9
    again = recovery_power(easy_model(), target=0.9, repeats=20, random_state=0)
    assert again == power


def test_power_says_when_it_is_not_enough():
    model = random_model(random_tree(8, 0.2, 0), n_states=3, hidden_states=2, perturbation=1.0, random_state=0)
    power = recovery_power(model, repeats=3, max_rows=120, random_state=0)
    assert power.rows_needed is None
    assert [point.rows for point in power.points] == [50, 100]
    with pytest.raises(InputError, match="target"):
        recovery_power(model, target=0)


def test_power_goes_on_within_a_size(tmp_path):
    model = model_of(6, 0.6)
    options = {"target": 0.9, "method": "nj", "repeats": 8, "max_rows": 800, "random_state": 3}
    expected = recovery_power(model, **options)
    assert len(expected.points) > 3
    found, stops = None, -1
    while found is None:
        stops += 1
        keep = Stopping(tmp_path / "kept", {}, 5)
        with contextlib.suppress(Stopped):
            found = recovery_power(model, **options, keep=keep)
    assert stops > 4
    assert found == expected
    assert keep.describe() == f"{len(expected.points)} sizes"


def test_repeats_of_power_have_random_numbers_of_their_own():
    seen = {}

    class Recording(Keeper):
        def save(self, kind, number, arrays, finished=True):
            seen[len(arrays["found"]), number] = arrays["found"].tolist()

    for repeats in (10, 25):
        options = {"method": "nj", "repeats": repeats, "max_rows": 200, "random_state": 3, "target": 1}
        recovery_power(model_of(6), **options, keep=Recording())
    assert seen[25, 100][:10] == seen[10, 100]
    assert 0 < sum(seen[25, 100]) < 25
    assert seen[25, 100] != seen[25, 200]
