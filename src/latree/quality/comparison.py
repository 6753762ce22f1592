"""Two tables with the same columns side by side: real rows, and rows that were drawn from a model."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from textwrap import wrap
from typing import Any, Literal

import numpy as np

from latree._util.arrays import FloatArray, RandomState, generator, make_frame
from latree._util.files import write_text
from latree._util.words import clipped, in_shell, listed, percent, plural
from latree.quality.measures import (
    associations,
    classifier_auc,
    column_distances,
    nearness,
    share_of_copies,
    with_common_texts,
)
from latree.quality.stacked import Stacked, distinct_codes, stack
from latree.table.reading import Reading, as_reading

# The classifier, the pairs and the nearest rows look at so many random rows of each table. An AUC then has a standard
# error of about .004, and a correlation of .01.
_MAX_ROWS = 10_000
# What differs by chance is the mean over so many random divisions of the rows: enough for the second digit of a mean
# over columns.
_SHUFFLES = 10
# The most lines of columns and of pairs in words.
_MAX_LINES, _MAX_PAIRS = 30, 5
_WIDTH = 80


@dataclass(frozen=True)
class ComparedColumn:
    """How a column differs between the two tables.

    Attributes
    ----------
    column : str
    taken_for : {"numbers", "categories"}
    distance : float
        From 0 for the same distribution to 1: Kolmogorov and Smirnov's distance for numbers, the total variation for
        categories (texts, and true or false).
    by_chance : float
        The mean distance if the rows of both tables are divided at random.
    missing_real, missing_drawn : float
        The shares of missing cells.
    values_real, values_drawn : int
        The numbers of different values.
    """

    column: str
    taken_for: Literal["numbers", "categories"]
    distance: float
    by_chance: float
    missing_real: float
    missing_drawn: float
    values_real: int
    values_drawn: int


@dataclass(frozen=True)
class ComparedPair:
    """How the association of two columns differs between the two tables.

    Attributes
    ----------
    first, second : str
    measure : {"Spearman", "correlation ratio", "Cramér's V"}
        For two columns of numbers, for numbers and categories, for two columns of categories.
    real, drawn : float
        The association in each table.
    difference : float
        The absolute difference of the two.
    by_chance : float
        The mean difference if the rows of both tables are divided at random.
    """

    first: str
    second: str
    measure: Literal["Spearman", "correlation ratio", "Cramér's V"]
    real: float
    drawn: float
    difference: float
    by_chance: float


@dataclass(frozen=True)
class ComparedTables:
    """What :func:`compare_tables` finds: print it, or use its parts.

    Attributes
    ----------
    rows_real, rows_drawn : int
    auc, auc_error : float
        The area under the ROC curve of a classifier that tells drawn rows from real ones, the mean over five folds that
        it did not see, and the standard error of that mean.
    columns : tuple of ComparedColumn
        In the order of the first table.
    pairs : tuple of ComparedPair
        All pairs of columns, those that differ most first.
    copies, copies_among_real : float
        The share of drawn rows that equal a real row, and of real rows that equal another real row.
    nearest_drawn, nearest_real : float
        The median distance of drawn rows to the nearest real row, and of real rows to the nearest other real row.
    only_real, only_drawn : tuple of str
        Columns that only one of the tables has: they are left out.
    closer : float
        The probability that a drawn row has a nearer real row than a real row has. It is 0.5 for new rows of the same
        kind, and near 1 for copies with small changes.
    """

    rows_real: int
    rows_drawn: int
    auc: float
    auc_error: float
    columns: tuple[ComparedColumn, ...]
    pairs: tuple[ComparedPair, ...]
    copies: float
    copies_among_real: float
    nearest_drawn: float
    nearest_real: float
    closer: float
    only_real: tuple[str, ...]
    only_drawn: tuple[str, ...]

    def to_dict(self) -> dict[str, Any]:
        """Return everything as plain data for JSON; None where a figure is not defined."""
        plain = asdict(self)
        for name in ("columns", "pairs"):
            plain[name] = [
                {key: None if _is_nan(value) else value for key, value in one.items()} for one in plain[name]
            ]
        only = {"only_real": list(self.only_real), "only_drawn": list(self.only_drawn)}
        return plain | only | {"summary": self.summary(), "left_out": self._left_out()}

    def to_frame(self, of: Literal["columns", "pairs"] = "columns", backend: str | None = None) -> Any:
        """Return a data frame with one row per column, or per pair of columns.

        Parameters
        ----------
        of : {"columns", "pairs"}
        backend : str, optional
            The library of the frame: "pandas", "polars" or "pyarrow"; by default the first that is installed.
        """
        kind = ComparedColumn if of == "columns" else ComparedPair
        rows = [asdict(one) for one in (self.columns if of == "columns" else self.pairs)]
        return make_frame({name: [row[name] for row in rows] for name in kind.__dataclass_fields__}, backend)

    def report(self, path: str | Path) -> None:
        """Write everything as one HTML page that opens offline; a file that exists is replaced."""
        from latree.report.tables import tables_html

        write_text(Path(path), tables_html(self.to_dict()))

    def summary(self) -> list[dict[str, str]]:
        """Return the main figures in words: ``what`` is measured, the ``figure``, and its ``reference``."""
        rows = [
            {
                "what": "A classifier that tells drawn rows from real ones",
                "figure": f"AUC {self.auc:.2f} ± {self.auc_error:.2f}",
                "reference": "0.50 if it cannot, 1 if it always can",
            },
            _mean_line("Single columns: mean distance", self.columns, "distance"),
            _mean_line("Pairs of columns: mean difference of association", self.pairs, "difference"),
            {
                "what": "Drawn rows that equal a real row",
                "figure": _share(self.copies),
                "reference": f"{_share(self.copies_among_real)} of the real rows equal another one",
            },
            {
                "what": "Drawn rows nearer to a real row than real rows are to each other",
                "figure": _share(self.closer),
                "reference": "50 % for new rows of the same kind",
            },
        ]
        return [row for row in rows if row["figure"]]

    def __str__(self) -> str:
        """Return the facts in words, for a terminal of 80 columns."""
        lines = [
            f"{plural(self.rows_real, 'real row')}, {plural(self.rows_drawn, 'drawn row')}, "
            f"{plural(len(self.columns), 'column')}",
            *(line for text in self._left_out() for line in wrap(text, _WIDTH)),
            "",
        ]
        for row in self.summary():
            lines += [row["what"], f"  {row['figure']} ({row['reference']})"]
        return "\n".join([*lines, "", *self._column_lines(), *self._pair_lines()])

    def _left_out(self) -> list[str]:
        """Return sentences about columns that only one of the tables has."""
        return [
            f"Left out, as only the {which} rows have {'it' if len(names) == 1 else 'them'}: {listed(names)}."
            for which, names in (("real", self.only_real), ("drawn", self.only_drawn))
            if names
        ]

    def _column_lines(self) -> list[str]:
        shown = self.columns[:_MAX_LINES]
        names = [clipped(one.column) for one in shown]
        width = max(len("column"), *map(len, names))
        lines = [f"{'column':{width}}  taken for   distance  by chance  missing: real  drawn  values: real  drawn"]
        for name, one in zip(names, shown, strict=True):
            lines.append(
                f"{name:{width}}  {one.taken_for:10}  {_hundredths(one.distance):>8}  {_hundredths(one.by_chance):>9}  "
                f"{_share(one.missing_real):>13}  {_share(one.missing_drawn):>5}  {one.values_real:>12}  "
                f"{one.values_drawn:>5}"
            )
        if len(self.columns) > len(shown):
            lines_of_all = "--json" if in_shell() else "to_frame()"
            lines.append(f"and {plural(len(self.columns) - len(shown), 'more column')} ({lines_of_all} lists all)")
        return lines

    def _pair_lines(self) -> list[str]:
        shown = [one for one in self.pairs[:_MAX_PAIRS] if one.difference > one.by_chance]
        if not shown:
            return []
        return [
            "",
            "Pairs of columns whose association differs most:",
            *(
                f"  {clipped(one.first)} and {clipped(one.second)}: {one.measure} {one.real:.2f} in real rows, "
                f"{one.drawn:.2f} in drawn ones"
                for one in shown
            ),
        ]


def compare_tables(
    real: Any,
    drawn: Any,
    reading: Reading | Mapping[str, Any] | None = None,
    *,
    random_state: RandomState = 0,
    **options: Any,
) -> ComparedTables:
    """Return how well drawn rows stand for real ones: in single columns, in pairs, as a whole, and in privacy.

    Use it for rows of :meth:`latree.LatentTree.sample`, or for synthetic rows of any other tool.

    - **Columns**: the distance of the two distributions, without missing cells, and how often cells are missing.
    - **Pairs**: the difference of an association that suits what the columns hold. Spearman's rank correlation for
      numbers, because it has a sign and needs no scale; Cramér's V for categories; the correlation ratio of the
      ranks for numbers and categories. For columns with two values, the three agree but for the sign, so that one scale
      serves all pairs. The latter two are without the bias that grows with the number of categories.
    - **AUC**: of a gradient-boosted classifier of drawn and real rows, cross-validated. It sees what columns and pairs
      miss. An AUC clearly below 0.5 means that there are copies: the same row is in both tables.
    - **Privacy**: exact copies of real rows, and whether drawn rows come nearer to real rows than these come to each
      other. It finds rows that a model has learned by heart. It is no proof that nobody can be recognised.

    Beside distances and differences, ``by_chance`` says how large they are when the rows of both tables are mixed and
    divided at random. More than 10,000 rows of a table are a random sample for the AUC, pairs and distances of rows.

    Parameters
    ----------
    real, drawn : data frame, 2-D array, or path of a file
        See :func:`latree.as_table`. The columns that both have are compared, in any order, as the data have them,
        without bins. Two are needed.
    reading : Reading or dict, optional
        Which columns are left out, and which cells are missing, in both tables: ``drop``, ``keep``, ``identifier``,
        ``missing``, ``missing_also`` and ``format`` of :class:`latree.Reading`. Drop columns that name rows: they tell
        drawn rows from real ones.
    random_state : int, Generator or None
        The seed of folds and samples of rows.
    **options
        Options of the reading by their names, such as ``drop=["id"]``.

    Returns
    -------
    ComparedTables
        Print it, or use its ``auc``, ``columns``, ``pairs``, ``copies``, ``closer``, ``to_frame()``, ``to_dict()`` and
        ``report("page.html")``.

    References
    ----------
    J. Snoke et al.: *General and specific utility measures for synthetic data*, 2018 (the classifier). W. Bergsma: *A
    bias-correction for Cramér's V and Tschuprow's T*, 2013.

    Examples
    --------
    >>> import latree
    >>> import pandas as pd
    >>> from latree.datasets import make_questionnaire
    >>> rows = make_questionnaire(400).data
    >>> model = latree.LatentTree("chow-liu", random_state=0).fit(rows)
    >>> found = latree.compare_tables(rows, model.sample(400, random_state=0))
    >>> round(found.auc, 1), found.pairs[0].measure
    (0.5, 'Spearman')
    >>> copies = latree.compare_tables(rows, rows.sample(200, random_state=0))
    >>> copies.copies, copies.closer > 0.9
    (1.0, True)
    """
    table = stack(real, drawn, as_reading(reading, **options))
    rng = generator(random_state)
    codes = [distinct_codes(cells) for cells in table.cells.T]
    is_number = table.is_number.tolist()

    def distances(is_drawn: Any) -> FloatArray:
        return np.array([column_distances(*one, is_number[j], is_drawn) for j, one in enumerate(codes)])

    some = table.at_most(_MAX_ROWS, rng)
    common = with_common_texts(some)

    def differences(is_drawn: Any) -> tuple[FloatArray, FloatArray, FloatArray]:
        one, two = (associations(common.cells[is_drawn == drawn], common.is_number) for drawn in (False, True))
        return one, two, np.abs(one - two)

    with np.errstate(invalid="ignore"):
        chance = np.mean([distances(rng.permutation(table.is_drawn)) for _ in range(_SHUFFLES)], axis=0)
        pairs = differences(common.is_drawn)
        pairs_by_chance = np.mean([differences(rng.permutation(common.is_drawn))[2] for _ in range(_SHUFFLES)], axis=0)
    areas = classifier_auc(common, int(rng.integers(2**31)))
    near = nearness(some)
    copies, copies_among_real = share_of_copies(table)
    return ComparedTables(
        rows_real=int((~table.is_drawn).sum()),
        rows_drawn=int(table.is_drawn.sum()),
        auc=float(areas.mean()),
        auc_error=float(areas.std(ddof=1) / np.sqrt(len(areas))),
        columns=tuple(_columns(table, distances(table.is_drawn), chance)),
        pairs=tuple(_pairs(table, *pairs, pairs_by_chance)),
        copies=copies,
        copies_among_real=copies_among_real,
        nearest_drawn=float(np.median(near.drawn)),
        nearest_real=float(np.median(near.real)),
        closer=near.closer,
        only_real=table.only[0],
        only_drawn=table.only[1],
    )


def _columns(table: Stacked, distance: FloatArray, chance: FloatArray) -> list[ComparedColumn]:
    missing = [np.isnan(rows).mean(axis=0) for rows in (table.real, table.drawn)]
    return [
        ComparedColumn(
            name,
            "numbers" if table.is_number[j] else "categories",
            float(distance[j]),
            float(chance[j]),
            float(missing[0][j]),
            float(missing[1][j]),
            *(distinct_codes(rows[:, j])[1] for rows in (table.real, table.drawn)),
        )
        for j, name in enumerate(table.names)
    ]


def _pairs(
    table: Stacked, real: FloatArray, drawn: FloatArray, difference: FloatArray, chance: FloatArray
) -> list[ComparedPair]:
    """Return all pairs whose association is defined in both tables."""
    first, second = np.triu_indices(len(table.names), 1)
    known = np.isfinite(difference[first, second])
    first, second = first[known], second[known]
    order = np.argsort(-difference[first, second], kind="stable")
    measures: Sequence[Literal["Cramér's V", "correlation ratio", "Spearman"]]
    measures = ("Cramér's V", "correlation ratio", "Spearman")  # by how many of the two columns hold numbers
    is_number = table.is_number.astype(int)
    return [
        ComparedPair(
            table.names[i],
            table.names[j],
            measures[is_number[i] + is_number[j]],
            *(float(values[i, j]) for values in (real, drawn, difference, chance)),
        )
        for i, j in zip(first[order], second[order], strict=True)
    ]


def _mean_line(what: str, parts: Sequence[Any], name: str) -> dict[str, str]:
    """Return a line of the summary about the mean of a figure over columns or pairs; without a figure if unknown."""
    values, chance = ([getattr(one, key) for one in parts] for key in (name, "by_chance"))
    if not values or np.isnan(values).all():
        return {"what": what, "figure": "", "reference": ""}
    reference = f"{np.nanmean(chance):.3f} if rows are divided at random"
    return {"what": what, "figure": f"{np.nanmean(values):.3f}", "reference": reference}


def _is_nan(value: Any) -> bool:
    return isinstance(value, float) and bool(np.isnan(value))


def _share(share: float) -> str:
    """Return a share in per cent; one that is small and not 0 is not 0 %."""
    return "<1 %" if 0 < share < 0.005 else f"{percent(share)} %"


def _hundredths(value: float) -> str:
    return "-" if np.isnan(value) else f"{value:.2f}"
