"""Shares as whole numbers, rounded in one way wherever people see them."""

from collections.abc import Sequence
from math import floor

# Shares that agree in so many decimals are the same: the last bits differ from machine to machine.
_DECIMALS = 9


def percent(share: float) -> int:
    """Return a share in whole per cent; a half is rounded up."""
    return floor(round(100 * share, _DECIMALS - 2) + 0.5)


def whole_shares(shares: Sequence[float], total: int = 100) -> list[int]:
    """Return shares as whole numbers that add up to a total: those with the largest remainders are rounded up.

    Parameters
    ----------
    shares : sequence of float
        At least 0; they need not add up to 1.
    total : int
        Such as 100 for per cent.
    """
    whole = sum(shares)
    exact = [round(total * share / whole, _DECIMALS - 2) if whole > 0 else 0.0 for share in shares]
    found = [floor(share) for share in exact]
    missing = total - sum(found) if whole > 0 else 0
    by_remainder = sorted(range(len(found)), key=lambda place: (found[place] - exact[place], place))
    for place in by_remainder[:missing]:
        found[place] += 1
    return found
