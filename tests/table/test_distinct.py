"""Rows that are the same, counted once; blocks of rows."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from latree.table.memory import MemoryRows


@settings(max_examples=40, deadline=None)
@given(seed=st.integers(0, 10**6), collide=st.booleans(), weighted=st.booleans())
def test_distinct_rows_have_the_sums_of_all(seed, collide, weighted):
    rng = np.random.default_rng(seed)
    codes = np.asfortranarray(rng.integers(0, 2, (50, 3)).astype(np.uint8))
    codes[rng.random(codes.shape) < 0.1] = 255
    weights = rng.random(50) if weighted else None
    with pytest.MonkeyPatch.context() as patch:
        if collide:  # all rows get the same key
            patch.setattr("latree.table.chunks._KEYS", 1)
        rows = MemoryRows(codes, weights).distinct()
    assert len(np.unique(rows.codes, axis=0)) == rows.n_rows == len(np.unique(codes, axis=0)) < 30
    assert rows.total_weight == pytest.approx(50 if weights is None else weights.sum(), rel=1e-12)
    for row, weight in zip(rows.codes, rows.weights, strict=True):
        same = (codes == row).all(axis=1)
        assert weight == pytest.approx(same.sum() if weights is None else weights[same].sum(), rel=1e-12)
    firsts = [int(np.flatnonzero((codes == row).all(axis=1))[0]) for row in rows.codes]
    assert firsts == sorted(firsts)


def test_rows_that_mostly_differ_stay_as_they_are():
    codes = np.asfortranarray(np.arange(200, dtype=np.uint8)[:, None])
    rows = MemoryRows(codes, None)
    assert rows.distinct() is rows


def test_blocks_are_of_about_the_same_size_and_have_numbers():
    seen = []

    def statistic(block):
        seen.append((block.number, len(block.codes)))
        return np.zeros(1)

    MemoryRows(np.zeros((200, 1), dtype=np.uint8), None).sum(statistic, 64)
    assert sorted(seen) == [(0, 50), (1, 50), (2, 50), (3, 50)]


@pytest.mark.parametrize("weighted", [False, True])
def test_distinct_rows_of_many_chunks_are_put_together_or_given_up(monkeypatch, weighted):
    monkeypatch.setattr("latree.table.chunks.BLOCK_ROWS", 16)
    monkeypatch.setattr("latree.table.chunks.CHUNK_CELLS", 128)
    monkeypatch.setattr("latree.table.chunks._DISTINCT_CELLS", 400)
    rng = np.random.default_rng(0)
    weights = rng.random(3000) if weighted else None
    few = np.asfortranarray(rng.integers(0, 3, (3000, 4)).astype(np.uint8))
    once = MemoryRows(few, weights).distinct()
    assert once.n_rows == 3**4
    cells = [(few == row).all(axis=1) for row in once.codes]
    expected = [cell.sum() if weights is None else weights[cell].sum() for cell in cells]
    np.testing.assert_allclose(once.weights, expected, rtol=1e-12)
    many = MemoryRows(np.asfortranarray(np.tile(rng.integers(0, 250, (1000, 4)).astype(np.uint8), (3, 1))), weights)
    assert many.distinct() is many
