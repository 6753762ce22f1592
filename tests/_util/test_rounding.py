"""Shares as whole numbers."""

from hypothesis import given
from hypothesis import strategies as st

from latree._util.words import percent, whole_shares


def test_halves_are_rounded_up_and_noise_in_the_last_bits_does_not_matter():
    assert [percent(share) for share in (0, 0.004, 0.005, 0.945, 0.955, 1)] == [0, 0, 1, 95, 96, 1 * 100]
    assert percent(0.945 - 1e-16) == percent(0.945 + 1e-16) == 95


def test_shares_add_up():
    assert whole_shares([1, 1, 1]) == [34, 33, 33]
    assert whole_shares([0.504, 0.251, 0.245]) == [50, 25, 25]  # rounded one by one, they would add up to 100, too
    assert whole_shares([0.335, 0.335, 0.33]) == [34, 33, 33]  # rounded one by one, they would add up to 101
    assert whole_shares([0, 0]) == [0, 0]
    assert whole_shares([]) == []


@given(st.lists(st.floats(0, 1), min_size=1, max_size=20), st.sampled_from([100, 1000]))
def test_no_share_is_rounded_by_more_than_one(shares, total):
    found = whole_shares(shares, total)
    assert sum(found) == (total if sum(shares) > 0 else 0)
    if sum(shares) > 0:
        assert all(abs(one - total * share / sum(shares)) < 1 + 1e-6 for one, share in zip(found, shares, strict=True))
