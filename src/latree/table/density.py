"""The distribution of numbers inside the bins of a column.

The state of a numeric column is its bin. Inside a bin, a number follows a distribution that is estimated once, from all
rows: the bin is divided into pieces with about equally many rows, and the density in a piece is constant. A number that
many rows share, such as an income of zero, is a piece of its own, as wide as the column's last decimal place. The
outermost piece on either side is an exponential tail, or even where the rows say clearly that it is. A tail ends where
one of twenty tables with as many rows would have numbers beyond, so that none is drawn far outside the data. The number
of pieces per bin maximises the likelihood of rows that are left out, in closed form.

So the probability density of a number is ``P(bin) f(number | bin)``, in the units of the data. A number is drawn by
drawing a bin, and then a number inside it.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from math import exp, isclose, isfinite, isinf, log10, pi
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import brentq

from latree._util.arrays import FloatArray, IntArray, check_fields
from latree.errors import InputError

# Pseudo-rows in every bin that are spread over the whole bin: numbers that fall between its pieces are possible.
_BACKGROUND = 0.5

# One of so many tables with as many rows has numbers beyond the end of a tail.
_TABLES = 20

# The odds of an even outermost piece against an exponential tail. They are high, because several numbers of pieces are
# tried in many columns, and because a piece that ends too early makes numbers beyond very improbable.
_ODDS = 1000

# Pieces have at least this many rows on average, and a number of its own piece has, too: with fewer rows, the height of
# a piece is mostly chance, and equal numbers may be a coincidence, or one row that is repeated.
_MIN_ROWS = 5

# Numbers of a model file are below this one: all of them are finite floats.
_TOO_LARGE = 1e308

# Numbers that differ by less are the same: the density of a smaller step would overflow.
_SMALLEST = 1e-290

# So many pieces per bin show all that anybody looks at.
_MAX_PIECES = 64

# Numbers that differ by less than this share of the last decimal place are the same: floats are not exact.
_MARGIN = 1e-6

# Decimal places are looked for among so many of the numbers, and up to so many significant digits of a middle one: a
# float has about 16.
_LOOKED_AT, _DIGITS = 1000, 14

# This share of the numbers decides how many decimals a column has. Of numbers with one more decimal, only a tenth fits.
_MOST = 0.95


@dataclass(frozen=True)
class Density:
    """The distribution of a column's numbers inside its bins.

    Attributes
    ----------
    starts : tuple of int
        The number of the first piece of each bin.
    low, high : tuple of float
        The ends of the pieces, which do not overlap and increase. Those of a tail may be infinite.
    rows : tuple of float
        The number of rows in each piece, or their weight.
    tails : tuple of float
        The scale of the exponential distribution in the first and in the last piece; 0 where the piece is even.
    step : float
        The last decimal place of the numbers: 1 if all are whole, 0.01 if they have two decimals. For numbers with as
        many decimals as floats have, a distance that is smaller than any between two of them.

    Examples
    --------
    >>> import numpy as np
    >>> from latree.table.density import Density
    >>> density = Density.learn(np.arange(100.0), np.ones(100), cuts=np.array([49.5]))
    >>> density.step
    1.0
    >>> density.quantile(np.array([0, 1]), np.array([0.5, 0.5]))  # the medians of both bins
    array([24., 75.])
    >>> np.exp(density.log_density(np.array([70.0]), np.array([1]))).round(3)
    array([0.02])
    """

    starts: tuple[int, ...]
    low: tuple[float, ...]
    high: tuple[float, ...]
    rows: tuple[float, ...]
    tails: tuple[float, float]
    step: float

    @classmethod
    def learn(cls, numbers: FloatArray, counts: FloatArray, cuts: FloatArray) -> "Density":
        """Estimate the distribution inside the bins between some cut points.

        Parameters
        ----------
        numbers : array of float
            The distinct numbers, increasing; every bin has at least one of them.
        counts : array of float
            The number of rows of each, or their weight.
        cuts : array of float
            At least one. A number ``x`` is in the first bin ``b`` with ``x <= cuts[b]``.
        """
        step = last_place(numbers)
        # Sums of weights differ in their last bits by the batches that the rows were read in. The precision of single
        # floats makes them equal.
        fractions, exponents = np.frexp(counts)
        counts = np.ldexp(fractions.astype(np.float32).astype(np.float64), exponents)
        bins = np.searchsorted(cuts, numbers, side="left")
        most = min(counts.sum() / (len(cuts) + 1) / _MIN_ROWS, _MAX_PIECES)
        sizes = [1]
        while 2 * sizes[-1] <= most:
            sizes.append(2 * sizes[-1])
        found = [cls._divided(numbers, counts, bins, cuts, step, size) for size in sizes]
        return max(found, key=lambda one: one._left_out(numbers, counts, bins))

    @classmethod
    def _divided(
        cls, numbers: FloatArray, counts: FloatArray, bins: IntArray, cuts: FloatArray, step: float, n: int
    ) -> "Density":
        """Divide each bin into about n pieces with equally many rows."""
        piece, is_alone = _pieces(counts, bins, n)
        first = np.flatnonzero(np.diff(piece, prepend=-1))
        last = np.append(first[1:], len(numbers)) - 1
        # Neighbours meet in the middle between their numbers, and at the cut between two bins.
        between = numbers[last[:-1]] / 2 + numbers[first[1:]] / 2
        new_bin = np.flatnonzero(np.diff(bins[first]))
        between[new_bin] = cuts[bins[last[new_bin]]]
        edge = np.maximum(step / 2, 2 * np.spacing(np.abs(numbers[[0, -1]])))
        low = np.concatenate([[numbers[0] - edge[0]], between])
        high = np.concatenate([between, [numbers[-1] + edge[1]]])
        alone = is_alone[first]
        shared = numbers[first[alone]]
        around = np.maximum(step / 2, 2 * np.spacing(np.abs(shared)))
        low[alone], high[alone] = np.maximum(low[alone], shared - around), np.minimum(high[alone], shared + around)
        # Numbers that are never negative, or never positive, stay so: a tail ends at zero.
        ends = -step / 2 if numbers[0] >= 0 else -np.inf, step / 2 if numbers[-1] <= 0 else np.inf
        tails = [0.0, 0.0]
        for side, at, inner in ((0, 0, high[0]), (1, -1, low[-1])):
            if not alone[at]:
                own = slice(first[at], last[at] + 1)
                tails[side], length = _tail(np.abs(numbers[own] - inner), counts[own], step, abs(ends[side] - inner))
                (low, high)[side][at] = inner + (length if side else -length)
        return cls(
            tuple(np.flatnonzero(np.diff(bins[first], prepend=-1)).tolist()),
            tuple(low.tolist()),
            tuple(high.tolist()),
            tuple(np.add.reduceat(counts, first).tolist()),
            (tails[0], tails[1]),
            step,
        )

    def log_density(self, numbers: FloatArray, bins: IntArray) -> FloatArray:
        """Return the logarithm of the density of each number inside its bin, per unit of the data.

        Of numbers with as many decimals as floats have, one with a piece of its own counts with its probability, as in
        a Tobit model: it has no last decimal place that this could be spread over.
        """
        found = np.log(self._density(numbers, bins, self._rows, self._total))
        if self.decimals is None:
            piece = self._piece(numbers, bins)
            found += np.where(self._is_alone[piece], np.log(self._width[piece]), 0)
        return np.asarray(found)

    def quantile(self, bins: IntArray, shares: FloatArray) -> FloatArray:
        """Return the number below which a share of its bin lies, for each of some bins, to the last decimal place.

        With shares that are drawn from the uniform distribution, these are draws from the bins.
        """
        start, end = self._starts[bins], self._ends[bins]
        # Rows below: the piece is the first one whose rows reach the share of the bin.
        cumulative = self._cumulative
        target = cumulative[start] + shares * self._total[bins]
        piece = np.clip(np.searchsorted(cumulative, target, side="left") - 1, start, end - 1)
        inside = np.clip((target - cumulative[piece]) / self._rows[piece], 0, 1)
        low, high = np.nan_to_num(self._low[piece]), np.nan_to_num(self._high[piece])  # tails follow
        found = low + inside * (high - low)
        for side, tail in self._tail_pieces():
            own = piece == tail
            # From the inner end: F(d) = (1 - exp(-d / scale)) / (1 - exp(-length / scale)).
            share = inside[own] if side else 1 - inside[own]
            scale = self.tails[side]
            distance = -scale * np.log1p(-np.minimum(share, 1 - 1e-12) * (1 - self._beyond(side)))
            found[own] = self._low[tail] + distance if side else self._high[tail] - distance
        # A bin does not have its lower end.
        found = np.clip(found, np.nextafter(self._low[start], np.inf), self._high[end - 1])
        if self.decimals is None:
            return np.asarray(found)
        rounded = np.round(found, self.decimals)
        # A number that rounding puts into the next bin stays in its own.
        margin = self.step * _MARGIN
        too_low, too_high = rounded <= self._low[start] + margin, rounded > self._high[end - 1] + margin
        return np.asarray(np.round(rounded + self.step * (too_low * 1.0 - too_high), self.decimals))

    def share(self, numbers: FloatArray, bins: IntArray) -> FloatArray:
        """Return the share of its bin that lies below each number: the inverse of :meth:`quantile`."""
        piece = self._piece(numbers, bins)
        low, high = np.nan_to_num(self._low[piece]), np.nan_to_num(self._high[piece])  # tails follow
        inside = np.clip((numbers - low) / (high - low), 0, 1)
        for side, tail in self._tail_pieces():
            own = piece == tail
            inner = self._low[tail] if side else self._high[tail]
            beyond = np.exp(-np.abs(numbers[own] - inner) / self.tails[side])
            near = np.clip((1 - beyond) / (1 - self._beyond(side)), 0, 1)
            inside[own] = near if side else 1 - near
        below = self._cumulative[piece] - self._cumulative[self._starts[bins]]
        return np.asarray((below + inside * self._rows[piece]) / self._total[bins])

    @cached_property
    def medians(self) -> FloatArray:
        """The median of each bin."""
        return self.quantile(np.arange(len(self.starts)), np.full(len(self.starts), 0.5))

    @cached_property
    def means(self) -> FloatArray:
        """The mean of each bin."""
        middle = (self._low + self._high) / 2
        for side, tail in self._tail_pieces():
            length, scale = abs(self._high[tail] - self._low[tail]), self.tails[side]
            mean = _mean(scale, length)
            middle[tail] = self._low[tail] + mean if side else self._high[tail] - mean
        return np.asarray(np.add.reduceat(self._rows * middle, self._starts) / self._total)

    @cached_property
    def decimals(self) -> int | None:
        """The number of decimal places; None if numbers have as many as floats have."""
        places = max(0, round(-log10(self.step)))
        return places if isclose(self.step, 10.0**-places) else None

    def _left_out(self, numbers: FloatArray, counts: FloatArray, bins: IntArray) -> float:
        """Return the log-likelihood of the rows, each under the density without it."""
        piece = self._piece(numbers, bins)
        rows = np.maximum(self._rows[piece] - 1, 0.0)
        density = self._density(numbers, bins, rows, np.maximum(self._total - 1, 0.0), piece)
        n_scales = sum(tail > 0 for tail in self.tails)  # fitting a scale gains about one nat
        return float((counts * np.log(density)).sum()) - n_scales

    def _density(
        self, numbers: FloatArray, bins: IntArray, rows: FloatArray, total: FloatArray, piece: IntArray | None = None
    ) -> FloatArray:
        """Return the density of numbers, given the rows of each piece, or of each number's piece, and of each bin."""
        if piece is None:
            piece = self._piece(numbers, bins)
            rows = rows[piece]
        margin = self.step * _MARGIN
        inside = (numbers >= self._low[piece] - margin) & (numbers <= self._high[piece] + margin)
        height = inside / np.maximum(self._width[piece], self.step * 1e-3)
        for side, tail in self._tail_pieces():
            own = piece == tail
            inner = self._low[tail] if side else self._high[tail]
            distance = np.abs(numbers[own] - inner)
            scale = self.tails[side]
            height[own] = inside[own] * np.exp(-distance / scale) / (scale * (1 - self._beyond(side)))
        # Beside the pieces, a bin has a background: even, or with a heavy tail (half of a Cauchy distribution) in the
        # outermost bins, so that numbers far away are possible.
        even = 1 / self._spread[bins]
        last = len(self.starts) - 1
        for side, own in ((0, bins == 0), (1, bins == last)):
            inner = self._low[self.starts[-1]] if side else self._high[self._ends[0] - 1]
            even[own] *= 2 / pi / (1 + ((numbers[own] - inner) / self._spread[last * side]) ** 2)
        return np.asarray((rows * height + _BACKGROUND * even) / (total[bins] + _BACKGROUND))

    def _piece(self, numbers: FloatArray, bins: IntArray) -> IntArray:
        """Return the number of the piece of each number, the last one that begins below it in its bin."""
        margin = self.step * _MARGIN
        found = np.searchsorted(self._low - margin, numbers, side="left") - 1
        return np.clip(found, self._starts[bins], self._ends[bins] - 1)

    def _tail_pieces(self) -> Iterator[tuple[int, int]]:
        """Yield the sides that have a tail, 0 for the low one and 1 for the high one, and their pieces."""
        for side, piece in ((0, 0), (1, len(self.low) - 1)):
            if self.tails[side]:
                yield side, piece

    def _beyond(self, side: int) -> float:
        """Return the share of an exponential tail that lies beyond where it ends."""
        length = self._width[0] if side == 0 else self._width[-1]
        return exp(-length / self.tails[side])

    @cached_property
    def _starts(self) -> IntArray:
        return np.array(self.starts, dtype=np.intp)

    @cached_property
    def _ends(self) -> IntArray:
        return np.array([*self.starts[1:], len(self.low)], dtype=np.intp)

    @cached_property
    def _low(self) -> FloatArray:
        return np.array(self.low)

    @cached_property
    def _high(self) -> FloatArray:
        return np.array(self.high)

    @cached_property
    def _rows(self) -> FloatArray:
        return np.array(self.rows)

    @cached_property
    def _cumulative(self) -> FloatArray:
        """The rows below each piece."""
        return np.concatenate([[0.0], np.cumsum(self._rows)])

    @cached_property
    def _width(self) -> FloatArray:
        return np.asarray(self._high - self._low)

    @cached_property
    def _is_alone(self) -> NDArray[np.bool_]:
        """Which pieces are those of a single number that many rows share."""
        smallest = np.maximum(self.step, 4 * np.spacing(np.maximum(np.abs(self._low), np.abs(self._high))))
        return np.asarray(self._width <= smallest * (1 + _MARGIN))

    @cached_property
    def _total(self) -> FloatArray:
        """The rows of each bin."""
        return np.asarray(np.add.reduceat(self._rows, self._starts))

    @cached_property
    def _spread(self) -> FloatArray:
        """The width of each bin; of the outermost ones, the distance of their mean from the next bin."""
        found = self._high[self._ends - 1] - self._low[self._starts]
        found[0] = self._high[self._ends[0] - 1] - self.means[0]
        found[-1] = self.means[-1] - self._low[self._starts[-1]]
        return np.maximum(found, self.step)

    def to_dict(self) -> dict[str, Any]:
        """Return the density as plain data for JSON; infinite ends are null."""
        low, high = ([end if isfinite(end) else None for end in ends] for ends in (self.low, self.high))
        return {
            "starts": list(self.starts),
            "low": low,
            "high": high,
            "rows": list(self.rows),
            "tails": list(self.tails),
            "step": self.step,
        }

    @classmethod
    def from_dict(cls, plain: Any, cuts: Sequence[float]) -> "Density":
        """Make a density from plain data, for the bins between some cut points; raise if anything in it is wrong."""
        if not isinstance(plain, dict):
            raise InputError("its density is not a JSON object")
        check_fields(plain, ("starts", "low", "high", "rows", "tails", "step"), "its density")
        low, high = _floats(plain.get("low"), -np.inf), _floats(plain.get("high"), np.inf)
        starts, rows, tails = (_floats(plain.get(key)) for key in ("starts", "rows", "tails"))
        (step,) = _floats([plain.get("step")])
        is_well_formed = (
            len(low) == len(high) == len(rows)
            and len(starts) == len(cuts) + 1
            and len(tails) == 2
            and (starts == np.floor(starts)).all()
            and starts[0] == 0
            and (np.diff(starts, append=len(low)) > 0).all()
            and (low < high).all()
            and (high[:-1] <= low[1:]).all()
            and (rows > 0).all()
            and (tails >= 0).all()
            and step > 0
            # Only a tail has no end.
            and np.isfinite([*low[1:], *high[:-1]]).all()
            and all(isfinite(end) or tail for end, tail in ((low[0], tails[0]), (high[-1], tails[1])))
        )
        if not is_well_formed:
            raise InputError("the pieces of its density do not fit its bins")
        first = starts[1:].astype(np.intp)
        if not ((high[first - 1] <= cuts) & (cuts <= low[first])).all():
            raise InputError("the pieces of its density do not fit its cuts")
        ends = tuple(low.tolist()), tuple(high.tolist())
        return cls(
            tuple(map(int, starts)), *ends, tuple(rows.tolist()), (float(tails[0]), float(tails[1])), float(step)
        )


def _floats(values: Any, null: float = np.nan) -> FloatArray:
    """Return a JSON list of numbers as an array; null is an infinite end, and numbers themselves are finite."""
    found = isinstance(values, list) and all(
        (value is None and isinf(null)) or (type(value) in (int, float) and abs(value) < _TOO_LARGE) for value in values
    )
    if not found:
        raise InputError("its density has a list that is not one of numbers")
    return np.array([null if value is None else value for value in values], dtype=np.float64)


def _pieces(counts: FloatArray, bins: IntArray, n: int) -> tuple[IntArray, NDArray[np.bool_]]:
    """Divide each bin into about n pieces with equally many rows.

    Returns the number of the piece of each distinct number, and whether the number has a piece of its own because it
    has as many rows as a piece should have.
    """
    total = np.bincount(bins, counts)
    before = np.cumsum(counts) - counts
    below = before - np.concatenate([[0.0], np.cumsum(total)])[bins]  # in the same bin
    is_alone = (counts >= total[bins] / n) & (counts >= _MIN_ROWS)
    place = np.minimum((n * (below + counts / 2) / total[bins]).astype(np.intp), n - 1)
    changes = (np.diff(bins) > 0) | (np.diff(place) > 0) | is_alone[1:] | is_alone[:-1]
    return np.concatenate([[0], np.cumsum(changes)]), is_alone


def _tail(distances: FloatArray, counts: FloatArray, step: float, limit: float) -> tuple[float, float]:
    """Return the scale of the exponential distribution in an outermost piece, 0 for an even one, and its length.

    Parameters
    ----------
    distances : array of float
        Those of its distinct numbers from the inner end of the piece.
    counts : array of float
        The number of rows of each.
    step : float
        The last decimal place.
    limit : float
        The largest length: numbers that are never negative stay so.
    """
    n, mean = float(counts.sum()), max(float(np.average(distances, weights=counts)), step / 2)
    # The unbiased estimate of where an even distribution ends is 1 + 1 / n times its largest number.
    even = min((float(distances.max()) + step / 2) * (1 + 1 / n), limit)
    # The log-likelihoods are -n log(length), and -n log(scale) - n.
    if n * (np.log(mean / even) + 1) > np.log(_ODDS):
        return 0.0, even
    # The largest of n exponential numbers exceeds log(k n) scales with a probability of about 1 / k.
    length = min(max(mean * np.log(max(_TABLES * n, 1.0)), even), limit)
    scale = _scale(mean, length)
    return scale, float(length)


def _mean(scale: float, length: float) -> float:
    """Return the mean of an exponential distribution that ends at some length."""
    return scale if not isfinite(length) else scale - length / np.expm1(min(length / scale, 700.0))


def _scale(mean: float, length: float) -> float:
    """Return the scale of an exponential distribution that ends at some length and has some mean; 0 if it is even."""
    if not isfinite(length):
        return mean
    if mean >= length * 0.499:  # an even distribution has one half
        return 0.0
    # The mean increases with the scale, from 0 to half of the length.
    return float(brentq(lambda scale: _mean(scale, length) - mean, mean * 0.5, length * 1e3))


def last_place(numbers: FloatArray) -> float:
    """Return the last decimal place of distinct numbers: 1 if they are whole, 0.01 if they have two decimals.

    Few numbers with more decimals, such as 8.700001 among others like 8.21, do not count. For numbers with as many
    decimals as floats have, return a distance below any between two of them.
    """
    some = numbers[:: -(-len(numbers) // _LOOKED_AT)]
    middle = float(np.median(np.abs(some))) or 1.0
    most = min(_DIGITS - int(np.floor(np.log10(middle))) - 1, 300)
    for decimals in range(max(most, 0) + 1):
        fits = np.abs(np.round(some, decimals) - some) <= 2 * np.spacing(np.abs(some))
        if np.count_nonzero(fits) >= _MOST * len(some):
            return 10.0**-decimals
    return max(float(np.diff(numbers).min(initial=np.inf)) / 2, middle * 10.0**-_DIGITS, _SMALLEST)
