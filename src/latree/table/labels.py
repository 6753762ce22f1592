"""Labels that a user has for columns, such as sectors of stocks or scales of a questionnaire."""

from collections.abc import Collection, Mapping, Sequence
from pathlib import Path

from latree._util.words import did_you_mean, listed, quoted
from latree.errors import InputError
from latree.table.formats.text import read_lines, unguarded

# The number of unknown names that a warning lists.
_MAX_NAMED = 3


def read_labels(path: Path, columns: Collection[str], unknown: bool = False) -> dict[str, str]:
    r"""Read a text file whose first two columns are the names of columns and their labels.

    Use labels to colour a figure or a report, and to see how well the groups that were found match known ones. The
    first line must be a header. Other columns of the file are ignored, and so are names that are not among ``columns``,
    unless they are asked for: one file can serve several tables. A column that is not in the file, or whose label is
    empty, has no label.

    Parameters
    ----------
    path : Path
        A CSV or TSV file, which may be gzipped.
    columns : collection of str
        Names of the columns of the table; a file that names none of them is refused.
    unknown : bool
        Whether names that are not among ``columns`` are returned, too.

    Returns
    -------
    dict
        From the name of a column to its label, in the order of the file.

    Examples
    --------
    >>> from pathlib import Path
    >>> from tempfile import TemporaryDirectory
    >>> from latree.table import read_labels
    >>> with TemporaryDirectory() as folder:
    ...     path = Path(folder) / "sectors.csv"
    ...     _ = path.write_text("stock,sector\nXOM,energy\nJPM,banks\nCVX,energy\n")
    ...     read_labels(path, ["CVX", "XOM", "IBM"])
    {'XOM': 'energy', 'CVX': 'energy'}
    """
    header, rows = read_lines(path)
    if len(header) < 2:
        raise InputError(f"{path}: needs two columns, the names of columns and their labels, and has one")
    if header[0].strip() in columns:
        raise InputError(f"{path}: its first line labels {header[0].strip()!r:.60}; add a header like column,label")
    labels: dict[str, str] = {}
    known = set(columns)
    for line, row in rows:
        name, label = (cell.strip() for cell in row[:2])
        name, label = name if name in known else unguarded(name), unguarded(label)  # the file may be a groups.csv
        if name in labels:
            raise InputError(f"{path}: line {line} labels {name!r:.60} a second time; remove one of the two lines")
        labels[name] = label
    if not labels.keys() & known:
        example = next(iter(labels), "")
        raise InputError(
            f"{path}: none of its names, such as {example!r:.60}, is one of the columns; the first column must hold "
            "the names of columns"
        )
    return {name: label for name, label in labels.items() if label and (unknown or name in known)}


def as_labels(
    labels: Mapping[str, str] | str | Path, columns: Collection[str], what: str = "labels"
) -> Mapping[str, str]:
    """Return labels, or groups, from Python or a file; raise if they are not texts, or name none of the columns."""
    if isinstance(labels, str | Path):
        return read_labels(Path(labels), columns, unknown=True)
    if not isinstance(labels, Mapping) or not all(isinstance(label, str) for label in labels.values()):
        raise InputError(
            f"{what} must be the name of a CSV file, or a mapping from names of columns to texts, such as "
            '{"N1": "mood"}'
        )
    if labels and not labels.keys() & set(columns):
        example = next(iter(labels))
        raise InputError(f"{what}: none of their names, such as {example!r:.60}, is one of the columns")
    return labels


def warnings_about_labels(labels: Mapping[str, str], columns: Sequence[str], what: str = "label") -> list[str]:
    """Return a warning that names the labelled columns that a table does not have, if there are any."""
    unknown = [name for name in labels if name not in set(columns)]
    if not unknown:
        return []
    if len(unknown) == 1:
        hint = did_you_mean(unknown[0], columns)
        return [f"there is a {what} for {quoted(unknown[0])}, which is not a column{'; ' if hint else ''}{hint}"]
    such_as = "such as " if len(unknown) > _MAX_NAMED else ""
    return [f"there are {what}s for {len(unknown)} names that are not columns, {such_as}{listed(unknown[:_MAX_NAMED])}"]
