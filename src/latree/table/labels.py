"""Labels that a user has for columns, such as sectors of stocks or scales of a questionnaire."""

from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import NamedTuple

from latree._util.words import did_you_mean, listed, quoted
from latree.errors import InputError
from latree.table.columns import Column
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
    lines = _lines(path, columns, ("label", "labels"))
    return {name: cells[0] for name, cells in lines.items() if cells[0] and (unknown or name in columns)}


def read_groups(path: Path, columns: Collection[str]) -> dict[str, str]:
    """Read a file like those of :func:`read_labels` with the groups of columns; unknown names are returned, too."""
    try:
        lines = _lines(path, columns, ("group", "groups"))
    except InputError as error:
        form = "a file of groups has a header and a line for each column, such as column,group and A1,mood"
        raise InputError(f"{error} ({form})") from None
    groups = {name: cells[0] for name, cells in lines.items() if cells[0]}
    if max(Counter(groups[name] for name in groups.keys() & set(columns)).values(), default=0) < 2:
        raise InputError(f"{path}: no group has two columns of the table: give at least one group two columns")
    return groups


class Question(NamedTuple):
    """What a codebook says of a column: the wording of a question, and the names of its answers by their codes."""

    text: str
    answers: Mapping[str, str]


def read_codebook(path: Path, columns: Collection[str], unknown: bool = False) -> dict[str, Question]:
    r"""Read a file whose first columns are the names of columns, the texts of their questions and their answers.

    The third column, if there is one with the name "answers", has the names of answers by their codes, such as
    ``1=never; 2=often``. Other columns are ignored, and so are names that are not among ``columns``, unless they are
    asked for (``unknown``).

    Examples
    --------
    >>> from pathlib import Path
    >>> from tempfile import TemporaryDirectory
    >>> from latree.table.labels import read_codebook
    >>> with TemporaryDirectory() as folder:
    ...     path = Path(folder) / "codebook.csv"
    ...     _ = path.write_text("column,text,answers\nN1,I get angry easily,1=never; 2=often\n")
    ...     read_codebook(path, ["N1"])
    {'N1': Question(text='I get angry easily', answers={'1': 'never', '2': 'often'})}
    """
    found = {}
    for name, (text, *more) in _lines(path, columns, ("text", "texts"), "answers").items():
        if unknown or name in columns:
            # The third cell of a column that is not in the table, such as age, need not be answers.
            has_answers = bool(more) and (name in columns or "=" in more[0])
            answers = _answers(more[0], f"{path}: column {quoted(name)}") if has_answers else {}
            found[name] = Question(" ".join(text.split()), answers)
    return found


def _answers(text: str, where: str) -> dict[str, str]:
    """Return the names of answers by their codes, from a text like ``1=never; 2=often``."""
    found: dict[str, str] = {}
    for part in filter(None, map(str.strip, text.split(";"))):
        code, sign, name = (piece.strip() for piece in part.partition("="))
        if not sign or not code or not name:
            raise InputError(f"{where}: {part!r:.60} is not an answer with its code, such as '1=never; 2=often'")
        if code in found or name in found.values():
            raise InputError(f"{where}: {code if code in found else name!r:.60} is in its answers twice: remove one")
        found[code] = " ".join(name.split())
    return found


def with_questions(columns: Sequence[Column], questions: Mapping[str, Question]) -> tuple[Column, ...]:
    """Return columns with the texts and the answers of a codebook; columns with bins have no answers."""
    found = []
    for column in columns:
        text, answers = questions.get(column.name, Question("", {}))
        names = tuple(answers.get(label, label) for label in column.categories)
        has_names = column.cuts is None and names != column.categories
        if has_names and len(set(names)) < len(names):
            raise InputError(f"column {quoted(column.name)}: two of its values would be called the same: {names}")
        found.append(replace(column, description=text or column.description, answers=names if has_names else ()))
    return tuple(found)


def _lines(path: Path, columns: Collection[str], what: tuple[str, str], third: str = "") -> dict[str, list[str]]:
    """Return the second cell of each line by the first, the name of a column, and the third if it is called so."""
    header, rows = read_lines(path)
    one, several = what
    if len(header) < 2:
        raise InputError(f"{path}: needs two columns, the names of columns and their {several}, and has one")
    known, first = set(columns), header[0].strip()
    if first in known:
        raise InputError(
            f"{path}: its first line is that of the column {first!r:.60}; add a header above it, like column,{one}"
        )
    n_cells = 3 if third and len(header) > 2 and header[2].strip().lower() == third else 2
    cells_of = [(line, [cell.strip() for cell in row]) for line, row in rows]
    # The file may be a groups.csv, in which names that look like formulas are guarded.
    names = [cells[0] if cells[0] in known else unguarded(cells[0]) for _, cells in cells_of]
    if not known.intersection(names):
        if not names:
            raise InputError(f"{path}: has a header and no other lines; add one for each column")
        swapped = any(cells[1] in known for _, cells in cells_of)
        hint = did_you_mean(names[0], columns)
        advice = f"swap its first two columns: the first must hold names of columns, the second {several}"
        raise InputError(
            f"{path}: none of its names, such as {names[0]!r:.60}, is one of the columns; "
            f"{advice if swapped else hint or 'the first column must hold the names of columns'}"
        )
    found: dict[str, list[str]] = {}
    for (line, cells), name in zip(cells_of, names, strict=True):
        if name in found:
            raise InputError(f"{path}: line {line} is the second one for {name!r:.60}; remove one of the two")
        found[name] = list(map(unguarded, cells[1:n_cells]))
    return found


def as_labels(
    labels: Mapping[str, str] | str | Path, columns: Collection[str], what: str = "labels"
) -> Mapping[str, str]:
    """Return labels, or groups, from Python or a file; raise if they are not texts, or name none of the columns."""
    if isinstance(labels, str | Path):
        return read_groups(Path(labels), columns) if what == "key" else read_labels(Path(labels), columns, unknown=True)
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
