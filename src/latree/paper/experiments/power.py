"""How many rows it takes to find a known model's tree: by simulation, the practical answer beside the theory's."""

from dataclasses import dataclass
from math import sqrt
from typing import TYPE_CHECKING

import numpy as np

from latree._util.arrays import RandomState, generator
from latree._util.checkpoint import NOTHING_KEPT, Keeper
from latree._util.progress import Progress, no_progress
from latree.errors import InputError
from latree.figure.marks import COLOURS
from latree.learners.methods import find_method
from latree.learners.structure import Context
from latree.model import LatentTreeModel
from latree.paper.experiments.cells import Row
from latree.paper.experiments.figures import new_figure, start_panel
from latree.settings import Settings

if TYPE_CHECKING:
    from matplotlib.figure import Figure

FIRST_SIZE = 50
_STEPS = 3  # of bisection between the last size that is too small and the first that is large enough
_Z = 1.96  # for intervals of 95 %
_SHORT = 0.05  # by so much a probability misses the target


@dataclass(frozen=True)
class Point:
    """How often the tree was found from so many rows."""

    rows: int
    repeats: int
    found: int

    @property
    def share(self) -> float:
        """The share of the repeats in which the tree was found."""
        return self.found / self.repeats

    @property
    def interval(self) -> tuple[float, float]:
        """Wilson's interval of 95 % for the probability behind the share."""
        n, p = self.repeats, self.share
        middle = (p + _Z**2 / (2 * n)) / (1 + _Z**2 / n)
        half = _Z * sqrt(p * (1 - p) / n + _Z**2 / (4 * n**2)) / (1 + _Z**2 / n)
        return middle - half, middle + half


@dataclass(frozen=True)
class Power:
    """A curve of points by rising number of rows, and the fewest rows that reach the target (None: none of them)."""

    points: tuple[Point, ...]
    target: float
    rows_needed: int | None

    @property
    def answer(self) -> Point | None:
        """The point at the fewest rows that reach the target."""
        return next((point for point in self.points if point.rows == self.rows_needed), None)

    @property
    def unsure(self) -> bool:
        """Whether the probability at the answer may well miss the target, as far as the repeats can tell."""
        return self.answer is not None and self.answer.interval[0] < self.target - _SHORT

    def rows(self) -> list[Row]:
        """Give the curve as a table."""
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
    progress: Progress = no_progress,
    keep: Keeper = NOTHING_KEPT,
) -> Power:
    """Simulate how often a method finds a model's tree, with ever more rows until the target is reached.

    The number of rows is doubled until the share of found trees reaches the target, then searched for by bisection.
    A table's random numbers depend on the seed, its number of rows and its own number alone.

    Parameters
    ----------
    model : LatentTreeModel
    target : float
        Share of repeats in which the learned tree must equal the model's.
    method : str
        See ``latree methods``.
    n_states : int, optional
        For methods that must be told.
    repeats : int
        Simulated tables of each size.
    max_rows : int
        Give up beyond this size.
    random_state : int, Generator or None
    progress : callable
        Told the number of tables learned from, and the most there can be.
    keep : Keeper
        Keeps which trees were found, size by size.
    """
    if not 0 < target <= 1:
        raise InputError(f"the target must be more than 0 and at most 1, not {target!r}")
    seed = int(generator(random_state).integers(2**31))
    settings = Settings(method, n_states)
    learner = find_method(method)
    learner.check_returns(model.tree)
    sizes = [FIRST_SIZE]
    while sizes[-1] * 2 <= max_rows:
        sizes.append(sizes[-1] * 2)
    points: dict[int, Point] = {}

    def reaches(size: int) -> bool:
        known = keep.load("sizes", size)
        found = [] if known is None else known["found"].tolist()
        while len(found) < repeats:
            rng = np.random.default_rng([seed, size, len(found)])
            learned = learner.learn(model.sample(size, rng), settings, Context(rng))
            found.append(learned.tree.robinson_foulds(model.tree) == 0)
            if len(found) == repeats or keep.is_due():
                keep.save("sizes", size, {"found": np.array(found)}, finished=len(found) == repeats)
            progress(len(points) * repeats + len(found), (len(sizes) + _STEPS) * repeats)
        points[size] = Point(size, repeats, sum(found))
        return points[size].share >= target

    enough = next((size for size in sizes if reaches(size)), None)
    if enough is not None and enough > FIRST_SIZE:
        low, high = enough // 2, enough
        for _ in range(_STEPS):
            middle = (low + high) // 2
            low, high = (low, middle) if reaches(middle) else (middle, high)
        enough = high
    return Power(tuple(points[size] for size in sorted(points)), target, enough)


def power_figure(power: Power, method: str) -> "Figure":
    """Draw the curve with its intervals and the target."""
    figure, axes = new_figure(size=(5.4, 3.6))
    panel = axes[0, 0]
    sizes, shares = [p.rows for p in power.points], [100 * p.share for p in power.points]
    low, high = zip(*(point.interval for point in power.points), strict=True)
    bars = [
        [share - 100 * end for share, end in zip(shares, low, strict=True)],
        [100 * end - share for share, end in zip(shares, high, strict=True)],
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
