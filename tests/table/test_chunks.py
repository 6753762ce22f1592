"""Chunks and blocks of rows, bootstrap samples of them, and the order of sums."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from latree.table import Table, as_table
from latree.table.rows import MemoryRows, add_in_groups


def test_resampling_draws_by_weight(all_on_disk):
    codes = np.arange(1000)[:, None] % 2
    weights = np.where(codes[:, 0] == 0, 3.0, 1.0)
    columns = as_table([[0], [1]], bins=0).columns
    drawn = Table.from_codes(columns, codes, weights).rows.resampled(0, 0)
    assert drawn.total_weight == weights.sum() == 2000
    share = drawn.weights[drawn.codes[:, 0] == 0].sum() / 2000
    assert abs(share - 0.75) < 5 * np.sqrt(0.75 * 0.25 / 2000)


def test_every_chunk_has_draws_of_its_own(all_on_disk):
    columns = as_table(np.arange(128)[:, None] % 64, bins=0).columns
    codes = np.tile(np.arange(64), 1000)[:, None]
    rows = Table.from_codes(columns, codes).rows
    size = len(next(rows.chunks()).codes)
    drawn = rows.resampled(0, 0)
    times = np.zeros(len(codes))
    place = -1
    for code, weight in zip(drawn.codes[:, 0].tolist(), drawn.weights.tolist(), strict=True):
        place += (code - place % 64) % 64 or 64
        times[place] = weight
    chunks = times[: len(times) // size * size].reshape(-1, size)
    assert len({chunk.tobytes() for chunk in chunks}) == len(chunks) > 10


@pytest.mark.parametrize("parts", [1, 2, 15, 16, 17, 31, 33, 256, 257, 300, 4097])
def test_sums_have_a_fixed_shape(parts):
    """Level by level, as machines do it."""
    rng = np.random.default_rng(parts)
    values = [rng.normal(size=3) * 10.0 ** rng.integers(-8, 8) for _ in range(parts)]
    level = values
    while len(level) > 1:
        groups = [level[start : start + 16] for start in range(0, len(level), 16)]
        level = [sum(group[1:], group[0]) for group in groups]
    np.testing.assert_array_equal(add_in_groups(iter(values)), level[0])
    np.testing.assert_allclose(level[0], np.sum(values, axis=0), rtol=1e-6, atol=1e-6)


@settings(max_examples=40, deadline=None)
@given(seed=st.integers(0, 10**6), collide=st.booleans(), weighted=st.booleans())
def test_distinct_rows_have_the_sums_of_all(seed, collide, weighted):
    rng = np.random.default_rng(seed)
    codes = np.asfortranarray(rng.integers(0, 2, (50, 3)).astype(np.uint8))
    codes[rng.random(codes.shape) < 0.1] = 255
    weights = rng.random(50) if weighted else None
    with pytest.MonkeyPatch.context() as patch:
        if collide:  # all rows get the same key
            patch.setattr("latree.table.rows._HASH_RANGE", 1)
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
    monkeypatch.setattr("latree.table.rows.BLOCK_ROWS", 16)
    monkeypatch.setattr("latree.table.rows.CHUNK_CELLS", 128)
    monkeypatch.setattr("latree.table.rows._DISTINCT_CELLS", 400)
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
