"""How many rows it takes to find the tree of a known model, by simulation."""

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from scipy.stats import binomtest

from latree._util.arrays import RandomState, generator
from latree._util.checkpoint import NOTHING_KEPT, Arrays, Keeper
from latree._util.progress import claim_progress
from latree.errors import InputError
from latree.learners.methods import find_method
from latree.model import LatentTreeModel
from latree.paper.cells import Row
from latree.paper.figures import COLOURS, new_figure, start_panel
from latree.settings import Settings

if TYPE_CHECKING:
    from matplotlib.figure import Figure

FIRST_SIZE = 50  # the first number of rows that is tried
_BISECTIONS = 3  # between the last number of rows that is too small and the first that is large enough
_MAX_SHORTFALL = 0.05  # an answer is sure if its interval ends no further than this below the target


@dataclass(frozen=True)
class RecoveryRate:
    """How often the tree was found in simulated tables with the same number of rows."""

    rows: int
    repeats: int
    found: int

    @property
    def share(self) -> float:
        """The share of the repeats in which the tree was found."""
        return self.found / self.repeats

    @property
    def interval(self) -> tuple[float, float]:
        """The 95 % Wilson confidence interval of the probability that the tree is found."""
        found = binomtest(self.found, self.repeats).proportion_ci(0.95, method="wilson")
        return float(found.low), float(found.high)


@dataclass(frozen=True)
class Power:
    """The result of :func:`recovery_power`.

    Attributes
    ----------
    points : tuple of RecoveryRate
        The curve, by rising number of rows.
    target : float
        Share of the simulated tables in which the tree should be found.
    rows_needed : int or None
        The smallest number of rows that reached the target; None if none did.
    """

    points: tuple[RecoveryRate, ...]
    target: float
    rows_needed: int | None

    @property
    def answer(self) -> RecoveryRate | None:
        """The point of the curve at ``rows_needed``."""
        return next((point for point in self.points if point.rows == self.rows_needed), None)

    @property
    def unsure(self) -> bool:
        """Whether the confidence interval of the answer reaches well below the target."""
        return self.answer is not None and self.answer.interval[0] < self.target - _MAX_SHORTFALL

    def rows(self) -> list[Row]:
        """Return the curve as one dictionary per point."""
        keys = ("rows", "repeats", "found", "share", "low", "high")
        return [dict(zip(keys, (p.rows, p.repeats, p.found, p.share, *p.interval), strict=True)) for p in self.points]


def recovery_power(
    model: LatentTreeModel,
    *,
    target: float = 0.95,
    method: str = "tensor",
    n_states: int | None = None,
    repeats: int = 40,
    max_rows: int = 100_000,
    random_state: RandomState = None,
    keep: Keeper = NOTHING_KEPT,
) -> Power:
    """Simulate how many rows a method needs to find the tree of a known model.

    Use it to plan a study: simulate or fit a model like the one that you expect, and ask for the number of rows.

    Tables are drawn from the model, and the tree is learned from each. The number of rows is doubled until the share of
    trees that equal the model's reaches the target; then the smallest such number is found by bisection. The random
    numbers of a table depend only on the seed, its number of rows and its position among the repeats.

    Parameters
    ----------
    model : LatentTreeModel
        The true model.
    target : float
        Share of the simulated tables in which the tree must be found.
    method : str
        The learner; ``latree methods`` lists them.
    n_states : int, optional
        Number of hidden states, for methods that need it.
    repeats : int
        Simulated tables for each number of rows. More repeats give narrower confidence intervals.
    max_rows : int
        The search gives up beyond this number of rows.
    random_state : int, Generator or None
        Seed of the random numbers.
    keep : Keeper
        Stores finished work, so that a stopped run can continue.

    Returns
    -------
    Power

    Examples
    --------
    >>> from latree import random_model, random_tree
    >>> from latree.research import recovery_power
    >>> tree = random_tree(6, random_state=0)
    >>> model = random_model(tree, n_states=4, hidden_states=2, start="identity", perturbation=0.1, random_state=0)
    >>> power = recovery_power(model, target=0.8, method="tensor", repeats=5, random_state=0)
    >>> [(point.rows, point.share) for point in power.points]
    [(50, 0.2), (100, 0.0), (200, 0.2), (400, 0.6), (600, 0.4), (650, 0.4), (700, 0.8), (800, 1.0)]
    >>> power.rows_needed
    700
    """
    progress = claim_progress()
    if not 0 < target <= 1:
        raise InputError(f"the target must be more than 0 and at most 1, not {target!r}")
    seed = int(generator(random_state).integers(2**31))
    settings = Settings(method, n_states=n_states)
    learner = find_method(method)
    learner.check_returns(model.tree)
    sizes = [FIRST_SIZE]
    while sizes[-1] * 2 <= max_rows:
        sizes.append(sizes[-1] * 2)
    points: dict[int, RecoveryRate] = {}

    def reaches_target(size: int) -> bool:
        found = keep.load("sizes", size, _read_found) or []
        while len(found) < repeats:
            rng = np.random.default_rng([seed, size, len(found)])
            learned = learner.learn(model.sample(size, rng), settings, rng)
            found.append(learned.tree.robinson_foulds(model.tree) == 0)
            if len(found) == repeats or keep.is_due():
                keep.save("sizes", size, {"found": np.array(found)})
            progress(len(points) * repeats + len(found), (len(sizes) + _BISECTIONS) * repeats)
        points[size] = RecoveryRate(size, repeats, sum(found))
        return points[size].share >= target

    # Double the number of rows until the target is reached.
    rows_needed = next((size for size in sizes if reaches_target(size)), None)
    if rows_needed is not None and rows_needed > FIRST_SIZE:
        # Bisect: `low` rows are too few, `high` rows are enough.
        low, high = rows_needed // 2, rows_needed
        for _ in range(_BISECTIONS):
            middle = (low + high) // 2
            low, high = (low, middle) if reaches_target(middle) else (middle, high)
        rows_needed = high
    return Power(tuple(points[size] for size in sorted(points)), target, rows_needed)


def _read_found(arrays: Arrays) -> list[bool]:
    """Return which repeats found the tree, from a checkpoint."""
    found: list[bool] = arrays["found"].tolist()
    if not isinstance(found, list) or not all(isinstance(one, bool) for one in found):
        raise ValueError("not a list of true and false")
    return found


def power_figure(power: Power, method: str) -> "Figure":
    """Draw the curve with its confidence intervals and the target."""
    figure, axes = new_figure(size=(5.4, 3.6))
    panel = axes[0, 0]
    sizes, shares = [p.rows for p in power.points], [100 * p.share for p in power.points]
    low, high = zip(*(point.interval for point in power.points), strict=True)
    # Lengths of the error bars. Rounding can put an end of an interval a hair inside its share.
    bars = [
        [max(share - 100 * end, 0.0) for share, end in zip(shares, low, strict=True)],
        [max(100 * end - share, 0.0) for share, end in zip(shares, high, strict=True)],
    ]
    doubled = [size for size in sizes if size % FIRST_SIZE == 0 and (size // FIRST_SIZE).bit_count() == 1]
    start_panel(panel, doubled, (-3, 103))
    panel.axhline(100 * power.target, color="#888888", linestyle=":", linewidth=1.2)
    below = {"xytext": (0, -11), "textcoords": "offset points", "fontsize": 8}
    panel.annotate(f"target {power.target:.0%}", (sizes[0], 100 * power.target), **below)
    panel.errorbar(sizes, shares, bars, color=COLOURS[0], marker="o", markersize=4, linewidth=1.4, capsize=2)
    if power.rows_needed is not None:
        panel.axvline(power.rows_needed, color=COLOURS[1], linestyle="--", linewidth=1.2)
        beside = {"xytext": (-4, 0), "ha": "right", "textcoords": "offset points", "fontsize": 8}
        panel.annotate(f"{power.rows_needed} rows", (power.rows_needed, 2), **beside)
    panel.set_xlabel("number of rows")
    panel.set_ylabel(f"trees found by {method} (%)")
    return figure
