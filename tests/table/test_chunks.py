"""Chunks and blocks of rows, bootstrap samples of them, and the order of sums."""

import numpy as np
import pytest

from latree.table import Table, as_table
from latree.table.chunks import add_in_groups


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
