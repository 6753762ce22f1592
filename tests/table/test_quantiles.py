"""Exact quantiles of numbers that are counted in intervals first."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from latree.table.raw import from_values
from latree.table.summary import Intervals, interval_weights, numbers_in_intervals


@given(
    cells=st.lists(st.integers(-30, 30), min_size=1, max_size=60),
    seed=st.integers(0, 10**6),
    weighted=st.booleans(),
    data=st.data(),
)
def test_quantiles_of_intervals_are_those_of_sorted_numbers(cells, seed, weighted, data):
    rng = np.random.default_rng(seed)
    weights = rng.integers(1, 4, len(cells)).astype(float) if weighted else None
    numbers = np.unique(cells).astype(float)
    ends = np.unique([*data.draw(st.lists(st.sampled_from(numbers.tolist()))), numbers[-1]])
    raw = from_values("x", np.array(cells, dtype=float))
    intervals = Intervals(ends, interval_weights(raw, weights, (), ends))

    expanded = np.sort(np.repeat(cells, 1 if weights is None else weights.astype(int)))
    assert intervals.total == len(expanded)
    wholes = data.draw(st.lists(st.integers(1, len(expanded)), min_size=1, max_size=5))
    ranks = np.array(wholes, dtype=float)
    needed = intervals.needed(ranks)
    found = intervals.find(ranks, *numbers_in_intervals(raw, weights, (), ends, needed))
    for i, rank in enumerate(wholes):
        number = expanded[rank - 1]
        smaller, larger = numbers[numbers < number], numbers[numbers > number]
        assert found.numbers[i] == number
        assert found.cumulative[i] == np.count_nonzero(expanded <= number)
        assert found.below[i] == (smaller[-1] if len(smaller) else number)
        assert found.cumulative_below[i] == np.count_nonzero(expanded <= found.below[i])
        assert found.above[i] == (larger[0] if len(larger) else number)
