"""Rows in groups, by the cells of a column or by a list: women and men, age groups, years, waves."""

from collections.abc import Collection, Sequence
from itertools import pairwise
from typing import Any, NamedTuple

import narwhals as nw
import numpy as np

from latree._util.arrays import FloatArray, IntArray
from latree._util.words import did_you_mean, plural, quoted, setting
from latree.errors import InputError
from latree.table.clock import SECONDS, Clock, Unit, clock_label, common_clock, parse_clock, parse_date
from latree.table.columns import DEFAULT_MISSING, is_missing
from latree.table.opening import open_source
from latree.table.raw import label_of, parse_number
from latree.table.sources import LocalSource
from latree.table.table import Table

# A column with more different numbers than this is cut into groups, and one with more different texts is refused: it
# is more likely a name or an identifier than a division into groups.
_MAX_GROUPS = 10
# A cut column falls into this number of groups by default: low, middle and high.
DEFAULT_PARTS = 3


class Divided(NamedTuple):
    """Rows in groups.

    ``names`` are those of the groups, from low to high if they have an order; ``of_row`` has the number of the group
    of each row, -1 for none. ``column`` is the column that tells them, or an empty text.
    """

    names: tuple[str, ...]
    of_row: IntArray
    column: str


class _Cells(NamedTuple):
    name: str
    texts: list[str]
    order: tuple[str, ...] | None


def divide_rows(
    data: Any,
    by: Any,
    *,
    cuts: Sequence[Any] | None = None,
    parts: int | None = None,
    missing: Sequence[str] = DEFAULT_MISSING,
    format: str | None = None,
) -> Divided:
    """Return the rows of data in groups.

    Parameters
    ----------
    data : data frame, array or path
    by : str, or sequence with one value per row
        The column that tells the groups, or the groups themselves.
    cuts : sequence of numbers, dates or their texts, optional
        Where to cut a column of numbers or dates: a group has those up to and including the first cut, and so on.
    parts : int, optional
        In how many groups of about equally many rows such a column is cut. By default 3, if it has more than 10
        different numbers; otherwise each number is a group.
    missing : sequence of str
        Cells that mean missing: these rows are in no group.
    format : str, optional
        The format of a file, if its ending does not tell it.
    """
    if cuts is not None and parts is not None:
        raise InputError(f"{setting('cuts')} and {setting('parts')}: choose one of the two")
    if parts is not None and parts < 2:
        raise InputError(f"{setting('parts')} must be at least 2, not {parts}")
    cells = _cells_of(data, by, format)
    marks = tuple(missing)
    distinct = {text for text in set(cells.texts) if not is_missing(text, marks)}
    scale = _Scale.of_texts(distinct)
    if (cuts is not None or parts is not None) and scale is None:
        text = min((text for text in distinct if parse_number(text) is None), default="")
        raise InputError(
            f"{cells.name}: {text!r:.60} is not a number and not a date: leave out the cuts, or choose another column"
        )
    numbers = {} if scale is None else {text: scale.number_of(text) for text in distinct}
    if scale is not None and (cuts is not None or parts is not None or len(distinct) > _MAX_GROUPS):
        values = np.array([numbers.get(text, np.nan) for text in cells.texts], dtype=np.float64)
        names, codes = _cut(values, cuts, parts or DEFAULT_PARTS, scale)
        return Divided(tuple(names), codes, _name(by))
    if len(distinct) > _MAX_GROUPS:
        raise InputError(
            f"{cells.name} has {len(distinct)} different values, such as {min(distinct)!r:.60}; groups are at most "
            f"{_MAX_GROUPS}: join some of them in another column"
        )
    order = [text for text in cells.order or () if text in distinct]
    names = sorted(distinct, key=lambda text: (numbers.get(text, 0.0), text))
    if len(order) == len(distinct):
        names = order
    number_of = {name: number for number, name in enumerate(names)}
    return Divided(tuple(names), np.array([number_of.get(text, -1) for text in cells.texts], dtype=np.intp), _name(by))


def clusters_of(data: Any, cluster: Any, format: str | None = None) -> IntArray:
    """Return the number of each row's cluster, such as its person; a row without one is a cluster of its own."""
    cells = _cells_of(data, cluster, format)
    number_of: dict[str, int] = {}
    return np.array(
        [
            number_of.setdefault(text if not is_missing(text, DEFAULT_MISSING) else f"\0{row}", len(number_of))
            for row, text in enumerate(cells.texts)
        ],
        dtype=np.intp,
    )


def with_enough(divided: Divided, least: int) -> tuple[Divided, list[str]]:
    """Leave out groups of fewer rows; return the others, and a sentence for each one that is left out."""
    sizes = [int((divided.of_row == number).sum()) for number in range(len(divided.names))]
    kept = [number for number, size in enumerate(sizes) if size >= least]
    if len(kept) < 2:
        found = ", ".join(f"{name!r:.60} {plural(n, 'row')}" for name, n in zip(divided.names, sizes, strict=True))
        raise InputError(
            f"{quoted(divided.column) if divided.column else 'by'}: two groups of at least {least} rows are needed; "
            f"there are: {found or 'none'}"
        )
    notes = [
        f"{quoted(name)} is left out: it has {plural(size, 'row')}, and a group needs at least {least}."
        for name, size in zip(divided.names, sizes, strict=True)
        if size < least
    ]
    if (none := int((divided.of_row < 0).sum())) > 0:
        notes.append(f"{plural(none, 'row')} without a group {'is' if none == 1 else 'are'} left out.")
    new = np.full(len(divided.names) + 1, -1, dtype=np.intp)
    new[kept] = np.arange(len(kept))
    return Divided(tuple(divided.names[number] for number in kept), new[divided.of_row], divided.column), notes


def _name(by: Any) -> str:
    return by if isinstance(by, str) else ""


def _cells_of(data: Any, by: Any, format: str | None) -> _Cells:
    """Return the texts of a column, or of a list with one value per row."""
    if not isinstance(by, str):
        values = nw.from_native(by, series_only=True, pass_through=True)
        values = values.to_list() if isinstance(values, nw.Series) else np.asarray(values).tolist()
        return _Cells("by", [label_of(value).strip() for value in values], None)
    if isinstance(data, Table):
        raise InputError(f"a Table has no column {by!r:.60} with texts: pass the data that it was made of")
    source = open_source(data, None, format=format)
    if not isinstance(source, LocalSource):
        raise InputError("groups of rows on a cluster cannot be compared: take a sample into memory")
    if by not in source.names:
        hint = did_you_mean(by, source.names)
        raise InputError(f"{source.where}: has no column {by!r:.60}{'; ' if hint else ''}{hint}")
    texts: list[str] = []
    order: tuple[str, ...] | None = None
    for batch in source.batches([by]):
        raw = batch.columns[by]
        labels = raw.labels()
        texts += [labels[code] for code in raw.codes.tolist()]
        order = raw.order
    return _Cells(f"{source.where}: column {by!r:.60}", texts, order)


class _Scale(NamedTuple):
    """How the texts of a column are read as numbers: as such, or as dates or times, in seconds."""

    clock: Clock | None
    unit: Unit

    @classmethod
    def of_texts(cls, texts: Collection[str]) -> "_Scale | None":
        """Return the scale of some texts; None if they are names."""
        if not texts or all(parse_number(text) is not None for text in texts):
            return cls(None, "second") if texts else None
        dates = [parse_date(text) for text in texts]
        found = [date for date in dates if date is not None]
        clock = common_clock({date[0] for date in found}) if len(found) == len(texts) else None
        are_days = all(date[1] % SECONDS["day"] == 0 for date in found)
        return None if clock is None else cls(clock, "day" if are_days else "second")

    def number_of(self, text: str) -> float:
        """Return the number of a text; NaN if it has none."""
        number = parse_number(text) if self.clock is None else parse_clock(text, self.clock)
        return float("nan") if number is None else float(number)

    def label(self, number: float) -> str:
        return label_of(number) if self.clock is None else clock_label(self.clock, number, self.unit)


def _cut(values: FloatArray, cuts: Sequence[Any] | None, parts: int, scale: _Scale) -> tuple[list[str], IntArray]:
    """Return the names of groups, and the group of each row by its number; NaN is in none."""
    present = values[np.isfinite(values)]
    if cuts is None:
        # The cut between two groups is a number that occurs, so that equal numbers are in one group.
        shares = np.arange(1, parts) / parts
        at = [float(cut) for cut in np.unique(np.quantile(present, shares, method="inverted_cdf"))]
        at = [cut for cut in at if cut < present.max()]
    else:
        at = [scale.number_of(label_of(cut).strip()) for cut in cuts]
        if not at or not np.isfinite(at).all() or at != sorted(set(at)):
            what = "numbers that increase, such as 30 and 50"
            if scale.clock is not None:
                what = "dates that increase, such as 2024-03-01 and 2025-03-01"
            given = ", ".join(label_of(cut).strip() for cut in cuts)
            raise InputError(f"{setting('cuts')}: give {what}, not {given!r:.60}")
    texts = [scale.label(cut) for cut in at]
    between = [f"> {one} to {other}" for one, other in pairwise(texts)]
    names = [f"<= {texts[0]}", *between, f"> {texts[-1]}"] if texts else []
    codes = np.searchsorted(np.array(at), values, side="left")
    return names, np.where(np.isfinite(values), codes, -1)
