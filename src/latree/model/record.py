"""How a model was made, and what it is worth, as data of a model."""

from dataclasses import asdict, dataclass, fields
from typing import Any, NamedTuple, get_args, get_type_hints

from latree._util.arrays import check_fields
from latree.errors import InputError
from latree.settings import Settings
from latree.table.columns import Unseen, is_number, is_text
from latree.table.reading import Reading
from latree.table.sources import WeightsAre


class SimplerGain(NamedTuple):
    """What a simpler model gains, and how far the model is ahead of it.

    Attributes
    ----------
    method : {"chow-liu", "lcm"}
        The method that learns it: a Chow-Liu tree, or a latent class model (one hidden variable).
    n_states : int
        Number of states of its hidden variable; 0 if there is none.
    gain, error : float or None
        Its own gain, and the standard error.
    ahead, ahead_error : float or None
        How much more the model gains on the same rows, and the standard error; None if the model's gain is None.

    Examples
    --------
    >>> import latree
    >>> from latree.interpret.worth import measure_worth
    >>> tree = latree.random_tree(6, random_state=0)
    >>> true = latree.random_model(tree, n_states=2, start="identity", perturbation=0.1, random_state=0)
    >>> chow_liu, one_hidden = measure_worth(true, true.sample(300, random_state=0)).simpler
    >>> chow_liu.method, one_hidden.method, one_hidden.n_states
    ('chow-liu', 'lcm', 4)
    """

    method: str
    n_states: int
    gain: float | None
    error: float | None
    ahead: float | None
    ahead_error: float | None


class Worth(NamedTuple):
    """How much more probable a model makes new rows than independent columns do: the cross-validated gain.

    Attributes
    ----------
    kind : {"independent", "chow-liu", "lcm", "latent tree"}
        The method that learns trees of this kind.
    n_rows : int
        Number of held-out rows that were scored.
    gain : float or None
        Mean gain per row, in nats; None if some held-out rows have probability 0.
    error : float or None
        Its standard error.
    simpler : tuple of SimplerGain
        The same for simpler models: a Chow-Liu tree, and one hidden variable.

    Examples
    --------
    >>> import latree
    >>> from latree.interpret.worth import measure_worth
    >>> tree = latree.random_tree(6, random_state=0)
    >>> true = latree.random_model(tree, n_states=2, start="identity", perturbation=0.1, random_state=0)
    >>> worth = measure_worth(true, true.sample(300, random_state=0))
    >>> worth.best_simpler.method
    'chow-liu'
    """

    kind: str
    n_rows: int
    gain: float | None
    error: float | None
    simpler: tuple[SimplerGain, ...]

    @property
    def best_simpler(self) -> SimplerGain | None:
        """The simpler model of another kind that gains the most; None if there is none."""
        others = [simpler for simpler in self.simpler if simpler.gain is not None and simpler.method != self.kind]
        return max(others, key=lambda simpler: simpler.gain or 0.0, default=None)


VERSION = 1

# The mean, the standard deviation, and the percentiles from 0 to 100 of a score.
N_NORMS = 103

# A log-likelihood may be above zero by this much per row, because probabilities are rounded.
_ROUNDING = 1e-9


class Attempt(NamedTuple):
    """Numbers of states and a smoothing that were tried, and how well they did."""

    fewest: int  # states of a hidden variable
    most: int
    smoothing: float
    # Mean log-likelihood of a held-out row; None if some rows are impossible under the model, or not all were scored.
    held_out: float | None


class Candidate(NamedTuple):
    """A kind of model that held-out rows chose from, and how far it is behind the chosen one."""

    kind: str  # a method, or one of the two trees of "auto": resolved, explained
    behind: float  # nats per held-out row; 0 for the chosen one
    error: float  # standard error of the mean difference


class Place(NamedTuple):
    """How well a column fits the group that it was given, and the best of the others, in nats per held-out row."""

    column: str
    group: str | None  # None if no group was given
    gain: float  # by which the other columns of its group predict it better than it is predicted by itself
    error: float  # standard error
    other: str | None  # the other group whose columns predict it best; None if there is none
    ahead: float | None  # by which they predict it better than those of its own group
    ahead_error: float | None


class Key(NamedTuple):
    """What held-out rows say of groups that were given."""

    n_rows: int
    n_groups: float  # that latree finds in the other rows, the mean over folds
    n_hidden: float  # hidden variables that it finds
    agreement: float  # adjusted Rand index of the groups that it finds with those that were given
    ahead: float | None  # of the model of what latree finds, in nats per row; None if some rows are impossible
    error: float | None  # standard error
    places: tuple[Place, ...]


class Origin(NamedTuple):
    """Where the rows come from, as far as anybody said."""

    source: str | None = None  # what the data are called
    command: str | None = None  # that asked for the fit
    weights: str | None = None  # the column that held the rows' weights
    reading: Reading | None = None  # how columns were chosen and read
    columns: tuple[str, ...] = ()  # the columns of the data, also those that say nothing; none if that does not matter
    library: str | None = None  # the library of the data frame, or "numpy" for an array; None for files and others
    unseen: Unseen = "warn"  # what to do with categories that were not there
    labels: tuple[tuple[str, str], ...] = ()  # the user's labels of columns
    answers: tuple[tuple[str, str, str], ...] | None = None  # as in Record


@dataclass(frozen=True)
class Record:
    """The facts of a fit.

    Attributes
    ----------
    latree : str
        Version of the package.
    source, command : str or None
        Name of the data, and the command that fitted them.
    weights : str or None
        The column that held the rows' weights; None if there was none.
    reading, columns, library, unseen, labels
        How the data were read, and what they were, as in :class:`Origin`.
    settings : Settings
    n_rows : int
    total_weight : float
        The sum of the weights; those of a survey add up to the effective number of rows.
    n_missing : tuple of int
        Missing cells of each column.
    log_likelihood : float or None
        None if the model holds some of the rows for impossible.
    smoothing : float
        As it was given or chosen.
    history : tuple of float
        EM's objective at the start of each iteration.
    converged : bool
    tried : tuple of Attempt
        What states and smoothing were chosen from.
    counts : tuple of (str, int)
        Such as the number of quartet tests.
    odd : tuple of str
        What was odd about the table when it was read.
    order_cost : float or None
        By how many nats a row is less probable if the sixth of the table around it is held out, and not random rows;
        None if the order of the rows does not matter, or was not looked at.
    reliability : tuple of (float or None, float or None)
        The reliability and Cronbach's alpha of each score, on these rows.
    norms : tuple of tuple of float
        Of each score on these rows: its mean, its standard deviation, and its 0th, 1st, ..., 100th percentile.
    redundant : tuple of (str, str, float)
        Pairs of columns that say the same thing, and how strongly.
    left_out : tuple of (str, str)
        Columns that say nothing, and why.
    worth : Worth or None
        The cross-validated gain beside simpler models; None if it was not measured.
    candidates : tuple of Candidate, or None
        The kinds of models that held-out rows chose from, the chosen one first; None if they did not choose.
    correlations : tuple of (int or None), or None
        The correlation of every two columns in the rows, in hundredths plus 100: of the first with the second, the
        third, ..., of the second with the third, ... That of two ordered columns has a sign; others have informational
        correlations. None for columns that are never present together. None in all if there are very many columns or
        states.
    weights_are : str or None
        What the weights are, "counts" or "survey"; None if rows had none.
    key : Key or None
        What held-out rows say of groups that were given.
    answers : tuple of (str, str, str), or None
        What a codebook says of columns that are not in the model, such as gender: their names, codes, and the names of
        the codes. Groups of rows are named by them.
    """

    latree: str
    source: str | None
    command: str | None
    weights: str | None
    reading: Reading | None
    columns: tuple[str, ...]
    library: str | None
    unseen: str
    labels: tuple[tuple[str, str], ...]
    settings: Settings
    n_rows: int
    total_weight: float
    n_missing: tuple[int, ...]
    log_likelihood: float | None
    smoothing: float
    history: tuple[float, ...]
    converged: bool
    tried: tuple[Attempt, ...]
    counts: tuple[tuple[str, int], ...]
    odd: tuple[str, ...]
    reliability: tuple[tuple[float | None, float | None], ...]
    redundant: tuple[tuple[str, str, float], ...]
    left_out: tuple[tuple[str, str], ...]
    worth: Worth | None = None
    candidates: tuple[Candidate, ...] | None = None
    correlations: tuple[int | None, ...] | None = None
    weights_are: str | None = None
    order_cost: float | None = None
    norms: tuple[tuple[float, ...], ...] = ()
    key: Key | None = None
    answers: tuple[tuple[str, str, str], ...] | None = None

    @property
    def identifier(self) -> str | None:
        """The column that names the rows."""
        return self.reading.identifier if self.reading else None

    def correlation(self, one: int, other: int) -> float | None:
        """Return the correlation of two columns in the rows, by their numbers; None if it is not known."""
        if self.correlations is None:
            return None
        first, second = sorted((one, other))
        # Before the pairs of the first column, there are those of all columns above it.
        above = first * (2 * len(self.n_missing) - first - 1) // 2
        hundredths = self.correlations[above + second - first - 1]
        return None if hundredths is None else (hundredths - 100) / 100

    def to_dict(self) -> dict[str, Any]:
        """Return the record as plain data for JSON."""
        return {"version": VERSION, **asdict(self), "settings": self.settings.to_dict()}

    @classmethod
    def from_dict(cls, plain: Any, n_columns: int) -> "Record":
        """Read a record from plain data, trusting none of it.

        Parameters
        ----------
        plain : object
        n_columns : int
            Of the model that the record belongs to.
        """
        if not isinstance(plain, dict):
            raise InputError("the fit is not an object")
        if type(plain.get("version")) is not int or plain["version"] != VERSION:
            raise InputError(f"version {plain.get('version')!r:.40} of the fit; this latree reads version {VERSION}")
        kinds = get_type_hints(cls)
        check_fields(plain, ("version", *kinds), "the fit")
        values: dict[str, Any] = {}
        for name in (field.name for field in fields(cls)):
            value = plain.get(name)
            if kinds[name] is Settings:
                values[name] = Settings.from_dict(value)
                continue
            if name == "reading":
                values[name] = None if value is None else Reading.from_dict(value)
                continue
            if not _fits(value, kinds[name]):
                raise InputError(f"the fit's {name} make no sense: {value!r:.60}")
            values[name] = _frozen(value)
        values["tried"] = tuple(Attempt(*attempt) for attempt in values["tried"])
        if values["worth"] is not None:
            worth = Worth._make(values["worth"])
            values["worth"] = worth._replace(simpler=tuple(map(SimplerGain._make, worth.simpler)))
        if values["candidates"] is not None:
            values["candidates"] = tuple(map(Candidate._make, values["candidates"]))
        if values["key"] is not None:
            key = Key._make(values["key"])
            values["key"] = key._replace(places=tuple(map(Place._make, key.places)))
        record = cls(**values)
        if len(record.n_missing) != n_columns:
            raise InputError(f"the fit's n_missing has {len(record.n_missing)} numbers for {n_columns} columns")
        if record.total_weight <= 0 or max(record.n_missing) > record.n_rows:
            raise InputError("the fit's n_rows or total_weight are too small")
        if record.correlations is not None and len(record.correlations) != n_columns * (n_columns - 1) // 2:
            raise InputError(f"the fit's correlations are {len(record.correlations)} for {n_columns} columns")
        record._check_numbers()
        return record

    def _check_numbers(self) -> None:
        """Raise if a number of the right type cannot come from any fit."""
        tried, worth = self.tried, self.worth
        # A log-likelihood of discrete cells is never positive, up to rounding.
        highest = _ROUNDING * max(self.total_weight, 1)
        no_likelihoods = {
            "log_likelihood": [self.log_likelihood],
            "history": self.history,
            "tried": [attempt.held_out for attempt in tried],
        }
        for name, numbers in no_likelihoods.items():
            for number in numbers:
                if number is not None and number > highest:
                    raise InputError(f"the fit's {name} have a positive log-likelihood, {number!r:.60}")
        not_negative = {"smoothing": [self.smoothing, *(attempt.smoothing for attempt in tried)]}
        if worth is not None:
            errors = [worth.error, *(x for simpler in worth.simpler for x in (simpler.error, simpler.ahead_error))]
            not_negative["worth"] = [error for error in errors if error is not None]
        if self.key is not None:
            errors = [self.key.error, *(x for place in self.key.places for x in (place.error, place.ahead_error))]
            not_negative["key"] = [error for error in errors if error is not None]
        not_negative["candidates"] = [candidate.error for candidate in self.candidates or ()]
        for name, numbers in not_negative.items():
            for number in numbers:
                if number < 0:
                    raise InputError(f"the fit's {name} have a negative number, {number!r:.60}")
        for number in self.correlations or ():
            if number is not None and number > 200:
                raise InputError(f"the fit's correlations have a number above 200, {number}")
        if any(len(norm) != N_NORMS or norm[1] < 0 or norm[2:] != tuple(sorted(norm[2:])) for norm in self.norms):
            raise InputError(
                f"the fit's norms are not a mean, a deviation and {N_NORMS - 2} increasing percentiles each"
            )
        if self.unseen not in get_args(Unseen):
            raise InputError(f"the fit's unseen is none of {', '.join(get_args(Unseen))}: {self.unseen!r:.60}")
        if self.weights_are not in (None, *get_args(WeightsAre)):
            raise InputError(f"the fit's weights_are is none of counts, survey: {self.weights_are!r:.60}")
        if any(not 1 <= attempt.fewest <= attempt.most for attempt in tried):
            raise InputError("the fit's tried have numbers of states that are not from 1 on and in order")


# What JSON may hold for each kind of field.
_KINDS = {
    str: is_text,
    bool: lambda value: isinstance(value, bool),
    int: lambda value: type(value) is int and 0 <= value < 2**63,
    float: is_number,
}


def _fits(value: Any, kind: Any) -> bool:
    """Return whether a JSON value has the type of a field's annotation."""
    if kind in _KINDS:
        return _KINDS[kind](value)
    if kind in (Attempt, Candidate, Key, Place, SimplerGain, Worth):
        return _is_row(value, list(get_type_hints(kind).values()))
    inner = kind.__args__
    if type(None) in inner:
        return value is None or _fits(value, inner[0])
    if inner[-1] is Ellipsis:
        return isinstance(value, list) and all(_fits(item, inner[0]) for item in value)
    return _is_row(value, inner)


def _is_row(value: Any, kinds: Any) -> bool:
    return (
        isinstance(value, list)
        and len(value) == len(kinds)
        and all(_fits(item, kind) for item, kind in zip(value, kinds, strict=True))
    )


def _frozen(value: Any) -> Any:
    return tuple(map(_frozen, value)) if isinstance(value, list) else value
