"""How to learn a model: one object, checked once, from the command line or the estimator to the model's record."""

from dataclasses import asdict, dataclass, fields
from numbers import Integral, Real
from typing import TYPE_CHECKING, Any, Literal, TypeAlias, get_args

from latree.errors import InputError

if TYPE_CHECKING:  # NumPy is not needed to show the help of the command line, which takes its defaults from here
    from latree._util.arrays import RandomState

Goal: TypeAlias = Literal["explain", "predict"]
Resolve: TypeAlias = Literal["tested", "all"]
Representatives: TypeAlias = Literal["nearest", "random"]


@dataclass(frozen=True)
class Settings:
    """How to learn a tree and fit a model on it.

    Attributes
    ----------
    method : str
        Name of the learner; ``latree methods`` lists them.
    goal : {"explain", "predict"}
        What the model is for. To be read: the hidden variables that the rows show (``auto``), with few states, the
        numbers that minimise BIC. To score, sample and fill in rows: the kind of tree (``auto``), the number of states
        and the smoothing that maximise held-out likelihood.
    resolve : {"tested", "all"}
        For ``auto``: which edges between hidden variables are kept: those that the rows show and that come again in
        parts of the rows; or all edges of the fully resolved binary tree, as in the paper.
    n_states : int or None
        Number of states of every hidden variable; None if it is to be found.
    representatives : {"nearest", "random"}
        For ``tensor``: which leaf of a branch represents it in a quartet test.
    smoothing : float or None
        Pseudo-rows added to every cell of every conditional probability table; None for 0.1 to explain, and for the
        best on held-out rows to predict.
    n_resamples : int
        For ``auto``: in how many random halves of the rows the tree is learned again. Support of edges, and stability
        of groups and of columns, say how much of them is found there. 0 for none of this.
    bootstrap : int
        Number of resampled tables for the support of the edges of any method; 0 for none.
    max_iter : int
        Most iterations of EM.
    tol : float
        EM stops when an iteration gains less than this, in nats per cell.
    random_state : int, Generator, RandomState or None
        Seed of everything random.
    key : tuple of (str, str), or None
        For ``auto``: columns and their groups, if these are given and not to be found.
    """

    method: str = "auto"
    goal: Goal = "explain"
    resolve: Resolve = "tested"
    n_states: int | None = None
    representatives: Representatives = "nearest"
    smoothing: float | None = None
    n_resamples: int = 6
    bootstrap: int = 0
    max_iter: int = 200
    tol: float = 1e-5
    random_state: "RandomState" = None
    key: tuple[tuple[str, str], ...] | None = None

    def __post_init__(self) -> None:
        if not isinstance(self.method, str):
            raise InputError(f"method must be the name of a learner, not {self.method!r:.60}")
        _check_choice("goal", self.goal, get_args(Goal))
        _check_choice("resolve", self.resolve, get_args(Resolve))
        if self.n_states is not None:
            _check_whole("n_states", self.n_states, 1)
        _check_choice("representatives", self.representatives, get_args(Representatives))
        if self.smoothing is not None:
            _check_number("smoothing", self.smoothing)
        _check_whole("n_resamples", self.n_resamples, 0)
        _check_whole("bootstrap", self.bootstrap, 0)
        _check_whole("max_iter", self.max_iter, 1)
        _check_number("tol", self.tol)
        if self.key is not None:
            _check_pairs("key", self.key)
            for name, chosen, only in (("method", self.method, "auto"), ("goal", self.goal, "explain")):
                if chosen != only:
                    raise InputError(f"groups are given, so that nothing is left for {name} {chosen!r}: leave it out")
            if self.bootstrap:
                raise InputError("groups are given, so that there is no tree to learn again: leave out bootstrap")

    @property
    def seed(self) -> int | None:
        """The seed, if ``random_state`` is a number."""
        return int(self.random_state) if isinstance(self.random_state, Integral) else None

    def to_dict(self) -> dict[str, Any]:
        """Return the settings as plain data for JSON; a generator has no seed, and becomes None."""
        values = asdict(self) | {"random_state": self.seed}
        return {name: _plain(value) for name, value in values.items()}

    @classmethod
    def from_dict(cls, plain: Any) -> "Settings":
        """Read settings from plain data, trusting none of it."""
        names = {field.name for field in fields(cls)}
        if not isinstance(plain, dict) or plain.keys() != names:
            raise InputError(f"the settings are not an object with the names {', '.join(sorted(names))}")
        seed = plain["random_state"]
        if seed is not None:
            _check_whole("random_state", seed, 0)
        key = plain["key"]
        if isinstance(key, list) and all(isinstance(one, list) for one in key):
            plain = plain | {"key": tuple(map(tuple, key))}
        return cls(**plain)


def _plain(value: Any) -> Any:
    """Return a number of NumPy as one of Python."""
    if isinstance(value, Integral):
        return int(value)
    return float(value) if isinstance(value, Real) else value


def _check_choice(name: str, value: object, choices: tuple[str, ...]) -> None:
    if value not in choices:
        raise InputError(f"{name} must be one of {', '.join(map(repr, choices))}, not {value!r:.60}")


def _check_whole(name: str, value: Any, least: int) -> None:
    if isinstance(value, bool) or not isinstance(value, Integral) or int(value) < least:
        raise InputError(f"{name} must be a whole number of at least {least}, not {value!r:.60}")


def _check_pairs(name: str, value: Any) -> None:
    if not isinstance(value, tuple) or not all(
        isinstance(pair, tuple) and len(pair) == 2 and all(isinstance(text, str) for text in pair) for pair in value
    ):
        raise InputError(f"{name} must be pairs of a column and its group, not {value!r:.60}")


def _check_number(name: str, value: Any) -> None:
    if isinstance(value, bool) or not isinstance(value, Real) or not 0 <= float(value) < float("inf"):
        raise InputError(f"{name} must be a number from 0 on, not {value!r:.60}")
